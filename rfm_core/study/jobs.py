"""The jobs that tasks may name. Importing this module registers them."""

from __future__ import annotations

from typing import Any

import torch

from ..data.generate import DataSpec, make_dataset
from ..events import Reporter
from ..measure.evaluate import evaluate
from ..model.fit import Fitted, fit_events
from ..model.spec import ModelSpec
from ..model.store import versions
from ..run.tasks import PeakMemory, Stopwatch, job, plain


@job("realization")
def realization(arguments: dict[str, Any], report: Reporter) -> dict[str, Any]:
    """One realization of a study: its own data, weights and test trajectories; one row of results.

    Everything but the timings depends on the arguments (and on torch's threads) alone.
    """
    memory, watch = PeakMemory(), Stopwatch()
    number, seed = int(arguments["realization"]), int(arguments["seed"])
    data_spec = DataSpec.from_dict(arguments["data"]).replace(realization=number, seed=seed)
    # each set is used once: the cache on disk would only fill up
    data = make_dataset(data_spec, cache=False, report=report)
    data_seconds = watch.lap()
    spec = ModelSpec.from_dict(arguments["model"])
    device = arguments.get("device", "auto")
    for event in fit_events(spec, data, seed=seed, realization=number, device=device):
        if isinstance(event, Fitted):
            fitted = event
        else:
            report(event.stage, event.done, event.total)
    fit_seconds = watch.lap()
    times = evaluate(fitted.model, data, report=report)
    return {
        "vpt": [float(t) for t in times.vpt],
        "censored": [bool(c) for c in times.censored],
        "diverged_at": [int(d) for d in times.diverged_at],
        "unit": times.unit,
        "error": plain(fitted.units[-1].error),
        "betas": [unit.beta for unit in fitted.units],
        "size": fitted.model.size,
        "device": str(fitted.model.device),
        "dtype": "float64",
        "threads": torch.get_num_threads(),
        "versions": versions(),
        "data_seconds": data_seconds,
        "fit_seconds": fit_seconds,
        "forecast_seconds": watch.lap(),
        "peak_mb": memory.megabytes,
    }
