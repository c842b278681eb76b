"""One broker for all sessions of a server: it hands out processes that can be killed.

The rules are in ``app.turns``; here are the doors, the thread and the one broker of this process.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from rfm_core.checks import InvalidInput, real, refuse, whole
from rfm_core.execute import Slot, cores
from rfm_core.tasks import Task

from .turns import SMALLER, Job, Turns

__all__ = ["Broker", "Job", "Snapshot", "configure", "get_broker", "machine_memory_gb"]

log = logging.getLogger("rfm_explorer")
LOOK_SECONDS = 0.05  # between looks while jobs run
REST_SECONDS = 1.0  # between looks while all that were started stand still
PING = Task("ping", "app.ping")


@dataclass(frozen=True)
class Snapshot:
    """How busy the broker is."""

    running: int
    waiting: int
    paused: int
    reserved_gb: float
    budget_gb: float


class Broker:
    """Hands process slots to sessions.

    running        jobs that run at the same time; None: one for each core
    started        jobs that have a process, also those that stand still; None: 4 * running
    memory_gb      for all of them together; None: 60 % of the machine's
    job_minutes    of running, for one job; None: no limit
    quantum        seconds of a turn while others wait
    pause_minutes  a job that is paused for longer is ended if others wait for its room
    """

    def __init__(
        self,
        running: int | None = None,
        started: int | None = None,
        memory_gb: float | None = None,
        job_minutes: float | None = 60,
        quantum: float = 10.0,
        nice: int = 10,
        pause_minutes: float = 15,
        modules: Sequence[str] = ("app.jobs",),
    ) -> None:
        number = cores() if running is None else running
        running = whole("running", number, 1, 4096, f"This machine has {cores()} cores.")
        number = 4 * running if started is None else started
        budget = 0.6 * machine_memory_gb() if memory_gb is None else memory_gb
        if job_minutes is not None:
            job_minutes = real("job_minutes", job_minutes, "60 is usual.", 0, 1e6, above=True)
        self._slot_options: dict[str, Any] = {"nice": nice, "modules": modules}
        self._new_slot()  # refuses now what is wrong with these
        self._turns = Turns(
            make_slot=self._new_slot,
            running=running,
            started=whole("started", number, running, 10**5, "At least as many as run."),
            memory_gb=real("memory_gb", budget, "60 % of the machine's is usual.", 0.1, 1e6),
            job_minutes=job_minutes,
            quantum=real("quantum", quantum, "10 seconds are usual.", 0.05, 1e6),
            pause_minutes=real("pause_minutes", pause_minutes, "15 is usual.", 0, 1e6),
        )
        self._warming: list[Slot] = []
        self._thread: threading.Thread | None = None
        self._closed = False

    def _new_slot(self) -> Slot:
        return Slot(**self._slot_options)

    @property
    def memory_gb(self) -> float:
        return self._turns.memory_gb

    @property
    def job_seconds(self) -> float:
        """What a job may be estimated to take; infinite where there is no limit."""
        minutes = self._turns.job_minutes
        return math.inf if minutes is None else 60 * minutes

    def submit(self, session: str, task: Task, memory_gb: float, seconds: float) -> Job:
        """Queue a task that is estimated to take so much; its arguments should be small.

        Refused at once is what can never run here, and a second job of a session.
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
        with self._turns.lock:
            if self._closed:
                raise InvalidInput("This server is closing. Try again when it is back.")
            if session in self._turns.jobs:
                raise InvalidInput(
                    f"This session has a job already ({self._turns.jobs[session].state}), and 1 "
                    "is the most. Cancel it, or wait until it has ended."
                )
            job = Job(self._turns, session, task, memory_gb, seconds)
            self._start_thread()
            self._turns.add(job)
            return job

    def warm(self) -> None:
        """Start a process ahead, so that the next job is quick."""
        with self._turns.lock:
            if not (self._closed or self._turns.idle or self._warming):
                slot = self._new_slot()
                slot.start(PING)
                self._warming.append(slot)
                self._start_thread()
                self._turns.change.notify_all()

    def snapshot(self) -> Snapshot:
        turns = self._turns
        with turns.lock:
            running, paused = len(turns.of("running")), len(turns.of("paused"))
            reserved = sum(turns.held.values())
            return Snapshot(running, len(turns.queue), paused, reserved, turns.memory_gb)

    def close(self) -> None:
        """End every process; jobs under way are cancelled."""
        turns = self._turns
        with turns.lock:
            self._closed = True
            turns.queue.clear()  # first, or they would start as others end
            for job in list(turns.jobs.values()):
                job.cancel()
            slots = {*turns.idle, *self._warming, *turns.ending, *turns.held}
            turns.change.notify_all()
        for patience in (False, True):  # all of them are hit before the first is waited for
            for slot in slots:
                slot.kill(wait=patience)
        if self._thread is not None:
            self._thread.join(5)

    # --- the thread --------------------------------------------------------------------------

    def _start_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="broker", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while not self._closed:
            try:
                self._look()
            except Exception:  # without this thread nobody's job would ever end
                log.exception("the broker stumbled")
                time.sleep(REST_SECONDS)

    def _look(self) -> None:
        """See what has happened, give turns, and wait a moment, or until something happens."""
        turns = self._turns
        with turns.lock:
            turns.collect()
            self._collect_warm()
            turns.schedule()
            working = [job.slot for job in turns.of("running") if job.slot] + self._warming
            ending, turns.ending = turns.ending, []
            if not working and not ending and not self._closed:
                turns.change.wait(REST_SECONDS if turns.held else None)
                return
        self._bury(ending)
        pipes = [slot.pipe for slot in working]
        if all(pipe is not None for pipe in pipes):
            with suppress(OSError, ValueError):  # another thread has just closed one
                wait([pipe for pipe in pipes if pipe is not None], LOOK_SECONDS)

    def _collect_warm(self) -> None:
        for slot in list(self._warming):
            slot.poll()
            if not slot.busy:
                self._warming.remove(slot)
                self._turns.keep_warm(slot)

    def _bury(self, slots: list[Slot]) -> None:
        """Wait for killed processes and give back what was reserved for them."""
        for slot in slots:
            slot.kill()
            with self._turns.lock:
                self._turns.held.pop(slot, None)
        if slots:
            self.warm()  # who cancels usually starts something else


# --- the one of this process -----------------------------------------------------------------

VARIABLES = {"RFM_JOBS": "running", "RFM_MEMORY_GB": "memory_gb", "RFM_JOB_MINUTES": "job_minutes"}
_making = threading.Lock()
_broker: Broker | None = None


def get_broker() -> Broker:
    """The process-wide broker; unless configured before, as the environment variables say."""
    with _making:
        return _broker or _make({})


def configure(**options: Any) -> Broker:
    """Make the process-wide broker with these options of ``Broker``, before anybody uses it."""
    with _making:
        if _broker is not None:
            raise InvalidInput("The broker is at work already. Configure it before its first use.")
        return _make(options)


def _make(options: dict[str, Any]) -> Broker:
    global _broker
    from_environment = {
        option: _number(name) for name, option in VARIABLES.items() if os.environ.get(name)
    }
    _broker = Broker(**{**from_environment, **options})
    atexit.register(_broker.close)
    return _broker


def _number(variable: str) -> float:
    given = os.environ[variable]
    try:
        return float(given)
    except ValueError:
        remedy = "It is an environment variable: set it to a number, or unset it."
        raise refuse(variable, given, "a number", remedy) from None


def machine_memory_gb() -> float:
    """Memory of this machine or of the container we are in; 8 where nobody tells."""
    known = []
    with suppress(AttributeError, OSError, ValueError):  # not on Windows
        known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for file in ("memory.max", "memory/memory.limit_in_bytes"):  # of control groups, new and old
        with suppress(OSError, ValueError):  # "max" is no number
            known.append(int(Path("/sys/fs/cgroup", file).read_text()))
    return min(known, default=8e9) / 1e9
