"""Kuramoto-Sivashinsky: flame fronts and falling films on a ring of length L.

u_t + u u_x + u_xx + u_xxxx = 0,   u(x + L, t) = u(x, t)
"""

from __future__ import annotations

import math

import numpy as np

from ..model.recipes import wide_halo
from ..model.spec import ModelSpec
from .base import Array, Parameters, Quick, System, register
from .integrate import ETDRK4, real_transforms
from .rollout import Stepper

HALO = 4.7  # length, on each side; twelve points of the paper's grid


def _kuramoto_sivashinsky(p: Parameters, dt: float, inner_step: float) -> Stepper:
    """u_t = -u u_x - u_xx - u_xxxx; the product is formed on the grid, as -(u^2/2)_x."""
    n = int(p["grid"])
    there, back = real_transforms(n)
    k = 2 * np.pi * np.arange(n // 2 + 1) / p["L"]
    slope = -0.5j * k
    if n % 2 == 0:
        slope[-1] = 0.0  # the highest wave of an even grid has no derivative

    def nonlinear(v: Array) -> Array:
        u = back(v)
        u *= u
        product = there(u)
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
    return np.asarray(base + size[0] @ np.cos(angle) + size[1] @ np.sin(angle))


def _recommend(p: Parameters, far: bool) -> ModelSpec:
    grid = int(p["grid"])
    return wide_halo(grid, HALO * grid / p["L"], 1.0, 1.0, far)


KS = register(
    System(
        name="KS",
        title="Kuramoto-Sivashinsky",
        latex=r"u_t+u\,u_x+u_{xx}+u_{xxxx}=0,\quad u(x+L,t)=u(x,t)",
        citation=(
            "Y. Kuramoto, Prog. Theor. Phys. Suppl. 64 (1978) 346; G. I. Sivashinsky, Acta "
            "Astronaut. 4 (1977) 1177; scheme: A.-K. Kassam and L. N. Trefethen, SIAM J. Sci. "
            "Comput. 26 (2005)"
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
        length=lambda p: p["L"],
        recommend=_recommend,
        quick=Quick(n_train=20_000, n_test=10),
        converged_in_paper=True,  # 0.025 is, far beyond what any model here resolves
    )
)
