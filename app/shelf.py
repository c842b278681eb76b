"""The runs of this server: one folder for each, one job for each of its stages, shared by sessions.

Fifty students who open the same link want the same run: it is trained once, and all of them watch.
A finished stage is immutable, so it can be shared. A stage that nobody watches any more is
cancelled; a folder that nobody holds is kept for a while, because students go back.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from rfm_core import Progress
from rfm_core.spec import digest_of
from rfm_core.tasks import Task, TaskDone, TaskFailed, TaskProgress

from .broker import Broker, Job
from .folder import Run, new_folder

log = logging.getLogger("rfm_explorer")
KEPT = 24  # folders that nobody holds


class Work:
    """One stage of a run under way, watched by one session or more."""

    _numbers = count()

    def __init__(self, broker: Broker, task: Task, memory_gb: float, seconds: float) -> None:
        self.watchers: set[str] = set()
        self._resting: dict[str, bool] = {}  # watchers that paused; whether their page is away
        self.progress: Progress | None = None
        self.failure = ""
        self.done = False
        self.job: Job = broker.submit(f"work-{next(self._numbers)}", task, memory_gb, seconds)

    @property
    def over(self) -> bool:
        return self.done or bool(self.failure)

    def look(self) -> None:
        """Take in what has happened; any watcher may call it at any time."""
        for event in self.job.take():
            if isinstance(event, TaskProgress):
                self.progress = event.progress
            elif isinstance(event, TaskDone):
                self.done = True
            elif isinstance(event, TaskFailed):
                self.failure = event.reason
                log.warning("a job failed: %s\n%s", event.reason, event.details)
        if self.job.state == "cancelled" and not self.over:
            self.failure = "The run was cancelled."

    def pause(self, session: str, away: bool = False) -> None:
        """Hold on for this watcher; the job itself stands still when none is left to watch."""
        self._resting[session] = away
        self._rest()

    def resume(self, session: str) -> None:
        self._resting.pop(session, None)
        self.job.resume()

    def _rest(self) -> None:
        if self.watchers and self.watchers <= self._resting.keys():
            self.job.pause(yields=all(self._resting[s] for s in self.watchers))

    def leave(self, session: str) -> None:
        """Stop watching; the last one ends the work."""
        self.watchers.discard(session)
        self._resting.pop(session, None)
        self._rest()
        if not self.watchers and not self.over:
            self.job.cancel()
            self.failure = "The run was cancelled."


@dataclass(eq=False)
class Entry:
    """One run: its folder, who holds it, what is done and what is under way."""

    key: str
    run: Run
    holders: set[str] = field(default_factory=set)
    private: bool = False  # of somebody's own data: of no use to anybody else
    finished: set[str] = field(default_factory=set)
    work: dict[str, Work] = field(default_factory=dict)


class Shelf:
    """All runs, by what determines them. Used on the event loop only, so without locks."""

    def __init__(self, broker: Broker, kept: int = KEPT) -> None:
        self.broker = broker
        self._kept = kept
        self._entries: OrderedDict[str, Entry] = OrderedDict()

    def hold(self, what: dict[str, Any], holder: str) -> Entry:
        """The run determined by ``what`` (plain values); it stays until ``holder`` lets it go."""
        key = digest_of(what)
        entry = self._entries.get(key)
        if entry is None:
            private = "series" in what["data"]
            entry = self._entries[key] = Entry(key, Run(new_folder()), private=private)
        self._entries.move_to_end(key)
        entry.holders.add(holder)
        self._prune()
        return entry

    def let_go(self, entry: Entry, holder: str) -> None:
        entry.holders.discard(holder)
        self._prune()

    def watch(
        self, entry: Entry, stage: str, task: Task, memory_gb: float, seconds: float, session: str
    ) -> Work:
        """The stage's work, begun if nobody else has; ``session`` watches it from now on."""
        work = entry.work.get(stage)
        if work is None or work.failure:
            work = entry.work[stage] = Work(self.broker, task, memory_gb, seconds)
        work.watchers.add(session)
        work.resume(session)  # it may stand still for those who watched until now
        return work

    def settle(self, entry: Entry, stage: str) -> None:
        """Note that a stage is finished; watchers keep their ``Work``."""
        work = entry.work.get(stage)
        if work is not None and work.over:
            if work.done:
                entry.finished.add(stage)
            del entry.work[stage]

    def _prune(self) -> None:
        idle = [e for e in self._entries.values() if not e.holders and not e.work]
        kept = [e for e in idle if not e.private][-self._kept :]
        for entry in (e for e in idle if e not in kept):
            del self._entries[entry.key]
            entry.run.remove()
