"""From the engine's objects to scenes: for the app's workers, and for notebooks that draw the same.

info = scenes.info(data)
plots.forecast.components(info, scenes.trajectory(data, model, 0), 0)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np
import torch

from rfm_core import (
    Dataset,
    DataSpec,
    ForecastTimes,
    Model,
    Reporter,
    evaluate,
    forecast_error,
    get_system,
    tanh_regions,
    valid_times,
)
from rfm_core.checks import whole
from rfm_core.features import Tanh
from rfm_core.hit_and_run import Inputs, sample
from rfm_core.model import Unit
from rfm_core.streams import stream

from .jobs_climate import long_runs
from .jobs_data import evenly
from .jobs_regression import whole_regression
from .scene import Climate, Features, Info, Regression, Times, Trajectory

__all__ = ["climate", "features", "forecasts", "info", "regression", "times", "trajectory"]

Array = np.ndarray
BACKDROP = 4000
LOOKED_AT = 2000  # patches whose features are counted
NAIVE = "gaussian"


def info(data: Dataset) -> Info:
    """What pictures need to know of the data."""
    spec = _spec(data)
    values = {} if spec is None else spec.parameter_values
    flat = data.train.reshape(-1, data.dimension)
    return Info(
        name=data.name,
        title=data.name if spec is None else get_system(spec.system).title,
        dt=data.dt,
        eps=data.eps,
        lyapunov=data.lyapunov,
        lyapunov_is_estimate=data.lyapunov_is_estimate,
        columns=data.columns or tuple(f"x{i + 1}" for i in range(data.dimension)),
        dimension=data.dimension,
        homogeneous=data.homogeneous,
        length=float(values.get("L", data.dimension)),
        pairs=data.pairs,
        n_test=len(data.test),
        steps=data.test.shape[1] - 1,
        std=data.std,
        mean=data.mean,
        backdrop=evenly(flat, BACKDROP) if data.dimension <= 3 else flat[:0],
        own=spec is None,
    )


def _spec(data: Dataset) -> DataSpec | None:
    """How a system's data were made; None for a user's own series."""
    return DataSpec.from_dict(data.origin) if "system" in data.origin else None


def trajectory(data: Dataset, model: Model, test: int = 0, steps: int | None = None) -> Trajectory:
    """One test trajectory and its forecast, until a bit past its failure or for ``steps``."""
    test = whole("test", test, 0, len(data.test) - 1, "Tests count from 0.")
    return forecasts(data, model, steps)[0][test]


def times(source: Dataset | Sequence[ForecastTimes], model: Model | None = None) -> Times:
    """Valid prediction times: of a model on its tests, or of several ``rfm_core.evaluate``.

    ``times(data, model)``, or ``times([evaluate(model, data), ...])`` with a realization each.
    """
    if isinstance(source, Dataset):
        if model is None:
            raise TypeError("times(data, model): the model is missing")
        source = [evaluate(model, source)]
    tests = [np.arange(len(found.vpt)) for found in source]
    return Times(
        vpt=np.concatenate([found.vpt for found in source]),
        censored=np.concatenate([found.censored for found in source]),
        diverged=np.concatenate([found.diverged_at >= 0 for found in source]),
        realization=np.concatenate([np.full_like(t, k) for k, t in enumerate(tests)]),
        test=np.concatenate(tests),
    )


class Watch:
    """Looks at all forecasts as they grow: how wrong they are, whether they have gone far enough.

    Far enough is beyond the failure of the last one, so that a picture shows how it failed.
    """

    def __init__(self, data: Dataset, steps: int, per_step: float, whole_length: bool) -> None:
        self.data, self.per_step, self.whole_length = data, per_step, whole_length
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
    data: Dataset,
    model: Model,
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
    watch = Watch(data, length, data.dt * (data.lyapunov or 1.0), steps is not None)

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
    all_times = times([found])
    number = np.full_like(all_times.test, realization)
    return trajectories, dataclasses.replace(all_times, realization=number)


def features(model: Model, data: Dataset, forecast: Array | None = None) -> Features:
    """Of training, test and forecast states (time, D), and naive ones; a polynomial has none.

    Without a ``forecast`` it is that of the first test.
    """
    if model.spec.features != "tanh":
        return Features((), "")
    if forecast is None:
        forecast = trajectory(data, model).forecast
    count = max(50, LOOKED_AT // model.wiring.scheme.patches)
    training = evenly(data.train, count)
    finite = forecast[np.isfinite(forecast).all(axis=1)]  # at least its start
    kinds = {
        "training": tanh_regions(model, training),
        "test": tanh_regions(model, evenly(data.test, count)),
        "forecast": tanh_regions(model, evenly(finite, count)),
    }
    units = [{kind: regions[n] for kind, regions in kinds.items()} for n in range(len(model.units))]
    units[0]["naive"] = tanh_regions(_naive(model, training), training)[0]
    return Features(tuple(units), NAIVE)


def _naive(model: Model, states: Array) -> Model:
    """The first unit alone, its internal weights drawn without regard to the data.

    Its outer weights mean nothing then; only what goes into the tanh is looked at.
    """
    with torch.inference_mode():
        seen = model.wiring.read(0, model.as_states(states), model.as_states(states)).flatten(0, -2)
    rng, width = stream(int(model.origin["seed"]), "naive"), model.spec.width
    drawn = sample(NAIVE, rng, width, Inputs.scan(lambda: [seen]), lambda: [seen], w=1.0, b=1.0)
    tensors = [torch.as_tensor(part, dtype=torch.float64, device=model.device) for part in drawn]
    return dataclasses.replace(model, units=(Unit(Tanh(*tensors), model.units[0].weights),))


def regression(model: Model, data: Dataset, *, report: Reporter | None = None) -> Regression:
    """Inside the regressions: singular values, paths of beta, both solvers on held-out data."""
    return whole_regression(model, data, int(model.origin["seed"]), report or Reporter())


def climate(
    model: Model, data: Dataset, length: float, *, report: Reporter | None = None
) -> Climate:
    """Long runs of truth and surrogate; ``length`` of all together, in ``Info.unit``."""
    return long_runs(model, data, info(data), _spec(data), length, report or Reporter())
