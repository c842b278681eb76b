"""One session's work: stages of a run one after the other, progress, pause, cancel."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from rfm_core import InvalidInput
from rfm_core.tasks import Task

from .estimate import Estimate, learn
from .shelf import Entry, Shelf, Work

EXTRAS = ("climate", "regression")  # made when somebody looks at them
TITLES = {
    "train": "Training",
    "realizations": "More realizations",
    "climate": "Long runs",
    "regression": "Inside the regression",
}


@dataclass(frozen=True)
class Plan:
    """What is to be run, in plain values."""

    data: dict[str, Any]
    model: dict[str, Any]
    seed: int
    realizations: int
    device: str
    climate_times: float
    shown: int
    estimate: Estimate
    extra_estimates: dict[str, Estimate] = field(default_factory=dict)

    @property
    def identity(self) -> dict[str, Any]:
        """What determines the first realization."""
        return {"data": self.data, "model": self.model, "seed": self.seed, "device": self.device}

    def task(self, stage: str, folder: str, done: int) -> Task:
        """``done``: realizations that are there already."""
        arguments: dict[str, Any] = {**self.identity, "folder": folder}
        if stage == "train":
            arguments["shown"] = self.shown
        elif stage == "realizations":
            arguments |= {"first": done, "count": self.realizations - done}
        elif stage == "climate":
            arguments["times"] = self.climate_times
        return Task(stage, f"app.{stage}", arguments)

    def key(self, stage: str) -> str:
        """Names a stage among all that sessions may ask of the same run."""
        if stage == "realizations":
            return f"realizations-{self.realizations}"
        return f"climate-{self.climate_times:g}" if stage == "climate" else stage

    def cost(self, stage: str) -> Estimate:
        return self.extra_estimates.get(stage, self.estimate)


class Runner:
    """Runs one plan at a time; everything is looked at in ``tick``, nothing ever waits."""

    def __init__(self, session: str, shelf: Shelf) -> None:
        self.session, self.shelf = session, shelf
        self.plan: Plan | None = None
        self.entry: Entry | None = None
        self.state = "idle"  # queued, running, paused, done, failed, cancelled
        self.message = ""
        self.wanted: set[str] = set()
        self._stage = ""
        self._work: Work | None = None
        self._began = 0.0
        self._todo: list[str] = []

    @property
    def active(self) -> bool:
        return self.state in ("queued", "running", "paused")

    def start(self, plan: Plan) -> None:
        """Begin anew; what ran before is cancelled, what it has finished stays on the shelf."""
        self._leave()
        old, self.plan = self.entry, plan
        self.entry = self.shelf.hold(plan.identity, self.session)
        if old is not None and old is not self.entry:
            self.shelf.let_go(old, self.session)
        self.message = ""
        self._todo = ["train"]
        if plan.realizations > 1:
            self._todo.append("realizations")
        self._todo += [stage for stage in EXTRAS if stage in self.wanted]
        self._next()

    def want(self, stage: str) -> None:
        """Make this extra for the current run, now or after what is under way."""
        self.wanted.add(stage)
        if self.plan is None or self.entry is None or self.state in ("failed", "cancelled"):
            return
        if stage in self._todo or (stage == self._stage and self.active):
            return
        if self.plan.key(stage) in self.entry.finished:
            return
        self._todo.append(stage)
        if not self.active:
            self._next()

    def unwant(self, stage: str) -> None:
        """No longer for runs to come; one under way goes on."""
        self.wanted.discard(stage)

    def tick(self) -> bool:
        """Look what has happened; whether there may be something new to draw."""
        if self.state == "paused" or self.entry is None:
            return False
        work = self._work
        if work is not None:
            work.look()
            if work.over:
                self._ended(work)
            else:
                self.state = "queued" if work.job.place else "running"
        return self.entry.run.refresh()

    def pause(self, away: bool = False) -> None:
        """Hold on; the work itself stops too, unless others watch it. ``away``: nobody is here."""
        if self.state in ("queued", "running") and self._work is not None:
            self.state = "paused"
            self._work.pause(self.session, away)

    def resume(self) -> None:
        if self.state == "paused" and self._work is not None:
            self.state = "running"
            self._work.resume(self.session)

    def cancel(self) -> None:
        """At once; what is done stays."""
        if self.active:
            self._leave()
            self._todo.clear()
            self.state = "cancelled"
            self.message = "Cancelled. What was done until then stays."

    def close(self) -> None:
        """Free everything."""
        self._leave()
        self._todo.clear()
        self.state = "idle"
        if self.entry is not None:
            self.shelf.let_go(self.entry, self.session)
            self.entry = None

    # --- progress --------------------------------------------------------------------------

    @property
    def progress(self) -> tuple[str, float | None, float | None]:
        """In words, as a fraction of this stage, and seconds left of everything."""
        if self.state == "queued" and self._work is not None:
            place = self._work.job.place or 1
            return f"Waiting for a free processor: place {place} in the queue", None, None
        if self.state not in ("running", "paused") or self._work is None or self.plan is None:
            return "", None, None
        told = self._work.progress
        words = TITLES[self._stage]
        if told is None:
            return words, None, self._left(None)
        if self._stage != told.stage:
            words += f": {told.stage}"
        return words, told.fraction, self._left(told.seconds_left)

    def _left(self, stage_left: float | None) -> float:
        """The rest by estimate, or longer where the present piece says so."""
        assert self.plan is not None
        spent = time.perf_counter() - self._began
        by_estimate = max(0.0, self.plan.cost(self._stage).seconds - spent)
        later = sum(self.plan.cost(stage).seconds for stage in self._todo)
        return max(by_estimate, stage_left or 0.0) + later

    # --- stages ----------------------------------------------------------------------------

    def _next(self) -> None:
        """Begin the next stage that is not there yet, or be done."""
        assert self.plan is not None
        assert self.entry is not None
        while self._todo:
            stage = self._todo.pop(0)
            done = self._realizations_there() if stage == "realizations" else 0
            finished = self.plan.key(stage) in self.entry.finished
            if finished or (stage == "realizations" and done >= self.plan.realizations):
                continue
            cost = self.plan.cost(stage)
            task = self.plan.task(stage, str(self.entry.run.folder), done)
            key = self.plan.key(stage)
            try:
                self._work = self.shelf.watch(
                    self.entry, key, task, cost.memory_gb, cost.seconds, self.session
                )
            except InvalidInput as error:
                self._fail(str(error))
                return
            self._stage, self._began = stage, time.perf_counter()
            self.state = "queued" if self._work.job.place else "running"
            return
        self._stage = ""
        self.state = "done"

    def _ended(self, work: Work) -> None:
        assert self.plan is not None
        assert self.entry is not None
        self.entry.run.refresh()
        self._work = None
        work.watchers.discard(self.session)
        self.shelf.settle(self.entry, self.plan.key(self._stage))
        if work.failure:
            self._fail(work.failure)
            return
        if self._stage == "train":
            learn(self.plan.estimate, work.job.ran_seconds)
        self._next()

    def _fail(self, why: str) -> None:
        self._todo.clear()
        self._stage = ""
        self.state = "failed"
        self.message = why

    def _realizations_there(self) -> int:
        assert self.entry is not None
        times = self.entry.run.times
        return 0 if times is None else len(set(times.realization.tolist()))

    def _leave(self) -> None:
        if self._work is not None and self.entry is not None and self.plan is not None:
            self._work.leave(self.session)
            self.shelf.settle(self.entry, self.plan.key(self._stage))
            self._work = None
        self._stage = ""
