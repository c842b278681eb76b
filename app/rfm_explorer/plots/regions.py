"""Where the features lie on the tanh, or on one with such zones: linear, good or saturated."""

from __future__ import annotations

import holoviews as hv
import numpy as np

from rfm_core import Features, ModelSpec, TanhRegions

from . import style
from .parts import Axes, Part

Array = np.ndarray

FLOOR, TOP, CEILING = -1.12, 1.12, 2.0  # the names of the zones stand between the last two
MOST_BARS = 400
USUAL = ModelSpec().kind
COLORS = {"linear": style.LINEAR, "good": style.GOOD, "saturated": style.SATURATED}


def tanh_zones(
    regions: TanhRegions | None, naive: TanhRegions | None, kind: type[Features] = USUAL
) -> hv.Overlay:
    """The function with its three zones, and over it the distribution of pre-activations."""
    low, high = _borders(regions)
    axes = Axes(
        "tanh zones",
        "pre-activation x = weights · state + bias  (outermost bars: all beyond)",
        f"feature {kind.name}(x)",
        (-2 * high, 2 * high),
        (FLOOR, CEILING),
    )
    peak = _peak(regions, naive)
    steps, height = _steps(regions, peak)
    reach = min(4.0, 2 * high)  # further out it is straight to the eye
    at = np.concatenate([[-2 * high], np.linspace(-reach, reach, 161), [2 * high]])
    floor = np.full(len(steps), FLOOR)
    x, y, _, y2, _ = axes.dims
    parts = [
        *_zones(axes, low, high),
        axes.part(
            hv.Area,
            "this model",
            [(x, steps), (y, height), (y2, floor)],
            color=style.TRUTH,
            line_color=style.TRUTH,
            fill_alpha=0.5,
        ),
        axes.curve(
            "naive weights",
            *_steps(naive, peak),
            color=style.FORECAST,
            line_width=2.5,
            line_dash="dashed",
        ),
        axes.curve(kind.name, at, kind.curve(at), color=style.TEXT, line_width=4),
        *_zone_words(axes, regions, naive),
    ]
    ticks = [-1, -0.5, 0, 0.5, 1]
    return axes.overlay(parts, 330, yticks=ticks, legend_position="top")


def _zones(axes: Axes, low: float, high: float) -> list[Part]:
    spans = {
        "linear": [(-low, low)],
        "good": [(-high, -low), (low, high)],
        "saturated": [(-2 * high, -high), (high, 2 * high)],
    }
    return [
        axes.rectangles(
            name, [(a, FLOOR, b, CEILING) for a, b in span], color=COLORS[name], alpha=0.13
        )
        for name, span in spans.items()
    ]


def _peak(*given: TanhRegions | None) -> float:
    """Highest density of all, to draw them on one scale.

    The outermost bins hold everything beyond them and do not count: they would press the others
    down to the floor.
    """
    return max((float(r.density[1:-1].max()) for r in given if r is not None), default=0.0) or 1.0


def _steps(regions: TanhRegions | None, peak: float) -> tuple[Array, Array]:
    """A distribution as steps, in the units of the axis."""
    if regions is None:
        return np.zeros(0), np.zeros(0)
    height = FLOOR + (TOP - FLOOR) * np.minimum(regions.density / peak, 1.0)
    return np.repeat(regions.edges, 2)[1:-1], np.repeat(height, 2)


def _zone_words(axes: Axes, regions: TanhRegions | None, naive: TanhRegions | None) -> list[Part]:
    """The zones' names, and below them in the colours of the distributions what lies in each."""
    low, high = _borders(regions)
    centres = {"linear": 0.0, "good": (low + high) / 2, "saturated": 1.5 * high}
    sides = [(sign * centre, name) for name, centre in centres.items() for sign in (-1, 1)]
    names = [(x, axes.place(0, 0.94)[1], name) for x, name in dict(sides).items()]
    parts = [axes.words("zones", names)]
    rows = ("this model's shares", regions, style.TRUTH), ("naive shares", naive, style.FORECAST)
    for k, (label, given, color) in enumerate(rows):
        height = axes.place(0, 0.86 - 0.08 * k)[1]
        shares = given.overall if given is not None else {}
        texts = [(centres[name], height, f"{100 * s:.0f} %") for name, s in shares.items()]
        parts.append(axes.words(label, texts, text_color=color))
    return parts


def _borders(regions: TanhRegions | None) -> tuple[float, float]:
    """L0 and L1, or the usual ones."""
    return (regions.L0, regions.L1) if regions is not None else (0.4, 3.5)


def feature_shares(regions: TanhRegions | None, title: str) -> hv.Overlay:
    """For every feature, the shares of states that find it good, linear and saturated.

    Sorted by the good share; beyond 400 features a bar is the mean of neighbours.
    """
    count = len(regions.good) if regions is not None else 1
    axes = Axes(
        f"feature shares {title}",
        "features, best first",
        "share of states, %",
        (0.0, float(count)),
        (0.0, 100.0),
    )
    x, y, _, y2, _ = axes.dims
    edges, shares = _bars(regions)
    at = np.repeat(edges, 2)[1:-1]
    below = np.zeros(len(at))
    parts = []
    for name, share in shares.items():
        above = below + np.repeat(100 * share, 2)
        parts.append(
            axes.part(
                hv.Area,
                name,
                [(x, at), (y, above), (y2, below)],
                color=COLORS[name],
                line_alpha=0,
                fill_alpha=0.85,
            )
        )
        below = above
    return axes.overlay(parts, 270, title=title, legend_position="top")


def _bars(regions: TanhRegions | None) -> tuple[Array, dict[str, Array]]:
    """Edges of the bars, counted in features, and the mean shares in each."""
    names = ("good", "linear", "saturated")
    if regions is None:
        return np.zeros(1), {name: np.zeros(0) for name in names}
    count = len(regions.good)
    order = np.lexsort((regions.saturated, -regions.good))
    edges = np.linspace(0, count, min(count, MOST_BARS) + 1).round().astype(int)
    return edges.astype(float), {
        name: np.add.reduceat(getattr(regions, name)[order], edges[:-1]) / np.diff(edges)
        for name in names
    }
