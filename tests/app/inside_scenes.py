"""Small made-up results to draw and to talk about."""

from __future__ import annotations

import numpy as np
from rfm_explorer.results.records import Climate, Info, Regression, Solver, UnitRegression

from rfm_core import TanhRegions


def some_regions(linear: float, good: float, saturated: float) -> TanhRegions:
    """Five features with the same shares, pre-activations spread evenly."""
    shares = (np.full(5, share) for share in (linear, good, saturated))
    return TanhRegions(*shares, np.linspace(-7, 7, 15), np.full(14, 1 / 14), 0.4, 3.5)


def some_climate() -> Climate:
    """Three columns: told apart a little, not at all, and clearly."""
    frequency = np.linspace(0, 50, 101)
    return Climate(
        columns=("x", "y", "z"),
        pooled=False,
        edges=np.tile(np.linspace(-1, 1, 11), (3, 1)),
        truth=np.full((3, 10), 0.5),
        surrogate=np.full((3, 10), 0.5),
        outside=np.zeros(3),
        w2=np.array([0.5, 0.1, 3.0]),
        w2_true=np.array([0.2, 0.1, 0.1]),
        sinkhorn=np.array([0.5, 0.1, 3.0]),
        frequency=frequency,
        power_truth=np.exp(-frequency),
        power_surrogate=np.exp(-frequency),
        times=100.0,
        runs=8,
        diverged=0,
    )


def some_regression() -> Regression:
    """One unit whose beta in use is the best, and two solvers."""
    unit = UnitRegression(
        singular_values=np.geomspace(1e3, 1e-9, 40),
        beta=1e-6,
        betas=np.array([1e-9, 1e-6, 1e-3]),
        training=np.array([0.1, 0.2, 0.8]),
        heldout=np.array([0.3, 0.25, 1.0]),
        norm=np.ones(3),
        effective=np.array([40.0, 30.0, 20.0]),
        condition_features=1e12,
        condition_weights=3.0,
    )
    betas = np.array([1e-24, 1e-12, 1e-2])
    ones, errors = np.ones(3), np.array([0.3, 0.2, 0.1])
    qr = Solver("qr", betas, ones, np.array([12.0, 10.0, 1.0]), errors)
    normal = Solver("normal", betas, ones, np.array([7.0, 9.0, 1.0]), errors)
    return Regression((unit,), (qr, normal), 10.0, 5000)


def some_info() -> Info:
    """Of the Lorenz-63 system."""
    return Info(
        name="L63",
        title="Lorenz-63",
        dt=0.01,
        eps=0.3,
        lyapunov=0.9,
        lyapunov_is_estimate=False,
        columns=("x", "y", "z"),
        dimension=3,
        homogeneous=False,
        length=3.0,
        pairs=5000,
        n_test=8,
        steps=1500,
        std=np.ones(3),
        mean=np.zeros(3),
        backdrop=np.zeros((0, 3)),
    )
