"""Is the surrogate as stable as the system? tau_f, Lyapunov exponents, one-step error by place."""

from __future__ import annotations

from collections.abc import Iterator

import holoviews as hv
import numpy as np
import panel as pn

from rfm_core import LyapunovSpectrum, Stability

from ..captions.forecast import amount, length, tiny
from ..page.picture import Picture
from ..page.text import Text
from ..plots import style
from ..plots.attractor import planes, seen_from
from ..plots.parts import NOTHING, Axes, key
from ..queue.extras import Extra
from ..results.files import Results
from ..results.records import Info
from ..state.settings import Settings
from ..state.snippet import trained
from .base import Array, Drawing, View, side_by_side

CLASSES = ("#3B6FB6", "#4FA3C7", "#5DB38A", "#C9A227", "#E07B2F", "#C8332B")  # small to large
SIZES = (3, 3, 3.5, 4, 5, 6)  # of their points: not by colour alone
BESIDE = 0.12  # how far truth and surrogate stand left and right of their number
BORDERS = (0.1, 0.3, 0.5, 0.7, 0.9)  # between the classes, as shares of all states
AGREE = 0.02  # of the larger one: closer than this, two exponents are the same whatever the errors


class StabilityView(View):
    key = "stability"
    title = "Stability"
    about = "Does the surrogate stretch errors as the system does, and where is one step worst?"
    needs = (Stability,)
    extra = Extra("stability", "Stability", cost=lambda first, _: first.scaled(1.5))
    waiting = (
        "Lyapunov exponents of system and surrogate and the errors of single steps are worked out "
        "after the forecast."
    )

    def build(self) -> pn.viewable.Viewable:
        self.plane = self.picks.add("plane", "Seen from", {}, None)
        self.exponents, self.places = Picture(400, "exponents"), Picture(420, "one-step")
        self.times_reading, self.reading, self.places_reading = Text(), Text(), Text()
        return pn.Column(
            self.times_reading.pane,
            side_by_side(
                [self.reading.pane, self.exponents.pane],
                [self.places_reading.pane, self.picks, self.places.pane],
            ),
            sizing_mode="stretch_width",
        )

    def drawings(self, run: Results, info: Info) -> Iterator[Drawing]:
        found = run.get(Stability)
        assert found is not None
        sides = planes(info) if info.dimension in (2, 3) else []
        self.plane.offer({side: side for side in sides}, visible=bool(sides))
        self.times_reading.say(tau_sentence(info, found))
        self.reading.say(exponents_sentence(found))
        self.places_reading.say(places_sentence(info, found))
        yield lambda: self.exponents.show(exponents(info, found))
        yield lambda: self.places.show(one_step(info, found, self.plane.value))

    def arrays(self, run: Results, info: Info) -> dict[str, Array]:
        found = run.get(Stability)
        if found is None:
            return {}
        arrays = {"tau_f": found.tau_f, "tau_f_censored": found.tau_f_censored.astype(int)}
        for name, spectrum in (("truth", found.truth), ("surrogate", found.surrogate)):
            if spectrum is not None:
                arrays[f"{name}_exponents"] = spectrum.exponents
                arrays[f"{name}_standard_error"] = spectrum.standard_error
        step = found.one_step
        more = {"state": step.states, "error": step.error, "test": step.test, "time": step.time}
        return {**arrays, **more, "error_by_site": step.by_site}

    @classmethod
    def python(cls, settings: Settings, selected: tuple[int, int]) -> str:
        return (
            trained(settings)
            + "found = rfm.stability(model, data)\n"
            + "print(found.tau_f_mean, found.tau_f_standard_error)\n"
            + "for spectrum in (found.truth, found.surrogate):\n"
            + "    if spectrum is not None:\n"
            + "        print(spectrum.exponents, spectrum.standard_error)\n"
            + "states, error = found.one_step.states, found.one_step.error\n"
            + "print(states[error.argmax()], error.max())\n"
        )

    @classmethod
    def thumbnail(cls, run: Results) -> hv.Overlay | None:
        found = run.get(Stability)
        if found is None or run.info is None:
            return None
        return one_step(run.info, found, next(iter(planes(run.info)), None))


# --- pictures -------------------------------------------------------------------------------


def exponents(info: Info, found: Stability) -> hv.Overlay:
    """Of truth and surrogate side by side, with bars of two standard errors, and a line at zero."""
    pairs = [("truth", found.truth), ("surrogate", found.surrogate)]
    known = [spectrum for _, spectrum in pairs if spectrum is not None]
    values = np.concatenate([*(s.exponents for s in known), [0.0]])
    count = max((len(s.exponents) for s in known), default=1)
    pad = 0.1 * (float(np.ptp(values)) or 1.0)
    axes = Axes(
        f"exponents {info.name} {count}",
        "number, largest first",
        "Lyapunov exponent, per time unit",
        (0.4, count + 0.6),
        (float(values.min()) - pad, float(values.max()) + pad),
    )
    zero = [(axes.xlim[0], 0.0, axes.xlim[1], 0.0)]
    parts = [axes.segments("zero", zero, color=style.TEXT, line_width=1, line_dash="dashed")]
    looks = {"truth": style.TRUTH_LINE, "surrogate": style.FORECAST_LINE}
    for side, (name, spectrum) in zip((-BESIDE, BESIDE), pairs, strict=True):
        look = {**looks[name], "line_width": 2}
        x, y = (NOTHING, NOTHING) if spectrum is None else _dots(spectrum, side)
        bars = [] if spectrum is None else _bars(spectrum, side)
        parts += [
            axes.curve(name, x, y, **look),
            axes.segments(f"{name} error", bars, color=look["color"], line_width=2.5),
            axes.scatter(f"{name} value", x, y, color=look["color"], size=9),
        ]
    return axes.overlay(parts, 400, legend_position="top", xticks=list(range(1, count + 1)))


def _dots(spectrum: LyapunovSpectrum, side: float) -> tuple[Array, Array]:
    return np.arange(1, len(spectrum.exponents) + 1) + side, spectrum.exponents


def _bars(spectrum: LyapunovSpectrum, side: float) -> list[tuple[float, ...]]:
    x, y = _dots(spectrum, side)
    error = 2 * np.nan_to_num(spectrum.standard_error)
    return [
        (float(a), float(b - e), float(a), float(b + e))
        for a, b, e in zip(x, y, error, strict=True)
    ]


def one_step(info: Info, found: Stability, plane: str | None) -> hv.Overlay:
    """Errors of one step: at places of an attractor that can be drawn, otherwise at each site."""
    if plane is None or info.dimension > 3:
        return error_by_site(info, found)
    return error_by_place(info, found, plane)


def error_by_place(info: Info, found: Stability, plane: str) -> hv.Overlay:
    """States of the test trajectories in the colour of the error of the next step."""
    step, view = found.one_step, seen_from(info, plane)
    limits = np.quantile(step.error, BORDERS)
    kind = np.searchsorted(limits, step.error)
    texts = [f"up to {tiny(limit)}" for limit in limits] + ["more"]
    strokes, words = key(view.axes, texts[::-1], 0.98, 0.055)
    parts = [view.axes.segments("edges", view.edges(), color=style.TEXT, line_width=1.5)]
    for number, (colour, size) in enumerate(zip(CLASSES, SIZES, strict=True)):
        x, y = view(step.states[kind == number])
        parts += [
            view.axes.scatter(f"error {number}", x, y, color=colour, size=size),
            view.axes.curve(
                f"key {number}",
                *strokes[-1 - number],
                color=colour,
                line_width=6,
                show_legend=False,
            ),
        ]
    parts += [
        view.axes.words("names", view.names(), text_font_size="13pt"),
        view.axes.words("key", words, text_align="right"),
    ]
    return view.overlay(parts)


def error_by_site(info: Info, found: Stability) -> hv.Overlay:
    """Root mean square of the error of one step at each site or component."""
    error = found.one_step.by_site
    power = int(np.floor(np.log10(max(float(error.max()), 1e-30))))
    error = error / 10.0**power
    mean = float(np.sqrt(np.mean(error**2)))
    axes = Axes(
        f"error by site {info.name} {power}",
        "space" if info.spatial else "component",
        f"error of one step / std, in {tiny(10.0**power)}",
        (0.0, info.length if info.spatial else float(len(error))),
        (0.0, 1.2 * float(error.max())),
    )
    edges = np.linspace(*axes.xlim, len(error) + 1)
    steps = np.repeat(edges, 2)[1:-1], np.repeat(error, 2)
    parts = [
        axes.curve("one step", *steps, color=style.FORECAST, line_width=2.5),
        axes.curve("of all", axes.xlim, (mean, mean), color=style.TEXT, line_dash="dashed"),
    ]
    return axes.overlay(parts, 420, legend_position="top")


# --- captions -------------------------------------------------------------------------------


def tau_sentence(info: Info, found: Stability) -> str:
    """How long forecasts are close in the strict sense of tau_f."""
    rate, n = info.lyapunov or 1.0, len(found.tau_f)
    what = f"the time until a forecast is off by {100 * found.gamma:.0f} % of the size of a state"
    if found.tau_f_censored.all():
        return (
            f"τ_f, {what}: none of {n} got there before the end of the data, at "
            f"{length(info, float(found.tau_f.min()) * rate)}, which is a lower bound."
        )
    bound = "at least " if found.tau_f_censored.any() else ""
    mean = length(info, found.tau_f_mean * rate)
    if n == 1:
        return f"τ_f, {what}, is {bound}{mean} in the one test."
    error = found.tau_f_standard_error * rate
    return f"τ_f, {what}, is {bound}{mean} on average (standard error {amount(error)}, n = {n})."


def exponents_sentence(found: Stability) -> str:
    """Whether the surrogate stretches and contracts as the system does."""
    if found.surrogate is None:
        return found.surrogate_reason or "The surrogate has no exponents."
    if found.truth is None:
        told = f"The surrogate's largest Lyapunov exponent is {_value(found.surrogate, 0)}."
        return f"{found.truth_reason} {told}{_dimension(None, found.surrogate_dimension)}".strip()
    told = (
        f"The largest Lyapunov exponent is {_value(found.truth, 0)} of the system and "
        f"{_value(found.surrogate, 0)} of the surrogate (per time unit, ± standard error): "
    )
    apart = _apart(found.truth, found.surrogate)
    if not apart:
        count = len(found.surrogate.exponents)
        told += "it doubles small errors at the pace of the system"
        told += "." if count == 1 else f", and all {count} exponents agree."
    elif 0 in apart:
        faster = found.surrogate.exponents[0] > found.truth.exponents[0]
        told += (
            f"it lets small errors grow {'faster' if faster else 'more slowly'} than they should."
        )
    else:
        first = apart[0]
        told += (
            f"that one agrees. Number {first + 1} does not, {_value(found.truth, first)} and "
            f"{_value(found.surrogate, first)}: {_meaning(found, first)}."
        )
    return told + _dimension(found.truth_dimension, found.surrogate_dimension)


def _apart(truth: LyapunovSpectrum, surrogate: LyapunovSpectrum) -> list[int]:
    """Numbers of the exponents that differ by more than their errors and a few per cent."""
    a, b = truth.exponents, surrogate.exponents
    n = min(len(a), len(b))
    doubt = 2 * np.hypot(*(np.nan_to_num(s.standard_error[:n]) for s in (truth, surrogate)))
    largest = max(float(np.abs(a[:n]).max()), 1e-12)
    allowed = np.maximum(doubt, AGREE * np.maximum(np.abs(a[:n]), 0.1 * largest))
    return [int(k) for k in np.flatnonzero(np.abs(a[:n] - b[:n]) > allowed)]


def _meaning(found: Stability, number: int) -> str:
    assert found.truth is not None
    assert found.surrogate is not None
    a, b = found.truth.exponents[number], found.surrogate.exponents[number]
    if a < 0:
        return f"what leaves the attractor comes back {'more slowly' if b > a else 'faster'}"
    return "in that direction errors grow at another pace"


def _value(spectrum: LyapunovSpectrum, number: int) -> str:
    error = float(spectrum.standard_error[number])
    if not np.isfinite(error):
        return f"{spectrum.exponents[number]:.3g}"
    digits = int(np.clip(np.ceil(-np.log10(max(error, 1e-6))), 0, 4)) if error < 1 else 0
    return f"{spectrum.exponents[number]:.{digits}f} ± {error:.{digits}f}".replace("-", "−")


def _dimension(truth: float | None, surrogate: float | None) -> str:
    """Kaplan and Yorke's, of what is known."""
    known = {"the system": truth, "the surrogate": surrogate}
    parts = [f"{value:.2f} for {name}" for name, value in known.items() if value is not None]
    if not parts:
        return " Too few exponents are known for the Kaplan-Yorke dimension."
    return f" The Kaplan-Yorke dimension of the attractor is {' and '.join(parts)}."


def places_sentence(info: Info, found: Stability) -> str:
    """How wrong a single step is, and where."""
    step = found.one_step
    told = (
        f"A single step is off by {tiny(step.median)} standard deviations in the middle of "
        f"{len(step.error):,} states, {tiny(step.low)} to {tiny(step.high)} for nine in ten. "
    )
    worst = float(step.error[step.largest])
    ratio = worst / step.median if step.median > 0 else float("inf")
    where = ""
    if info.dimension <= 3:
        pairs = zip(info.columns, step.states[step.largest], strict=True)
        where = ", at " + ", ".join(
            f"{style.plain(name, 16)} = {value:.3g}" for name, value in pairs
        )
    elif not info.homogeneous:
        where = f", most at {style.plain(info.columns[int(np.argmax(step.by_site))], 16)}"
    told += f"The worst is {tiny(worst)}{where}, {amount(ratio)} times the middle"
    if ratio > 10:
        return f"{told}: forecasts that pass there start to fail there."
    return f"{told}: no place of the attractor is much worse than another."
