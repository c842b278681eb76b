"""Truth and forecast of one test trajectory: curves, attractor, space-time images, error."""

from __future__ import annotations

from collections.abc import Sequence

import holoviews as hv
import numpy as np

from rfm_core.checks import one_of, whole

from ..results.records import Info, Trajectory
from . import style
from .attractor import SOLID, attractor, planes
from .parts import (
    MOST_PINS,
    MOST_POINTS,
    NOTHING,
    Axes,
    Ink,
    Part,
    column_limits,
    end_of_forecast,
    joined,
    key,
    shrink,
    thin,
    window,
)

__all__ = ["SOLID", "attractor", "components", "error_growth", "planes", "space_time", "window"]

Array = np.ndarray

SPACE_TIME = ("truth", "forecast", "error")
ERROR_RANGE = (1e-16, 10.0)
DECADES = [1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1.0]
CLIPPED_ERROR = 3.0  # standard deviations
SPREAD = 2.5  # standard deviations around the mean that the colours of a state cover
Pin = tuple[str, Info, Trajectory]


def components(
    info: Info, trajectory: Trajectory | None, column: int, *, cursor: float | None = None
) -> hv.Overlay:
    """One component over time, the forecast dashed and the time after its failure shaded."""
    remedy = "Components count from 0."
    column = whole("column", column, 0, info.dimension - 1, remedy)
    low, high = column_limits(info, trajectory, column)
    pad = 0.06 * (high - low)
    end = window(info, trajectory)
    # room for words above the curves
    axes = Axes(
        f"components {column} {info.name} {info.unit}",
        info.unit if column == info.dimension - 1 else "",  # one is enough for all of them
        style.plain(info.columns[column]),
        (0.0, end),
        (low - pad, high + 5 * pad),
    )
    lines, words = end_of_forecast(axes, trajectory, 0.92)
    after = [(x, axes.ylim[0], end, axes.ylim[1]) for x, *_ in lines]
    now = [(cursor, axes.ylim[0], cursor, axes.ylim[1])] if cursor is not None else []
    truth, forecast = (
        _curve(info, _column(trajectory, name, column, low, high)) for name in SPACE_TIME[:2]
    )
    parts = [
        axes.rectangles("after", after, fill_color=style.TEXT, fill_alpha=0.14),
        axes.curve("truth", *truth, **style.TRUTH_LINE),
        axes.curve("forecast", *forecast, **style.FORECAST_LINE),
        axes.segments("valid until", lines, color=style.THRESHOLD, line_width=2.5),
        axes.segments("now", now, color=style.TEXT, line_width=1.5),
        axes.words("end", words),
    ]
    height = 160 if info.dimension < 3 else 130  # three of them fit beside the attractor
    height += 30 * (column == 0) + 25 * (column == info.dimension - 1)
    if column:  # as is one legend
        return axes.overlay(parts, height, show_legend=False, yticks=4)
    return axes.overlay(parts, height, legend_position="top", yticks=4)


def _column(
    trajectory: Trajectory | None, name: str, column: int, low: float, high: float
) -> Array:
    """A component; what blows up is cut far outside of the picture."""
    if trajectory is None:
        return NOTHING
    far = 5 * (high - low)
    return np.clip(getattr(trajectory, name)[:, column], low - far, high + far)


def _curve(info: Info, values: Array, most: int = MOST_POINTS) -> Ink:
    kept = thin(values, most)
    return kept * info.per_step, values[kept]


def space_time(info: Info, trajectory: Trajectory | None, which: str) -> hv.Overlay:
    """Truth, forecast or their difference over time and space, as an image.

    Where all places are alike colours are values of the state, and truth and forecast share them;
    otherwise components have scales of their own, and colours are standard deviations.
    """
    one_of("which", which, SPACE_TIME)
    end = window(info, trajectory)
    low, high, meaning = _colours(info, which)
    top = 1.15 * info.length  # a strip for words
    name = f"space_time {which} {info.name} {info.unit} {low:.3g} {high:.3g}"
    axes = Axes(name, info.unit, "space", (0.0, end), (0.0, top))
    lines, words = end_of_forecast(axes, trajectory, 0.94)
    values, cells = shrink(_states(info, trajectory, which, end), (500, 300), which == "error")
    right = len(values) * cells[0] * info.per_step
    above = values.shape[1] * cells[1] * info.length / info.dimension
    image = hv.Image(
        values.T[::-1],
        bounds=(0.0, 0.0, right, above),
        kdims=list(axes.dims[:2]),
        # the title says what colours mean; a range spares HoloViews to look for one
        vdims=[hv.Dimension((f"{name} value", " "), range=(low, high))],
        label=which,
    )
    look = {
        "cmap": style.ERRORS if which == "error" else style.DIVERGING,
        "clim": (low, high),
        "colorbar": True,
        "colorbar_opts": {"width": 12, "padding": 4},
    }
    parts = [
        (image, look),
        axes.segments("halo", lines, color="white", line_width=5),
        axes.segments("valid until", lines, color="black", line_width=2),
        axes.words("end", words),
    ]
    return axes.overlay(parts, 210, title=f"{which}{meaning}")


def _colours(info: Info, which: str) -> tuple[float, float, str]:
    """Limits and meaning of the colours, from the data set alone: they do not change by test."""
    if which == "error":
        return 0.0, CLIPPED_ERROR, " in standard deviations"
    if not info.homogeneous:
        return -SPREAD, SPREAD, ", in standard deviations from the mean"
    mean, std = float(info.mean.mean()), float(np.sqrt(np.mean(info.std**2)))
    centre = 0.0 if abs(mean) < 0.3 * std else mean
    return centre - SPREAD * std, centre + SPREAD * std, ""


def _states(info: Info, trajectory: Trajectory | None, which: str, end: float) -> Array:
    """What the image shows, (time, space)."""
    if trajectory is None:
        return np.full((2, info.dimension), np.nan)
    times = slice(0, max(2, int(np.ceil(end / info.per_step)) + 1))
    truth, forecast = trajectory.truth[times], trajectory.forecast[times]
    if which == "error":
        with np.errstate(over="ignore", invalid="ignore"):
            error = np.minimum(np.abs(forecast - truth) / info.std, CLIPPED_ERROR)
        if trajectory.diverged_at >= 0:
            error[trajectory.diverged_at :] = CLIPPED_ERROR
        return np.asarray(error)
    states = truth if which == "truth" else forecast
    return states if info.homogeneous else (states - info.mean) / info.std


def error_growth(
    info: Info, trajectories: Sequence[Trajectory], pins: Sequence[Pin] = ()
) -> hv.Overlay:
    """Error over time on a logarithmic axis: the shown trajectory (first), others of the run, pins.

    In a chaotic system a small error grows as exp(t), t in Lyapunov times: the dotted guide.
    """
    shown = trajectories[0] if trajectories else None
    end = window(info, shown)
    name = f"error_growth {info.name} {info.unit} {info.eps:g}"
    axes = Axes(name, info.unit, "error / std", (0.0, end), ERROR_RANGE, log=True)
    lines, words = end_of_forecast(axes, shown, 0.05)
    limit = np.array([0.0, end]), np.array([info.eps, info.eps])
    guide = {"color": style.TEXT, "line_width": 2.5, "line_dash": "dotted"}
    parts = [
        axes.curve("other tests", *_together(info, trajectories[1:]), color=style.TEXT, alpha=0.35),
        *_pinned(axes, pins),
        axes.curve("this test", *_error(info, shown), color=style.FORECAST, line_width=2.5),
        axes.curve(f"threshold {info.eps:.3g}", *limit, color=style.THRESHOLD, line_width=2),
        axes.curve("growth by chaos", *_guide(info, shown), **guide),
        axes.segments("valid until", lines, color=style.THRESHOLD, line_width=2.5),
        axes.words("end", words),
    ]
    return axes.overlay(parts, 320, legend_position="top", yticks=DECADES)


def _error(info: Info, trajectory: Trajectory | None, most: int = MOST_POINTS) -> Ink:
    """The error's curve; what is too small or too large for the picture lies on its edge."""
    if trajectory is None:
        return NOTHING, NOTHING
    # both start from the same state: a logarithm has no place for an error of 0
    error = np.where(trajectory.error > 0, trajectory.error, np.nan)
    return _curve(info, np.clip(error, *ERROR_RANGE), most)


def _together(info: Info, trajectories: Sequence[Trajectory]) -> Ink:
    most = max(20, MOST_POINTS // max(1, len(trajectories)) - 1)
    return joined(*(_error(info, each, most) for each in trajectories))


def _pinned(axes: Axes, pins: Sequence[Pin]) -> list[Part]:
    """Curves of as many pins as there may be, and their key in the empty lower right corner."""
    pins = pins[:MOST_PINS]
    texts = [style.plain(label) for label, _, _ in pins]
    strokes, words = key(axes, texts, 0.06 + 0.07 * len(pins), 0.07)
    inks = [joined(_error(*pin[1:]), stroke) for pin, stroke in zip(pins, strokes, strict=True)]
    inks += [(NOTHING, NOTHING)] * (MOST_PINS - len(pins))
    look = {"line_width": 2, "show_legend": False}
    curves = [
        axes.curve(f"pin {k}", *ink, color=colour, **look)
        for k, (ink, colour) in enumerate(zip(inks, style.PINS, strict=True), 1)
    ]
    return [*curves, axes.words("pins", words, text_align="right")]


def _guide(info: Info, trajectory: Trajectory | None) -> Ink:
    """exp(t) through the middle of the error's growth; nothing where no exponent is known."""
    if trajectory is None or not info.lyapunov:
        return NOTHING, NOTHING
    error = trajectory.error
    growing = np.flatnonzero((error > 1e-15) & (error < info.eps))
    if trajectory.vpt is not None:  # an error that comes back below eps has nothing to say
        growing = growing[growing * info.per_step <= trajectory.vpt + 1e-9]
    if len(growing) < 2:
        return NOTHING, NOTHING
    start = float(np.median(np.log(error[growing]) - growing * info.per_step))
    ends = np.log([max(ERROR_RANGE[0], np.exp(start)), ERROR_RANGE[1]])
    return ends - start, np.exp(ends)
