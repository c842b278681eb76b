"""Pieces of work that can run anywhere: here, in another process, on another machine.

A task names a job and gives it plain arguments; its outcome is plain again. Nothing is pickled, so
every executor moves the same JSON and must end with the same numbers.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..checks import Cancelled, InvalidInput
from ..events import CancelToken, Progress, Reporter
from ..parallel import threads


@dataclass(frozen=True)
class Task:
    """``job`` is a name in ``JOBS``; ``arguments`` are plain values; ``threads`` is how many."""

    key: str
    job: str
    arguments: dict[str, Any] = field(default_factory=dict)
    threads: int = 1


@dataclass(frozen=True)
class TaskProgress:
    key: str
    progress: Progress


@dataclass(frozen=True)
class TaskDone:
    key: str
    result: dict[str, Any]


@dataclass(frozen=True)
class TaskFailed:
    """``reason`` is a sentence for a user; ``details`` is for the log."""

    key: str
    reason: str
    details: str = ""
    attempts: int = 1


TaskEvent = TaskProgress | TaskDone | TaskFailed
Arguments = dict[str, Any]  # plain values, as they go from process to process
Answer = dict[str, Any]
Job = Callable[[Arguments, Reporter], Answer]
JOBS: dict[str, Job] = {}


def job(name: str) -> Callable[[Job], Job]:
    """Register a function as a job: ``function(arguments, report) -> plain result``."""

    def register(function: Job) -> Job:
        JOBS[name] = function
        return function

    return register


def perform(
    task: Task,
    listener: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
) -> TaskDone | TaskFailed:
    """Do the task here. Bad input and lack of memory are outcomes; ``Cancelled`` is raised."""
    from ..study import jobs  # noqa: F401 - registers them; not at the top, since they import this module

    try:
        if task.job not in JOBS:
            raise InvalidInput(f"There is no job {task.job!r}. Known are: {', '.join(JOBS)}.")
        with threads(task.threads):
            result = JOBS[task.job](task.arguments, Reporter(listener, cancel))
        # what cannot be written as JSON must fail in every executor, not only in some
        return TaskDone(task.key, json.loads(json.dumps(result, allow_nan=False)))
    except Cancelled:
        raise
    except InvalidInput as error:
        return TaskFailed(task.key, str(error))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate memory" not in str(error):
            return _unexpected(task, error)
        return TaskFailed(
            task.key,
            "There was not enough memory. Use a smaller width, fewer rows, or a larger limit.",
            str(error),
        )
    except Exception as error:
        return _unexpected(task, error)


def _unexpected(task: Task, error: Exception) -> TaskFailed:
    import traceback

    kind = type(error).__name__
    return TaskFailed(task.key, f"Something went wrong ({kind}).", traceback.format_exc())


class PeakMemory:
    """Largest resident memory of this process since this object was made, in megabytes.

    Linux can reset its high-water mark; elsewhere it is that of the process's whole life.
    """

    def __init__(self) -> None:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")

    @property
    def megabytes(self) -> float:
        with suppress(OSError):
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
        try:
            import resource
        except ImportError:  # Windows
            return 0.0
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (2**20 if sys.platform == "darwin" else 1024)


class Stopwatch:
    """Seconds since the last look."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return seconds


def plain(number: float) -> float | None:
    """A float for JSON, which has no NaN."""
    return float(number) if math.isfinite(number) else None


@job("ping")
def ping(arguments: Arguments, report: Reporter) -> Answer:
    """Nothing: a worker that has done it has loaded everything."""
    return {}
