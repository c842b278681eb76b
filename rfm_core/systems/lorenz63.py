"""Lorenz 1963: three waves of convection, the first strange attractor.

x' = sigma (y - x),   y' = x (rho - z) - y,   z' = x y - beta z
"""

from __future__ import annotations

import numpy as np

from .base import System, register
from .integrate import right_hand_side


@right_hand_side
def _lorenz63(u, parameters, du):  # type: ignore[no-untyped-def]
    sigma, rho, beta = parameters
    du[0] = sigma * (u[1] - u[0])
    du[1] = u[0] * (rho - u[2]) - u[1]
    du[2] = u[0] * u[1] - beta * u[2]


L63 = register(
    System(
        name="L63",
        title="Lorenz 1963",
        latex=r"\dot x=\sigma(y-x),\quad \dot y=x(\rho-z)-y,\quad \dot z=xy-\beta z",
        citation="E. N. Lorenz, Deterministic nonperiodic flow, J. Atmos. Sci. 20 (1963) 130-141",
        parameters={"sigma": 10.0, "rho": 28.0, "beta": 8 / 3},
        dimension=lambda p: 3,
        components=("x", "y", "z"),
        start=lambda rng, n, p: (
            np.array([0.0, 0.0, p["rho"] - 1]) + 8 * rng.standard_normal((n, 3))
        ),
        lyapunov=0.91,
        dt=0.01,
        n_train=50_000,
        eps=0.3,
        horizon=40.0,
        burn_in=40.0,
        paper_burn_in=40.0,
        inner_step=0.005,
        rhs=_lorenz63,
        symbols={"sigma": "σ", "rho": "ρ", "beta": "β"},
    )
)
