"""Looking inside a model: the zones its features lie in, the condition of its matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike

from ..checks import InvalidInput, refuse
from ..data.dataset import Dataset
from ..model.features import FEATURES
from ..model.model import Model
from ..parallel import in_threads

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class TanhRegions:
    """Shares of pre-activations |x| <= L0 (linear), between (good), >= L1 (saturated), of one unit.

    The three arrays have one entry per feature and add up to 1. ``density`` over ``edges`` is the
    distribution of all pre-activations, those beyond the edges counted in the outermost bins.
    """

    linear: Array
    good: Array
    saturated: Array
    edges: Array
    density: Array
    L0: float
    L1: float

    @property
    def overall(self) -> dict[str, float]:
        """The three shares over all features."""
        return {name: float(getattr(self, name).mean()) for name in ("linear", "good", "saturated")}


@in_threads
def tanh_regions(
    model: Model,
    states: ArrayLike | torch.Tensor,
    *,
    L0: float | None = None,
    L1: float | None = None,
    bins: int = 140,
) -> list[TanhRegions]:
    """For each unit, in which zones of the tanh (or its like) ``states`` (..., D) put its features.

    Any states: training data, test data or a forecast (states that are not finite are left out).
    """
    kind = model.spec.kind
    zones = kind.zones(model.spec)
    if zones is None:
        others = [repr(name) for name, other in FEATURES.items() if other.zones(model.spec)]
        remedy = f"Use a model with features={' or '.join(others)}."
        raise refuse("features", kind.name, f"a kind with zones. {kind.no_zones}", remedy)
    low, high = zones[0] if L0 is None else L0, zones[1] if L1 is None else L1
    features = [unit.features for unit in model.units]
    flat = model.as_states(states).reshape(-1, model.dimension)
    flat = flat[torch.isfinite(flat).all(dim=1)]
    if not len(flat):
        raise InvalidInput("There are no finite states to look at. Give at least one.")
    counts = [_Counts(low, high, bins, flat.device) for _ in features]
    with torch.inference_mode():
        for block in torch.split(flat, model.block_of_states()):
            for own, seen, count in zip(features, model.unit_inputs(block), counts, strict=True):
                count.add(own.preactivations(seen).flatten(0, -2))
    return [count.result() for count in counts]


class _Counts:
    """Sums over blocks for one unit."""

    def __init__(self, low: float, high: float, bins: int, device: torch.device) -> None:
        self.low, self.high, self.rows = low, high, 0
        self.linear = torch.zeros(1, dtype=torch.float64, device=device)  # as wide as what is added
        self.saturated = torch.zeros_like(self.linear)
        self.histogram = torch.zeros(bins, dtype=torch.float64, device=device)
        self.span = 2.0 * high

    def add(self, x: torch.Tensor) -> None:
        size = x.abs()
        self.rows += len(x)
        self.linear = self.linear + (size <= self.low).sum(0)
        self.saturated = self.saturated + (size >= self.high).sum(0)
        bins = len(self.histogram)
        place = ((x + self.span) * (bins / (2 * self.span))).floor().clamp(0, bins - 1).long()
        self.histogram += torch.bincount(place.flatten(), minlength=bins)

    def result(self) -> TanhRegions:
        linear = (self.linear / self.rows).cpu().numpy()
        saturated = (self.saturated / self.rows).cpu().numpy()
        counts = self.histogram.cpu().numpy()
        edges = np.linspace(-self.span, self.span, len(counts) + 1)
        density = counts / (counts.sum() * (edges[1] - edges[0]))
        good = 1.0 - linear - saturated
        return TanhRegions(linear, good, saturated, edges, density, self.low, self.high)


@dataclass(frozen=True)
class ConditionNumbers:
    """Largest over smallest singular value, of the data and of each unit's features and weights."""

    data: float
    features: tuple[float, ...]
    weights: tuple[float, ...]


@in_threads
def condition_numbers(model: Model, data: Dataset, *, rows: int = 20_000) -> ConditionNumbers:
    """Of the training data (states as rows), of the features on ``rows`` of them, of W."""
    flat = data.train.reshape(-1, data.dimension)
    states = flat[np.linspace(0, len(flat) - 1, min(len(flat), rows)).astype(int)]
    features = []
    with torch.inference_mode():
        patches = model.wiring.scheme.patches
        some = model.as_states(states[:: max(1, len(states) * patches // rows)])
        for unit, seen in zip(model.units, model.unit_inputs(some), strict=True):
            features.append(_condition(unit.features(seen).flatten(0, -2)))
    weights = [_condition(unit.weights) for unit in model.units]
    return ConditionNumbers(_condition(torch.from_numpy(states)), tuple(features), tuple(weights))


def _condition(matrix: torch.Tensor) -> float:
    values = torch.linalg.svdvals(matrix)
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")
