"""What there is to be drawn: immutable results of one run, in the form that plots and words take.

Workers produce them (``app.jobs``), folders carry them (``app.folder``), plots draw them. Arrays
are (time, state); times are in ``Info.unit``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rfm_core import ModelSpec, TanhRegions

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Info:
    """What is known of the data."""

    name: str  # "L63", or the name of a user's own series: a stranger's text
    title: str
    dt: float
    eps: float
    lyapunov: float | None  # None: nobody knows it, times are in time units
    lyapunov_is_estimate: bool
    columns: tuple[str, ...]  # as many as components; a stranger's text for uploads
    dimension: int
    homogeneous: bool  # looks the same everywhere in space
    length: float  # of space, for the axis of space-time images; the dimension where unknown
    pairs: int
    n_test: int
    steps: int  # of the test trajectories
    std: Array  # (D,)
    mean: Array  # (D,)
    backdrop: Array  # (n, D) training states in order of time, for the attractor; (0, D) if D > 3
    own: bool = False  # a user's own series: there is no true system to run on

    @property
    def unit(self) -> str:
        return "Lyapunov times" if self.lyapunov else "time units"

    @property
    def per_step(self) -> float:
        """Length of one step in ``unit``."""
        return self.dt * (self.lyapunov or 1.0)

    @property
    def spatial(self) -> bool:
        """Drawn as space-time images rather than curves."""
        return self.dimension > 5


@dataclass(frozen=True, eq=False)
class UnitReport:
    """One unit's regression."""

    beta: float
    error: float  # of the next state after this unit: root mean square over training rows
    seconds: float
    rows: int


@dataclass(frozen=True, eq=False)
class Trained:
    """A model as it was trained; the model itself is a file."""

    spec: ModelSpec
    seed: int
    size: int
    units: tuple[UnitReport, ...]
    data_seconds: float
    fit_seconds: float


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One test trajectory and its forecast, perhaps still growing: NaN where there is none yet."""

    realization: int
    test: int
    truth: Array  # (steps + 1, D)
    forecast: Array  # (steps + 1, D)
    error: Array  # (steps + 1,) normalised: root mean square over components of |difference| / std
    vpt: float | None  # None while the forecast is under way and has not failed yet
    censored: bool  # the forecast was still good at the end: vpt is a lower bound
    diverged_at: int  # step at which it left every bound, or -1
    done: bool = True


@dataclass(frozen=True, eq=False)
class Times:
    """Valid prediction times of everything forecast so far, one entry a test trajectory."""

    vpt: Array  # (n,)
    censored: Array  # (n,) bool
    diverged: Array  # (n,) bool
    realization: Array  # (n,) int
    test: Array  # (n,) int

    def __len__(self) -> int:
        return len(self.vpt)


@dataclass(frozen=True, eq=False)
class Features:
    """Where the features of each unit lie on the tanh."""

    # one dict a unit: "training", "test", "forecast" (only where one is finite), and "naive",
    # which is a naive sampler's features on the training data (only for the first unit)
    units: tuple[dict[str, TanhRegions], ...]
    naive: str  # which naive sampler: "gaussian" with scales as in Spec.w, Spec.b


@dataclass(frozen=True, eq=False)
class Climate:
    """Long runs of truth and surrogate, after transients; C columns, or one pooled over space."""

    columns: tuple[str, ...]
    pooled: bool
    edges: Array  # (C, bins + 1)
    truth: Array  # (C, bins) densities
    surrogate: Array  # (C, bins)
    outside: Array  # (C,) share of the surrogate beyond the edges
    w2: Array  # (C,) exact, of the marginals, surrogate against truth
    w2_true: Array  # (C,) the same between two independent true runs: the level to reach
    sinkhorn: Array  # (C,) the same by Sinkhorn's algorithm, as the paper computes it
    frequency: Array  # (F,) cycles a time unit
    power_truth: Array  # (F,)
    power_surrogate: Array  # (F,)
    times: float  # length of all runs together in Info.unit
    runs: int
    diverged: int  # runs of the surrogate that left every bound
    reason: str = ""  # why something is missing


@dataclass(frozen=True, eq=False)
class UnitRegression:
    """Inside one unit's regression."""

    singular_values: Array  # (features,) descending, of the features over all rows
    beta: float
    betas: Array  # (n,) the path
    training: Array  # (n,) one-step errors along it
    heldout: Array  # (n,)
    norm: Array  # (n,) of the outer weights
    effective: Array  # (n,) degrees of freedom
    condition_features: float
    condition_weights: float


@dataclass(frozen=True, eq=False)
class Solver:
    """Forecasts from held-out training data along beta with one solver (of a shallow model)."""

    solver: str  # "qr" or "normal"
    betas: Array
    one_step: Array
    forecast: Array  # mean VPT in Info.unit
    standard_error: Array


@dataclass(frozen=True, eq=False)
class Regression:
    """Everything about the regressions of a run."""

    units: tuple[UnitRegression, ...]
    solvers: tuple[Solver, ...]
    condition_data: float
    rows: int
    reason: str = ""  # why something is missing
