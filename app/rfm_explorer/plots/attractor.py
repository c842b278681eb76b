"""Truth and forecast in the space of states: seen from a side, or turning."""

from __future__ import annotations

from itertools import combinations

import holoviews as hv
import numpy as np

from rfm_core.checks import one_of, real

from ..results.records import Info, Trajectory
from . import style
from .parts import NOTHING, Axes, Part, Rows, Words, column_limits, reach

Array = np.ndarray

SOLID = "3D"
ELEVATION = np.radians(20.0)
HALF_FRAME = 1.6  # holds a cube of half-width 1 at every azimuth, and the names of its edges
MOST_STATES = 2500
SHAPE = {"max_width": 560, "min_width": 300}  # so wide that the cube is one, where there is room
ORDER = ((0, 2), (0, 1), (1, 2))  # of planes: x-z shows Lorenz's wings


def planes(info: Info) -> list[str]:
    """What the attractor can be seen from: the solid first, then pairs of components."""
    sides = ORDER if info.dimension > 2 else tuple(combinations(range(info.dimension), 2))
    short = [style.plain(column, 16) for column in info.columns]
    names = [f"{short[i]}-{short[j]}" for i, j in sides]
    if len(set(names)) < len(names):  # a stranger may call all columns alike
        names = [f"{i + 1}-{j + 1}" for i, j in sides]
    return [SOLID, *names] if info.dimension > 2 else names


def attractor(
    info: Info,
    trajectory: Trajectory | None,
    plane: str,
    azimuth: float = -60.0,
    *,
    upto: float | None = None,
) -> hv.Overlay:
    """Training states faint, and truth and forecast up to a time, by default a bit past failure.

    The last part of both is bold, so that one can see where they are. ``azimuth`` is in degrees.
    """
    view = seen_from(info, plane, azimuth)
    last = _last_step(info, trajectory, upto)
    tail = max(0, last - _tail_steps(info))
    parts = [
        view.axes.scatter("training", *view(info.backdrop), color=style.TEXT, size=1.5, alpha=0.35),
        view.axes.segments("edges", view.edges(), color=style.TEXT, line_width=1.5),
    ]
    looks = {"truth": style.TRUTH_LINE, "forecast": style.FORECAST_LINE}
    for name, look in looks.items():
        states = NOTHING.reshape(0, info.dimension)
        if trajectory is not None:
            states = getattr(trajectory, name)[: last + 1]
        thin = {**look, "line_width": 1, "alpha": 0.35, "show_legend": False}
        before, now = view(_even(states[: tail + 1])), view(_even(states[tail:]))
        parts += [
            view.axes.curve(f"{name} before", *before, **thin),
            view.axes.curve(name, *now, **look),
            view.axes.scatter(f"{name} now", *view(states[-1:]), color=look["color"], size=12),
        ]
    parts.append(view.axes.words("names", view.names(), text_font_size="13pt"))
    return view.overlay(parts)


def seen_from(info: Info, plane: str, azimuth: float = -60.0) -> Solid | Side:
    """What puts states on paper, for a choice among ``planes``; ``azimuth`` is in degrees."""
    views = planes(info)
    one_of("plane", plane, views, "Take one of planes(info); one component alone has none.")
    azimuth = real("azimuth", azimuth, "Give it in degrees.")
    return Solid(info, azimuth) if plane == SOLID else Side(info, plane, views)


def _even(states: Array) -> Array:
    """At most ``MOST_STATES`` of them, evenly; the first and the last stay."""
    if len(states) <= MOST_STATES:
        return states
    return states[np.linspace(0, len(states) - 1, MOST_STATES).astype(int)]


def _last_step(info: Info, trajectory: Trajectory | None, upto: float | None) -> int:
    if trajectory is None:
        return 0
    if upto is None:
        if trajectory.vpt is None:
            return reach(trajectory)
        upto = trajectory.vpt + (2.0 if info.lyapunov else 0.1 * trajectory.vpt)
    return min(max(0, round(upto / info.per_step)), reach(trajectory))


def _tail_steps(info: Info) -> int:
    """What is bold: three Lyapunov times, or a part of the test where no exponent is known."""
    return round(3 / info.per_step) if info.lyapunov else max(20, info.steps // 10)


class Side:
    """Two components, on axes with numbers."""

    def __init__(self, info: Info, plane: str, views: list[str]) -> None:
        sides = ORDER if info.dimension > 2 else ((0, 1),)
        self.pair = sides[views.index(plane) - (1 if SOLID in views else 0)]
        limits = []
        for column in self.pair:
            low, high = column_limits(info, None, column)
            limits.append((low - 0.06 * (high - low), high + 0.06 * (high - low)))
        x, y = (style.plain(info.columns[column]) for column in self.pair)
        self.axes = Axes(f"attractor {plane} {info.name}", x, y, limits[0], limits[1])

    def __call__(self, states: Array) -> tuple[Array, Array]:
        far = [10 * (high - low) for low, high in (self.axes.xlim, self.axes.ylim)]
        x, y = (states[:, column] for column in self.pair)
        return np.clip(x, -far[0], far[0]), np.clip(y, -far[1], far[1])

    def edges(self) -> Rows:
        return []

    def names(self) -> Words:
        return []

    def overlay(self, parts: list[Part]) -> hv.Overlay:
        return self.axes.overlay(parts, 420, legend_position="top", **SHAPE)


class Solid:
    """Three components, each scaled to [-1, 1], turned by the azimuth and seen from above."""

    def __init__(self, info: Info, azimuth: float) -> None:
        limits = np.array([column_limits(info, None, column) for column in range(3)])
        self.centre, self.half = limits.mean(axis=1), np.ptp(limits, axis=1) / 2
        self.columns = [style.plain(name, 16) for name in info.columns[:3]]
        angle = np.radians(azimuth % 360.0)
        right = np.array([np.cos(angle), -np.sin(angle), 0.0])
        back = np.array([np.sin(angle), np.cos(angle), 0.0])
        up = np.sin(ELEVATION) * back + np.array([0.0, 0.0, np.cos(ELEVATION)])
        self.onto = np.stack([right, up], axis=1)
        frame = (-HALF_FRAME, HALF_FRAME)
        self.axes = Axes(f"attractor 3D {info.name} {self.columns}", "", "", frame, frame)

    def __call__(self, states: Array) -> tuple[Array, Array]:
        flat = self._flat((states[:, :3] - self.centre) / self.half)
        return flat[:, 0], flat[:, 1]

    def _flat(self, points: Array) -> Array:
        return np.clip(points, -20.0, 20.0) @ self.onto

    def edges(self) -> Rows:
        """The three edges of the cube that meet where all components are smallest."""
        corner = -np.ones(3)
        ends = corner + 2 * np.eye(3)
        return [[*self._flat(corner), *self._flat(end)] for end in ends]

    def names(self) -> Words:
        ends = -np.ones(3) + 2.18 * np.eye(3)
        points = [self._flat(end) for end in ends]
        return [(float(p[0]), float(p[1]), c) for p, c in zip(points, self.columns, strict=True)]

    def overlay(self, parts: list[Part]) -> hv.Overlay:
        bare = {"xaxis": None, "yaxis": None, "show_frame": False}
        return self.axes.overlay(parts, 420, legend_position="top", **SHAPE, **bare)
