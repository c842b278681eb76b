"""The rules of the broker: which job runs, which stands still, which has to wait for room.

As many jobs run as there are cores. One that has used up its turn while others wait is stopped
where it is, memory and all, and goes to the back of the queue. Memory is reserved before a job
starts, so that all that have been started fit into the machine together.
"""

from __future__ import annotations

import heapq
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from rfm_core.execute import Slot
from rfm_core.tasks import Task, TaskDone, TaskEvent, TaskFailed, TaskProgress

SMALLER = "Use a smaller width or depth, fewer rows, or fewer test trajectories"
FINISHED = ("done", "failed", "cancelled")


class Job:
    """One job of one session; any thread may use it, and nothing here waits for work.

    ``state`` is queued (not started yet), running, suspended (its next turn will come), paused,
    done, failed or cancelled.
    """

    def __init__(
        self, turns: Turns, session: str, task: Task, memory_gb: float, seconds: float
    ) -> None:
        self.session, self.task, self.memory_gb, self.seconds = session, task, memory_gb, seconds
        self.state = "queued"
        self.since = time.monotonic()  # in this state
        self.result: dict[str, Any] | None = None
        self.slot: Slot | None = None  # the broker's business
        self.yields = False  # paused because nobody is there: gives way to others
        self._turns = turns
        self._ran = 0.0
        self._events: list[TaskEvent] = []

    @property
    def ran_seconds(self) -> float:
        """Time in which it was running: no waiting, no standing still."""
        with self._turns.lock:
            return self._ran + (time.monotonic() - self.since) * (self.state == "running")

    @property
    def place(self) -> int | None:
        """In the queue, from 1; None if it is not waiting."""
        return self._turns.place(self)

    @property
    def wait_estimate(self) -> float | None:
        """Seconds until its turn, roughly; None if it is not waiting."""
        return self._turns.wait_estimate(self)

    def take(self) -> list[TaskEvent]:
        """What has happened since the last call; the last event of a job is its outcome."""
        with self._turns.lock:
            events, self._events = self._events, []
            return events

    def cancel(self) -> None:
        """Its process is killed at once; there is no event."""
        self._turns.cancel(self)

    def pause(self, yields: bool = False) -> bool:
        """Stand still until ``resume``, keeping the memory; False where that is not possible.

        One that ``yields`` is ended as soon as others wait for its room.
        """
        return self._turns.pause(self, yields)

    def resume(self) -> bool:
        """Wait for its turn again; False if it was not paused."""
        return self._turns.resume(self)

    def enter(self, state: str) -> None:
        self._ran, self.state, self.since = self.ran_seconds, state, time.monotonic()

    def note(self, event: TaskEvent) -> None:
        """Keep it for ``take``; of one stage the last report will do, as nobody may be there."""
        last = self._events[-1] if self._events else None
        both = isinstance(event, TaskProgress) and isinstance(last, TaskProgress)
        if both and event.progress.stage == last.progress.stage:  # type: ignore[union-attr]
            self._events.pop()
        self._events.append(event)
        if isinstance(event, TaskDone):
            self.result = event.result

    @property
    def left(self) -> float:
        """Seconds it will still run, by its estimate; a little at least, as that may be wrong."""
        return max(1.0, 0.1 * self.seconds, self.seconds - self.ran_seconds)


@dataclass
class Turns:
    """All unfinished jobs and the slots they use. Safe in threads; ``changed`` wakes the broker."""

    make_slot: Callable[[], Slot]
    running: int
    started: int
    memory_gb: float
    job_minutes: float | None
    quantum: float
    pause_minutes: float

    def __post_init__(self) -> None:
        self.lock = threading.RLock()
        self.change = threading.Condition(self.lock)
        self.jobs: dict[str, Job] = {}  # the unfinished one of each session
        self.queue: deque[Job] = deque()
        self.held: dict[Slot, float] = {}  # memory reserved for slots that work or are ending
        self.idle: list[Slot] = []
        self.ending: list[Slot] = []  # killed, to be waited for

    def of(self, state: str) -> list[Job]:
        return [job for job in self.jobs.values() if job.state == state]

    # --- what sessions ask for ---------------------------------------------------------------

    def add(self, job: Job) -> None:
        with self.lock:
            self.jobs[job.session] = job
            self.queue.append(job)
            self._changed()

    def cancel(self, job: Job) -> None:
        with self.lock:
            if job.state not in FINISHED:
                self._end(job, "cancelled")
                self._changed()

    def pause(self, job: Job, yields: bool = False) -> bool:
        with self.lock:
            job.yields = yields
            if job.state in (*FINISHED, "paused"):
                return False
            if job.state == "running" and not (job.slot and job.slot.suspend()):
                return False
            if job in self.queue:
                self.queue.remove(job)
            job.enter("paused")
            self._changed()
            return True

    def resume(self, job: Job) -> bool:
        with self.lock:
            if job.state != "paused":
                return False
            job.enter("suspended" if job.slot else "queued")
            self.queue.append(job)
            self._changed()
            return True

    def place(self, job: Job) -> int | None:
        with self.lock:
            return self.queue.index(job) + 1 if job in self.queue else None

    def wait_estimate(self, job: Job) -> float | None:
        """As if those ahead took turns, or ran to their ends where it waits for their room."""
        with self.lock:
            if job not in self.queue:
                return None
            ahead = list(self.queue)[: self.queue.index(job)]
            before = [*self.held.values(), *(other.memory_gb for other in ahead if not other.slot)]
            turn = self.quantum if job.slot or self._room(job, before) else math.inf
            now, running = time.monotonic(), self.of("running")
            free = [min(j.left, max(0.0, turn - (now - j.since))) for j in running]
            free += [0.0] * (self.running - len(running))
            heapq.heapify(free)
            for other in ahead:
                heapq.heapreplace(free, free[0] + min(turn, other.left))
            return free[0]

    # --- what the broker's thread does -------------------------------------------------------

    def collect(self) -> None:
        """Take in what the processes have said."""
        with self.lock:
            for job in [job for job in self.jobs.values() if job.slot]:
                assert job.slot
                for event in job.slot.poll():
                    job.note(event)
                    if not isinstance(event, TaskProgress):
                        self._end(job, "done" if isinstance(event, TaskDone) else "failed")

    def schedule(self) -> None:
        """Give turns as the rules want it now."""
        with self.lock:
            self._end_overdue()
            while len(self.of("running")) < self.running and (job := self._next()):
                self._run(job)
            for job in sorted(self.of("running"), key=lambda job: job.since):
                over = time.monotonic() - job.since >= self.quantum
                following = self._next() if over else None
                if following is None or not (job.slot and job.slot.suspend()):
                    return
                job.enter("suspended")
                self._run(following)
                self.queue.append(job)

    def keep_warm(self, slot: Slot) -> None:
        """For the next job, unless there are enough of them."""
        with self.lock:
            if len(self.idle) < self.running:
                self.idle.append(slot)
            else:
                slot.kill(wait=False)
                self.ending.append(slot)

    def _changed(self) -> None:
        self.schedule()
        self.change.notify_all()

    def _room(self, job: Job, held: Collection[float]) -> bool:
        """Could it start beside these reservations?"""
        return len(held) < self.started and sum(held) + job.memory_gb <= self.memory_gb + 1e-9

    def _next(self) -> Job | None:
        """The first in the queue that can go on.

        Those that have a process can. One that waits for room lets nobody pass who would take
        room too, or small jobs would keep a large one waiting for ever; unless it waits for paused
        ones, since that may be long.
        """
        paused = [job.memory_gb for job in self.of("paused") if job.slot]
        blocked = False
        for job in self.queue:
            if job.slot:
                return job
            if not blocked and self._room(job, self.held.values()):
                return job
            blocked = blocked or self._room(job, paused)
        return None

    def _run(self, job: Job) -> None:
        self.queue.remove(job)
        job.enter("running")
        if job.slot:
            job.slot.resume()
            return
        job.slot = self.idle.pop() if self.idle else self.make_slot()
        self.held[job.slot] = job.memory_gb
        # estimates are estimates, but beyond this it would take what others have reserved
        job.slot.start(job.task, memory_gb=1.3 * job.memory_gb + 0.5)

    def _end_overdue(self) -> None:
        for job in self.of("running"):
            if self.job_minutes is not None and job.ran_seconds > 60 * self.job_minutes:
                self._fail(
                    job,
                    f"It ran for {self.job_minutes:g} minutes, the most that a job may take here, "
                    f"and was stopped. {SMALLER}, or have the limit (RFM_JOB_MINUTES) raised.",
                )
        waiting = [job for job in self.queue if not job.slot]
        paused = [job for job in self.of("paused") if job.slot]
        left = [job for job in paused if job.yields]
        living = [job.memory_gb for job in self.jobs.values() if job.slot]  # dying ones make room
        if left and any(not self._room(job, living) for job in waiting):
            self._fail(left[0], "The page was away, and others waited for its place. Train again.")
            return
        held = [job.memory_gb for job in paused]
        if any(not self._room(job, held) for job in waiting):
            longest = min(paused, key=lambda job: job.since)
            if time.monotonic() - longest.since > 60 * self.pause_minutes:
                self._fail(
                    longest,
                    f"It was paused for more than {self.pause_minutes:g} minutes while others "
                    "waited for its memory, and was ended. Start it again to have it.",
                )

    def _fail(self, job: Job, reason: str) -> None:
        job.note(TaskFailed(job.task.key, reason))
        self._end(job, "failed")

    def _end(self, job: Job, state: str) -> None:
        """Its process goes on to other jobs, or is killed if it still works for this one."""
        job.enter(state)
        del self.jobs[job.session]
        if job in self.queue:
            self.queue.remove(job)
        slot, job.slot = job.slot, None
        if slot is not None and slot.busy:
            slot.kill(wait=False)
            self.ending.append(slot)  # its memory stays reserved until it is gone
        elif slot is not None:
            del self.held[slot]
            self.keep_warm(slot)
