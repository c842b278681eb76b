"""Choosing beta by forecasts, from training data alone.

``beta="auto"`` (in ``fit``) takes the one-step error of held-out rows: it costs next to nothing.
``search_beta`` also forecasts from held-out training states, which sees what one step cannot:
whether the model is stable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from ..checks import InvalidInput, whole
from ..data.dataset import Dataset
from ..events import Reporter
from ..measure.evaluate import evaluate
from ..model.fit import Training, fit
from ..model.model import Model, Unit, pick_device
from ..model.ridge import checked_betas
from ..model.spec import ModelSpec
from ..parallel import in_threads

Array = np.ndarray
WIDE = tuple(float(b) for b in np.logspace(-24, -2, 12))


@dataclass(frozen=True, eq=False)
class BetaSearch:
    """What each beta achieves on training data that were held out."""

    betas: Array
    one_step: Array  # root mean square error
    forecast: Array  # mean valid prediction time
    standard_error: Array
    windows: int
    factorizations: int  # one for a shallow model, one per beta for a deep one

    @property
    def best(self) -> float:
        """The beta that forecasts furthest; among those within a standard error the largest."""
        top = int(np.argmax(self.forecast))
        close = self.forecast >= self.forecast[top] - self.standard_error[top]
        return float(self.betas[close].max())

    @property
    def best_one_step(self) -> float:
        """The beta of least one-step error."""
        return float(self.betas[int(np.argmin(self.one_step))])


@in_threads
def search_beta(
    spec: ModelSpec,
    data: Dataset,
    betas: Sequence[float] = WIDE,
    *,
    windows: int = 20,
    seed: int = 0,
    realization: int = 0,
    device: torch.device | str = "auto",
    report: Reporter | None = None,
) -> BetaSearch:
    """Score every beta on held-out training data; the test trajectories are not looked at.

    A shallow model is scored without its refinements: all betas come from one factorization.
    """
    report = report or Reporter()
    values = sorted(set(checked_betas(betas)))
    windows = whole("windows", windows, 1, 10**4, "20 is usual.")
    inner = held_out(data, windows)
    one_step, times, errors = [], [], []
    states, following = inner.test[:, :-1], inner.test[:, 1:]
    models = _models(spec, inner, values, seed, realization, device, report)
    for done, model in enumerate(models, start=1):
        told = evaluate(model, inner).summary()
        times.append(told["mean"])
        errors.append(told["sem"] if told["n"] > 1 else 0.0)
        left = model.predict(states[:, :: max(1, states.shape[1] // 100)])
        left = left - following[:, :: max(1, states.shape[1] // 100)]
        one_step.append(float(np.sqrt(np.mean(left**2))))
        report("beta search", done, len(values))
    return BetaSearch(
        betas=np.array(values),
        one_step=np.array(one_step),
        forecast=np.array(times),
        standard_error=np.array(errors),
        windows=len(inner.test),
        factorizations=len(values) if spec.choices.deep else 1,
    )


def held_out(data: Dataset, windows: int) -> Dataset:
    """Training data split anew: the last fifth becomes test windows.

    Whole trajectories are held out where there are enough of them, otherwise the last part in time.
    """
    trajectories, length, dimension = data.train.shape
    if trajectories >= 5:
        kept = trajectories - max(1, trajectories // 5)
        train, rest = data.train[:kept], data.train[kept:]
    else:
        border = length - length // 5
        train, rest = data.train[:, :border], data.train[:, border:]
    span = min(rest.shape[1] - 1, data.test.shape[1] - 1 if len(data.test) else 10**9)
    span = min(span, max(1, (2 * rest.shape[1]) // 3))
    if span < 2 or train.shape[1] < 3:
        raise InvalidInput(
            f"{data.train.shape[0]} training trajectories of {length} states are too short to hold "
            "a fifth out. Use longer ones, or give beta as a number."
        )
    per = -(-windows // len(rest))
    starts = np.unique(np.linspace(0, rest.shape[1] - 1 - span, per).astype(int))
    test = np.concatenate([rest[:, s : s + span + 1] for s in starts])[:windows]
    return replace(data, train=train, test=test.reshape(-1, span + 1, dimension))


def _models(
    spec: ModelSpec,
    data: Dataset,
    betas: Sequence[float],
    seed: int,
    realization: int,
    device: torch.device | str,
    report: Reporter,
) -> Iterator[Model]:
    """One model per beta: from one factorization where the model is shallow."""
    if spec.choices.deep:
        for beta in betas:
            fixed = spec.replace(beta=beta)
            yield fit(fixed, data, seed=seed, realization=realization, device=device, report=report)
        return
    training = Training(spec, data, seed, realization, pick_device(device), None)
    regression = training.regression(0)
    while True:
        try:
            event = next(regression)
        except StopIteration as end:
            features, fitted, _ = end.value
            break
        report(event.stage, event.done, event.total)
    for beta in betas:
        yield training.model([Unit(features, fitted.solve(beta))], [beta])
