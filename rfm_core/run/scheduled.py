"""A task that a scheduler was given: its state, what it says, and what can be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .slots import Slot
from .tasks import Task, TaskDone, TaskEvent, TaskProgress

if TYPE_CHECKING:
    from .scheduler import Scheduler

FINISHED = ("done", "failed", "cancelled")


class ScheduledTask:
    """Any thread may use it, and nothing here waits for work.

    ``state`` is queued (not started yet), running, suspended (its next turn will come), paused,
    done, failed or cancelled.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        task: Task,
        owner: object,
        memory_gb: float,
        seconds: float,
        limit_gb: float | None,
    ) -> None:
        self.task, self.owner = task, owner
        self.memory_gb, self.seconds, self.limit_gb = memory_gb, seconds, limit_gb
        self.state = "queued"
        self.since = scheduler.clock()  # in this state
        self.result: dict[str, Any] | None = None
        self.slot: Slot | None = None  # the scheduler's business
        self.yields = False  # paused because nobody is there: gives way to others
        self._scheduler = scheduler
        self._ran = 0.0
        self._events: list[TaskEvent] = []

    @property
    def ran_seconds(self) -> float:
        """Time in which it was running: no waiting, no standing still."""
        with self._scheduler.lock:
            running = self.state == "running"
            return self._ran + (self._scheduler.clock() - self.since) * running

    @property
    def left(self) -> float:
        """Seconds it will still run, by its estimate; a little at least, as that may be wrong."""
        return max(1.0, 0.1 * self.seconds, self.seconds - self.ran_seconds)

    @property
    def place(self) -> int | None:
        """In the queue, from 1; None if it is not waiting."""
        return self._scheduler.place(self)

    @property
    def wait_estimate(self) -> float | None:
        """Seconds until its turn, roughly; None if it is not waiting."""
        return self._scheduler.wait_estimate(self)

    @property
    def news(self) -> bool:
        """Is there something to ``take``?"""
        return bool(self._events)

    def take(self) -> list[TaskEvent]:
        """What has happened since the last call; the last event of a task is its outcome."""
        with self._scheduler.lock:
            events, self._events = self._events, []
            return events

    def cancel(self) -> None:
        """Its process is killed at once; there is no event."""
        self._scheduler.cancel([self])

    def pause(self, yields: bool = False) -> bool:
        """Stand still until ``resume``, keeping the memory; False where that is not possible.

        One that ``yields`` is ended as soon as others wait for its room.
        """
        return self._scheduler.pause(self, yields)

    def resume(self) -> bool:
        """Wait for its turn again; False if it was not paused."""
        return self._scheduler.resume(self)

    def enter(self, state: str) -> None:
        """The scheduler's business."""
        self._ran, self.state, self.since = self.ran_seconds, state, self._scheduler.clock()

    def note(self, event: TaskEvent) -> None:
        """Keep it for ``take``; of one stage the last report will do, as nobody may be there."""
        last = self._events[-1] if self._events else None
        both = isinstance(event, TaskProgress) and isinstance(last, TaskProgress)
        if both and event.progress.stage == last.progress.stage:  # type: ignore[union-attr]
            self._events.pop()
        self._events.append(event)
        if isinstance(event, TaskDone):
            self.result = event.result
