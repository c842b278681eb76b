"""What runs in a worker process: tasks in, progress and outcomes out, until the pipe ends."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypedDict

from ..events import Progress
from .tasks import TaskProgress
from .wire import Seldom, pack_event, perform_packed


class Setup(TypedDict):
    """What a worker needs to know of its driver; plain values."""

    nice: int
    modules: list[str]
    path: list[str]
    folder: str
    environment: dict[str, str]


def setup_of_driver(nice: int, modules: tuple[str, ...]) -> Setup:
    """As it is now: a warm process was started earlier, perhaps with another folder or cache."""
    folder = os.getcwd()
    return {
        "nice": nice,
        "modules": list(modules),
        "path": [entry or folder for entry in sys.path if isinstance(entry, str)],
        "folder": folder,
        "environment": {k: v for k, v in os.environ.items() if k.startswith("RFM_")},
    }


def serve(connection: Connection, lifeline: Connection, setup: Setup) -> None:
    """The life of a worker; it ends with its driver, whatever it is doing at that moment."""
    # an interrupt at the terminal reaches all processes, but it is the driver who decides
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(lifeline)
    sys.path[:] = setup["path"]
    os.environ.update(setup["environment"])
    with suppress(OSError):
        os.chdir(setup["folder"])
    if hasattr(os, "nice"):
        os.nice(setup["nice"])
    with suppress(OSError):  # should memory run out, Linux shall take workers and not the server
        Path("/proc/self/oom_score_adj").write_text("500")
    own_memory = _data_bytes()
    while True:
        try:
            message = connection.recv_bytes()
            head, _, task = message.partition(b"\n")
            limit_memory(own_memory, float(head) if head else None)
            report = Seldom(lambda progress: _report(connection, progress))
            outcome = perform_packed(task, setup["modules"], report)
            print(end="", flush=True)  # what a job printed; at the end there is no time for it
            connection.send_bytes(outcome)
        except (EOFError, OSError):  # the driver is gone or wants no more
            return


def _report(connection: Connection, progress: Progress) -> None:
    """Dropped where the driver does not read: a slow driver must not slow the work."""
    if hasattr(select, "poll"):
        room = select.poll()
        room.register(connection.fileno(), select.POLLOUT)
        if not room.poll(0):
            return
    connection.send_bytes(pack_event(TaskProgress("", progress)))


def die_with(lifeline: Connection) -> None:
    """End this process when the other end of ``lifeline`` closes, which only the driver holds.

    The kernel closes it even where the driver was killed. A thread notices; where Linux can, the
    kernel kills us by itself, because a thread that waits for the interpreter's lock notices late.
    """

    def watch() -> None:
        with suppress(EOFError, OSError):
            lifeline.recv_bytes()
        os._exit(0)

    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        end = lifeline.fileno()
        fcntl.fcntl(end, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(end, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC)
    threading.Thread(target=watch, name="lifeline", daemon=True).start()


def limit_memory(own: int, gigabytes: float | None) -> None:
    """What jobs may allocate beyond ``own``; more becomes an error that the worker survives."""
    with suppress(ImportError, OSError, ValueError):  # Windows, and limits that are not ours
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = hard if gigabytes is None else own + int(gigabytes * 1e9)
        if hard != resource.RLIM_INFINITY:
            wanted = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _data_bytes() -> int:
    """Private writable memory of this process: what RLIMIT_DATA counts."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0
