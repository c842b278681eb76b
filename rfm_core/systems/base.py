"""What a system is, and the one list of them.

A system is a record: how to step it, where to start it, the figures that the literature gives, and
what is known to learn it well. Ordinary differential equations are a compiled right-hand side
``rhs(u, parameters, du)``; anything else makes its own stepper. One call adds one, from any module:

    register(System(name="Mine", ...))

Nothing else tests the name of a system: what somebody needs to know of it stands in its record.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..checks import InvalidInput, one_of, real, refuse, whole
from ..events import Reporter
from ..model.spec import ModelSpec
from ..spec import digest_of
from .integrate import Odeint, RightHandSide, RungeKutta
from .rollout import Stepper

Array = np.ndarray
Parameters = Mapping[str, float]
Recommend = Callable[[Parameters, bool], ModelSpec]  # (parameters, far): see ``recommended``
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")  # it is part of file names and of links


@dataclass(frozen=True)
class Quick:
    """Sizes of the data for a first run that shall be short; None: as usual."""

    n_train: int | None = None
    n_test: int | None = None


@dataclass(frozen=True, eq=False)
class System:
    """One dynamical system with the paper's (or the literature's) settings as defaults."""

    name: str
    title: str
    latex: str
    citation: str
    parameters: Parameters
    dimension: Callable[[Parameters], int]
    start: Callable[[np.random.Generator, int, Parameters], Array]  # n distinct rough states
    lyapunov: float  # at the default parameters
    dt: float
    n_train: int
    eps: float  # threshold of the valid prediction time
    horizon: float  # length of test trajectories in Lyapunov times
    burn_in: float  # time units from a rough start to the attractor
    paper_burn_in: float
    inner_step: float
    rhs: RightHandSide | None = None
    make_stepper: Callable[[Parameters, float, float], Stepper] | None = None
    paper_inner_step: float | None = None
    coarse_step: float | None = None  # good enough for most of the way to the attractor
    train_trajectories: int = 1
    homogeneous: bool = False
    components: tuple[str, ...] = ()
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    whole_parameters: tuple[str, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict)  # of parameters, as people write them
    length: Callable[[Parameters], float] | None = None  # of space; None: the dimension
    recommend: Recommend | None = None  # None: a model for few components, or for any ring
    quick: Quick = Quick()
    converged_in_paper: bool = False  # then accuracy="paper" costs time and changes nothing
    text: Mapping[str, Any] | None = None  # of one from a plain function: enough to make it again

    @property
    def key(self) -> str | None:
        """What its data are kept under beside their spec; None: they are not kept.

        Ours are known to stay the same; somebody's own equation is known by its text.
        """
        if built_in(self.name):
            return ""
        return None if self.text is None else digest_of(dict(self.text))

    def resolve(self, given: Mapping[str, float]) -> dict[str, float]:
        """All parameters, the given ones checked and the others at their defaults."""
        unknown = sorted(set(given) - set(self.parameters))
        if unknown:
            known = ", ".join(f"{k}={v:g}" for k, v in self.parameters.items())
            raise InvalidInput(
                f"{self.name} has no parameter {unknown[0]!r}. Its parameters are: {known}."
            )
        out: dict[str, float] = {}
        for key, default in self.parameters.items():
            low, high = self.limits.get(key, (-1e6, 1e6))
            remedy = f"The default is {default:g}."
            name = f"{self.name} parameter {key}"
            if key in self.whole_parameters:
                out[key] = whole(name, given.get(key, default), int(low), int(high), remedy)
            else:
                out[key] = real(name, given.get(key, default), remedy, low=low, high=high)
        return out

    def symbol(self, parameter: str) -> str:
        """How people write a parameter: sigma is σ."""
        return self.symbols.get(parameter, parameter)

    def extent(self, parameters: Parameters) -> float:
        """Length of space, for axes; the number of components where there is no other measure."""
        return float((self.length or self.dimension)(parameters))

    def stepper(
        self, parameters: Parameters, dt: float, accuracy: str = "fine", inner: float | None = None
    ) -> Stepper:
        """The map over ``dt``: accurate to rounding, or made as the paper made its data."""
        one_of("accuracy", accuracy, ("fine", "paper"), "'fine' is the accurate default.")
        if self.rhs is not None:
            values = np.array(list(parameters.values()), dtype=np.float64)
            if accuracy == "paper":
                return Odeint(self.rhs, values, dt, self.dimension(parameters))
            step = inner or self.inner_step
            return RungeKutta(self.rhs, values, dt, step, self.dimension(parameters))
        assert self.make_stepper is not None
        paper_inner = self.paper_inner_step if accuracy == "paper" else None
        return self.make_stepper(parameters, dt, inner or paper_inner or self.inner_step)


SYSTEMS: dict[str, System] = {}
_homes: dict[str, str] = {}  # of systems that are not ours: the module that registered each


def register(system: System, *, replace: bool = False, home: str | None = None) -> System:
    """Add a system to all others, or with ``replace=True`` put it in the place of one.

    It is tried first: what cannot start or step is refused. Worker processes import the module
    from which this is called (or ``home``), so that they know the system too; a script that is run
    itself cannot be imported, so a system that workers shall know belongs into a module beside it.
    """
    _check(system)
    if system.name in SYSTEMS and not replace:
        raise refuse(
            "name", system.name, "new: there is a system of this name",
            "Choose another name, or pass replace=True to put it in that one's place.",
        )  # fmt: skip
    if home is None:
        home = calling_module()
    if not home.startswith(f"{__package__}."):  # ours are tried by tests, not at every import
        attempt(system)
        _homes[system.name] = home
    SYSTEMS[system.name] = system
    return system


def calling_module() -> str:
    """The name of the module from which the caller of this was called."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = frame.f_back if frame is not None else None
    return "" if frame is None else str(frame.f_globals.get("__name__", ""))


def get_system(name: str) -> System:
    """The system of that name; the error lists all of them."""
    if not isinstance(name, str) or name not in SYSTEMS:
        remedy = (
            "Names are case-sensitive. A system of your own must be registered, and for worker "
            "processes in a module that they can import."
        )
        raise refuse("system", name, f"one of {', '.join(SYSTEMS)}", remedy)
    return SYSTEMS[name]


def built_in(name: str) -> bool:
    """Is it one of ours, whose equations are known to stay the same under this name?"""
    return name not in _homes


def modules_of_systems() -> list[str]:
    """Modules that registered systems which are not ours, for worker processes to import."""
    homes = {home for name, home in _homes.items() if SYSTEMS[name].text is None}
    return sorted(homes - {"", "__main__"})


def texts_of_systems() -> list[Mapping[str, Any]]:
    """Of those that are made from a plain function: workers make them again."""
    return [system.text for system in SYSTEMS.values() if system.text is not None]


def _check(system: System) -> None:
    """All that can be wrong with an entry, in words."""
    if not isinstance(system, System):
        raise refuse("system", system, "a System", "For example System(name='Mine', ...).")
    if not isinstance(system.name, str) or not NAME.fullmatch(system.name):
        limit = "a letter and then up to 39 letters, digits, - or _"
        raise refuse("name", system.name, limit, "It is part of file names and of links.")
    if (system.rhs is None) == (system.make_stepper is None):
        raise InvalidInput(
            f"{system.name} needs either rhs, a compiled right-hand side, or make_stepper, and not "
            "both. Compile with rfm_core.right_hand_side."
        )
    if system.rhs is not None and not isinstance(system.rhs, RightHandSide):
        raise refuse(
            "rhs", system.rhs, "compiled", "Put @rfm_core.right_hand_side above the function."
        )
    for name in ("lyapunov", "dt", "eps", "horizon", "inner_step"):
        real(f"{system.name} {name}", getattr(system, name), "See the other systems.", 0, 1e9, True)
    for name in ("limits", "whole_parameters", "symbols"):
        for unknown in set(getattr(system, name)) - set(system.parameters):
            raise refuse(name, unknown, "names of parameters", f"These are {[*system.parameters]}.")


def attempt(system: System) -> None:
    """Two starts and one step of each, at the usual parameters."""
    parameters = system.resolve({})
    try:
        dimension = whole("dimension", system.dimension(parameters), 1, None, "Count components.")
        start = np.asarray(system.start(np.random.default_rng(0), 2, parameters))
        if start.shape != (2, dimension) or not np.isfinite(start).all():
            raise refuse(
                "shape of start", start.shape, f"(2, {dimension}), and finite",
                "start(rng, n, parameters) gives n states on different paths to the attractor.",
            )  # fmt: skip
        moved = system.stepper(parameters, system.dt).advance(start, 1, Reporter(), "")
        if moved.shape != start.shape or not np.isfinite(moved).all():
            raise refuse(
                "a step", moved, "finite", f"Look at the equation, or lower dt={system.dt:g}."
            )
        if system.components and len(system.components) != dimension:
            raise refuse("components", system.components, f"{dimension} names", "One a component.")
        if system.recommend is not None:
            for far in (False, True):
                system.recommend(parameters, far).scheme(dimension)
        real("length", system.extent(parameters), "It is the length of space.", 0, above=True)
    except InvalidInput as error:
        raise InvalidInput(f"The system {system.name} cannot be registered: {error}") from None
    except Exception as error:  # a stranger's functions may raise anything
        raise InvalidInput(
            f"The system {system.name} cannot be registered: a first step of it ended in "
            f"{type(error).__name__}: {error}. Call its start and its stepper by hand to see why."
        ) from error
