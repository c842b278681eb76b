"""How long a run takes and how much memory it needs, before it starts; and what would fit.

What things take is counted in ``rfm_core.choose.cost``; here it is corrected by what runs on this
machine really took, and compared with limits.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rfm_core import DataSpec, ModelSpec
from rfm_core.choose.cost import Cost, Sizes, cost_of_climate, cost_of_run, cost_of_stability

__all__ = ["Estimate", "Sizes", "estimate", "learn", "nearest_fitting", "refusal"]


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
        return replace(
            self,
            seconds=times * self.seconds,
            data_seconds=times * self.data_seconds,
            fit_seconds=times * self.fit_seconds,
            forecast_seconds=times * self.forecast_seconds,
        )

    def with_forecast(self, times: float) -> Estimate:
        """Of long runs of the trained model and of the true system, ``times`` long together."""
        return self._of(cost_of_climate(self.sizes, self.model, times))

    def with_stability(self) -> Estimate:
        """Of a look at the trained model's stability."""
        return self._of(cost_of_stability(self.sizes, self.model))

    def _of(self, cost: Cost) -> Estimate:
        """Of something done with the model of this run; a worker keeps the memory it had."""
        found = _at_pace(cost, self.sizes, self.model, self.factor)
        return replace(found, memory_gb=max(self.memory_gb, found.memory_gb))


def estimate(
    data: DataSpec | Sizes, model: ModelSpec, *, n_test: int | None = None, realizations: int = 1
) -> Estimate:
    """Of data, training and forecasts of ``n_test`` trajectories, for so many realizations.

    A look at the features, which the first realization gets, counts as forecast.
    """
    sizes = Sizes.of(data) if isinstance(data, DataSpec) else data
    if n_test is not None:
        sizes = replace(sizes, n_test=n_test)
    return _at_pace(cost_of_run(sizes, model, realizations), sizes, model, _factor)


def _at_pace(cost: Cost, sizes: Sizes, model: ModelSpec, factor: float) -> Estimate:
    return Estimate(
        seconds=factor * cost.seconds,
        memory_gb=cost.memory_bytes / 1e9,
        data_seconds=factor * cost.data_seconds,
        fit_seconds=factor * cost.fit_seconds,
        forecast_seconds=factor * cost.forecast_seconds,
        sizes=sizes,
        model=model,
        factor=factor,
    )


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
            if "width" in model.kind.settings:
                widest = 2 ** math.floor(math.log2(model.width))
                yield from (lesser.replace(width=n) for n in _halved(widest, 64))
            else:
                yield from (lesser.replace(degree=n) for n in range(model.degree, 0, -1))


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
