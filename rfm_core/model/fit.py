"""Training: each unit in turn, one pass over the rows, one ridge regression."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from ..checks import InvalidInput, refuse, whole
from ..data.dataset import Dataset
from ..events import Progress, Reporter
from ..parallel import steps_in_threads
from ..streams import stream
from .features import Features, Source
from .model import AT_ONCE, Model, Unit, Wiring, pick_device
from .ridge import QR, Accumulator, BetaPath, accumulator, beta_path, checked_betas, lowered
from .sampler import Inputs
from .spec import ModelSpec

Array = np.ndarray
Tensor = torch.Tensor
HELD_OUT = 0.1  # share of the snapshots, the latest ones, on which a beta path is judged
AUTO_BETAS = tuple(float(b) for b in np.logspace(-30, 0, 31))


@dataclass(frozen=True, eq=False)
class UnitFit:
    """What was measured while a unit was trained."""

    seconds: float
    error: float  # of the next state after this unit: root mean square over training rows
    rows: int
    beta: float
    path: BetaPath | None  # only where betas were asked for, or beta is "auto"


@dataclass(frozen=True, eq=False)
class Fitted:
    """The last event of a training."""

    model: Model
    units: tuple[UnitFit, ...]
    seconds: float


def fit(
    spec: ModelSpec,
    data: Dataset,
    *,
    seed: int = 0,
    realization: int = 0,
    device: torch.device | str = "auto",
    report: Reporter | None = None,
) -> Model:
    """Train ``spec`` on ``data``; weights and noise are from the streams of (seed, realization)."""
    report = report or Reporter()
    events = fit_events(spec, data, seed=seed, realization=realization, device=device)
    for event in events:
        if isinstance(event, Fitted):
            return event.model
        report(event.stage, event.done, event.total)
    raise AssertionError("a training ends with Fitted")


@steps_in_threads
def fit_events(
    spec: ModelSpec,
    data: Dataset,
    *,
    seed: int = 0,
    realization: int = 0,
    device: torch.device | str = "auto",
    betas: Sequence[float] | None = None,
    internal: Sequence[tuple[Array, Array]] | None = None,
) -> Iterator[Progress | Fitted]:
    """Train step by step: an event after every block of rows, ``Fitted`` at the end.

    Stop iterating to cancel. ``betas`` adds to every unit's report the errors along that path.
    ``internal`` gives (W_in, b_in) of each unit instead of drawing them.
    """
    if betas is not None:
        betas = checked_betas(betas)
    training = Training(spec, data, seed, realization, pick_device(device), internal)
    began = time.perf_counter()
    units: list[Unit] = []
    reports: list[UnitFit] = []
    for number in range(spec.depth):
        unit, told = yield from training.unit(number, betas)
        units.append(unit)
        reports.append(told)
    model = training.model(units, [told.beta for told in reports])
    yield Fitted(model, tuple(reports), time.perf_counter() - began)


class Training:
    """The rows of the regressions and the estimates of the next state as units are added."""

    def __init__(
        self,
        spec: ModelSpec,
        data: Dataset,
        seed: int,
        realization: int,
        device: torch.device,
        internal: Sequence[tuple[Array, Array]] | None,
    ) -> None:
        if not isinstance(spec, ModelSpec):
            raise refuse("spec", spec, "a ModelSpec", "For example ModelSpec(width=512).")
        if not isinstance(data, Dataset):
            raise refuse("data", data, "a Dataset", "Use make_dataset or load_series.")
        self.spec, self.data, self.device, self.internal = spec, data, device, internal
        self.seed = whole("seed", seed, 0, 2**63, "0 will do.")
        self.realization = whole("realization", realization, 0, 2**63, "0 is the first.")
        self.wiring = Wiring(spec, data.dimension, device)
        self.patches = self._patches_to_learn(data)
        learnt = len(range(*self.patches.indices(self.wiring.scheme.patches)))
        inputs, truth = _snapshots(spec, data, learnt, self.seed, self.realization)
        self.u = torch.from_numpy(inputs).to(device)
        self.truth = torch.from_numpy(truth).to(device)
        self.y = self.u
        self.first: Features  # those drawn last: the first unit's where all units share them
        self.rows = len(self.u) * learnt
        width = max(spec.unit_widths(data.dimension))
        self.block = block_states(width, learnt)

    def model(self, units: Sequence[Unit], betas: Sequence[float]) -> Model:
        """The finished model."""
        return Model(
            spec=self.spec,
            units=tuple(units),
            dimension=self.data.dimension,
            dt=self.data.dt,
            limit=100.0 * float(np.abs(self.data.train).max()),
            device=self.device,
            origin={
                "data": self.data.origin,
                "digest": self.data.digest,
                "seed": self.seed,
                "realization": self.realization,
                "betas": [float(beta) for beta in betas],
            },
        )

    def _patches_to_learn(self, data: Dataset) -> slice:
        scheme = self.wiring.scheme
        choice = self.spec.patches
        if choice is None and scheme.patches > 1 and not data.homogeneous:
            raise InvalidInput(
                f"{self.spec.architecture} uses one unit for all {scheme.patches} patches, which "
                f"is right only where the system looks the same everywhere, and nobody said that "
                f"of {data.name!r}. Load it with homogeneous=True or set patches='all' to do it "
                "anyway, or use a global architecture."
            )
        if choice != "one":
            return slice(0, scheme.patches)
        middle = scheme.patches // 2
        return slice(middle, middle + 1)

    def unit(
        self, number: int, betas: Sequence[float] | None
    ) -> Generator[Progress, None, tuple[Unit, UnitFit]]:
        began = time.perf_counter()
        automatic = self.spec.beta == "auto"
        if automatic and betas is None:
            betas = AUTO_BETAS
        stage = f"unit {number + 1} of {self.spec.depth}"
        share = HELD_OUT if betas is not None else 0.0
        features, fitted, heldout = yield from self.regression(number, share)
        path, beta = None, self.spec.beta
        if betas is not None:
            path = beta_path(fitted, heldout, betas)
            if automatic:
                beta = lowered(path.best, fitted, heldout)
            fitted.merge(heldout)  # type: ignore[arg-type]  # both are of the same kind
        del heldout  # a triangle is as large as what refinement needs
        weights = fitted.solve(float(beta))
        for done in range(self.spec.refine):
            what = f"{stage}: refinement {done + 1} of {self.spec.refine}"
            left = QR(fitted.features, fitted.outputs, self.device, self.spec.centred)
            yield from self._take_in(number, features, what, (left, left), len(self.u), weights)
            weights = weights + left.solve(float(beta), weights)
        if not bool(torch.isfinite(weights).all()):
            raise InvalidInput(
                f"The regression of {stage} has no finite solution with beta={beta:g} "
                f"and solver={self.spec.solver!r}. Raise beta, for example to 1e-8, or use 'qr'."
            )
        unit = Unit(features, weights)
        error = self._error(number, unit)
        if number + 1 < self.spec.depth:
            yield from self._advance(number, unit, stage)
        return unit, UnitFit(time.perf_counter() - began, error, self.rows, float(beta), path)

    def regression(
        self, number: int, held_out: float = 0.0, features: Features | None = None
    ) -> Generator[Progress, None, tuple[Features, Accumulator, Accumulator]]:
        """Features of a unit and its rows taken in: the first ones, and the last ``held_out``.

        Its features are drawn, unless they are there already.
        """
        count = len(self.u)
        if features is None:
            features = self._features(number)
        sizes = features.width, self.wiring.scheme.G
        fitted, heldout = (
            accumulator(self.spec.solver, *sizes, self.device, self.spec.centred) for _ in range(2)
        )
        border = count - int(held_out * count)
        stage = f"unit {number + 1} of {self.spec.depth}"
        yield from self._take_in(number, features, stage, (fitted, heldout), border)
        return features, fitted, heldout

    def _take_in(
        self,
        number: int,
        features: Features,
        stage: str,
        into: tuple[Accumulator, Accumulator],
        border: int,
        known: Tensor | None = None,
    ) -> Iterator[Progress]:
        """One pass over the rows: those before ``border`` into the first, the others into the last.

        Targets are what is to be learnt, or what ``known`` weights leave of it.
        """
        began, count = time.perf_counter(), len(self.u)
        yield Progress(stage, 0, count, time.perf_counter() - began)
        for low, high in _blocks(count, self.block, border):
            at = slice(low, high)
            y = self.y[at]
            phi = features(self.wiring.read(number, self.u[at], y, self.patches)).flatten(0, 1)
            truth = self.truth[at] - y if self.spec.choices.skip else self.truth[at]
            target = truth[:, self.wiring.own[self.patches]].flatten(0, 1)
            if known is not None:
                target = target - phi @ known
            into[low >= border].add(phi, target)
            yield Progress(stage, high, count, time.perf_counter() - began)

    def _error(self, number: int, unit: Unit) -> float:
        """Root mean square error of the next state on up to 4096 rows of the regression."""
        scheme = self.wiring.scheme
        at = torch.linspace(0, len(self.u) - 1, max(1, 4096 // scheme.patches)).round().long()
        at = torch.unique(at).to(self.device)
        new = self.wiring.apply(number, unit, self.u[at], self.y[at])
        left = (new - self.truth[at])[:, self.wiring.own[self.patches]]
        return float(left.square().mean().sqrt())

    def _advance(self, number: int, unit: Unit, stage: str) -> Iterator[Progress]:
        """Estimates after this unit, for the next one to start from."""
        new = torch.empty_like(self.y)
        scheme = self.wiring.scheme
        step = max(1, AT_ONCE // (unit.features.width * scheme.patches))
        for low in range(0, len(self.u), step):
            at = slice(low, low + step)
            new[at] = self.wiring.apply(number, unit, self.u[at], self.y[at])
            yield Progress(f"{stage}: estimates", min(low + step, len(self.u)), len(self.u))
        self.y = new

    def _features(self, number: int) -> Features:
        spec = self.spec

        def rows() -> Iterator[Tensor]:
            for low, high in _blocks(len(self.u), self.block):
                at = slice(low, high)
                yield self.wiring.read(number, self.u[at], self.y[at], self.patches).flatten(0, 1)

        shared = spec.unit_weights == "shared" and "unit_weights" in spec.kind.settings
        if shared and number > 0:
            return self.first
        emphasis = None
        if spec.taper is not None:
            emphasis = np.exp(-((self.wiring.distance(number) / spec.taper) ** 2) / 2)
        source = Source(
            inputs=Inputs.scan(rows),
            rows=rows,
            rng=stream(self.seed, "weights", self.realization, number),
            device=self.device,
            emphasis=emphasis,
            internal=None if self.internal is None else self.internal[number],
        )
        self.first = spec.kind.draw(spec, source)
        return self.first


def _blocks(count: int, size: int, border: int | None = None) -> Iterator[tuple[int, int]]:
    """Consecutive ranges of at most ``size``, none across ``border``."""
    edges = [0, count] if border is None or border >= count else [0, border, count]
    for start, end in pairwise(edges):
        for low in range(start, end, size):
            yield low, min(low + size, end)


def block_states(width: int, learnt: int) -> int:
    """States in a block of rows, of ``learnt`` patches each.

    Large blocks waste less on the triangle, small ones can be cancelled sooner.
    """
    return max(1, min(max(2 * width, 2048), 8192) // learnt)


def snapshot_count(spec: ModelSpec, pairs: int, learnt: int) -> int:
    """How many states the regressions take of so many pairs, each with ``learnt`` patches."""
    rows = pairs if spec.rows is None else spec.rows
    return max(1, min(pairs, -(-rows // learnt)))


def _snapshots(
    spec: ModelSpec, data: Dataset, learnt: int, seed: int, realization: int
) -> tuple[Array, Array]:
    """States and next states for the regression, (snapshots, D) each, evenly taken, with noise."""
    trajectories, length, dimension = data.train.shape
    pairs = data.pairs
    count = snapshot_count(spec, pairs, learnt)
    chosen = np.linspace(0, pairs - 1, count).round().astype(np.int64)
    # a trajectory of n states has n - 1 pairs
    at = chosen + chosen // (length - 1)
    flat = data.train.reshape(trajectories * length, dimension)
    u, truth = flat[at], flat[at + 1]
    if spec.noise:
        rng = stream(seed, "noise", realization)
        if spec.noise_on == "input":
            u = u + spec.noise * rng.standard_normal(u.shape)
        else:
            _noisy_series(rng, float(spec.noise), at, u, truth, len(flat))
    return u, truth


def _noisy_series(
    rng: np.random.Generator, size: float, at: Array, u: Array, truth: Array, length: int
) -> None:
    """The paper's noise: one draw for every state, whether it is input or target of a row."""
    for low in range(0, length, 8192):
        noise = size * rng.standard_normal((min(8192, length - low), u.shape[1]))
        for rows, array in ((at, u), (at + 1, truth)):
            here = slice(*np.searchsorted(rows, [low, low + len(noise)]))
            array[here] += noise[rows[here] - low]
