"""From the engine's objects to what plots take: for workers, and for notebooks that draw.

info = scenes.info(data)
plots.forecast.components(info, scenes.trajectory(data, model, 0), 0)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rfm_core import (
    Dataset,
    ForecastTimes,
    Model,
    climate,
    evaluate,
    feature_regions,
    get_system,
    joined_times,
    regression,
    stability,
)
from rfm_core import forecasts as engines_forecasts
from rfm_core import trajectory as engines_trajectory
from rfm_core.data.dataset import evenly
from rfm_core.data.generate import spec_of

from ..results.records import Features, Info, Times, Trajectory

__all__ = [
    "climate",
    "features",
    "forecasts",
    "info",
    "regression",
    "stability",
    "times",
    "trajectory",
]

Array = np.ndarray
BACKDROP = 4000


def info(data: Dataset) -> Info:
    """What pictures need to know of the data."""
    spec = spec_of(data)
    values = {} if spec is None else spec.parameter_values
    flat = data.train.reshape(-1, data.dimension)
    return Info(
        name=data.name,
        title=data.name if spec is None else get_system(spec.system).title,
        dt=data.dt,
        eps=data.eps,
        lyapunov=data.lyapunov,
        lyapunov_is_estimate=data.lyapunov_is_estimate,
        columns=data.names,
        dimension=data.dimension,
        homogeneous=data.homogeneous,
        length=data.dimension if spec is None else get_system(spec.system).extent(values),
        pairs=data.pairs,
        n_test=len(data.test),
        steps=data.test.shape[1] - 1,
        std=data.std,
        mean=data.mean,
        backdrop=evenly(flat, BACKDROP) if data.dimension <= 3 else flat[:0],
        own=spec is None,
    )


def forecasts(
    data: Dataset, model: Model, steps: int | None = None
) -> tuple[list[Trajectory], Times]:
    """All tests and their forecasts; see ``rfm_core.forecasts``."""
    return engines_forecasts(model, data, steps)


def trajectory(data: Dataset, model: Model, test: int = 0, steps: int | None = None) -> Trajectory:
    """One test trajectory and its forecast, until a bit past its failure or for ``steps``."""
    return engines_trajectory(model, data, test, steps)


def times(source: Dataset | Sequence[ForecastTimes], model: Model | None = None) -> Times:
    """Valid prediction times: of a model on its tests, or of several ``rfm_core.evaluate``.

    ``times(data, model)``, or ``times([evaluate(model, data), ...])`` with a realization each.
    """
    if isinstance(source, Dataset):
        if model is None:
            raise TypeError("times(data, model): the model is missing")
        source = [evaluate(model, source)]
    return joined_times(source)


def features(model: Model, data: Dataset, forecast: Array | None = None) -> Features:
    """Of training, test and forecast states, and naive ones; see ``rfm_core.feature_regions``."""
    return feature_regions(model, data, forecast)
