"""Roessler 1976: a spiral that folds.

x' = -y - z,   y' = x + a y,   z' = b + z (x - c)
"""

from __future__ import annotations

import numpy as np

from .base import Array, Parameters, System, register
from .integrate import right_hand_side


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


ROESSLER = register(
    System(
        name="Roessler",
        title="Rössler 1976",
        latex=r"\dot x=-y-z,\quad \dot y=x+ay,\quad \dot z=b+z(x-c)",
        citation=(
            "O. E. Roessler, An equation for continuous chaos, Phys. Lett. A 57 (1976) 397-398"
        ),
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
)
