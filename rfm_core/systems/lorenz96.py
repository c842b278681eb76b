"""Lorenz 1996: D values on a circle of latitude, each driven, damped and carried by its neighbours.

x_i' = (x_{i+1} - x_{i-2}) x_{i-1} - x_i + F,   x_{i+D} = x_i
"""

from __future__ import annotations

from ..model.recipes import narrow_halo
from .base import System, register
from .integrate import right_hand_side


@right_hand_side
def _lorenz96(u, parameters, du):  # type: ignore[no-untyped-def]
    forcing = parameters[1]
    n = len(u)
    du[0] = (u[1] - u[n - 2]) * u[n - 1] - u[0] + forcing
    du[1] = (u[2] - u[n - 1]) * u[0] - u[1] + forcing
    for i in range(2, n - 1):
        du[i] = (u[i + 1] - u[i - 2]) * u[i - 1] - u[i] + forcing
    du[n - 1] = (u[0] - u[n - 3]) * u[n - 2] - u[n - 1] + forcing


L96 = register(
    System(
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
        recommend=lambda p, far: narrow_halo(4, 2, 0.41, far),
    )
)
