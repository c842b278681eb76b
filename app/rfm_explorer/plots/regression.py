"""Inside the regression: what beta cuts off, and what a solver can see at all."""

from __future__ import annotations

import holoviews as hv
import numpy as np

from ..results.records import Info, Regression, Solver, UnitRegression
from . import style
from .parts import Axes, Part

Array = np.ndarray
Text = tuple[float, float, str]

MOST_POINTS = 1500
EPS = float(np.finfo(np.float64).eps)
# below this share of the largest singular value a solver sees rounding only
BLIND = {"qr": EPS, "normal": EPS**0.5}
BETA = {"color": style.THRESHOLD, "line_width": 3.5, "line_dash": "dotdash"}
SOLVERS = {
    "qr": ("QR", {"color": style.GOOD, "line_dash": "solid"}),
    "normal": ("normal equations", {"color": style.SATURATED, "line_dash": "dashed"}),
}
NAMES = {
    "qr": "below: lost to double precision, QR too",
    "normal": "below: lost to normal equations",
}


def unit_of(regression: Regression | None, unit: int) -> UnitRegression | None:
    """The unit's regression, or None where it is missing."""
    if regression is None or not 0 <= unit < len(regression.units):
        return None
    return regression.units[unit]


def singular_values(regression: Regression | None, unit: int) -> hv.Overlay:
    """Singular values of the features, where beta cuts them, and where solvers go blind."""
    report = unit_of(regression, unit)
    number, values = _falling(report)
    count = len(report.singular_values) if report is not None else 1
    first = float(values[0]) if len(values) else 1.0
    cut = float(np.sqrt(report.beta)) if report is not None and report.beta > 0 else None
    blind = {key: share * first for key, share in BLIND.items()} if len(values) else {}
    low = max(min([EPS * first, cut or first, *values[-1:]]), 1e-20 * first)
    axes = Axes(
        "singular values",
        "number, largest first",
        "singular value",
        (1 - 0.02 * count, 1.02 * count),
        (low / 100, max(first, cut or first) * 30),
        log=True,
    )
    left, right = _blind_texts(axes, values, blind)
    parts = [
        *(
            axes.curve(
                f"limit of {name}",
                *_level(axes, blind.get(key)),
                line_width=2.5,
                show_legend=False,
                **look,
            )
            for key, (name, look) in SOLVERS.items()
        ),
        axes.curve("singular values", number, values, color=style.TRUTH, line_width=4),
        axes.curve("√β: β damps what is below", *_level(axes, cut), **BETA),
        axes.words("left", left, text_align="left"),
        axes.words("right", right, text_align="right"),
    ]
    return axes.overlay(parts, 330, legend_position="top")


def _falling(report: UnitRegression | None) -> tuple[Array, Array]:
    """Numbers 1, 2, ... and singular values above zero, at most 1500 of them."""
    values = np.zeros(0) if report is None else np.asarray(report.singular_values, float)
    kept = np.flatnonzero(np.isfinite(values) & (values > 0))
    if len(kept) > MOST_POINTS:
        kept = kept[np.linspace(0, len(kept) - 1, MOST_POINTS).round().astype(int)]
    return kept + 1.0, values[kept]


def _level(axes: Axes, height: float | None) -> tuple[Array, Array]:
    """A line from side to side."""
    if height is None:
        return np.zeros(0), np.zeros(0)
    return np.array(axes.xlim), np.array([height, height])


def _blind_texts(
    axes: Axes, values: Array, blind: dict[str, float]
) -> tuple[list[Text], list[Text]]:
    """The lines' names at the left and at the right end, where the curve does not run."""
    low, high = axes.xlim
    left, right = [], []
    for key, height in blind.items():
        if values[len(values) // 2] > height:
            left.append((low + 0.015 * (high - low), height / 6, NAMES[key]))
        else:
            right.append((high - 0.015 * (high - low), height / 6, NAMES[key]))
    return left, right


def beta_path(regression: Regression | None, unit: int) -> hv.Overlay:
    """One-step errors over beta, on the rows learnt from and on rows held out."""
    report = unit_of(regression, unit)
    training, heldout = (_path(report, which) for which in ("training", "heldout"))
    used = [report.beta] if report is not None and report.beta > 0 else []
    axes = Axes(
        "beta path",
        "ridge parameter β",
        "error of one step",
        _around(np.concatenate([training[0], heldout[0], used]), 3),
        _around(np.concatenate([training[1], heldout[1]]), 4),
        log=True,
    )
    left, right = _beta_text(axes, used)
    parts = [
        axes.curve(
            "rows learnt from", *training, color=style.TEXT, line_width=3, line_dash="dashed"
        ),
        axes.curve("rows held out", *heldout, color=style.TRUTH, line_width=3),
        axes.scatter("rows held out", *heldout, color=style.TRUTH, size=7),
        axes.curve("β in use", np.repeat(used, 2), np.array(axes.ylim * len(used)), **BETA),
        axes.words("left", left, text_align="left"),
        axes.words("right", right, text_align="right"),
    ]
    return axes.overlay(parts, 330, legend_position="top", logx=True)


def _path(report: UnitRegression | None, which: str) -> tuple[Array, Array]:
    """Betas and errors that a logarithmic axis can show."""
    if report is None:
        return np.zeros(0), np.zeros(0)
    errors = getattr(report, which)
    kept = (report.betas > 0) & np.isfinite(errors) & (errors > 0)
    return report.betas[kept], errors[kept]


def _around(values: Array, factor: float) -> tuple[float, float]:
    """Limits of a logarithmic axis, with room on both sides."""
    if not len(values):
        return 1e-24, 1.0
    return float(values.min()) / factor, float(values.max()) * factor


def _beta_text(axes: Axes, used: list[float]) -> tuple[list[Text], list[Text]]:
    """The value beside its line, on the side that has room."""
    if not used:
        return [], []
    height = axes.ylim[0] ** 0.12 * axes.ylim[1] ** 0.88
    text = f"  β = {used[0]:.2g}  "
    if used[0] ** 2 < axes.xlim[0] * axes.xlim[1]:  # left of the middle, as logarithms go
        return [(used[0], height, text)], []
    return [], [(used[0], height, text)]


def solver_forecasts(regression: Regression | None, info: Info | None) -> hv.Overlay:
    """How far forecasts reach over beta, with QR and with normal equations."""
    solvers = {s.solver: s for s in regression.solvers} if regression is not None else {}
    reached = {key: _reach(solvers.get(key)) for key in SOLVERS}
    highest = max((float((t + e).max()) for _, t, e in reached.values() if len(t)), default=0.0)
    unit = info.unit if info is not None else "time units"
    axes = Axes(
        f"solver forecasts {unit}",
        "ridge parameter β",
        f"forecast time, {unit}",
        _around(np.concatenate([betas for betas, _, _ in reached.values()]), 5),
        (0.0, 1.1 * (highest or 1.0)),
    )
    parts: list[Part] = []
    for key, (name, look) in SOLVERS.items():
        betas, times, errors = reached[key]
        bars = np.stack([betas, times - errors, betas, times + errors], axis=1)
        parts += [
            axes.segments(
                f"{name}: standard error", bars.tolist(), color=look["color"], line_width=3
            ),
            axes.curve(name, betas, times, line_width=3, **look),
            axes.scatter(name, betas, times, color=look["color"], size=9),
        ]
    return axes.overlay(parts, 300, legend_position="top", logx=True)


def _reach(solver: Solver | None) -> tuple[Array, Array, Array]:
    """Betas above zero, forecast times, standard errors."""
    if solver is None:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    kept = (solver.betas > 0) & np.isfinite(solver.forecast)
    errors = np.nan_to_num(solver.standard_error[kept])
    return solver.betas[kept], solver.forecast[kept], errors
