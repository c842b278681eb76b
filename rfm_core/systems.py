"""The systems: equations and what is known about them. Adding one is one small entry below.

A system is a record: how to step it, where to start it, and the figures that the literature gives.
Ordinary differential equations are a compiled right-hand side ``rhs(u, parameters, du)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.fft import irfft, rfft

from .checks import InvalidInput, one_of, real, refuse, whole
from .integrate import ETDRK4, Odeint, RightHandSide, RungeKutta, right_hand_side
from .rollout import Stepper

Array = np.ndarray
Parameters = Mapping[str, float]


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


# --- Lorenz 1963 -----------------------------------------------------------------------------


@right_hand_side
def _lorenz63(u, parameters, du):  # type: ignore[no-untyped-def]
    sigma, rho, beta = parameters
    du[0] = sigma * (u[1] - u[0])
    du[1] = u[0] * (rho - u[2]) - u[1]
    du[2] = u[0] * u[1] - beta * u[2]


L63 = System(
    name="L63",
    title="Lorenz 1963",
    latex=r"\dot x=\sigma(y-x),\quad \dot y=x(\rho-z)-y,\quad \dot z=xy-\beta z",
    citation="E. N. Lorenz, Deterministic nonperiodic flow, J. Atmos. Sci. 20 (1963) 130-141",
    parameters={"sigma": 10.0, "rho": 28.0, "beta": 8 / 3},
    dimension=lambda p: 3,
    components=("x", "y", "z"),
    start=lambda rng, n, p: np.array([0.0, 0.0, p["rho"] - 1]) + 8 * rng.standard_normal((n, 3)),
    lyapunov=0.91,
    dt=0.01,
    n_train=50_000,
    eps=0.3,
    horizon=40.0,
    burn_in=40.0,
    paper_burn_in=40.0,
    inner_step=0.005,
    rhs=_lorenz63,
)


# --- Lorenz 1996 -----------------------------------------------------------------------------


@right_hand_side
def _lorenz96(u, parameters, du):  # type: ignore[no-untyped-def]
    forcing = parameters[1]
    n = len(u)
    du[0] = (u[1] - u[n - 2]) * u[n - 1] - u[0] + forcing
    du[1] = (u[2] - u[n - 1]) * u[0] - u[1] + forcing
    for i in range(2, n - 1):
        du[i] = (u[i + 1] - u[i - 2]) * u[i - 1] - u[i] + forcing
    du[n - 1] = (u[0] - u[n - 3]) * u[n - 2] - u[n - 1] + forcing


L96 = System(
    name="L96",
    title="Lorenz 1996",
    latex=r"\dot x_i=(x_{i+1}-x_{i-2})\,x_{i-1}-x_i+F,\quad x_{i+D}=x_i",
    citation="E. N. Lorenz, Predictability: a problem partly solved, ECMWF seminar (1996)",
    parameters={"D": 40, "F": 10.0},
    dimension=lambda p: int(p["D"]),
    start=lambda rng, n, p: p["F"] / 4 + 3 * rng.standard_normal((n, int(p["D"]))),
    lyapunov=2.27,
    dt=0.01,
    n_train=100_000,
    eps=0.5,
    horizon=20.0,
    burn_in=40.0,
    paper_burn_in=1000.0,
    inner_step=0.005,
    rhs=_lorenz96,
    homogeneous=True,
    limits={"D": (4, 4096), "F": (-1e3, 1e3)},
    whole_parameters=("D",),
)


# --- Kuramoto-Sivashinsky --------------------------------------------------------------------


def _kuramoto_sivashinsky(p: Parameters, dt: float, inner_step: float) -> Stepper:
    """u_t = -u u_x - u_xx - u_xxxx; the product is formed on the grid, as -(u^2/2)_x."""
    n = int(p["grid"])
    k = 2 * np.pi * np.arange(n // 2 + 1) / p["L"]
    slope = -0.5j * k
    if n % 2 == 0:
        slope[-1] = 0.0  # the highest wave of an even grid has no derivative

    def nonlinear(v: Array) -> Array:
        u = irfft(v, n=n)
        u *= u
        product = rfft(u)
        product *= slope
        return np.asarray(product)

    return ETDRK4(k**2 - k**4, nonlinear, n, dt, inner_step)


def _ks_start(rng: np.random.Generator, n: int, p: Parameters) -> Array:
    """The paper's initial condition plus small waves of random size in the unstable band.

    The mean stays zero: it is conserved, so another mean would be another attractor.
    """
    x = np.arange(int(p["grid"])) / int(p["grid"])
    base = np.cos(2 * np.pi * x) * (1 + np.sin(2 * np.pi * x))
    waves = np.arange(1, max(2, min(int(p["grid"]) // 3, math.ceil(p["L"] / (2 * np.pi)))) + 1)
    size = rng.standard_normal((2, n, len(waves))) * 0.3 / math.sqrt(len(waves))
    angle = 2 * np.pi * waves[:, None] * x
    return base + size[0] @ np.cos(angle) + size[1] @ np.sin(angle)


KS = System(
    name="KS",
    title="Kuramoto-Sivashinsky",
    latex=r"u_t+u\,u_x+u_{xx}+u_{xxxx}=0,\quad u(x+L,t)=u(x,t)",
    citation=(
        "Y. Kuramoto, Prog. Theor. Phys. Suppl. 64 (1978) 346; G. I. Sivashinsky, Acta Astronaut. "
        "4 (1977) 1177; scheme: A.-K. Kassam and L. N. Trefethen, SIAM J. Sci. Comput. 26 (2005)"
    ),
    parameters={"L": 200.0, "grid": 512},
    dimension=lambda p: int(p["grid"]),
    start=_ks_start,
    lyapunov=0.094,
    dt=0.25,
    n_train=100_000,
    eps=0.5,
    horizon=20.0,
    burn_in=500.0,
    paper_burn_in=2.5e4,
    inner_step=0.025,
    paper_inner_step=0.001,
    coarse_step=0.1,
    make_stepper=_kuramoto_sivashinsky,
    train_trajectories=40,
    homogeneous=True,
    limits={"L": (1.0, 1e4), "grid": (16, 8192)},
    whole_parameters=("grid",),
)


# --- Two more, to show what an entry takes ---------------------------------------------------


@right_hand_side
def _roessler(u, parameters, du):  # type: ignore[no-untyped-def]
    a, b, c = parameters
    du[0] = -u[1] - u[2]
    du[1] = u[0] + a * u[1]
    du[2] = b + u[2] * (u[0] - c)


def _roessler_start(rng: np.random.Generator, n: int, p: Parameters) -> Array:
    """On a ring, at any angle: the rotation is so even that equal angles stay equal for long."""
    angle, radius = rng.uniform(0, 2 * np.pi, n), 5 + rng.standard_normal(n)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(n, 0.02)], axis=-1)


ROESSLER = System(
    name="Roessler",
    title="Rössler 1976",
    latex=r"\dot x=-y-z,\quad \dot y=x+ay,\quad \dot z=b+z(x-c)",
    citation="O. E. Roessler, An equation for continuous chaos, Phys. Lett. A 57 (1976) 397-398",
    parameters={"a": 0.2, "b": 0.2, "c": 5.7},
    dimension=lambda p: 3,
    components=("x", "y", "z"),
    start=_roessler_start,
    lyapunov=0.0714,
    dt=0.1,
    n_train=50_000,
    eps=0.3,
    horizon=20.0,
    burn_in=500.0,
    paper_burn_in=500.0,
    inner_step=0.02,
    rhs=_roessler,
)


@right_hand_side
def _halvorsen(u, parameters, du):  # type: ignore[no-untyped-def]
    a, b = parameters
    for i in range(3):
        v, w = u[(i + 1) % 3], u[(i + 2) % 3]
        du[i] = -a * u[i] - b * (v + w) - v * v


HALVORSEN = System(
    name="Halvorsen",
    title="Halvorsen",
    latex=r"\dot x=-ax-b(y+z)-y^2,\quad \text{and cyclically}",
    citation="J. C. Sprott, Chaos and Time-Series Analysis, Oxford University Press (2003)",
    parameters={"a": 1.4, "b": 4.0},
    dimension=lambda p: 3,
    components=("x", "y", "z"),
    start=lambda rng, n, p: np.array([-5.0, 0.0, 0.0]) + 0.3 * rng.standard_normal((n, 3)),
    lyapunov=0.69,
    dt=0.02,
    n_train=50_000,
    eps=0.3,
    horizon=30.0,
    burn_in=100.0,
    paper_burn_in=100.0,
    inner_step=0.005,
    rhs=_halvorsen,
)

SYSTEMS: dict[str, System] = {s.name: s for s in (L63, L96, KS, ROESSLER, HALVORSEN)}


def get_system(name: str) -> System:
    """The system of that name; the error lists all of them."""
    if not isinstance(name, str) or name not in SYSTEMS:
        raise refuse("system", name, f"one of {', '.join(SYSTEMS)}", "Names are case-sensitive.")
    return SYSTEMS[name]
