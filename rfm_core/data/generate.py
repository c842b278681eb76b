"""From a DataSpec to a Dataset: generated, or read from the cache on disk."""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..checks import InvalidInput, Real, Whole, one_of, real, refuse, whole
from ..events import Reporter
from ..measure.lyapunov import lyapunov_exponents
from ..spec import Spec, digest_of
from ..streams import stream
from ..systems import SYSTEMS, System, get_system
from ..systems.rollout import Stepper
from ..tensorfile import read_tensors, write_tensors
from .dataset import Dataset

GENERATOR = 5  # raise it when the same spec would give other numbers
CACHE_LIMIT_GB = 8.0
FINE_PART = 10  # of a burn-in with coarse steps the last tenth is the real thing
# of an exponent nobody knows, in Lyapunov times of the usual parameters: until copies of one state
# have drifted apart, and measured over; along so many trajectories
APART, MEASURED, ALONG = 8, 30, 16
LIMITS: dict[str, Whole | Real] = {  # of what does not depend on the system
    "n_train": Whole(10, 10**9, "50,000 to 100,000 is usual."),
    "dt": Real(1e-6, 100, "0.01 is usual for Lorenz's systems."),
    "n_test": Whole(0, 10**6, "100 is usual."),
    "test_steps": Whole(1, 10**8, "3000 is usual."),
    "seed": Whole(0, 2**63, "0 will do."),
    "realization": Whole(0, 2**63, "0 is the first."),
    "eps": Real(0, math.inf, "0.3 to 0.5 is usual.", above=True),
}
# fields that take a value of the system where they are left None
USUAL = ("n_train", "dt", "test_steps", "burn_in", "trajectories", "lyapunov", "eps")


@dataclass(frozen=True)
class DataSpec(Spec):
    """Which data: every field left None takes the system's (the paper's) value.

    ``n_train`` counts pairs (u_n, u_{n+1}); they lie in ``trajectories`` windows of equal length.
    ``realization`` picks training windows and test starts anew, each from its own random stream.
    ``accuracy`` "fine" is exact to rounding (for KS a true map, from which one with half the time
    step parts after 15 Lyapunov times), "paper" is scipy's odeint at its default tolerance, in one
    call for a whole trajectory (for KS the paper's time step). ``burn_in`` is in time units, or
    "paper".
    """

    system: str = "L63"
    n_train: int | None = None
    dt: float | None = None
    n_test: int = 100
    test_steps: int | None = None
    seed: int = 0
    realization: int = 0
    parameters: Any = ()  # a mapping; kept as sorted pairs so that the spec can be hashed
    accuracy: str = "fine"
    burn_in: float | str | None = None
    trajectories: int | None = None
    lyapunov: float | None = None
    eps: float | None = None

    def __post_init__(self) -> None:
        system = get_system(self.system)
        given = self.parameters
        try:
            resolved = system.resolve({} if given is None else dict(given))
        except (TypeError, ValueError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise refuse("parameters", given, "a mapping", "For example {'F': 8}.") from None
        paper = resolved == {k: type(resolved[k])(v) for k, v in system.parameters.items()}
        put = object.__setattr__
        put(self, "parameters", tuple(sorted(resolved.items())))
        one_of("accuracy", self.accuracy, ("fine", "paper"), "'fine' is the accurate default.")
        dt = system.dt if self.dt is None else self.dt
        usual = {
            "dt": f"The usual value is {system.dt:g}.",
            "n_train": f"The usual number is {system.n_train}.",
            "eps": f"The paper's is {system.eps:g}.",
        }

        def check(name: str, value: Any) -> None:
            limit = LIMITS[name]
            put(self, name, replace(limit, remedy=usual.get(name, limit.remedy))(name, value))

        check("dt", dt)
        n = system.n_train if self.n_train is None else self.n_train
        check("n_train", n)
        parts = system.train_trajectories if self.trajectories is None else self.trajectories
        if self.trajectories is None:
            parts = min(parts, max(1, int(n) // 50))
        put(self, "trajectories", whole("trajectories", parts, 1, int(n), "1 is one long window."))
        check("n_test", self.n_test)
        steps = self.test_steps
        if steps is None:
            steps = math.ceil(system.horizon / (system.lyapunov * float(dt)))
        check("test_steps", steps)
        check("seed", self.seed)
        check("realization", self.realization)
        burn = system.burn_in if self.burn_in is None else self.burn_in
        if isinstance(burn, str) and burn == "paper":
            burn = system.paper_burn_in
        enough = f"{system.burn_in:g} is enough, 'paper' is the paper's."
        put(self, "burn_in", real("burn_in", burn, enough, 0, 1e7))
        if self.lyapunov is not None:
            put(self, "lyapunov", real("lyapunov", self.lyapunov, "Leave it None.", 0, above=True))
        elif paper:
            put(self, "lyapunov", system.lyapunov)
        eps = system.eps if self.eps is None else self.eps
        check("eps", eps)

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, validated anew.

        A value that is the usual one here becomes the usual one there: with other parameters the
        Lyapunov exponent is another, with another step the tests have other lengths.
        """
        # one by one, because one usual value may depend on another that is not
        usual = {
            name: None
            for name in USUAL
            if getattr(Spec.replace(self, **{name: None}), name) == getattr(self, name)
        }
        return super().replace(**{**usual, **changes})

    @property
    def parameter_values(self) -> dict[str, float]:
        return get_system(self.system).resolve(dict(self.parameters))

    @property
    def shapes(self) -> dict[str, tuple[int, int, int]]:
        """Of the two arrays, train and test."""
        dimension = get_system(self.system).dimension(self.parameter_values)
        assert self.trajectories
        assert self.n_train
        assert self.test_steps
        window = math.ceil(self.n_train / self.trajectories) + 1
        return {
            "train": (self.trajectories, window, dimension),
            "test": (self.n_test, self.test_steps + 1, dimension),
        }

    @property
    def bytes(self) -> int:
        """Size of the arrays."""
        return 8 * sum(math.prod(shape) for shape in self.shapes.values())


def make_dataset(
    spec: DataSpec, *, cache: bool | Path | str = True, report: Reporter | None = None
) -> Dataset:
    """The data of ``spec``. ``cache``: True for the usual folder, a folder, or False for none."""
    report = report or Reporter()
    if not isinstance(spec, DataSpec):
        raise refuse("spec", spec, "a DataSpec", "For example rfm_core.DataSpec(system='L63').")
    if not isinstance(cache, (bool, str, os.PathLike)):
        raise refuse("cache", cache, "True, False or a folder", "True is the usual folder.")
    memory = _memory()
    if spec.bytes > memory:
        size, limit = f"{spec.bytes / 1e9:.3g} GB", f"at most {memory / 1e9:.3g} GB, this machine's"
        raise refuse("size of the data", size, limit, "Lower n_train, n_test or test_steps.")
    key = get_system(spec.system).key
    if cache is False or key is None:  # equations may change under a name that nobody can tell
        return _dataset(spec, *_generate(spec, report))
    limit_gb = _cache_limit_gb()
    folder = cache_folder() if cache is True else Path(cache)
    digest = digest_of([spec.digest(), key]) if key else spec.digest()
    path = folder / f"{spec.system}-{digest}.safetensors"
    found = _recall(path, spec)
    if found is None:
        found = _generate(spec, report)
        _remember(path, *found, limit_gb * 1e9)
    else:
        report("data", 1, 1)
    return _dataset(spec, *found)


def cache_folder() -> Path:
    """RFM_CACHE if set, otherwise the user's cache folder."""
    named = os.environ.get("RFM_CACHE")
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "rfm_core"


def _generate(spec: DataSpec, report: Reporter) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    system, parameters = get_system(spec.system), spec.parameter_values
    assert spec.dt
    assert spec.trajectories
    assert spec.test_steps
    stepper = system.stepper(parameters, spec.dt, spec.accuracy)
    # to reach the attractor, one way is as good; and short steps would take for ever
    fine = system.stepper(parameters, max(spec.dt, system.dt))
    burn = math.ceil(float(spec.burn_in or 0) / fine.dt)

    def bounded(states: np.ndarray, what: str) -> np.ndarray:
        if not np.isfinite(states).all():
            raise InvalidInput(
                f"{system.name} left every bound ({what}) with {parameters} and dt={spec.dt:g}."
                f" Use parameters nearer to {dict(system.parameters)} or a smaller dt."
            )
        return states

    def on_attractor(name: str, n: int) -> np.ndarray:
        rng = stream(spec.seed, name, spec.realization)
        start, left = system.start(rng, n, parameters), burn
        if system.coarse_step is not None:
            quick = system.stepper(parameters, fine.dt, inner=system.coarse_step)
            left = burn // FINE_PART
            start = quick.advance(start, burn - left, report, f"{name}: first burn-in")
        start = fine.advance(start, left, report, f"{name}: burn-in")
        return bounded(start, "burn-in")

    def trajectories(name: str, n: int, steps: int) -> np.ndarray:
        start, lead = on_attractor(name, n), stepper.lead
        what = "training" if name == "window" else name
        states = stepper.rollout(start, lead + steps, report, f"{what} data")
        return bounded(np.ascontiguousarray(states[:, lead:]), what)

    train = trajectories("window", spec.trajectories, spec.shapes["train"][1] - 1)
    test = np.empty(spec.shapes["test"])
    if spec.n_test:
        test = trajectories("test", spec.n_test, spec.test_steps)
    lyapunov = spec.lyapunov
    if lyapunov is None:
        lyapunov = _measured_exponent(system, fine, train[:, -1], report)
    header = {"generator": GENERATOR, "spec": spec.to_dict(), "lyapunov": lyapunov}
    return {"train": train, "test": test}, header


def _measured_exponent(
    system: System, stepper: Stepper, states: np.ndarray, report: Reporter
) -> float:
    """For other parameters than the paper's: from tangent dynamics."""
    states = np.resize(states, (ALONG, states.shape[-1]))
    noise = stream(0, "exponent").standard_normal(states.shape)
    states = states + 1e-3 * states.std() * noise
    apart = math.ceil(APART / system.lyapunov / stepper.dt)
    states = stepper.advance(states, apart, report, "Lyapunov exponent")
    steps = math.ceil(MEASURED / system.lyapunov / stepper.dt)
    found = lyapunov_exponents(stepper, states, steps=steps, report=report)
    return float(found.exponents[0])


def _dataset(spec: DataSpec, arrays: dict[str, np.ndarray], header: dict[str, Any]) -> Dataset:
    system, exponent = get_system(spec.system), float(header["lyapunov"])
    # a negative or tiny exponent means that the parameters give no chaos: no Lyapunov time then
    lyapunov = exponent if exponent > 1e-3 * system.lyapunov else None
    assert spec.dt
    assert spec.eps
    return Dataset(
        train=arrays["train"],
        test=arrays["test"],
        dt=spec.dt,
        eps=spec.eps,
        lyapunov=lyapunov,
        name=spec.system,
        homogeneous=system.homogeneous,
        lyapunov_is_estimate=spec.lyapunov is None and lyapunov is not None,
        columns=system.components,
        origin=spec.to_dict(),
        digest=spec.digest(),
    )


def spec_of(data: Dataset) -> DataSpec | None:
    """How the data of a known system were made; None for a series of somebody's own."""
    return DataSpec.from_dict(data.origin) if data.origin.get("kind") == "DataSpec" else None


def _memory() -> float:
    """Bytes of memory of this machine, where the system tells."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _cache_limit_gb() -> float:
    given = os.environ.get("RFM_CACHE_GB", CACHE_LIMIT_GB)
    try:
        return real("RFM_CACHE_GB", float(given), "", 0)
    except ValueError:
        remedy = "It is an environment variable: set it to a size in GB, or unset it."
        raise refuse("RFM_CACHE_GB", given, "a finite number of at least 0", remedy) from None


def _recall(path: Path, spec: DataSpec) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
    """From the cache; None for what is absent, damaged, tampered with or of an old kind."""
    try:
        arrays, header = read_tensors(path)
        known = header["generator"] == GENERATOR and header["spec"] == spec.to_dict()
        fits = {name: array.shape for name, array in arrays.items()} == spec.shapes
        if not (known and fits and isinstance(header["lyapunov"], float)):
            return None
    except (OSError, KeyError, TypeError, ValueError):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # the least recently used go first
    return arrays, header


def _remember(
    path: Path, arrays: Mapping[str, np.ndarray], header: dict[str, Any], limit: float
) -> None:
    """Into the cache if it fits; a full disk or a read-only folder must not lose the data."""
    if sum(array.nbytes for array in arrays.values()) > limit / 2:
        return
    with contextlib.suppress(OSError):
        write_tensors(path, arrays, header)
        _prune(path.parent, limit, keep=path)


def _prune(folder: Path, limit: float, keep: Path) -> None:
    """Delete the least recently used sets above the limit, and what crashed writers left.

    Only files with names of ours: the folder may be one where the user keeps other things.
    """
    entry = re.compile(rf"({'|'.join(map(re.escape, SYSTEMS))})-[0-9a-f]{{32}}\.safetensors")
    leftover = re.compile(rf"\.{entry.pattern}\.[0-9a-f]+\.tmp")
    entries = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            status = path.stat()
            if entry.fullmatch(path.name):
                entries.append((status.st_mtime, status.st_size, path))
            elif leftover.fullmatch(path.name) and time.time() - status.st_mtime > 3600:
                path.unlink()
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            break
        if path != keep:
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size
