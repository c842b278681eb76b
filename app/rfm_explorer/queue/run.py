"""One run: its results in a folder, its stages, and who holds it.

Fifty students who open the same link want the same run: it is trained once, and all of them watch.
A finished stage is immutable, so it can be shared. A stage that nobody watches any more is
cancelled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from rfm_core import Progress
from rfm_core.run import ScheduledTask
from rfm_core.run.tasks import TaskDone, TaskFailed, TaskProgress

from ..results.files import Results

log = logging.getLogger("rfm_explorer")


class Stage:
    """One stage of a run under way, watched by one session or more."""

    def __init__(self, work: ScheduledTask) -> None:
        self.work = work
        self.watchers: set[str] = set()
        self._resting: dict[str, bool] = {}  # watchers that paused; whether their page is away
        self.progress: Progress | None = None
        self.failure = ""
        self.done = False

    @property
    def over(self) -> bool:
        return self.done or bool(self.failure)

    def look(self) -> None:
        """Take in what has happened; any watcher may call it at any time."""
        for event in self.work.take():
            if isinstance(event, TaskProgress):
                self.progress = event.progress
            elif isinstance(event, TaskDone):
                self.done = True
            elif isinstance(event, TaskFailed):
                self.failure = event.reason
                log.warning("a job failed: %s\n%s", event.reason, event.details)
        if self.work.state == "cancelled" and not self.over:
            self.failure = "The run was cancelled."

    def pause(self, session: str, away: bool = False) -> None:
        """Hold on for this watcher; the work itself stands still when none is left to watch."""
        self._resting[session] = away
        self._rest()

    def resume(self, session: str) -> None:
        self._resting.pop(session, None)
        self.work.resume()

    def _rest(self) -> None:
        if self.watchers and self.watchers <= self._resting.keys():
            self.work.pause(yields=all(self._resting[s] for s in self.watchers))

    def leave(self, session: str) -> None:
        """Stop watching; the last one ends the work."""
        self.watchers.discard(session)
        self._resting.pop(session, None)
        self._rest()
        if not self.watchers and not self.over:
            self.work.cancel()
            self.failure = "The run was cancelled."


class Run(Results):
    """Everything there is of one run. Used on the event loop only, so without locks."""

    def __init__(self, key: str, folder: Path, private: bool = False) -> None:
        super().__init__(folder)
        self.key = key
        self.private = private  # of somebody's own data: of no use to anybody else
        self.holders: set[str] = set()
        self.stages: dict[str, Stage] = {}  # under way
        self.finished: set[str] = set()

    def join(self, name: str, session: str, begin: Callable[[], ScheduledTask]) -> Stage:
        """The stage of this name, begun if nobody else has; ``session`` watches it from now on."""
        stage = self.stages.get(name)
        if stage is None or stage.failure:
            stage = self.stages[name] = Stage(begin())
        stage.watchers.add(session)
        stage.resume(session)  # it may stand still for those who watched until now
        return stage

    def settle(self, name: str) -> None:
        """Note that a stage is over; its watchers keep theirs."""
        stage = self.stages.get(name)
        if stage is not None and stage.over:
            if stage.done:
                self.finished.add(name)
            del self.stages[name]
