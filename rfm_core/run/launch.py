"""Starting workers: forked from a warm template on Linux, fresh interpreters elsewhere.

The template is a process of ours that has torch and the engine loaded and only waits for requests
to fork. The standard library's forkserver would do the same, but it belongs to the whole process
(its list of preloaded modules is global), it imports the user's main module, and starting a worker
blocks until everything is loaded. Forking the driver itself is out: it has threads.
"""

from __future__ import annotations

import array
import atexit
import json
import multiprocessing
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Protocol

from .hidden_main import hidden_main
from .worker import Setup, serve, setup_of_driver

CODE = struct.Struct("q")  # a process id or an exit code on a status pipe
REQUEST_BYTES = 1 << 17
# the best first; not elsewhere, since frameworks of macOS do not stand a fork
METHODS = ("template", "spawn") if sys.platform == "linux" else ("spawn",)
METHOD = METHODS[0]
CAN_SUSPEND = hasattr(signal, "SIGSTOP")  # not on Windows


class Worker(Protocol):
    """The driver's side of a worker process."""

    connection: Connection

    def send_signal(self, number: int) -> None:
        """To the process if it is there: it may not be forked yet, or have ended."""

    def kill(self) -> None:
        """At once, whatever it does; does not wait."""

    def wait(self, seconds: float) -> int | None:
        """The exit code, negative for a signal; None if it is not known by then."""

    def release(self) -> None:
        """Close the driver's ends; the worker ends if it still runs."""


def launch(setup: Setup, method: str = METHOD) -> Worker:
    """A new worker; it may still be starting when this returns."""
    worker = SpawnedWorker(setup) if method == "spawn" else ForkedWorker(setup)
    _workers.add(worker)
    return worker


def cause_of_end(code: int | None) -> str:
    """A sentence on why a worker with this exit code is gone."""
    if code == -9:
        return "Its process was killed, perhaps because the machine ran out of memory."
    if code is not None and code < 0:
        return f"Its process crashed (signal {-code})."
    if code is None:
        return "Its process could not be started or was lost."
    return f"Its process ended by itself (exit code {code})."


class ForkedWorker:
    """Forked from the template."""

    def __init__(self, setup: Setup) -> None:
        self.connection, theirs = multiprocessing.Pipe()
        lifeline, self._lifeline = multiprocessing.Pipe(duplex=False)
        self._status, status = multiprocessing.Pipe(duplex=False)
        self._pid: int | None = None
        self._exit: int | None = None
        try:
            ends = [theirs.fileno(), lifeline.fileno(), status.fileno()]
            _template.fork(json.dumps(setup).encode(), ends)
        except BaseException:
            self.release()
            raise
        finally:  # or the end of the worker would not be the end of its pipes
            for end in (theirs, lifeline, status):
                end.close()

    def send_signal(self, number: int) -> None:
        while self._read_status(0):  # an exit code among it: the id may be another process's then
            pass
        if self._pid is not None and self._exit is None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)
        self._lifeline.close()  # enough by itself; also for a worker that is not forked yet

    def wait(self, seconds: float) -> int | None:
        if self._pid is None and not self._read_status(min(seconds, 0.1)):
            return None  # not forked yet: the closed lifeline will end it as it is born
        until = time.monotonic() + seconds
        while self._read_status(max(0.0, until - time.monotonic())):
            pass
        return self._exit

    def _read_status(self, seconds: float) -> bool:
        """Whether there was something to read; first comes the process id, then the exit code."""
        if self._exit is not None or self._status.closed or not wait([self._status], seconds):
            return False
        try:
            (number,) = CODE.unpack(os.read(self._status.fileno(), CODE.size))
        except (OSError, struct.error):  # the template is gone
            self._status.close()
            return False
        if self._pid is None:
            self._pid = number
        else:
            self._exit = number
        return True

    def release(self) -> None:
        for end in (self.connection, self._lifeline, self._status):
            end.close()


class SpawnedWorker:
    """A fresh interpreter: slow to start, but there on every platform."""

    def __init__(self, setup: Setup) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        lifeline, self._lifeline = context.Pipe(duplex=False)
        arguments = (theirs, lifeline, setup)
        self._process = context.Process(target=serve, args=arguments, daemon=True)
        try:
            with hidden_main():
                self._process.start()
        except BaseException:
            self.release()
            raise
        finally:
            theirs.close()
            lifeline.close()

    def send_signal(self, number: int) -> None:
        if self._process.is_alive() and self._process.pid is not None:
            os.kill(self._process.pid, number)

    def kill(self) -> None:
        self._process.kill()
        self._lifeline.close()

    def wait(self, seconds: float) -> int | None:
        self._process.join(seconds)
        return self._process.exitcode

    def release(self) -> None:
        self.connection.close()
        self._lifeline.close()


class _Template:
    """The driver's side of the template; one for all executors, started when it is needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def fork(self, request: bytes, ends: list[int]) -> None:
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            try:
                self._send(request, ends)
            except (BrokenPipeError, ConnectionError):  # it was killed
                self._start()
                self._send(request, ends)

    def _send(self, request: bytes, ends: list[int]) -> None:
        assert self._control is not None
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", ends))]
        self._control.sendmsg([request], rights)

    def _start(self) -> None:
        self._stop()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code = (
            "import json, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
            "sys.path[:] = json.loads(sys.argv[2]); "
            "from rfm_core.run.template import main; main(int(sys.argv[1]))"
        )
        path = json.dumps(setup_of_driver(0, ())["path"])
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code, str(theirs.fileno()), path],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()  # the template ends when its driver's end is closed
        if self._process is not None:
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = self._control = None

    def stop(self) -> None:
        with self._lock:
            self._stop()

    def forget(self) -> None:
        """In a fork of the driver, where this is somebody else's."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.returncode = 0  # not our child, so nothing to complain about
        self.__init__()  # type: ignore[misc]  # the lock as well: a lost thread may hold it


_template = _Template()
_workers: weakref.WeakSet[ForkedWorker | SpawnedWorker] = weakref.WeakSet()


def _after_fork() -> None:
    """A fork of the driver that kept their lifelines would keep workers alive without it."""
    _template.forget()
    for worker in list(_workers):
        worker.release()


def stop_template() -> None:
    """It starts again when it is needed; workers that run live on."""
    _template.stop()


atexit.register(stop_template)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
