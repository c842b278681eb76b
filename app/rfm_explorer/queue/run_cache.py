"""All runs of this server, by what determines them.

A run that nobody holds is kept for a while, because students go back.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from rfm_core.run import ScheduledTask, Scheduler
from rfm_core.run.tasks import Task
from rfm_core.spec import digest_of

from ..results.temporary import new_folder
from .run import Run

KEPT = 24  # runs that nobody holds


class RunCache:
    """Used on the event loop only, so without locks."""

    def __init__(self, scheduler: Scheduler, kept: int = KEPT) -> None:
        self.scheduler = scheduler
        self._kept = kept
        self._runs: OrderedDict[str, Run] = OrderedDict()

    def hold(self, identity: dict[str, Any], holder: str) -> Run:
        """The run determined by these plain values; it stays until ``holder`` lets it go."""
        key = digest_of(identity)
        if key not in self._runs:
            self._runs[key] = Run(key, new_folder(), private="series" in identity["data"])
        run = self._runs[key]
        self._runs.move_to_end(key)
        run.holders.add(holder)
        self._prune()
        return run

    def let_go(self, run: Run, holder: str) -> None:
        run.holders.discard(holder)
        self._prune()

    def submit(self, task: Task, memory_gb: float, seconds: float) -> ScheduledTask:
        """Queue a task that is estimated to take so much."""
        # estimates are estimates, but beyond this limit it would take what others have reserved
        limit = 1.3 * memory_gb + 0.5
        return self.scheduler.submit(task, memory_gb, seconds, limit_gb=limit)

    def _prune(self) -> None:
        idle = [run for run in self._runs.values() if not run.holders and not run.stages]
        public = [run for run in idle if not run.private]
        kept = public[-self._kept :] if self._kept else []
        for run in (run for run in idle if run not in kept):
            del self._runs[run.key]
            run.remove()
