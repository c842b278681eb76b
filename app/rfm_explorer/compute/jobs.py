"""What workers do for the app; importing this module registers the jobs.

Results go as files into the folder of the run (``results.files``); what a job returns is small.
"""

from __future__ import annotations

import time

import numpy as np

import rfm_core
from rfm_core import (
    Dataset,
    Fitted,
    InvalidInput,
    Model,
    ModelSpec,
    Reporter,
    fit_events,
    load,
    recommended,
)
from rfm_core.checks import whole
from rfm_core.measure.forecasts import Watch
from rfm_core.run.tasks import Answer, Arguments, Stopwatch, job, plain

from ..results.files import Writer
from ..results.records import Trained, UnitReport
from . import results as scenes
from .data import inspect_file, make_data

Array = np.ndarray
PIECE_SECONDS = 0.1  # between two pieces of the growing forecast


@job("explorer.inspect")
def inspect(arguments: Arguments, report: Reporter) -> Answer:
    """A look at an uploaded file: {file, name, key?}."""
    return inspect_file(arguments)


@job("explorer.recommend")
def recommend(arguments: Arguments, report: Reporter) -> Answer:
    """The model that suits a user's own series: {data, far}."""
    spec = recommended(make_data(arguments, report), far=bool(arguments["far"]), report=report)
    return {"model": spec.to_dict()}


@job("explorer.train")
def train(arguments: Arguments, report: Reporter) -> Answer:
    """Data, model, forecasts of all tests, features: {folder, data, model, seed, shown, device}."""
    writer, watch = Writer(arguments["folder"]), Stopwatch()
    data = make_data(arguments, report)
    data_seconds = watch.lap()
    info = scenes.info(data)
    writer.save(info)
    fitted = _fit(arguments, data, 0, report)
    writer.model(fitted.model)
    writer.save(_trained(fitted, int(arguments["seed"]), data_seconds))
    asked = whole("shown", arguments.get("shown", 0), 0, None, "0 is the first test trajectory.")
    shown = min(asked, len(data.test) - 1)  # an own series may be too short for all that are asked
    live = Live(writer, shown, data.test[shown])
    trajectories, times = rfm_core.forecasts(fitted.model, data, report=report, grow=live.grow)
    writer.trajectories(trajectories, shown)
    writer.times(0, times)
    writer.save(rfm_core.feature_regions(fitted.model, data, trajectories[shown].forecast))
    if free := rfm_core.regression_of_fit(fitted, data):
        writer.save(free)
    return {"tests": len(times), "mean": plain(times.vpt.mean()), "unit": info.unit}


@job("explorer.realizations")
def realizations(arguments: Arguments, report: Reporter) -> Answer:
    """More of the same: {folder, data, model, seed, first, count, device}.

    Each has its own training window, weights and tests; the numbers are those of a study.
    """
    writer = Writer(arguments["folder"])
    first = whole("first", arguments["first"], 0, None, "0 is the first realization.")
    count = whole("count", arguments["count"], 0, None, "1 is one realization.")
    stage = "realizations"  # one stage for all, so that the time left can be told from it
    for done in range(count):
        number = first + done
        told = _alive(report, stage, done, count)
        data = make_data(arguments, told, number)
        fitted = _fit(arguments, data, number, told)
        trajectories, times = rfm_core.forecasts(
            fitted.model, data, realization=number, report=told
        )
        writer.trajectories(trajectories)
        writer.times(number, times)
        report(stage, done + 1, count)
    return {"realizations": count}


@job("explorer.climate")
def climate(arguments: Arguments, report: Reporter) -> Answer:
    """Long runs of truth and surrogate: {folder, data, times, seed}."""
    writer = Writer(arguments["folder"])
    model = _load(writer, arguments)
    data = make_data(arguments, report)
    found = rfm_core.climate(model, data, arguments["times"], report=report)
    writer.save(found)
    return {"diverged": found.diverged}


@job("explorer.regression")
def regression(arguments: Arguments, report: Reporter) -> Answer:
    """Inside the regressions: {folder, data, model, seed, device}."""
    writer = Writer(arguments["folder"])
    model = _load(writer, arguments)
    data = make_data(arguments, report)
    writer.save(rfm_core.regression(model, data, report=report))
    return {}


@job("explorer.stability")
def stability(arguments: Arguments, report: Reporter) -> Answer:
    """Validity times, Lyapunov exponents, one-step errors: {folder, data, model, seed, device}."""
    writer = Writer(arguments["folder"])
    model = _load(writer, arguments)
    data = make_data(arguments, report)
    writer.save(rfm_core.stability(model, data, report=report))
    return {}


def _load(writer: Writer, arguments: Arguments) -> Model:
    path = writer.folder / "model.safetensors"
    if not path.is_file():
        raise InvalidInput("There is no trained model yet; one is needed. Train it first.")
    return load(path, device=arguments.get("device", "auto"))


def _alive(report: Reporter, stage: str, done: int, count: int) -> Reporter:
    """For the parts of one piece of a longer work: they can be cancelled and show signs of life."""
    return Reporter(lambda progress: report(stage, done, count))


def _fit(arguments: Arguments, data: Dataset, realization: int, report: Reporter) -> Fitted:
    spec, seed = ModelSpec.from_dict(arguments["model"]), int(arguments["seed"])
    device = arguments.get("device", "auto")
    for event in fit_events(spec, data, seed=seed, realization=realization, device=device):
        if isinstance(event, Fitted):
            return event
        report(event.stage, event.done, event.total)
    raise AssertionError("a training ends with Fitted")


def _trained(fitted: Fitted, seed: int, data_seconds: float) -> Trained:
    return Trained(
        spec=fitted.model.spec,
        seed=seed,
        size=fitted.model.size,
        units=tuple(UnitReport(u.beta, u.error, u.seconds, u.rows) for u in fitted.units),
        data_seconds=data_seconds,
        fit_seconds=fitted.seconds,
    )


class Live:
    """Writes the shown forecast as it grows, a few times a second."""

    def __init__(self, writer: Writer, test: int, truth: Array) -> None:
        self.writer, self.test = writer, test
        self.states: list[Array] = []  # not yet written
        self.first, self.diverged_at = 1, -1
        self.written = time.monotonic()
        writer.live(0, test, truth)

    def grow(self, watch: Watch, first: int, piece: Array) -> None:
        self.states.append(piece[self.test])
        lost = np.isnan(piece[self.test, :, 0])
        if self.diverged_at < 0 and lost.any():
            self.diverged_at = first + int(lost.argmax())
        if time.monotonic() - self.written < PIECE_SECONDS:
            return
        states = np.concatenate(self.states)
        failed = int(watch.failed_at[self.test])
        vpt = max(failed - 1, 0) * watch.per_step if failed >= 0 else None
        error = watch.error[self.test, self.first : self.first + len(states)]
        self.writer.piece(self.first, states, error, vpt, self.diverged_at)
        self.first += len(states)
        self.states, self.written = [], time.monotonic()
