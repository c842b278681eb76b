"""One session's work: stages of a run one after the other, progress, pause, cancel."""

from __future__ import annotations

import time
from functools import partial

from rfm_core import InvalidInput
from rfm_core.run import ScheduledTask
from rfm_core.run.tasks import Task

from .estimate import learn
from .plan import Plan
from .run import Run, Stage
from .run_cache import RunCache


class Runner:
    """Runs one plan at a time; everything is looked at in ``tick``, nothing ever waits."""

    def __init__(self, session: str, runs: RunCache) -> None:
        self.session, self.runs = session, runs
        self.plan: Plan | None = None
        self.run: Run | None = None
        self.state = "idle"  # queued, running, paused, done, failed, cancelled
        self.message = ""
        self.wanted: list[str] = []  # extra stages, for runs to come too
        self._name = ""  # of the stage under way
        self._stage: Stage | None = None
        self._began = 0.0
        self._todo: list[str] = []

    @property
    def active(self) -> bool:
        return self.state in ("queued", "running", "paused")

    def start(self, plan: Plan) -> None:
        """Begin anew; what ran before is cancelled, what it has finished stays in the cache."""
        self._leave()
        old, self.plan = self.run, plan
        self.run = self.runs.hold(plan.identity, self.session)
        if old is not None and old is not self.run:
            self.runs.let_go(old, self.session)
        self.message = ""
        self._todo = ["train", *["realizations"] * (plan.realizations > 1), *self.wanted]
        self._next()

    def want(self, stage: str) -> None:
        """Make this extra for the current run, now or after what is under way."""
        if stage not in self.wanted:
            self.wanted.append(stage)
        if self.plan is None or self.run is None or self.state in ("failed", "cancelled"):
            return
        if stage in self._todo or (stage == self._name and self.active):
            return
        if self.plan.key(stage) in self.run.finished:
            return
        self._todo.append(stage)
        if not self.active:
            self._next()

    def unwant(self, stage: str) -> None:
        """No longer for runs to come; one under way goes on."""
        self.wanted = [other for other in self.wanted if other != stage]

    def tick(self) -> bool:
        """Look what has happened; whether there may be something new to draw."""
        if self.state == "paused" or self.run is None:
            return False
        stage = self._stage
        if stage is not None:
            stage.look()
            if stage.over:
                self._ended(stage)
            else:
                self.state = "queued" if stage.work.place else "running"
        return self.run.refresh()

    def pause(self, away: bool = False) -> None:
        """Hold on; the work itself stops too, unless others watch it. ``away``: nobody is here."""
        if self.state in ("queued", "running") and self._stage is not None:
            self.state = "paused"
            self._stage.pause(self.session, away)

    def resume(self) -> None:
        if self.state == "paused" and self._stage is not None:
            self.state = "running"
            self._stage.resume(self.session)

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
        if self.run is not None:
            self.runs.let_go(self.run, self.session)
            self.run = None

    # --- progress --------------------------------------------------------------------------

    @property
    def progress(self) -> tuple[str, float | None, float | None]:
        """In words, as a fraction of this stage, and seconds left of everything."""
        if not self.active or self._stage is None or self.plan is None:
            return "", None, None
        run = self.plan.settings.label()
        if self.state == "queued":
            place = self._stage.work.place or 1
            return f"{run} waits for a free processor: place {place} in the queue", None, None
        words = self.plan.stages[self._name].title.format(run)
        told = self._stage.progress
        if told is None:
            return words, None, self._left(None)
        if self._name != told.stage:
            words += f": {told.stage}"
        return words, told.fraction, self._left(told.seconds_left)

    def _left(self, stage_left: float | None) -> float:
        """The rest by estimate, or longer where the present piece says so."""
        assert self.plan is not None
        spent = time.perf_counter() - self._began
        by_estimate = max(0.0, self.plan.stages[self._name].estimate.seconds - spent)
        later = sum(self.plan.stages[stage].estimate.seconds for stage in self._todo)
        return max(by_estimate, stage_left or 0.0) + later

    # --- stages ----------------------------------------------------------------------------

    def _next(self) -> None:
        """Begin the next stage that is not there yet, or be done."""
        assert self.plan is not None
        assert self.run is not None
        while self._todo:
            name = self._todo.pop(0)
            enough = name == "realizations" and self._there() >= self.plan.realizations
            if enough or self.plan.key(name) in self.run.finished:
                continue
            try:
                self._stage = self.run.join(
                    self.plan.key(name), self.session, partial(self._submit, name)
                )
            except InvalidInput as error:
                self._fail(str(error))
                return
            self._name, self._began = name, time.perf_counter()
            self.state = "queued" if self._stage.work.place else "running"
            return
        self._name = ""
        self.state = "done"

    def _submit(self, name: str) -> ScheduledTask:
        assert self.plan is not None
        assert self.run is not None
        planned = self.plan.stages[name]
        arguments = {**self.plan.identity, "folder": str(self.run.folder), **planned.arguments}
        if name == "realizations":
            there = self._there()
            arguments |= {"first": there, "count": self.plan.realizations - there}
        task = Task(name, f"explorer.{name}", arguments)
        return self.runs.submit(task, planned.estimate.memory_gb, planned.estimate.seconds)

    def _ended(self, stage: Stage) -> None:
        assert self.plan is not None
        assert self.run is not None
        self.run.refresh()
        self._stage = None
        stage.watchers.discard(self.session)
        self.run.settle(self.plan.key(self._name))
        if stage.failure:
            self._fail(stage.failure)
            return
        if self._name == "train":
            learn(self.plan.stages["train"].estimate, stage.work.ran_seconds)
        self._next()

    def _fail(self, why: str) -> None:
        self._todo.clear()
        self._name = ""
        self.state = "failed"
        self.message = why

    def _there(self) -> int:
        """Realizations that are done."""
        times = None if self.run is None else self.run.times
        return 0 if times is None else len(set(times.realization.tolist()))

    def _leave(self) -> None:
        if self._stage is not None and self.run is not None and self.plan is not None:
            self._stage.leave(self.session)
            self.run.settle(self.plan.key(self._name))
            if self._stage.work.state == "cancelled":
                self.runs.scheduler.warm()  # who cancels usually starts something else
            self._stage = None
        self._name = ""
