"""The warm process from which workers are forked: everything loaded, nothing running."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection

import scipy.fft  # noqa: F401 - this and more is what is warm

from ..study import jobs  # noqa: F401
from ..systems import kernel  # noqa: F401
from .launch import CODE, REQUEST_BYTES
from .worker import serve


def main(control_end: int) -> None:
    """Fork on request until the driver's end of the control socket is closed."""
    control = socket.socket(fileno=control_end)
    control.set_inheritable(False)
    awake, alarm = os.pipe()
    os.set_blocking(awake, False)
    os.set_blocking(alarm, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler, so that the wake-up comes
    signal.set_wakeup_fd(alarm)
    gc.freeze()  # collections in the workers shall not copy what all of them share
    workers: dict[int, int] = {}  # process id: where to tell its exit code
    watched = select.poll()
    watched.register(control, select.POLLIN)
    watched.register(awake, select.POLLIN)
    while True:
        ready = {end for end, _ in watched.poll()}
        if awake in ready:
            with suppress(BlockingIOError):
                os.read(awake, 4096)
            _reap(workers)
        if control.fileno() in ready:
            try:
                request, ends, _, _ = socket.recv_fds(control, REQUEST_BYTES, 3)
            except ConnectionError:
                request = b""
            if not request:
                break
            own = [control.fileno(), awake, alarm, *workers.values()]
            _fork(request, ends, own, workers)
    for worker in workers:  # they die with the driver by themselves; this is sooner
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    os._exit(0)


def _fork(request: bytes, ends: list[int], own: list[int], workers: dict[int, int]) -> None:
    connection, lifeline, status = ends
    worker = os.fork()
    if worker:
        os.close(connection)
        os.close(lifeline)
        workers[worker] = status
        _tell(status, worker)
        return
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for end in [*own, status]:  # other workers' pipes among them: kept, they would hide an end
            os.close(end)
        for end in (connection, lifeline):
            os.set_inheritable(end, False)
        serve(Connection(connection), Connection(lifeline), json.loads(request))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _reap(workers: dict[int, int]) -> None:
    while True:
        try:
            worker, outcome = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not worker:
            return
        status = workers.pop(worker)
        _tell(status, os.waitstatus_to_exitcode(outcome))
        os.close(status)


def _tell(status: int, number: int) -> None:
    with suppress(OSError):  # the driver may not listen any more
        os.write(status, CODE.pack(number))
