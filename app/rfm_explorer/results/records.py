"""What there is to be drawn: immutable results of one run, in the form that plots and words take.

Workers produce them (``compute.jobs``), folders carry them (``results.files``), plots draw them; a
dataclass of the engine, such as ``Stability``, serves as well as these.
Arrays are (time, state); times are in ``Info.unit``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rfm_core import (
    Climate,
    ModelSpec,
    Regression,
    Solver,
    TanhRegions,
    Times,
    Trajectory,
    UnitRegression,
)
from rfm_core.measure.regions import Features

__all__ = [
    "Climate", "Features", "Info", "Regression", "Solver", "TanhRegions", "Times", "Trained",
    "Trajectory", "UnitRegression", "UnitReport",
]  # fmt: skip

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
