"""Forecasts of all tests, watched as they grow: how wrong they are, and when it is enough."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..checks import whole
from ..data.dataset import Dataset
from ..events import Reporter
from ..model.model import Model
from .metrics import ForecastTimes, forecast_error, valid_times

Array = np.ndarray


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


def trajectory(model: Model, data: Dataset, test: int = 0, steps: int | None = None) -> Trajectory:
    """One test trajectory and its forecast, until a bit past its failure or for ``steps``."""
    test = whole("test", test, 0, len(data.test) - 1, "Tests count from 0.")
    return forecasts(model, data, steps)[0][test]


def joined_times(several: Sequence[ForecastTimes]) -> Times:
    """Valid prediction times of several ``rfm_core.evaluate``, a realization each."""
    tests = [np.arange(len(found.vpt)) for found in several]
    return Times(
        vpt=np.concatenate([found.vpt for found in several]),
        censored=np.concatenate([found.censored for found in several]),
        diverged=np.concatenate([found.diverged_at >= 0 for found in several]),
        realization=np.concatenate([np.full_like(t, k) for k, t in enumerate(tests)]),
        test=np.concatenate(tests),
    )


class Watch:
    """Looks at all forecasts as they grow: how wrong they are, whether they have gone far enough.

    Far enough is beyond the failure of the last one, so that a picture shows how it failed.
    """

    def __init__(self, data: Dataset, steps: int, whole_length: bool) -> None:
        self.data, self.per_step, self.whole_length = data, data.per_step, whole_length
        self.error = np.full((len(data.test), steps + 1), np.nan)
        self.error[:, 0] = 0.0
        self.failed_at = np.full(len(data.test), -1)
        self.decided: int | None = None  # the step at which ``rfm_core.evaluate`` stops
        self.end = math.inf

    def look(self, first: int, piece: Array) -> bool:
        """At a piece (tests, times, D) that begins with step ``first``."""
        last = first + piece.shape[1] - 1
        error = forecast_error(piece, self.data.test[:, first : last + 1], self.data.std)
        wrong = error >= self.data.eps
        new = (self.failed_at < 0) & wrong.any(axis=1)
        self.failed_at[new] = first + wrong.argmax(axis=1)[new]
        self.error[:, first : last + 1] = np.where(np.isfinite(error), error, np.nan)
        if self.decided is None and (self.failed_at >= 0).all():
            self.decided = last
            self.end = 1.3 * int(self.failed_at.max()) + 1 / self.per_step
        return last >= self.end and not self.whole_length


Listener = Callable[[Watch, int, Array], None]


def forecasts(
    model: Model,
    data: Dataset,
    steps: int | None = None,
    *,
    realization: int = 0,
    report: Reporter | None = None,
    grow: Listener | None = None,
) -> tuple[list[Trajectory], Times]:
    """All tests as one batch, which makes the times those of ``rfm_core.evaluate`` to the bit.

    ``grow(watch, first, piece)`` hears of every new piece of all forecasts.
    """
    most = data.test.shape[1] - 1
    length = most if steps is None else whole("steps", steps, 1, most, "The tests have no more.")
    watch = Watch(data, length, steps is not None)

    def enough(first: int, piece: Array) -> bool:
        over = watch.look(first, piece)
        if grow is not None:
            grow(watch, first, piece)
        return over

    run = model.run(data.test[:, 0], length, report=report, enough=enough)
    seen = slice(0, (run.steps if watch.decided is None else watch.decided) + 1)
    found = valid_times(
        run.states[:, seen],
        data.test[:, seen],
        std=data.std,
        dt=data.dt,
        lyapunov=data.lyapunov,
        eps=data.eps,
    )
    trajectories = [
        Trajectory(
            realization=realization,
            test=test,
            truth=data.test[test, : length + 1],
            forecast=run.states[test],
            error=watch.error[test],
            vpt=float(found.vpt[test]),
            censored=bool(found.censored[test]),
            diverged_at=int(run.diverged_at[test]),
        )
        for test in range(len(data.test))
    ]
    all_times = joined_times([found])
    number = np.full_like(all_times.test, realization)
    return trajectories, dataclasses.replace(all_times, realization=number)
