"""The executor of processes: a run's tasks, handed to a scheduler as places become free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from ..checks import Cancelled, InvalidInput, whole
from ..events import CancelToken
from .base import Closing, check_cancel, cores
from .launch import METHOD
from .scheduled import ScheduledTask
from .scheduler import LOOK_SECONDS, Scheduler
from .slots import Slot
from .tasks import Task, TaskEvent, TaskProgress

AHEAD = 2  # tasks of a run for each slot, so that none waits for the consumer


class ProcessSlots(Closing):
    """Tasks in ``slots`` processes that stay warm between runs and can be killed at any moment.

    The cores are divided among the slots (``threads`` for each). Several runs, from several
    threads, share the slots of one executor. ``memory_gb`` is for one task.
    """

    def __init__(
        self,
        slots: int | None = None,
        threads: int | None = None,
        memory_gb: float | None = None,
        nice: int | None = None,
        modules: Sequence[str] = (),
        method: str = METHOD,
    ) -> None:
        number = cores() if slots is None else slots
        self.slots = whole("slots", number, 1, 4096, f"This machine has {cores()} cores.")
        share = max(1, cores() // self.slots) if threads is None else threads
        self.threads = whole("threads", share, 1, 4096, "1 is best when all slots are in use.")
        slot = partial(Slot, memory_gb=memory_gb, nice=nice, modules=modules, method=method)
        self._scheduler = Scheduler(slot, running=self.slots)

    def run(self, tasks: Iterable[Task], cancel: CancelToken | None = None) -> Iterator[TaskEvent]:
        if self._scheduler.closed:
            raise InvalidInput("This executor has been closed. Make a new one.")
        check_cancel(cancel)
        source, owner = iter(tasks), object()
        mine: list[ScheduledTask] = []
        try:
            while True:
                while len(mine) < AHEAD * self.slots and (task := next(source, None)) is not None:
                    mine.append(self._submit(task, owner))
                if not mine:
                    return
                if cancel is not None and cancel.cancelled:
                    self._scheduler.collect()  # outcomes that are there already stay valid
                    events = [event for one in mine for event in one.take()]
                    self._scheduler.cancel(mine, patiently=True)
                    yield from (e for e in events if not isinstance(e, TaskProgress))
                    check_cancel(cancel)
                yield from self._events(mine)
                if self._scheduler.closed:
                    raise Cancelled("the executor was closed")
        finally:
            self._scheduler.cancel(mine, patiently=True)

    def _submit(self, task: Task, owner: object) -> ScheduledTask:
        with self._scheduler.lock:
            if self._scheduler.closed:
                raise Cancelled("the executor was closed")
            return self._scheduler.submit(task, owner=owner)

    def _events(self, mine: list[ScheduledTask]) -> Iterator[TaskEvent]:
        """What happens in the next moment; those that have ended leave the list."""
        with self._scheduler.change:
            self._scheduler.change.wait_for(lambda: any(one.news for one in mine), LOOK_SECONDS)
        for one in list(mine):
            for event in one.take():
                if not isinstance(event, TaskProgress):
                    mine.remove(one)
                yield event

    def close(self) -> None:
        """Ends all workers; runs that are under way end with ``Cancelled``."""
        self._scheduler.close()
