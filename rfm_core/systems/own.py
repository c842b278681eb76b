"""A system from a plain Python function: what is not given has a default or is measured.

def lorenz84(u, a=0.25, b=4.0, F=8.0, G=1.0):
    x, y, z = u
    return -y * y - z * z - a * x + a * F, x * y - b * x * z - y + G, b * x * y + x * z - z

rfm_core.register_system("Lorenz84", lorenz84, dimension=3, dt=0.02)
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import InvalidInput, flag, real, refuse, whole
from ..streams import stream
from . import dop853
from .base import SYSTEMS, Array, Parameters, System, calling_module, register
from .equation_text import Equation, equation_of, text_of
from .integrate import RightHandSide, RungeKutta
from .rollout import Stepper

ALONG = 8  # trajectories that are looked at where something is measured
FIRST_WINDOW, WINDOWS = 256, 10  # steps, each window twice as long as the one before
SETTLED = 0.1  # change of mean and spread from one window to the next, in standard deviations
EXACT = 2e-14  # change of a state when the inner step is halved, relative
MOST_SUBSTEPS = 256
BEYOND = 1e8  # times the start: no attractor is that large
LYAPUNOV_TIMES = 30.0  # over which an exponent is measured, along each trajectory
LEAST_TIMES = 3.0  # what grows by less than that much is not chaotic


def register_system(
    name: str,
    equation: Equation,
    *,
    dimension: int,
    dt: float,
    parameters: Mapping[str, float] | None = None,
    start: Sequence[float] | Array | None = None,
    lyapunov: float | None = None,
    burn_in: float | None = None,
    inner_step: float | None = None,
    n_train: int = 50_000,
    eps: float | None = None,
    components: Sequence[str] = (),
    homogeneous: bool = False,
    title: str = "",
    citation: str = "",
    replace: bool = False,
) -> System:
    """Have ``u' = equation(u, *parameters)`` among all systems: data, page, studies, files.

    equation     a plain function of the state, an array of ``dimension`` numbers, and of the
                 parameters; it returns as many slopes. It is compiled where numba can, and runs in
                 Python, slowly, where not
    parameters   their usual values; those with a default in the function need none here
    start        a state on the way to the attractor; by default normal random numbers
    lyapunov     the largest exponent, measured if left out; so are ``burn_in``, the time to the
                 attractor, and ``inner_step``, small enough for data exact to rounding
    homogeneous  the components lie on a ring on which the system looks the same everywhere

    Worker processes get the function's own text, so it may stand in a script or a notebook. Data
    are kept under that text: another equation never gets old data.
    """
    home = calling_module()
    values = _parameters(equation, parameters)
    dimension = whole("dimension", dimension, 1, 10**6, "The number of components of the state.")
    dt = real("dt", dt, "The time between two samples.", 0, 1e6, above=True)
    replace = flag("replace", replace, "True puts it in the place of another.")
    text = text_of(equation)
    own = _Own(equation, tuple(values), dimension, dt, _start(start, dimension))
    own.look(values)
    measured = own.measure(values, inner_step, burn_in, lyapunov)
    system = System(
        name=name,
        title=title or str(name),
        latex="",
        citation=citation,
        parameters=values,
        dimension=lambda p: dimension,
        start=own.starts,
        dt=dt,
        n_train=n_train,
        eps=(0.3 if dimension < 10 else 0.5) if eps is None else eps,
        horizon=20.0,
        rhs=own.rhs,
        make_stepper=None if own.rhs is not None else own.stepper,
        homogeneous=homogeneous,
        components=tuple(components),
        text=None
        if text is None
        else {
            "equation": text, "name": name, "dimension": dimension, "dt": dt, "parameters": values,
            "start": None if start is None else np.asarray(start, dtype=float).tolist(),
            "n_train": n_train, "eps": eps, "components": list(components),
            "homogeneous": homogeneous, "title": title, "citation": citation, **measured,
        },
        lyapunov=measured["lyapunov"],
        inner_step=measured["inner_step"],
        burn_in=measured["burn_in"],
        paper_burn_in=measured["burn_in"],
    )  # fmt: skip
    return register(system, replace=replace, home=home)


def register_from_text(text: dict[str, Any]) -> System:
    """In a worker: what ``System.text`` of the driver's describes, unless it is there already."""
    known = SYSTEMS.get(text["name"])
    if known is not None and known.text == text:
        return known
    given = dict(text)
    name = given.pop("name")
    equation = equation_of(given.pop("equation"))
    with warnings.catch_warnings():  # the driver has said it
        warnings.simplefilter("ignore", RuntimeWarning)
        return register_system(name, equation, replace=True, **given)


# --- stepping and measuring ------------------------------------------------------------------


class PlainRungeKutta(RungeKutta):
    """The same scheme in Python, for equations that numba does not understand."""

    parallel = False

    def __init__(
        self, equation: Equation, parameters: Sequence[float], dt: float, inner: float, size: int
    ) -> None:
        super().__init__(RightHandSide(equation, analytic=False), np.array([]), dt, inner, size)
        self._equation, self._values = equation, tuple(parameters)

    def _kernel(self, u: Array, carry: Array, out: Array) -> None:
        step = self.dt / self.substeps
        for t in range(out.shape[1]):
            for _ in range(self.substeps):
                slopes: list[Array] = []
                for row in dop853.A[: len(dop853.B)]:
                    ahead = sum((a * k for a, k in zip(row, slopes, strict=False) if a), 0.0)
                    slopes.append(self._slopes(u + (step * ahead + carry)))
                change = step * sum(b * k for b, k in zip(dop853.B, slopes, strict=True)) + carry
                new = u + change
                carry[:] = change - (new - u)
                u[:] = new
            out[:, t] = u

    def _slopes(self, states: Array) -> Array:
        found = [np.asarray(self._equation(u, *self._values), dtype=float) for u in states]
        return np.stack(found)


@dataclass
class _Own:
    """What is known of an equation before there is a ``System``."""

    equation: Equation
    names: tuple[str, ...]
    dimension: int
    dt: float
    centre: Array | None
    rhs: RightHandSide | None = None

    def starts(self, rng: np.random.Generator, n: int, p: Parameters) -> Array:
        noise = rng.standard_normal((n, self.dimension))
        if self.centre is None:
            return noise
        return self.centre + 0.01 * max(1.0, float(np.abs(self.centre).max())) * noise

    def look(self, values: Parameters) -> None:
        """Try it once, then compile it as well as it can be."""
        first = self.starts(stream(0, "own system"), 1, values)[0]
        try:
            slopes = np.asarray(self.equation(first, *values.values()), dtype=float)
        except Exception as error:  # a stranger's function may raise anything
            raise InvalidInput(
                f"equation could not be called with the state {_short(first)} and the parameters "
                f"{dict(values)}: {type(error).__name__}: {error}. Call it by hand to see why."
            ) from error
        if slopes.shape != (self.dimension,) or not np.isfinite(slopes).all():
            raise refuse(
                "what equation returns", _short(slopes), f"{self.dimension} finite numbers",
                "One slope for each component; give another start where it is not defined.",
            )  # fmt: skip
        self.rhs = self._compiled(values)

    def _compiled(self, values: Parameters) -> RightHandSide | None:
        from numba.core.errors import NumbaError, NumbaWarning

        from .kernel import compiled_filling

        for analytic in (True, False):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", NumbaWarning)
                    rhs = RightHandSide(compiled_filling(self.equation, len(values)), analytic)
                    rhs.compiled  # noqa: B018 - now, not in the middle of a run
            except (NumbaError, TypeError, ValueError, NotImplementedError):
                continue
            self.rhs = rhs
            if not analytic or self._tangent_agrees(values):
                return rhs
        self.rhs = None
        warnings.warn(
            f"{self.equation.__name__} cannot be compiled by numba, so it runs in Python, a "
            "hundred times slower. Use numbers, arrays and functions of numpy and math alone.",
            RuntimeWarning,
            stacklevel=4,
        )
        return None

    def _tangent_agrees(self, values: Parameters) -> bool:
        """abs, max and the like compile for complex numbers and then mean something else."""
        rng = stream(0, "own system")
        stepper = self.stepper(values, self.dt, self.dt)
        states = self.starts(rng, 4, values)
        vectors = rng.standard_normal((4, 1, self.dimension))
        exact = RungeKutta.tangent(stepper, states, vectors)[1]  # type: ignore[arg-type]
        close = stepper.differences(states, vectors)[1]  # type: ignore[attr-defined]
        return bool(np.allclose(exact, close, rtol=1e-4, atol=1e-6 * np.abs(close).max()))

    def stepper(self, p: Parameters, dt: float, inner: float) -> Stepper:
        values = [float(p[name]) for name in self.names]
        if self.rhs is None:
            return PlainRungeKutta(self.equation, values, dt, inner, self.dimension)
        return RungeKutta(self.rhs, np.array(values), dt, inner, self.dimension)

    def measure(
        self,
        values: Parameters,
        inner_step: float | None,
        burn_in: float | None,
        lyapunov: float | None,
    ) -> dict[str, float]:
        """What was not given."""
        if inner_step is None:
            inner_step = self._inner_step(values)
        stepper = self.stepper(values, self.dt, inner_step)
        states = self.starts(stream(1, "own system"), ALONG, values)
        if burn_in is None or lyapunov is None:
            states, way = self._settled(stepper, states)
            burn_in = way if burn_in is None else burn_in
        if lyapunov is None:
            lyapunov = self._exponent(stepper, states)
        return {"inner_step": inner_step, "burn_in": burn_in, "lyapunov": lyapunov}

    def _inner_step(self, values: Parameters) -> float:
        """Halved until that changes nothing any more over one dt."""
        states = self.starts(stream(0, "own system"), ALONG, values)
        states = self.stepper(values, self.dt, self.dt / 8).advance(states, 200, None, "")  # type: ignore[arg-type]
        if not np.isfinite(states).all():
            raise _lost(self.dt)
        before, parts = None, 1
        while parts <= MOST_SUBSTEPS:
            after = self.stepper(values, self.dt, self.dt / parts).advance(states, 1, None, "")  # type: ignore[arg-type]
            size = float(np.abs(after).max())
            if before is not None and float(np.abs(after - before).max()) <= EXACT * size:
                return 2 * self.dt / parts
            before, parts = after, 2 * parts
        return self.dt / MOST_SUBSTEPS

    def _settled(self, stepper: Stepper, states: Array) -> tuple[Array, float]:
        """States on the attractor, and the time it took: until mean and spread stay the same."""
        before: tuple[Array, Array] | None = None
        steps, first = 0, float(np.abs(states).max())
        for number in range(WINDOWS):
            window = FIRST_WINDOW * 2**number
            path = stepper.rollout(states, window, None, "")  # type: ignore[arg-type]
            if not np.abs(path).max() < BEYOND * (1 + first):  # not a number, too
                raise _lost(self.dt)
            states, steps = path[:, -1], steps + window
            mean, spread = path.mean(axis=(0, 1)), path.std(axis=(0, 1))
            if before is not None:
                change = max(np.abs(mean - before[0]).max(), np.abs(spread - before[1]).max())
                if change <= SETTLED * max(float(spread.max()), 1e-300):
                    return states, steps * self.dt
            before = mean, spread
        raise InvalidInput(
            f"Mean and spread still change after {steps * self.dt:g} time units. Give burn_in, the "
            "time to the attractor, or a start on it."
        )

    def _exponent(self, stepper: Stepper, states: Array) -> float:
        from ..measure.lyapunov import lyapunov_exponents

        found, steps = 0.0, 2000
        while steps <= 256_000:
            found = float(lyapunov_exponents(stepper, states, steps=steps).exponents[0])
            if found * steps * self.dt >= LYAPUNOV_TIMES:
                return found
            if steps >= 32_000 and found * steps * self.dt < LEAST_TIMES:
                break
            steps *= 4
        raise InvalidInput(
            f"The largest Lyapunov exponent is {found:.2g} per time unit over {steps} steps of "
            f"dt={self.dt:g}: this is not chaotic, or dt is very small. Use other parameters or "
            "another dt, or give lyapunov: the inverse of the time that shall be the unit."
        )


def _parameters(equation: Equation, given: Mapping[str, float] | None) -> dict[str, float]:
    """By name, in the order of the function's arguments."""
    if not callable(equation):
        raise refuse("equation", equation, "a function", "def mine(u, a=1.0): return ...")
    _, *arguments = inspect.signature(equation).parameters.values()
    given = dict(given or {})
    values: dict[str, float] = {}
    for argument in arguments:
        if argument.kind is not argument.POSITIONAL_OR_KEYWORD:
            raise refuse("equation", argument, "a function of named parameters", "No *args.")
        value = given.pop(argument.name, argument.default)
        if value is argument.empty:
            raise InvalidInput(
                f"The parameter {argument.name!r} of the equation has no value. Give it one in "
                f"the function, {argument.name}=1.0, or in parameters."
            )
        values[argument.name] = real(f"parameter {argument.name}", value, "A finite number.")
    if given:
        known = ", ".join(values) or "none"
        raise refuse("parameters", next(iter(given)), f"those of the equation ({known})", "")
    return values


def _start(given: Sequence[float] | Array | None, dimension: int) -> Array | None:
    if given is None:
        return None
    found = np.asarray(given, dtype=float)
    if found.shape != (dimension,) or not np.isfinite(found).all():
        raise refuse("start", _short(found), f"{dimension} finite numbers", "One state.")
    return found


def _short(array: Array) -> str:
    return np.array2string(np.asarray(array), precision=3, threshold=6)


def _lost(dt: float) -> InvalidInput:
    return InvalidInput(
        f"The system left every bound with dt={dt:g}. Give a start near its attractor, other "
        "parameters, or a smaller dt."
    )
