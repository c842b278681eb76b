"""What all sessions of one server share: the scheduler of processes and the cache of runs."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from rfm_core import InvalidInput
from rfm_core.checks import refuse
from rfm_core.run import Scheduler, Slot, cores

from .run_cache import RunCache

VARIABLES = {"RFM_JOBS": "running", "RFM_MEMORY_GB": "memory_gb", "RFM_JOB_MINUTES": "job_minutes"}
JOBS = ("rfm_explorer.compute.jobs",)
_lock = threading.RLock()
_scheduler: Scheduler | None = None
_runs: RunCache | None = None


def make_scheduler(
    running: int | None = None,
    started: int | None = None,
    memory_gb: float | None = None,
    job_minutes: float | None = 60,
    quantum: float = 10.0,
    nice: int | None = None,
    modules: Sequence[str] = JOBS,
    **more: Any,
) -> Scheduler:
    """As suits a server: a job for each core, four times as many started, 60 % of the memory."""
    number = cores() if running is None else running
    return Scheduler(
        partial(Slot, nice=nice, modules=modules),
        running=running,
        started=4 * number if started is None else started,
        memory_gb=0.6 * machine_memory_gb() if memory_gb is None else memory_gb,
        job_minutes=job_minutes,
        quantum=quantum,
        **more,
    )


def get_scheduler() -> Scheduler:
    """The one of this process; unless configured before, as the environment variables say."""
    with _lock:
        return _scheduler or _make({})


def get_run_cache() -> RunCache:
    """The one of this process, made when it is first needed."""
    global _runs
    with _lock:
        if _runs is None:
            _runs = RunCache(get_scheduler())
        return _runs


def configure(**options: Any) -> Scheduler:
    """Make the process-wide scheduler with options of ``make_scheduler``, before its first use."""
    with _lock:
        if _scheduler is not None:
            raise InvalidInput(
                "The scheduler is at work already. Configure it before its first use."
            )
        return _make(options)


def _make(options: dict[str, Any]) -> Scheduler:
    global _scheduler
    from_environment = {
        option: _number(name) for name, option in VARIABLES.items() if os.environ.get(name)
    }
    _scheduler = make_scheduler(**{**from_environment, **options})
    atexit.register(_scheduler.close)
    return _scheduler


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
