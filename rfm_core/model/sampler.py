r"""Internal weights, drawn so that no feature is linear or saturated on the data.

One shot of hit-and-run (the paper's Algorithm 1), all rows at once. For a row: draw a bias b in
(L0, L1) and a direction d; along w = c d the pre-activation of a state z is b + c (d . z). With the
least and the largest projection p- <= d . z <= p+ of the data, every state stays in (L0, L1) for

    0 < c < c_1 = min{ (b - L0) / -p-  if p- < 0,   (L1 - b) / p+  if p+ > 0 },

c_1 infinite if neither applies. Draw c in (0, c_1), flip the sign of (w, b) with probability 1/2.
The paper takes p-, p+ over the bounding box of the data ("hit-and-run"); "tight" takes them over
the data themselves, so the segment is longer and the features are more nonlinear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch

Array = np.ndarray
NAIVE = ("uniform", "gaussian")
Rows = Callable[[], Iterable[torch.Tensor]]  # the inputs of a unit, block by block, (rows, inputs)


@dataclass(frozen=True, eq=False)
class Inputs:
    """What the samplers need to know of a unit's inputs, from one pass over them."""

    low: Array
    high: Array
    mean: Array
    std: Array

    @staticmethod
    def scan(rows: Rows) -> Inputs:
        blocks = iter(rows())
        first = next(blocks)
        low, high = first.amin(0), first.amax(0)
        shift = first.mean(0)  # near the mean, so that the variance does not cancel
        total, square = torch.zeros_like(low), torch.zeros_like(low)
        count = 0
        for block in chain([first], blocks):
            low, high = torch.minimum(low, block.amin(0)), torch.maximum(high, block.amax(0))
            centred = block - shift
            total, square = total + centred.sum(0), square + (centred * centred).sum(0)
            count += len(block)
        variance = (square / count - (total / count) ** 2).clamp_min(0)
        found = (low, high, shift + total / count, variance.sqrt())
        return Inputs(*(t.cpu().numpy() for t in found))


def sample(
    kind: str,
    rng: np.random.Generator,
    width: int,
    inputs: Inputs,
    rows: Rows,
    *,
    L0: float = 0.4,
    L1: float = 3.5,
    w: float = 1.0,
    b: float = 1.0,
    standardize: bool = False,
    emphasis: Array | None = None,
) -> tuple[Array, Array]:
    """``width`` rows of internal weights (width, inputs) and biases (width,).

    ``emphasis`` (inputs,) says how much of each input a direction takes; None: of all alike.
    """
    n = len(inputs.low)
    if kind in NAIVE:
        return naive(kind, rng, width, n, w, b, emphasis)
    if emphasis is None:
        emphasis = np.ones(n)
    bias, direction, along, sign = _draws(rng, width, n, L0, L1)
    direction = direction * emphasis
    centre = np.zeros(n)
    if standardize:
        centre = inputs.mean
        direction = direction / np.where(inputs.std > 0, inputs.std, 1.0)
    least, largest = _ends(kind, direction, centre, inputs, rows)
    reach = np.maximum(np.abs(inputs.low), np.abs(inputs.high)) + np.abs(centre)
    c = along * _segment(bias, direction, least, largest, reach, L0, L1)
    weights = c[:, None] * direction
    return sign[:, None] * weights, sign * (bias - weights @ centre)


def naive(
    kind: str,
    rng: np.random.Generator,
    width: int,
    n: int,
    w: float,
    b: float,
    emphasis: Array | None = None,
) -> tuple[Array, Array]:
    """Weights and biases that know nothing of the data."""
    if emphasis is None:
        emphasis = np.ones(n)
    if kind == "uniform":
        return emphasis * rng.uniform(-w, w, (width, n)), rng.uniform(-b, b, width)
    return emphasis * w * rng.standard_normal((width, n)), b * rng.standard_normal(width)


@dataclass(frozen=True, eq=False)
class Across:
    """Directions (width, inputs), and from where to where the data reach along each."""

    directions: Array
    least: Array
    largest: Array

    @property
    def length(self) -> Array:
        """From end to end; 1 where all data are in one place."""
        length = self.largest - self.least
        return np.where(length > 0, length, 1.0)


def across(
    kind: str,
    rng: np.random.Generator,
    width: int,
    inputs: Inputs,
    rows: Rows,
    *,
    standardize: bool = False,
    emphasis: Array | None = None,
) -> Across:
    """Random directions: the data themselves reach so far ("tight"), or their bounding box."""
    n = len(inputs.low)
    direction = _directions(rng, width, n) * (1.0 if emphasis is None else emphasis)
    if standardize:
        direction = direction / np.where(inputs.std > 0, inputs.std, 1.0)
    return Across(direction, *_ends(kind, direction, np.zeros(n), inputs, rows))


def _draws(
    rng: np.random.Generator, width: int, n: int, L0: float, L1: float
) -> tuple[Array, Array, Array, Array]:
    """Bias, unit direction, position along the segment, sign.

    A Gaussian vector over its length is a random sign vector and a uniform direction within its
    orthant, which is what Algorithm 1 draws.
    """
    # open intervals: the ends themselves are linear or saturated
    bias = L0 + (L1 - L0) * (1e-6 + (1 - 2e-6) * rng.random(width))
    direction = _directions(rng, width, n)
    along = 1e-12 + (1 - 2e-12) * rng.random(width)
    return bias, direction, along, rng.choice([-1.0, 1.0], width)


def _directions(rng: np.random.Generator, width: int, n: int) -> Array:
    direction = rng.standard_normal((width, n))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction


def _segment(
    bias: Array, direction: Array, least: Array, largest: Array, reach: Array, L0: float, L1: float
) -> Array:
    """c_1, shortened by a bound on rounding so that the guarantee also holds in floating point."""
    unit = 4 * (direction.shape[1] + 4) * np.finfo(np.float64).eps
    slack = unit * (np.abs(direction) @ reach)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        down = np.where(slack - least > 0, (bias * (1 - unit) - L0) / (slack - least), np.inf)
        up = np.where(slack + largest > 0, (L1 - bias * (1 + unit)) / (slack + largest), np.inf)
    c_1 = np.maximum(np.minimum(down, up), 0.0)
    # infinite, but for rounding, where all projections are zero: any c will do then, and 1 is one
    endless = (np.maximum(-least, largest) <= slack) | np.isinf(c_1)
    return np.where(endless, np.minimum(c_1, 1.0), c_1)


def _ends(
    kind: str, direction: Array, centre: Array, inputs: Inputs, rows: Rows
) -> tuple[Array, Array]:
    """Least and largest projection, of the data or of the box around them."""
    if kind == "tight":
        return _projected(direction, centre, rows)
    return _projected_box(direction, inputs.low - centre, inputs.high - centre)


def _projected_box(direction: Array, low: Array, high: Array) -> tuple[Array, Array]:
    positive, negative = np.maximum(direction, 0), np.minimum(direction, 0)
    return positive @ low + negative @ high, positive @ high + negative @ low


def _projected(direction: Array, centre: Array, rows: Rows) -> tuple[Array, Array]:
    """Least and largest projection of the data, streamed."""
    blocks = iter(rows())
    first = next(blocks)
    on_device = torch.as_tensor(direction.T, dtype=first.dtype, device=first.device)
    middle = torch.as_tensor(centre, dtype=first.dtype, device=first.device)
    least = torch.full_like(on_device[0], torch.inf)
    largest = -least
    for block in chain([first], blocks):
        projection = (block - middle) @ on_device
        least = torch.minimum(least, projection.amin(0))
        largest = torch.maximum(largest, projection.amax(0))
    return least.cpu().numpy(), largest.cpu().numpy()
