"""How long a run takes and how much memory it needs, before it starts; and what would fit.

Counts and rates are in ``app.costs``; here they are put together, compared with limits, and
corrected by what runs on this machine really took.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rfm_core import DataSpec, ModelSpec, get_system

from .costs import (
    FAILED_BY,
    Sizes,
    data_seconds,
    fit_seconds,
    forecast_seconds,
    look_seconds,
    memory_bytes,
)

__all__ = ["Estimate", "Sizes", "estimate", "learn", "nearest_fitting", "refusal"]

BASE_GB = 0.05  # what a worker takes whatever it does
RUNS, TRANSIENT = 10, 5.0  # of app.jobs_climate, as are these:
DISTANCE_SECONDS, LONG_GB = 0.3, 0.15


@dataclass(frozen=True)
class Estimate:
    """Of one run; the seconds are of one thread here, as far as ``learn`` knows."""

    seconds: float
    memory_gb: float
    data_seconds: float
    fit_seconds: float
    forecast_seconds: float
    sizes: Sizes
    model: ModelSpec
    factor: float  # that is in the seconds

    def scaled(self, times: float) -> Estimate:
        """So many such runs one after the other."""
        parts = (self.data_seconds, self.fit_seconds, self.forecast_seconds)
        return self._with(*(times * seconds for seconds in parts))

    def with_forecast(self, times: float) -> Estimate:
        """Of long runs of the trained model and of the true system, ``times`` long together."""
        sizes, system = self.sizes, self.sizes.system
        steps = (times / RUNS + TRANSIENT) / sizes.per_step
        truth = 2 * RUNS * steps * sizes.true_step_seconds
        pooled = system is not None and get_system(system).homogeneous
        distances = DISTANCE_SECONDS * (1 if pooled else min(12, sizes.dimension))
        runs = forecast_seconds(sizes, self.model, RUNS, steps) + distances
        data = data_seconds(sizes) + truth
        long = self._with(self.factor * data, 0.0, self.factor * runs)
        arrays = (sizes.train_bytes + sizes.test_bytes) / 1e9
        return replace(long, memory_gb=max(self.memory_gb, BASE_GB + arrays + LONG_GB))

    def _with(self, data: float, fit: float, forecast: float) -> Estimate:
        return replace(
            self,
            seconds=data + fit + forecast,
            data_seconds=data,
            fit_seconds=fit,
            forecast_seconds=forecast,
        )


def estimate(
    data: DataSpec | Sizes, model: ModelSpec, *, n_test: int | None = None, realizations: int = 1
) -> Estimate:
    """Of data, training and forecasts of ``n_test`` trajectories, for so many realizations.

    A look at the features, which the first realization gets, counts as forecast.
    """
    sizes = Sizes.of(data) if isinstance(data, DataSpec) else data
    if n_test is not None:
        sizes = replace(sizes, n_test=n_test)
    times = realizations * _factor
    made, fitted = times * data_seconds(sizes), times * fit_seconds(sizes, model)
    forecast = times * forecast_seconds(sizes, model, sizes.n_test, FAILED_BY * sizes.steps)
    forecast += _factor * look_seconds(sizes, model)
    memory = BASE_GB + memory_bytes(sizes, model) / 1e9
    total = made + fitted + forecast
    return Estimate(total, memory, made, fitted, forecast, sizes, model, _factor)


# --- learning from what happened -------------------------------------------------------------

_factor = 1.0
_learning = threading.Lock()
LEAST_LEARNT = 1.0  # seconds; shorter runs tell more about their beginning and end
WEIGHT = 0.3


def learn(before: Estimate, actual_seconds: float) -> None:
    """Take in how long a run really took, waiting left out.

    Data may have come from the cache, so anything between all and all but the data is as expected.
    """
    global _factor
    most = before.seconds / before.factor
    least = most - before.data_seconds / before.factor
    if not (most >= LEAST_LEARNT and 0 < actual_seconds < math.inf):
        return
    with _learning:
        expected = min(max(actual_seconds, _factor * least), _factor * most)
        surprise = min(max(actual_seconds / max(expected, 1e-9), 0.2), 5.0)
        _factor = min(max(_factor * surprise**WEIGHT, 0.25), 10.0)


# --- what would fit --------------------------------------------------------------------------


def refusal(sizes: Sizes, model: ModelSpec, memory_gb: float, seconds: float) -> str | None:
    """Why it cannot run within these limits, and what can; None if it can."""
    found = estimate(sizes, model)
    over = []
    if found.memory_gb > memory_gb:
        over.append(f"{found.memory_gb:.3g} GB of memory, and {memory_gb:.3g} GB are there")
    if found.seconds > seconds:
        over.append(f"{duration(found.seconds)}, and a run may take {duration(seconds)}")
    if not over:
        return None
    smaller = nearest_fitting(sizes, model, memory_gb=memory_gb, seconds=seconds)
    remedy = "Use fewer training pairs, and fewer or shorter test trajectories."
    if smaller is not None:
        remedy = f"{_changes(model, smaller)} would fit."
    return f"{model.label} would need about {'; and '.join(over)}. {remedy}"


def nearest_fitting(
    sizes: Sizes, model: ModelSpec, *, memory_gb: float, seconds: float
) -> ModelSpec | None:
    """The same model as wide as it fits, otherwise with fewer units, otherwise with fewer rows."""
    for smaller in _smaller(sizes, model):
        found = estimate(sizes, smaller)
        if found.memory_gb <= memory_gb and found.seconds <= seconds:
            return smaller
    return None


def _smaller(sizes: Sizes, model: ModelSpec) -> Iterator[ModelSpec]:
    rows = min(model.rows or sizes.pairs, sizes.pairs)
    for fewer in (model.rows, *(rows // part for part in (4, 16) if rows // part >= 1000)):
        for depth in _halved(model.depth, 1):
            lesser = model.replace(rows=fewer, depth=depth)
            if model.features == "polynomial":
                yield from (lesser.replace(degree=n) for n in range(model.degree, 0, -1))
            else:
                widest = 2 ** math.floor(math.log2(model.width))
                yield from (lesser.replace(width=n) for n in _halved(widest, 64))


def _halved(number: int, least: int) -> list[int]:
    """The number and its halves; at least itself."""
    found = [number]
    while found[-1] // 2 >= least:
        found.append(found[-1] // 2)
    return found


def _changes(model: ModelSpec, smaller: ModelSpec) -> str:
    names = {"width": "D_r = {}", "degree": "degree {}", "depth": "B = {}", "rows": "{} rows"}
    changes = [
        words.format(getattr(smaller, name))
        for name, words in names.items()
        if getattr(smaller, name) != getattr(model, name)
    ]
    return " with ".join(changes)


def duration(seconds: float) -> str:
    """As a person would put an estimate."""
    if seconds < 1.5:
        return "a second"
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.2g} hours"
