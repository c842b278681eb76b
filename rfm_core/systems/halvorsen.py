"""Halvorsen: three components that play the same part in turn.

x' = -a x - b (y + z) - y^2,   and cyclically
"""

from __future__ import annotations

import numpy as np

from .base import System, register
from .integrate import right_hand_side


@right_hand_side
def _halvorsen(u, parameters, du):  # type: ignore[no-untyped-def]
    a, b = parameters
    for i in range(3):
        v, w = u[(i + 1) % 3], u[(i + 2) % 3]
        du[i] = -a * u[i] - b * (v + w) - v * v


HALVORSEN = register(
    System(
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
)
