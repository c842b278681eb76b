"""The long run: does the surrogate live on the same attractor, with the same rhythms?"""

from __future__ import annotations

import holoviews as hv
import numpy as np

from ..results.records import Climate
from . import style
from .parts import Axes

Array = np.ndarray

MOST_POINTS = 1000
DECADES = 12  # of power below the peak, at most: further down is rounding


def marginal(climate: Climate | None, column: int) -> hv.Overlay:
    """How often each value occurs: truth filled, surrogate as a dashed outline."""
    edges, truth, surrogate = _histograms(climate, column)
    highest = max((float(d.max()) for d in (truth, surrogate) if len(d)), default=0.0) or 1.0
    name = column_name(climate, column)
    axes = Axes(
        f"marginal {name}",
        name,
        "probability density",
        (float(edges[0]), float(edges[-1])) if len(edges) else (0.0, 1.0),
        (0.0, 1.08 * highest),
    )
    at, height = _outline(edges, truth)
    x, y, _, y2, _ = axes.dims
    parts = [
        axes.part(
            hv.Area,
            "truth",
            [(x, at), (y, height), (y2, np.zeros(len(at)))],
            color=style.TRUTH,
            line_color=style.TRUTH,
            fill_alpha=0.45,
        ),
        axes.curve("surrogate", *_outline(edges, surrogate), **style.FORECAST_LINE),
    ]
    return axes.overlay(parts, 340, legend_position="top")


def column_name(climate: Climate | None, column: int) -> str:
    """A column in words, cut short: it may be a stranger's text."""
    if climate is None or not 0 <= column < len(climate.columns):
        return "value"
    name = style.plain(climate.columns[column])
    return f"{name} at all places" if climate.pooled else name


def _histograms(climate: Climate | None, column: int) -> tuple[Array, Array, Array]:
    """Edges and both densities of a column; empty where there are none."""
    nothing = np.zeros(0)
    if climate is None or not 0 <= column < len(climate.edges):
        return nothing, nothing, nothing
    edges = climate.edges[column]
    if not len(edges) or not np.isfinite(edges).all():
        return nothing, nothing, nothing
    parts = (d[column] if column < len(d) else nothing for d in (climate.truth, climate.surrogate))
    # a surrogate of which nothing is left comes as zeros
    truth, surrogate = (d if np.isfinite(d).all() and d.any() else nothing for d in parts)
    return edges, truth, surrogate


def _outline(edges: Array, density: Array) -> tuple[Array, Array]:
    """Of a histogram, from zero to zero."""
    if not len(density):
        return density, density
    return np.repeat(edges, 2), np.repeat(np.concatenate([[0.0], density, [0.0]]), 2)[1:-1]


def spectrum(climate: Climate | None) -> hv.Overlay:
    """Power over frequency, truth and surrogate, both axes logarithmic."""
    truth, surrogate = (spectrum_points(climate, which) for which in ("truth", "surrogate"))
    power = "power at one place" if climate is not None and climate.pooled else "power of the mean"
    axes = Axes(
        f"spectrum {power}",
        "frequency, cycles a time unit",
        power,
        *_spectrum_limits(*truth, surrogate[1]),
        log=True,
    )
    parts = [
        axes.curve("truth", *truth, **style.TRUTH_LINE),
        axes.curve("surrogate", *surrogate, **style.FORECAST_LINE),
    ]
    return axes.overlay(parts, 340, legend_position="top", logx=True)


def spectrum_points(climate: Climate | None, which: str) -> tuple[Array, Array]:
    """Frequencies and powers above zero; beyond 1000 they are means over equal ratios."""
    power = np.zeros(0) if climate is None else getattr(climate, f"power_{which}")
    if climate is None or len(power) != len(climate.frequency):
        return np.zeros(0), np.zeros(0)
    known = (climate.frequency > 0) & np.isfinite(power) & (power > 0)
    frequency, power = climate.frequency[known], power[known]
    if len(frequency) <= MOST_POINTS:
        return frequency, power
    edges = np.geomspace(frequency[0], frequency[-1], MOST_POINTS + 1)
    place = np.clip(np.searchsorted(edges, frequency, side="right") - 1, 0, MOST_POINTS - 1)
    count = np.bincount(place, minlength=MOST_POINTS)
    filled = count > 0
    totals = (np.bincount(place, values, MOST_POINTS) for values in (frequency, power))
    mean_frequency, mean_power = (total[filled] / count[filled] for total in totals)
    return mean_frequency, mean_power


def _spectrum_limits(
    frequency: Array, truth: Array, surrogate: Array
) -> tuple[tuple[float, float], tuple[float, float]]:
    """All of the truth, and a surrogate that has more power, up to a thousandfold."""
    if len(frequency) < 2:
        return (0.01, 10.0), (1e-6, 1.0)
    peak = float(truth.max())
    low = max(float(truth.min()), peak * 10.0**-DECADES)
    high = min(max([peak, *surrogate]), 1000 * peak)
    return (float(frequency[0]), float(frequency[-1])), (low / 4, high * 4)
