"""Killable process slots: a place for one task at a time, in a warm process of its own."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection

from ..checks import one_of, real, whole
from .base import checked_modules
from .launch import CAN_SUSPEND, METHOD, METHODS, Worker, cause_of_end, launch
from .tasks import Task, TaskEvent, TaskFailed, TaskProgress
from .wire import pack_task, unpack_event
from .worker import setup_of_driver

ATTEMPTS = 2  # of a task whose worker died: it may have been the worker's fault
REAP_SECONDS = 5.0  # a killed process is gone long before, unless the kernel hangs


class Slot:
    """One worker process, started with the first task and kept warm; for schedulers of tasks.

    ``start`` a task, ``poll`` for its events, ``suspend``, ``resume`` and ``kill`` it; none of
    these waits for work, and any thread may call them. A worker that died is replaced and its task
    is tried once more. ``memory_gb`` is for a task beyond the worker's own 0.3 GB, on Linux.
    ``nice`` is how far it stands back behind other programs; None: as RFM_NICE says, or 10.
    """

    def __init__(
        self,
        *,
        memory_gb: float | None = None,
        nice: int | None = None,
        modules: Sequence[str] = (),
        method: str = METHOD,
    ) -> None:
        self._memory_gb = _checked_memory(memory_gb)
        self._nice = usual_nice() if nice is None else _checked_nice("nice", nice)
        self._modules = checked_modules(modules)
        self._method = one_of("method", method, METHODS, f"The best here is {METHOD!r}.")
        self._lock = threading.RLock()
        self._worker: Worker | None = None
        self._dying: list[Worker] = []
        self._task: Task | None = None
        self._message = b""
        self._attempts = 0
        self._waiting: list[TaskEvent] = []
        self._suspended = False

    @property
    def busy(self) -> bool:
        """From ``start`` until ``poll`` has given the outcome or ``kill`` has ended it."""
        return self._task is not None

    @property
    def suspended(self) -> bool:
        """From ``suspend`` until ``resume``, ``kill`` or the task's outcome."""
        return self._suspended

    @property
    def pipe(self) -> Connection | None:
        """For ``multiprocessing.connection.wait``: ready when there is something to poll."""
        return None if self._worker is None or self._waiting else self._worker.connection

    def start(self, task: Task, memory_gb: float | None = None) -> None:
        """Give the slot a task; ``memory_gb`` overrides the slot's own limit for this one."""
        limit = self._memory_gb if memory_gb is None else _checked_memory(memory_gb)
        with self._lock:
            if self._task is not None:
                raise RuntimeError(f"this slot is busy with task {self._task.key!r}")
            self._task, self._attempts = task, 0
            packed = pack_task(task)
            if not isinstance(packed, bytes):
                self._waiting.append(packed)
                return
            self._message = f"{limit or ''}\n".encode() + packed
            if self._worker is not None and self._idle_worker_died():
                self._discard()
            self._attempt()

    def poll(self) -> list[TaskEvent]:
        """What has happened since the last look; the last event of a task is its outcome."""
        with self._lock:
            if self._suspended:  # once more, for a worker that was not forked when it was asked for
                self._signal("SIGSTOP")
            events: list[TaskEvent] = []
            while self._task is not None and (event := self._next_event()) is not None:
                events.append(event)
                if not isinstance(event, TaskProgress):
                    self._task = None
                    self.resume()  # the worker, which was stopped after its last word
            return events

    def suspend(self) -> bool:
        """Stop the task where it is, memory and all; False if there is none or the system can't.

        A worker that is still starting is stopped by the ``poll`` that finds it started.
        """
        with self._lock:
            self._suspended = CAN_SUSPEND and self._task is not None
            return self._suspended and self._signal("SIGSTOP")

    def resume(self) -> bool:
        """Let a suspended task go on; False where none is suspended."""
        with self._lock:
            was, self._suspended = self._suspended, False
            return was and self._signal("SIGCONT")

    def _signal(self, name: str) -> bool:
        if self._worker is not None:
            self._worker.send_signal(getattr(signal, name))
        return True

    def kill(self, wait: bool = True) -> None:
        """End the task without an event; ``wait=False`` lets a later ``kill`` see it gone."""
        with self._lock:
            self._task = None
            self._suspended = False
            self._waiting.clear()
            if self._worker is not None:
                self._worker.kill()
                self._dying.append(self._worker)
                self._worker = None
            while wait and self._dying:
                worker = self._dying.pop()
                worker.wait(REAP_SECONDS)
                worker.release()

    close = kill

    def _next_event(self) -> TaskEvent | None:
        assert self._task is not None
        if self._waiting:
            return self._waiting.pop(0)
        try:
            if self._worker is None:
                raise EOFError
            if not self._worker.connection.poll():
                return None
            message = self._worker.connection.recv_bytes()
        except (EOFError, OSError):
            return self._after_death()
        return unpack_event(self._task.key, message, self._attempts)

    def _attempt(self) -> None:
        self._attempts += 1
        with suppress(OSError):  # no process to be had, or it died at once: poll will find out
            if self._worker is None:
                self._worker = launch(setup_of_driver(self._nice, self._modules), self._method)
            self._worker.connection.send_bytes(self._message)

    def _idle_worker_died(self) -> bool:
        assert self._worker is not None
        try:
            return self._worker.connection.poll()  # an idle worker has nothing to say but its end
        except OSError:
            return True

    def _after_death(self) -> TaskEvent | None:
        assert self._task is not None
        code = None
        if self._worker is not None:
            self._worker.kill()  # the pipe has ended; so must the process, in whatever state
            code = self._worker.wait(REAP_SECONDS)
            self._discard()
        if self._attempts < ATTEMPTS:
            self._attempt()
            return None
        reason = f"{cause_of_end(code)} It was tried {self._attempts} times and given up."
        return TaskFailed(self._task.key, reason, f"exit code {code}", self._attempts)

    def _discard(self) -> None:
        if self._worker is not None:
            self._worker.release()
            self._worker = None


def usual_nice() -> int:
    """Of workers: far enough back to leave the machine usable, unless RFM_NICE says otherwise."""
    given = os.environ.get("RFM_NICE", "10")
    return _checked_nice("RFM_NICE", int(given) if given.isdecimal() else given)


def _checked_nice(name: str, value: object) -> int:
    return whole(name, value, 0, 19, "10 leaves the machine usable, 0 is full priority.")


def _checked_memory(memory_gb: float | None) -> float | None:
    if memory_gb is None:
        return None
    return real("memory_gb", memory_gb, "Leave it None for no limit.", 0.01, 1e6)
