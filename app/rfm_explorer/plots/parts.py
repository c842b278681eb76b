"""What several pictures share: ranges that stay put, thin data, elements on common axes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.core.properties import value

from ..compat.figures import share_options
from ..results.records import Info, Trajectory
from . import style

Array = np.ndarray

MOST_POINTS = 2500
MOST_PINS = len(style.PINS)
STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)  # an axis grows by these, not continuously
NOTHING = np.zeros(0)
Ink = tuple[Array, Array]  # x and y of a line
Rows = Sequence[Sequence[float]]
Words = Sequence[tuple[float, float, str]]
Part = tuple[hv.Element, dict[str, Any]]  # and its look
Columns = list[tuple[hv.Dimension, Array]]


def round_up(value: float) -> float:
    """The next value of a ladder of round numbers."""
    if not value > 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * next((s for s in STEPS if s * power >= value * (1 - 1e-9)), 10.0))


def reach(trajectory: Trajectory) -> int:
    """The last step that was forecast."""
    there = np.flatnonzero(np.isfinite(trajectory.forecast[:, 0]))
    return int(there[-1]) if len(there) else 0


def window(info: Info, trajectory: Trajectory | None) -> float:
    """How much time to show, in ``info.unit``: the valid forecast and some more."""
    horizon = info.steps * info.per_step
    if trajectory is None:
        return min(10.0, horizon)
    if trajectory.vpt is None:
        wanted = 1.1 * reach(trajectory) * info.per_step
    else:
        wanted = 1.25 * trajectory.vpt + (1.0 if info.lyapunov else 0.0)
    return min(round_up(max(wanted, 50 * info.per_step)), horizon)


def column_limits(info: Info, trajectory: Trajectory | None, column: int) -> tuple[float, float]:
    """Lowest and highest value of a component of the true system."""
    values = [info.backdrop[:, column]]
    if not len(info.backdrop):
        values.append(info.mean[column] + 3 * info.std[column] * np.array([-1.0, 1.0]))
    if trajectory is not None:
        values.append(trajectory.truth[:, column])
    every = np.concatenate(values)
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def thin(y: Array, most: int = MOST_POINTS) -> Array:
    """Which points of a curve to keep: both ends, and lowest and highest of every piece between."""
    n = len(y)
    if n <= most:
        return np.arange(n)
    piece = -(-(n - 2) // ((most - 2) // 2))
    starts = np.arange(1, n - 1, piece)
    padded = np.full(len(starts) * piece, np.nan)
    padded[: n - 2] = y[1:-1]
    rows = padded.reshape(-1, piece)
    lowest = np.where(np.isnan(rows), np.inf, rows).argmin(axis=1)
    highest = np.where(np.isnan(rows), -np.inf, rows).argmax(axis=1)
    kept = np.concatenate([[0], starts + lowest, starts + highest, [n - 1]])
    return np.unique(np.minimum(kept, n - 1))


def shrink(image: Array, most: tuple[int, int], largest: bool = False) -> tuple[Array, list[int]]:
    """An image of at most that size, and how many old cells a new one holds along each axis.

    A new cell is the mean of its old ones, or the ``largest``; NaN only where all of them are.
    """
    cells = [-(-n // limit) for n, limit in zip(image.shape, most, strict=True)]
    if cells == [1, 1]:
        return image, cells
    starts = [np.arange(0, n, cell) for n, cell in zip(image.shape, cells, strict=True)]

    def blocks(values: Array, by: np.ufunc) -> Array:
        return np.asarray(by.reduceat(by.reduceat(values, starts[0], 0), starts[1], 1))

    if largest:
        return blocks(image, np.fmax), cells
    there = np.isfinite(image)
    total, count = blocks(np.where(there, image, 0.0), np.add), blocks(there.astype(float), np.add)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan), cells


@dataclass(frozen=True)
class Axes:
    """The two axes of one picture, and elements on them.

    Names of dimensions are not seen. Everything that a drawn picture cannot change (words on its
    axes, colour limits) belongs into ``name``, so that a change of it makes a new picture.
    """

    name: str
    xlabel: str
    ylabel: str
    xlim: tuple[float, float]
    ylim: tuple[float, float]
    log: bool = False  # the y axis
    dims: tuple[hv.Dimension, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = [f"{self.name} {axis}" for axis in ("x", "y", "x2", "y2", "words")]
        object.__setattr__(self, "dims", tuple(map(hv.Dimension, names)))

    def place(self, across: float, up: float) -> tuple[float, float]:
        """The point at these shares of the picture's width and height."""
        (left, right), (low, high) = self.xlim, self.ylim
        y = low * (high / low) ** up if self.log else low + up * (high - low)
        return left + across * (right - left), y

    def part(self, kind: type, label: str, columns: Columns, **look: Any) -> Part:
        """An element with its look; columns are (dimension, values), the kind's keys first."""
        data = {dim.name: np.asarray(values) for dim, values in columns}
        dims = [dim for dim, _ in columns]
        keys = {hv.Segments: 4, hv.Rectangles: 4, hv.Labels: 2}.get(kind, 1)
        # "dictionary": a data frame each would cost more than everything else
        element = kind(data, dims[:keys], dims[keys:], label=label, datatype=["dictionary"])
        return element, look

    def curve(self, label: str, x: Any, y: Any, **look: Any) -> Part:
        return self.part(hv.Curve, label, [*zip(self.dims, (x, y), strict=False)], **look)

    def scatter(self, label: str, x: Any, y: Any, **look: Any) -> Part:
        look = {"show_legend": False, **look}
        return self.part(hv.Scatter, label, [*zip(self.dims, (x, y), strict=False)], **look)

    def segments(self, label: str, rows: Rows, **look: Any) -> Part:
        """Lines from (x, y) to (x2, y2), a row each."""
        look = {"show_legend": False, **look}
        return self.part(hv.Segments, label, self._corners(rows), **look)

    def rectangles(self, label: str, rows: Rows, **look: Any) -> Part:
        """Filled boxes from (x, y) to (x2, y2), a row each."""
        look = {"show_legend": False, "line_color": None, **look}
        return self.part(hv.Rectangles, label, self._corners(rows), **look)

    def _corners(self, rows: Rows) -> Columns:
        values = np.array(rows, dtype=float).reshape(-1, 4).T
        return [*zip(self.dims[:4], values, strict=True)]

    def words(self, label: str, rows: Words, **look: Any) -> Part:
        """Text at (x, y), a row each."""
        font = {"text_font": value(style.FONT), "text_font_size": style.TEXT_SIZE}
        look = {"text_color": style.TEXT, **font, **look}
        place = np.array([row[:2] for row in rows], dtype=float).reshape(-1, 2).T
        text = np.array([row[2] for row in rows], dtype=object)
        columns = [*zip(self.dims, place, strict=False), (self.dims[4], text)]
        return self.part(hv.Labels, label, columns, show_legend=False, **look)

    def overlay(self, parts: Sequence[Part | hv.Element], height: int, **more: Any) -> hv.Overlay:
        """The picture; parts without a look have their options already."""
        titles = {"xlabel": self.xlabel, "ylabel": self.ylabel}
        look = style.base(height, logy=self.log, **titles, **more)
        frame = hv.Overlay([]).opts(hv.opts.Overlay(xlim=self.xlim, ylim=self.ylim, **look))
        elements = [_styled(*part) if isinstance(part, tuple) else part for part in parts]
        return hv.Overlay(elements, id=frame.id)


_KNOWN: OrderedDict[str, hv.Element] = OrderedDict()  # oldest first
_MOST_KNOWN = 1000


def _styled(element: hv.Element, look: dict[str, Any]) -> hv.Element:
    """The element with its options.

    HoloViews takes milliseconds to check the options of an element, and a picture that is drawn
    many times a second has the same ones each time. So an element without data that has them is
    kept, and shares them.
    """
    dims = [dim.name for dim in element.dimensions()]
    name = repr((type(element).__name__, element.label, dims, look))
    if name not in _KNOWN:
        _KNOWN[name] = _bare(element).opts(**look)
        while len(_KNOWN) > _MOST_KNOWN:
            _KNOWN.popitem(last=False)
    _KNOWN.move_to_end(name)
    return share_options(element, _KNOWN[name])


def _bare(element: hv.Element) -> hv.Element:
    if isinstance(element, hv.Image):
        return element.clone(np.zeros((2, 2)), bounds=(0, 0, 1, 1))
    return element.clone({dim.name: NOTHING for dim in element.dimensions()})


def end_of_forecast(axes: Axes, trajectory: Trajectory | None, up: float) -> tuple[Rows, Words]:
    """The vertical line where a forecast fails, and words at its upper or lower end.

    ``up`` is their place as a share of the picture's height; they stay inside of it.
    """
    if trajectory is None or trajectory.vpt is None:
        return [], []
    vpt, (low, high) = trajectory.vpt, axes.xlim
    text = f"valid for at least {vpt:.1f}" if trajectory.censored else f"forecast valid {vpt:.1f}"
    margin = 0.24 * (high - low)  # half of the words, where a picture is narrow
    at = min(max(vpt, low + margin), high - margin)
    bottom, top = (axes.place(0, y)[1] for y in ((0.0, up - 0.08) if up > 0.5 else (up + 0.05, 1)))
    return [(vpt, bottom, vpt, top)], [(at, axes.place(0, up)[1], text)]


def key(axes: Axes, texts: Sequence[str], top: float, row: float) -> tuple[list[Ink], Words]:
    """Strokes at the right edge, one below the other, and the words left of them.

    Shares of the picture's height: ``top`` of the first one, ``row`` from one to the next. A key
    made of data can change while a picture is shown; a legend cannot.
    """
    strokes, words = [], []
    for k, text in enumerate(texts):
        (left, y), (right, _) = (axes.place(across, top - k * row) for across in (0.955, 0.985))
        strokes.append((np.array([left, right]), np.array([y, y])))
        words.append((axes.place(0.945, 0)[0], y, text))
    return strokes, words


def joined(*strokes: Ink) -> Ink:
    """Several lines as one curve with gaps."""
    gap = np.array([np.nan])
    pieces = [[part for stroke in strokes for part in (stroke[k], gap)] for k in (0, 1)]
    x, y = (np.concatenate(piece[:-1]) if piece else NOTHING for piece in pieces)
    return x, y
