"""One scheduler of tasks in killable processes: turns, room, pause, cancel, fairness.

As many tasks run as it is told. One that has used up its turn while others wait is stopped where it
is, memory and all, and goes to the back of the queue. Memory is reserved before a task starts, so
that all that have been started fit into the machine together. Of several owners the one with the
fewest running tasks comes first, so that nobody's long list keeps the others waiting.

The executor of processes and the queue of a server both stand on it.
"""

from __future__ import annotations

import heapq
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

from ..checks import InvalidInput, real, whole
from .base import cores
from .pool import SlotPool
from .scheduled import FINISHED, ScheduledTask
from .slots import Slot
from .tasks import Task, TaskDone, TaskFailed, TaskProgress

log = logging.getLogger(__name__)
LOOK_SECONDS = 0.05  # between looks while tasks run
REST_SECONDS = 1.0  # between looks while all that were started stand still
SMALLER = "Use a smaller width or depth, fewer rows, or fewer test trajectories"


@dataclass(frozen=True)
class Snapshot:
    """How busy a scheduler is."""

    running: int
    waiting: int
    paused: int
    reserved_gb: float


class Scheduler:
    """Hands processes to tasks. Safe in threads; a thread of its own is there while it works.

    make_slot      makes a place for a task
    running        tasks that run at the same time; None: one for each core
    started        tasks that have a process, also those that stand still; None: as many as run
    memory_gb      reserved for all that were started together; None: not counted
    job_minutes   of running, for one task; None: no limit
    quantum        seconds of a turn while others wait; None: to its end
    pause_minutes  a task that is paused for longer is ended if others wait for its room
    """

    def __init__(
        self,
        make_slot: Callable[[], Slot],
        running: int | None = None,
        started: int | None = None,
        memory_gb: float | None = None,
        job_minutes: float | None = None,
        quantum: float | None = None,
        pause_minutes: float = 15,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.clock = clock
        number = cores() if running is None else running
        self.running = whole("running", number, 1, 4096, f"This machine has {cores()} cores.")
        number = self.running if started is None else started
        self.started = whole("started", number, self.running, 10**5, "At least as many as run.")
        self.memory_gb = _or_infinite("memory_gb", memory_gb, "60 % of the machine's", 0.1)
        minutes = _or_infinite("job_minutes", job_minutes, "60", 0, above=True)
        self.job_seconds = 60 * minutes
        self.quantum = _or_infinite("quantum", quantum, "10 seconds", 0.05)
        self.pause_minutes = real("pause_minutes", pause_minutes, "15 is usual.", 0, 1e6)
        self._pool = SlotPool(make_slot, most_idle=self.running)
        self.lock = threading.RLock()
        self.change = threading.Condition(self.lock)  # told of every event and every new state
        self.closed = False
        self._tasks: list[ScheduledTask] = []  # unfinished ones
        self._queue: deque[ScheduledTask] = deque()
        self._thread: threading.Thread | None = None

    # --- what is asked of it -----------------------------------------------------------------

    def submit(
        self,
        task: Task,
        memory_gb: float = 0.0,
        seconds: float = 0.0,
        limit_gb: float | None = None,
        owner: object = None,
    ) -> ScheduledTask:
        """Queue a task that is estimated to take so much; its arguments should be small.

        Refused at once is what can never run here. ``limit_gb`` is what it may allocate at most;
        by default it is an owner by itself.
        """
        memory_gb = real("memory_gb", memory_gb, "Give an estimate.", 0)
        seconds = real("seconds", seconds, "Give an estimate.", 0)
        if memory_gb > self.memory_gb:
            raise InvalidInput(
                f"This needs about {memory_gb:.3g} GB of memory, and all jobs of this server "
                f"together have {self.memory_gb:.3g} GB. {SMALLER}."
            )
        if seconds > self.job_seconds:
            raise InvalidInput(
                f"This would take about {seconds / 60:.3g} minutes, and a job on this server may "
                f"take {self.job_seconds / 60:g}. {SMALLER}."
            )
        with self.lock:
            if self.closed:
                raise InvalidInput("This server is closing. Try again when it is back.")
            new = ScheduledTask(self, task, owner or object(), memory_gb, seconds, limit_gb)
            self._tasks.append(new)
            self._queue.append(new)
            self._changed()
            return new

    def cancel(self, tasks: Iterable[ScheduledTask], patiently: bool = False) -> None:
        """Kill their processes at once; ``patiently``: and see them gone."""
        with self.lock:
            unfinished = [task for task in tasks if task.state not in FINISHED]
            slots = [task.slot for task in unfinished if task.slot]
            for task in unfinished:
                if task in self._queue:
                    self._queue.remove(task)  # first, or they would start as others end
            for task in unfinished:
                self._end(task, "cancelled")
            self._changed()
        for slot in slots if patiently else ():
            slot.kill()

    def pause(self, task: ScheduledTask, yields: bool = False) -> bool:
        with self.lock:
            task.yields = yields
            if task.state in (*FINISHED, "paused"):
                return False
            if task.state == "running" and not (task.slot and task.slot.suspend()):
                return False
            if task in self._queue:
                self._queue.remove(task)
            task.enter("paused")
            self._changed()
            return True

    def resume(self, task: ScheduledTask) -> bool:
        with self.lock:
            if task.state != "paused":
                return False
            task.enter("suspended" if task.slot else "queued")
            self._queue.append(task)
            self._changed()
            return True

    def place(self, task: ScheduledTask) -> int | None:
        with self.lock:
            return self._line().index(task) + 1 if task in self._queue else None

    def wait_estimate(self, task: ScheduledTask) -> float | None:
        """As if those ahead took turns, or ran to their ends where it waits for their room."""
        with self.lock:
            if task not in self._queue:
                return None
            line = self._line()
            ahead = line[: line.index(task)]
            before = [
                *self._pool.held.values(),
                *(other.memory_gb for other in ahead if not other.slot),
            ]
            turn = self.quantum if task.slot or self._room(task, before) else math.inf
            now, running = self.clock(), self.of("running")
            free = [min(t.left, max(0.0, turn - (now - t.since))) for t in running]
            free += [0.0] * (self.running - len(running))
            heapq.heapify(free)
            for other in ahead:
                heapq.heapreplace(free, free[0] + min(turn, other.left))
            return free[0]

    def of(self, state: str) -> list[ScheduledTask]:
        return [task for task in self._tasks if task.state == state]

    def snapshot(self) -> Snapshot:
        with self.lock:
            running, paused = len(self.of("running")), len(self.of("paused"))
            return Snapshot(running, len(self._queue), paused, sum(self._pool.held.values()))

    def warm(self) -> None:
        """Start a process ahead, so that the next task is quick."""
        with self.lock:
            if not self.closed:
                self._pool.warm()
                self._changed()

    def close(self) -> None:
        """End every process; tasks under way are cancelled."""
        with self.lock:
            self.closed = True
            slots = self._pool.empty()
            self.cancel(list(self._tasks))
            thread = self._thread
        for patience in (False, True):  # all of them are hit before the first is waited for
            for slot in slots:
                slot.kill(wait=patience)
        if thread is not None:
            thread.join(5)

    # --- the rules ---------------------------------------------------------------------------

    def _schedule(self) -> None:
        """Give turns as the rules want it now."""
        self._end_overdue()
        while len(self.of("running")) < self.running and (task := self._next()):
            self._run(task)
        for task in sorted(self.of("running"), key=lambda task: task.since):
            over = self.clock() - task.since >= self.quantum
            following = self._next() if over else None
            if following is None or not (task.slot and task.slot.suspend()):
                return
            task.enter("suspended")
            self._run(following)
            self._queue.append(task)

    def _line(self) -> list[ScheduledTask]:
        """Who waits, in the order of their turns: by fewest running ones, then as they came."""
        owners = [task.owner for task in self.of("running")]
        return sorted(self._queue, key=lambda task: owners.count(task.owner))

    def _room(self, task: ScheduledTask, held: Collection[float]) -> bool:
        """Could it start beside these reservations?"""
        return len(held) < self.started and sum(held) + task.memory_gb <= self.memory_gb + 1e-9

    def _next(self) -> ScheduledTask | None:
        """The first in the line that can go on.

        Those that have a process can. One that waits for room lets nobody pass who would take
        room too, or small tasks would keep a large one waiting for ever; unless it waits for
        paused ones, since that may be long.
        """
        paused = [task.memory_gb for task in self.of("paused") if task.slot]
        blocked = False
        for task in self._line():
            if task.slot:
                return task
            if not blocked and self._room(task, self._pool.held.values()):
                return task
            blocked = blocked or self._room(task, paused)
        return None

    def _run(self, task: ScheduledTask) -> None:
        self._queue.remove(task)
        task.enter("running")
        if task.slot:
            task.slot.resume()
            return
        task.slot = self._pool.take(task.memory_gb)
        task.slot.start(task.task, memory_gb=task.limit_gb)

    def _end_overdue(self) -> None:
        for task in self.of("running"):
            if task.ran_seconds > self.job_seconds:
                self._fail(
                    task,
                    f"It ran for {self.job_seconds / 60:g} minutes, the most that a job may take "
                    f"here, and was stopped. {SMALLER}, or have the limit (RFM_JOB_MINUTES) "
                    "raised.",
                )
        waiting = [task for task in self._queue if not task.slot]
        paused = [task for task in self.of("paused") if task.slot]
        left = [task for task in paused if task.yields]
        living = [task.memory_gb for task in self._tasks if task.slot]  # dying ones make room
        if left and any(not self._room(task, living) for task in waiting):
            self._fail(
                left[0],
                f"Nobody watched it for {self.clock() - left[0].since:.0f} seconds while others "
                f"waited for its place ({self.started} may be started, with "
                f"{self.memory_gb:.3g} GB of memory), so it was ended. Train again.",
            )
            return
        held = [task.memory_gb for task in paused]
        if any(not self._room(task, held) for task in waiting):
            longest = min(paused, key=lambda task: task.since)
            if self.clock() - longest.since > 60 * self.pause_minutes:
                self._fail(
                    longest,
                    f"It was paused for more than {self.pause_minutes:g} minutes while others "
                    "waited for its memory, and was ended. Start it again to have it.",
                )

    def _fail(self, task: ScheduledTask, reason: str) -> None:
        task.note(TaskFailed(task.task.key, reason))
        self._end(task, "failed")

    def _end(self, task: ScheduledTask, state: str) -> None:
        """It is over, and its process free."""
        task.enter(state)
        self._tasks.remove(task)
        if task in self._queue:
            self._queue.remove(task)
        slot, task.slot = task.slot, None
        if slot is not None:
            self._pool.give_back(slot)

    # --- the thread --------------------------------------------------------------------------

    def _changed(self) -> None:
        self._schedule()
        self.change.notify_all()
        pool = self._pool
        if (pool.held or pool.warming or pool.ending) and not (
            self._thread and self._thread.is_alive()
        ):
            self._thread = threading.Thread(target=self._work, name="scheduler", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        """Until there is nothing left to look at; kept alive, it would keep this object alive."""
        going_on = True
        while going_on:
            try:
                going_on = self._look()
            except Exception:  # without this thread nobody's task would ever end
                log.exception("the scheduler stumbled")
                time.sleep(REST_SECONDS)

    def _look(self) -> bool:
        """See what has happened, give turns, and wait a moment, or until something happens."""
        with self.lock:
            self.collect()
            self._schedule()
            working = [task.slot for task in self.of("running") if task.slot] + self._pool.warming
            ending, self._pool.ending = self._pool.ending, []
            if not working and not ending:
                if not self._pool.held or self.closed:
                    self._thread = None
                    return False
                self.change.wait(REST_SECONDS)
                return True
        for slot in ending:
            slot.kill()
            with self.lock:
                self._pool.gone(slot)
        pipes = [slot.pipe for slot in working]
        if not ending and all(pipe is not None for pipe in pipes):
            with suppress(OSError, ValueError):  # another thread has just closed one
                wait([pipe for pipe in pipes if pipe is not None], LOOK_SECONDS)
        return True

    def collect(self) -> None:
        """Take in what the processes have said."""
        with self.lock:
            for task in [task for task in self._tasks if task.slot]:
                assert task.slot
                for event in task.slot.poll():
                    task.note(event)
                    self.change.notify_all()
                    if not isinstance(event, TaskProgress):
                        self._end(task, "done" if isinstance(event, TaskDone) else "failed")
            self._pool.collect()


def _or_infinite(name: str, given: float | None, usual: str, least: float, **how: Any) -> float:
    """None is no limit."""
    if given is None:
        return math.inf
    return real(name, given, f"{usual} is usual.", least, 1e6, **how)
