"""In which zones a model's features lie, beside those of a sampler that ignores the data."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import torch

from ..data.dataset import Dataset, evenly
from ..model.features import Source
from ..model.model import Model, Unit
from ..model.sampler import Inputs
from ..streams import stream
from .diagnostics import TanhRegions, tanh_regions
from .forecasts import trajectory

Array = np.ndarray
LOOKED_AT = 2000  # patches whose features are counted
NAIVE = "gaussian"


@dataclass(frozen=True, eq=False)
class Features:
    """In which zones the features of each unit lie."""

    # one dict a unit: "training", "test", "forecast" (only where one is finite), and "naive",
    # which is a naive sampler's features on the training data (only for the first unit)
    units: tuple[dict[str, TanhRegions], ...]
    naive: str  # which naive sampler: "gaussian" with scales as in Spec.w, Spec.b


def feature_regions(model: Model, data: Dataset, forecast: Array | None = None) -> Features:
    """Of training, test and forecast states (time, D), and naive ones; some kinds have none.

    Without a ``forecast`` it is that of the first test.
    """
    if model.spec.kind.zones(model.spec) is None:
        return Features((), "")
    if forecast is None:
        forecast = trajectory(model, data).forecast
    count = states_looked_at(model.wiring.scheme.patches)
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


def states_looked_at(patches: int) -> int:
    """How many, where each has so many patches."""
    return max(50, LOOKED_AT // patches)


def _naive(model: Model, states: Array) -> Model:
    """The first unit alone, its internal weights drawn without regard to the data.

    Its outer weights mean nothing then; only what goes into them is looked at.
    """
    with torch.inference_mode():
        seen = model.wiring.read(0, model.as_states(states), model.as_states(states)).flatten(0, -2)
    rng = stream(int(model.origin["seed"]), "naive")
    source = Source(Inputs.scan(lambda: [seen]), lambda: [seen], rng, model.device)
    spec = model.spec.replace(sampler=NAIVE, w=1.0, b=1.0, centred=False)
    unit = Unit(spec.kind.draw(spec, source), model.units[0].weights)
    return dataclasses.replace(model, units=(unit,))
