"""The demo: train a small model on Lorenz-63 and show how far it sees."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .cli_output import ProgressBar, sparkline, write_forecast_picture
from .data.dataset import Dataset
from .data.generate import DataSpec, make_dataset
from .events import Reporter
from .measure.evaluate import evaluate
from .measure.metrics import ForecastTimes, density
from .model.fit import Fitted, fit_events
from .model.model import Model
from .model.spec import ModelSpec
from .paper.tables import published


def demo(width: int, seed: int, picture: Path | None) -> None:
    """Print what was trained, how far it forecasts and what the paper says; draw it if asked."""
    bar = ProgressBar()
    try:
        data = make_dataset(DataSpec("L63", n_test=50, seed=seed), report=Reporter(bar))
        spec = ModelSpec("SkipRFM", width=width)
        for event in fit_events(spec, data, seed=seed):
            if isinstance(event, Fitted):
                fitted = event
            else:
                bar(event)
        times = evaluate(fitted.model, data, report=Reporter(bar))
    finally:
        bar.close()
    summary = times.summary()
    print(f"Lorenz-63, {data.pairs} training pairs, dt={data.dt:g}, accurate to rounding")
    print(
        f"{spec.label}, {fitted.model.size:,} parameters, trained in {fitted.seconds:.1f} s "
        f"(beta={fitted.units[0].beta:g}, chosen on held-out training rows)"
    )
    print(
        f"Valid prediction time over {summary['n']} test trajectories (eps={data.eps:g}): "
        f"{summary['mean']:.1f} ± {summary['std']:.1f} Lyapunov times "
        f"(standard error {summary['sem']:.2f}, {summary['censored']} censored)"
    )
    paper = published("L63", "SkipRFM", width)
    if paper is not None:
        print(
            f"The paper, same width, same number of parameters: {paper.vpt_mean} ± {paper.vpt_std} "
            "(normal equations, its own data)"
        )
    else:
        print(f"The paper has no SkipRFM of width {width}; it has 512, 1024, ... 16384.")
    _, values = density(times.vpt, grid=np.linspace(0, 40, 61))
    print(f"0 {sparkline(values)} 40")
    if picture is not None:
        _draw(picture, fitted.model, data, times)
        print(f"Picture of a typical forecast: {picture}")


def _draw(path: Path, model: Model, data: Dataset, times: ForecastTimes) -> None:
    """The trajectory of median forecast time, a little beyond that time."""
    middle = int(np.argsort(times.vpt)[len(times.vpt) // 2])
    valid = float(times.vpt[middle])
    steps = min(data.test.shape[1] - 1, int(1.3 * valid * data.lyapunov_time / data.dt))
    write_forecast_picture(
        path,
        np.arange(steps + 1) * data.dt / data.lyapunov_time,
        data.test[middle, : steps + 1],
        # the whole batch again: alone it would round differently, and chaos would show it
        model.forecast(data.test[:, 0], steps)[middle],
        valid,
        list(data.columns),
        f"Lorenz-63 forecast by {model.spec.label}: valid for {valid:.1f} Lyapunov times",
    )
