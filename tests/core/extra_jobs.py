"""Jobs that behave badly, for the tests of executors; workers import this module by its name."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rfm_core.events import Reporter
from rfm_core.run.tasks import job

Arguments = dict[str, Any]


@job("echo")
def echo(arguments: Arguments, report: Reporter) -> Arguments:
    return {"arguments": arguments, "pid": os.getpid(), "threads": torch.get_num_threads()}


@job("surroundings")
def surroundings(arguments: Arguments, report: Reporter) -> Arguments:
    return {
        "nice": os.nice(0),
        "folder": os.getcwd(),
        "cache": os.environ.get("RFM_CACHE"),
        "pipes": sorted(
            os.readlink(f"/proc/self/fd/{end}")
            for end in os.listdir("/proc/self/fd")
            if os.path.exists(f"/proc/self/fd/{end}") and int(end) > 2
        ),
    }


@job("tick")
def tick(arguments: Arguments, report: Reporter) -> Arguments:
    """Reports every millisecond."""
    end = time.monotonic() + arguments["seconds"]
    count = 0
    while time.monotonic() < end:
        time.sleep(0.001)
        count += 1
        report("ticking", count, arguments["seconds"] * 1000)
    return {"count": count, "pid": os.getpid()}


@job("svd")
def svd(arguments: Arguments, report: Reporter) -> Arguments:
    """Minutes inside one call of LAPACK; the file tells that it has begun."""
    matrix = torch.rand(arguments["size"], arguments["size"], dtype=torch.float64)
    Path(arguments["begun"]).write_text(str(os.getpid()))
    return {"largest": float(torch.linalg.svdvals(matrix)[0])}


@job("hold the lock")
def hold_the_lock(arguments: Arguments, report: Reporter) -> Arguments:
    """Seconds in a foreign call that does not release the interpreter's lock."""
    Path(arguments["begun"]).write_text(str(os.getpid()))
    ctypes.PyDLL(None).sleep(arguments["seconds"])
    return {}


@job("allocate")
def allocate(arguments: Arguments, report: Reporter) -> Arguments:
    count = int(arguments["gigabytes"] * 1e9) // 8
    if arguments["by"] == "torch":
        return {"sum": float(torch.ones(count, dtype=torch.float64).sum()), "pid": os.getpid()}
    return {"sum": float(np.ones(count).sum()), "pid": os.getpid()}


@job("die")
def die(arguments: Arguments, report: Reporter) -> Arguments:
    """By a signal; with a marker file only the first time."""
    marker = arguments.get("marker")
    if marker is None or not Path(marker).exists():
        if marker is not None:
            Path(marker).write_text("been here")
        os.kill(os.getpid(), getattr(signal, arguments.get("signal", "SIGKILL")))
        time.sleep(60)
    return {"survived": True}


@job("segfault")
def segfault(arguments: Arguments, report: Reporter) -> Arguments:
    ctypes.string_at(0)
    return {}


@job("exit")
def leave(arguments: Arguments, report: Reporter) -> Arguments:
    os._exit(3)


@job("raise")
def fail(arguments: Arguments, report: Reporter) -> Arguments:
    raise KeyError("a mistake in a job")


@job("nan")
def nan(arguments: Arguments, report: Reporter) -> Arguments:
    return {"value": float("nan")}


@job("count")
def count(arguments: Arguments, report: Reporter) -> Arguments:
    """So many naps of a hundredth of a second; tells its process id at the first."""
    for number in range(arguments["naps"]):
        report(f"process {os.getpid()}", number, arguments["naps"])
        time.sleep(0.01)
    return {"pid": os.getpid()}
