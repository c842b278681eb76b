"""A trained model against the test trajectories of its data."""

from __future__ import annotations

import math

import numpy as np

from ..checks import InvalidInput, refuse
from ..data.dataset import Dataset
from ..events import Reporter
from ..model.model import Model
from .metrics import ForecastTimes, forecast_error, valid_times

Array = np.ndarray


def evaluate(
    model: Model, data: Dataset, *, eps: float | None = None, report: Reporter | None = None
) -> ForecastTimes:
    """Valid prediction times over all test trajectories, forecast side by side.

    Stops as soon as the last of them has failed. The states are those of ``model.forecast`` from
    the same starts, bit for bit, because the batch stays whole.
    """
    if not len(data.test):
        raise InvalidInput(
            "This dataset has no test trajectories. Make it with n_test of 1 or more."
        )
    if not math.isclose(model.dt, data.dt, rel_tol=1e-9):
        raise refuse(
            "dt of the data", data.dt, f"{model.dt:g}, with which this model was trained",
            "A map knows one step only: make the data with that dt, or train on these.",
        )  # fmt: skip
    threshold = data.eps if eps is None else eps
    failed = np.zeros(len(data.test), dtype=bool)

    def all_failed(first: int, piece: Array) -> bool:
        truth = data.test[:, first : first + piece.shape[1]]
        error = forecast_error(piece, truth, data.std)
        failed[:] |= (error >= threshold).any(axis=1)
        return bool(failed.all())

    steps = data.test.shape[1] - 1
    run = model.run(data.test[:, 0], steps, report=report, enough=all_failed)
    seen = slice(0, run.steps + 1)  # what was not computed must not count as diverged
    return valid_times(
        run.states[:, seen],
        data.test[:, seen],
        std=data.std,
        dt=data.dt,
        lyapunov=data.lyapunov,
        eps=threshold,
    )
