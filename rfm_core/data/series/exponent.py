"""The largest Lyapunov exponent, estimated from a series alone (after Rosenstein et al., 1993).

Equations
---------
Every reference state is paired with its nearest neighbour that is not close to it in time. While
their distance is small it grows as ``d(t) ~ d(0) exp(lambda t)``, so ``lambda`` is the slope of
``ln d`` against time. Three choices, measured on L63 (0.91), Roessler (0.071), logistic map (ln 2):

- The *median* of ``ln d`` over the pairs, not Rosenstein's mean: the mean bends as soon as a few
  pairs have reached the size of the attractor, the median not before half of them have.
- The line is fitted where the median has covered 20 % to 60 % of the way from its start to the
  level of unrelated states. Before, pairs still turn to the unstable direction; after, they
  saturate.
- Where that way is shorter than a factor of 12 in distance, or is covered within a few samples,
  or not at all, there is no line to fit: the answer is None with the reason, not a number.

From 3000 rows on, L63 comes out within 13 % and the logistic map within 2 %; Roessler (few orbits,
strong contraction) is 22 % too small from 20,000 rows and 46 % from 5000. States of many dimensions
(L96, KS) have no near neighbours in any series of practical length: expect None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...checks import real, refuse, whole
from ...streams import stream

Array = np.ndarray

LOW, HIGH = 0.2, 0.6  # the part of the way to saturation in which the line is fitted
LEAST_WAY = math.log(12)  # of distances, so that the line spans at least one factor e
LEAST_PAIRS = 50
LEAST_STRAIGHT = 0.92  # squared correlation: chaos gives 0.97 and more, a random walk 0.80
LEAST_POINTS = 5  # on the line; a jump within fewer is noise or too coarse a sampling


@dataclass(frozen=True, eq=False)
class LyapunovEstimate:
    """``value`` per unit of time, or None; ``words`` says how it came about or why there is none.

    ``times`` and ``log_distance`` are the curve, ``span`` is where the line was fitted.
    """

    value: float | None
    words: str
    times: Array
    log_distance: Array
    span: tuple[float, float] | None = None


def estimate_lyapunov(
    series: Array, dt: float, *, references: int = 2000, seed: int = 0
) -> LyapunovEstimate:
    """Estimate from ``series`` of shape (time,), (time, D) or (trajectories, time, D).

    A single component is unfolded by time delays first. The reference states are drawn from a
    stream of their own, so the same series and seed give the same number.
    """
    dt = real("dt", dt, "Give the time between two rows.", low=0.0, above=True)
    references = whole("references", references, LEAST_PAIRS, None, "Try 2000.")
    seed = whole("seed", seed, 0, None, "Try 0.")
    states = _states(series)
    if states.shape[1] < LEAST_PAIRS:
        reason = f"the trajectories have {states.shape[1]} rows and {LEAST_PAIRS} are needed"
        return _none(reason, np.zeros(0), np.zeros(0))
    period = _mean_period(states)
    rng = stream(seed, "lyapunov")
    longest = states.shape[1] // 3  # a longer look ahead would leave too few states to pair
    steps = min(16, longest)
    while True:
        first, second, candidates = _pairs(states, steps, period, references, rng)
        if first.size < LEAST_PAIRS:
            reason = (
                f"only {first.size} pairs of distinct neighbouring states were found and "
                f"{LEAST_PAIRS} are needed; the series is short or repeats itself exactly"
            )
            return _none(reason, np.zeros(0), np.zeros(0))
        ahead = np.arange(0, steps + 1, max(1, steps // 256))
        level = _unrelated(states, candidates, rng)
        curve = _curve(states, first, second, ahead)
        if steps == longest or curve.max() >= _at(curve, level, HIGH):
            return _fit(curve, ahead * dt, level)
        steps = min(4 * steps, longest)


def _states(series: Array) -> Array:
    """(trajectories, time, D) in units of each component's deviation, delays unfolded if D = 1."""
    array = np.asarray(series, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim == 2:
        array = array[None]
    if array.ndim != 3 or not array.size:
        raise refuse(
            "series.shape",
            np.shape(series),
            "(time,), (time, D) or (trajectories, time, D)",
            "Reshape it.",
        )
    if not np.isfinite(array).all():
        raise refuse("series", "NaN or Inf", "finite numbers", "Cut out or fill such rows.")
    deviation = array.std(axis=(0, 1))
    if not (deviation > 0).all():
        column = int(np.argmin(deviation > 0))
        raise refuse(f"series[..., {column}]", "constant", "varying", "Leave this component out.")
    array = (array - array.mean(axis=(0, 1))) / deviation
    return _unfold(array) if array.shape[2] == 1 else array


def _unfold(array: Array) -> Array:
    """Delay coordinates; the lag is where the autocorrelation has fallen to 1/e.

    Five of them for a flow. A lag of one row is a map: two, for each more wastes one of the few
    samples that neighbours need to part.
    """
    values = array[:, :, 0]
    most = max(1, values.shape[1] // 40)
    lag = 1
    while lag < most and float(np.mean(values[:, lag:] * values[:, :-lag])) > 1 / math.e:
        lag += 1
    dimension = 5 if lag > 1 else 2
    rows = values.shape[1] - (dimension - 1) * lag
    return np.stack([values[:, k * lag : k * lag + rows] for k in range(dimension)], axis=-1)


def _mean_period(states: Array) -> int:
    """Steps of one typical oscillation: neighbours nearer in time are the same piece of orbit."""
    speed = float(np.sqrt(np.mean(np.diff(states, axis=1) ** 2)))  # per unit deviation and step
    return min(max(1, math.ceil(2 * math.pi / max(speed, 1e-9))), int(states.shape[1]) // 4)


def _pairs(
    states: Array, steps: int, theiler: int, references: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Flat indices of reference states and of their neighbours, and of all candidates.

    Only rows with ``steps`` rows after them take part. In many dimensions a search tree is of no
    help, and there are no near neighbours either: fewer states are searched.
    """
    many, rows, dimension = states.shape
    flat = states.reshape(-1, dimension)
    index = (np.arange(many)[:, None] * rows + np.arange(rows - steps)[None]).ravel()
    most = 400_000
    if dimension > 10:
        most, references = min(20_000, 2_000_000 // dimension), min(references, 300)
    index = index[:: max(1, math.ceil(index.size / most))]
    from scipy.spatial import cKDTree  # here, as loading it takes a moment

    tree = cKDTree(flat[index])
    first = np.sort(rng.choice(index, min(references, index.size), replace=False))
    second = np.full(first.size, -1)
    open_, k = np.arange(first.size), 8
    while open_.size and k < 8 * theiler + 64:
        count = min(k, index.size)
        distance, near = tree.query(flat[first[open_]], k=count)
        other, own = index[near.reshape(open_.size, count)], first[open_][:, None]
        apart = (np.abs(other - own) > theiler) | (other // rows != own // rows)
        apart &= distance.reshape(open_.size, count) > 0
        found = apart.any(axis=1)
        second[open_[found]] = other[found, apart[found].argmax(axis=1)]
        open_, k = open_[~found], 4 * k
    good = second >= 0
    return first[good], second[good], index


def _unrelated(states: Array, index: Array, rng: np.random.Generator) -> float:
    """Median log distance of states that have nothing to do with each other."""
    flat = states.reshape(-1, states.shape[2])
    distance = np.linalg.norm(flat[rng.choice(index, 2000)] - flat[rng.choice(index, 2000)], axis=1)
    distance = distance[distance > 0]
    return float(np.median(np.log(distance))) if distance.size else -math.inf


def _curve(states: Array, first: Array, second: Array, ahead: Array) -> Array:
    """Median over the pairs of the log distance after each number of steps."""
    flat = states.reshape(-1, states.shape[2])
    curve = np.empty(ahead.size)
    for slot, step in enumerate(ahead):
        distance = np.linalg.norm(flat[first + step] - flat[second + step], axis=1)
        curve[slot] = np.median(np.log(np.maximum(distance, 1e-300)))
    return curve


def _at(curve: Array, level: float, share: float) -> float:
    return float(curve[0] + share * (level - curve[0]))


def _none(reason: str, times: Array, curve: Array) -> LyapunovEstimate:
    words = f"No Lyapunov exponent could be estimated: {reason}. Times are shown in model units."
    return LyapunovEstimate(None, words, times, curve)


def _fit(curve: Array, times: Array, level: float) -> LyapunovEstimate:
    """The slope between the two shares of the way to ``level``, if there is such a stretch."""
    way = level - float(curve[0])
    if way < LEAST_WAY:
        return _none(
            f"the nearest neighbours are only {math.exp(way):.2g} times closer than unrelated "
            f"states ({math.exp(LEAST_WAY):.0f} times are needed); more rows may help",
            times,
            curve,
        )
    above = np.flatnonzero(curve >= _at(curve, level, HIGH))
    if not above.size:
        grown = (float(curve.max()) - float(curve[0])) / way
        return _none(
            f"within {times[-1]:.4g} units of time neighbouring states cover {max(grown, 0):.0%} "
            f"of the way to unrelated ones ({HIGH:.0%} are needed): the series looks regular, "
            "not chaotic, or is too short",
            times,
            curve,
        )
    stop = int(above[0])
    start = int(np.flatnonzero(curve >= _at(curve, level, LOW))[0])
    if stop - start + 1 < LEAST_POINTS:
        return _none(
            f"neighbouring states part within {stop} samples ({LEAST_POINTS} on a line are "
            "needed): the series is noisy or sampled too coarsely",
            times,
            curve,
        )
    stretch = slice(start, stop + 1)
    slope = float(np.polyfit(times[stretch], curve[stretch], 1)[0])
    straight = float(np.corrcoef(times[stretch], curve[stretch])[0, 1]) ** 2
    if straight < LEAST_STRAIGHT:
        return _none(
            f"the distance of neighbouring states does not grow exponentially (r² = "
            f"{straight:.2f} of a straight line, {LEAST_STRAIGHT} is needed): diffusion, not chaos",
            times,
            curve,
        )
    span = (float(times[start]), float(times[stop]))
    words = (
        f"Estimated from the series: neighbouring states separate by exp({slope:.3g} t) between "
        f"t = {span[0]:.4g} and {span[1]:.4g}. Such estimates are off by 10 to 25 %, by more where "
        "the series holds few orbits."
    )
    return LyapunovEstimate(slope, words, times, curve, span)
