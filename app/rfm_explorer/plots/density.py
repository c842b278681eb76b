"""How long forecasts stay valid: the distribution over test trajectories and realizations."""

from __future__ import annotations

from collections.abc import Sequence

import holoviews as hv
import numpy as np

import rfm_core
from rfm_core import PaperRow

from ..results.records import Info, Times
from . import style
from .parts import MOST_PINS, NOTHING, Axes, Ink, Part, joined, key, round_up

Array = np.ndarray

ROW = 0.075  # height of a line of the key, as a share of the picture
STRIP = 0.07  # the strip of points below the densities
RUG = "forecasts"  # label of the points, for those who listen to taps on them
HOVER = [("valid for", "@vpt{0.0}"), ("realization", "@realization"), ("test", "@test")]


def density(
    runs: Sequence[tuple[str, Times]],
    info: Info,
    paper: PaperRow | None = None,
    selected: tuple[int, int] | None = None,
) -> hv.Overlay:
    """Kernel densities of valid prediction times: the current run (first), then pinned ones.

    Each run has a stroke at its mean. Points below are the current run's forecasts; the ring is the
    ``selected`` (realization, test). The grey band is the paper's mean and standard deviation.
    """
    runs = runs[: 1 + MOST_PINS]
    end = _end([times for _, times in runs], paper)
    shapes = [_shape(times, end) for _, times in runs]
    texts = [_line(label, times) for label, times in runs]
    if paper is not None:
        texts.append(f"paper: mean {paper.vpt_mean:.1f}, standard deviation {paper.vpt_std:.1f}")
    axes = _axes(info, end, max((float(y.max()) for _, y in shapes if len(y)), default=1.0), texts)
    strokes, words = key(axes, texts, 1 - 0.6 * ROW, ROW)
    inks = [
        joined(shape, _stick(float(times.vpt.mean()), shape, axes), stroke)
        if len(times)
        else stroke
        for (_, times), shape, stroke in zip(runs, shapes, strokes, strict=False)
    ]
    inks += [(NOTHING, NOTHING)] * (1 + MOST_PINS - len(runs))
    return axes.overlay(
        [
            *_published(axes, paper, strokes),
            _filled(axes, shapes[0] if runs else (NOTHING, NOTHING)),
            *_outlines(axes, inks),
            *_forecasts(axes, runs[0][1] if runs else None, shapes, selected),
            axes.words("key", words, text_align="right"),
        ],
        400,
    )


def _end(runs: Sequence[Times], paper: PaperRow | None) -> float:
    """Where the time axis ends."""
    highest = [float(times.vpt.max()) for times in runs if len(times)]
    if paper is not None:
        highest.append(paper.vpt_mean + 2 * paper.vpt_std)
    return round_up(1.1 * max(highest, default=9.0))


def _shape(times: Times, end: float) -> Ink:
    """The density; none of fewer than two forecasts, and a visible peak of equal ones."""
    if len(times) < 2:
        return NOTHING, NOTHING
    alike = np.ptp(times.vpt) < 0.02 * end
    return rfm_core.density(times.vpt, low=0.0, bandwidth=0.01 * end if alike else None)


def _line(label: str, times: Times) -> str:
    """A run in the key: what its strokes mean, and their values."""
    name = style.plain(label)
    if not len(times):
        return f"{name}: no forecast yet"
    bound = "at least " if times.censored.any() else ""
    if len(times) == 1:
        return f"{name}: {bound}{times.vpt[0]:.1f}, one forecast"
    if times.censored.all():
        return f"{name}: all {len(times)} good to the end of the data, at {times.vpt.min():.1f}"
    error = times.vpt.std(ddof=1) / np.sqrt(len(times))
    return f"{name}: mean {bound}{times.vpt.mean():.1f} ± {error:.1f}, n = {len(times)}"


def _axes(info: Info, end: float, peak: float, texts: Sequence[str]) -> Axes:
    """Room for the densities between the strip of points and the key."""
    whole = 1.05 * peak / (1 - STRIP - ROW * (len(texts) + 0.5))
    name = f"density {info.name} {info.unit}"
    title = f"forecast valid for ({info.unit})"
    return Axes(name, title, "density", (0.0, end), (-STRIP * whole, (1 - STRIP) * whole))


def _stick(at: float, shape: Ink, axes: Axes) -> Ink:
    """A vertical stroke as high as the density there."""
    height = float(np.interp(at, *shape)) if len(shape[0]) else axes.place(0, 0.5)[1]
    return np.array([at, at]), np.array([0.0, height])


def _published(axes: Axes, paper: PaperRow | None, strokes: Sequence[Ink]) -> list[Part]:
    """The paper's band and mean; its entry in the key is the last one."""
    band, mean = [], (NOTHING, NOTHING)
    if paper is not None:
        centre, std, top = paper.vpt_mean, paper.vpt_std, axes.place(0, 1 - STRIP)[1]
        band = [(max(0.0, centre - std), 0.0, centre + std, top)]
        mean = joined((np.array([centre, centre]), np.array([0.0, top])), strokes[-1])
    return [
        axes.rectangles("paper's spread", band, fill_color=style.PAPER, fill_alpha=0.2),
        axes.curve("paper", *mean, color=style.PAPER, line_width=2, show_legend=False),
    ]


def _filled(axes: Axes, shape: Ink) -> Part:
    look = {"fill_color": style.RUN, "fill_alpha": 0.25, "line_alpha": 0, "show_legend": False}
    return axes.part(hv.Area, "run filled", [*zip(axes.dims, shape, strict=False)], **look)


def _outlines(axes: Axes, inks: Sequence[Ink]) -> list[Part]:
    labels = ["run", *(f"pin {k}" for k in range(1, MOST_PINS + 1))]
    return [
        axes.curve(label, *ink, color=colour, line_width=2.5, show_legend=False)
        for label, ink, colour in zip(labels, inks, (style.RUN, *style.PINS), strict=True)
    ]


def _forecasts(
    axes: Axes, times: Times | None, shapes: Sequence[Ink], selected: tuple[int, int] | None
) -> list[Part]:
    """The current run's median, its forecasts as points to tap, and a ring around one of them."""
    vpt = NOTHING if times is None else times.vpt
    numbers = (NOTHING, NOTHING) if times is None else (times.realization, times.test)
    height = np.full(len(vpt), axes.place(0, STRIP / 2)[1])
    median = []
    if len(vpt) > 1:
        x, y = _stick(float(np.median(vpt)), shapes[0], axes)
        median = [(x[0], y[0], x[1], y[1])]
    chosen = np.zeros(len(vpt), dtype=bool)
    if selected is not None:
        chosen = (numbers[0] == selected[0]) & (numbers[1] == selected[1])
    names = map(hv.Dimension, ("vpt", "realization", "test"))
    columns = zip((*axes.dims[:2], *names), (vpt, height, vpt, *numbers), strict=True)
    tap = {"tools": ["tap", "hover"], "hover_tooltips": HOVER, "nonselection_alpha": 0.55}
    look = {"color": style.RUN, "size": 10, "alpha": 0.55, "show_legend": False, **tap}
    ring = {"fill_alpha": 0, "line_color": style.TEXT, "line_width": 3, "size": 17}
    return [
        axes.segments("median", median, color=style.RUN, line_width=2.5, line_dash="dotted"),
        axes.part(hv.Scatter, RUG, [*columns], **look),
        axes.scatter("selected", vpt[chosen], height[chosen], **ring),
    ]
