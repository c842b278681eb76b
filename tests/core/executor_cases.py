"""What the tests of all executors share: real tasks, their rows, and looks at processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import rfm_core as rfm
from rfm_core.run.tasks import Task, TaskDone, TaskEvent, TaskFailed, TaskProgress

TIMINGS = ("data_seconds", "fit_seconds", "forecast_seconds", "peak_mb")


def realizations(count: int) -> list[Task]:
    """Small ones: Lorenz-63 with a global model, Lorenz-96 with a local one."""
    lorenz63 = rfm.DataSpec("L63", n_train=3000, n_test=2)
    lorenz96 = rfm.DataSpec("L96", n_train=3000, n_test=2, parameters={"D": 12}, lyapunov=2.2)
    cases = {
        "L63": (lorenz63, rfm.ModelSpec("SkipRFM", width=60, beta=1e-12)),
        "L96": (lorenz96, rfm.ModelSpec("LocalDeepSkip", width=60, depth=2, G=2, I=2, beta=1e-12)),
    }
    return [
        Task(
            f"{name}/{number}",
            "realization",
            {"data": data.to_dict(), "model": model.to_dict(), "realization": number, "seed": 7},
        )
        for number in range(count)
        for name, (data, model) in cases.items()
    ]


def rows(events: Iterable[TaskEvent]) -> dict[str, Any]:
    """Results without what a clock or a meter measured; every task must be done, and once."""
    found: dict[str, Any] = {}
    for event in events:
        if isinstance(event, TaskProgress):
            continue
        assert isinstance(event, TaskDone), event
        assert event.key not in found
        found[event.key] = {k: v for k, v in event.result.items() if k not in TIMINGS}
        assert set(TIMINGS) <= set(event.result)
    return found


def outcomes(events: Iterable[TaskEvent]) -> dict[str, TaskDone | TaskFailed]:
    """One for each task."""
    found: dict[str, TaskDone | TaskFailed] = {}
    for event in events:
        if not isinstance(event, TaskProgress):
            assert event.key not in found
            found[event.key] = event
    return found


BAD = [
    Task("not a job", "no such job"),
    Task("nan out", "nan"),
    Task("mistake", "raise"),
    Task("nan in", "echo", {"value": float("nan")}),
    Task("no plain value", "echo", {"value": object()}),
    Task("no dataset", "realization", {"realization": 0, "seed": 0, "data": {"system": "L64"}}),
]
GOOD = Task("good", "echo", {"pair": (1, 2.5), 3: "three"})
SAME_ARGUMENTS = {"pair": [1, 2.5], "3": "three"}


def check_outcomes(found: dict[str, TaskDone | TaskFailed]) -> None:
    """Of ``BAD`` and ``GOOD``, which must come out the same wherever they run."""
    assert set(found) == {task.key for task in [*BAD, GOOD]}
    good = found.pop("good")
    assert isinstance(good, TaskDone)
    assert good.result["arguments"] == SAME_ARGUMENTS
    for event in found.values():
        assert isinstance(event, TaskFailed)
        assert event.attempts == 1
    reasons = {key: event.reason for key, event in found.items() if isinstance(event, TaskFailed)}
    assert "no such job" in reasons["not a job"]
    assert "ValueError" in reasons["nan out"]
    assert "KeyError" in reasons["mistake"]
    assert "plain values" in reasons["nan in"]
    assert "plain values" in reasons["no plain value"]
    assert "L64" in reasons["no dataset"]


def children(parent: int) -> set[int]:
    """Living child processes, as /proc tells."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[1]) == parent and fields[0] not in "ZX":
            found.add(int(folder.name))
    return found


def descendants(parent: int) -> set[int]:
    below = children(parent)
    return below.union(*(descendants(child) for child in below))


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def until(true: Callable[[], Any]) -> None:
    """Wait for it, with more patience than any load can use up."""
    give_up = time.monotonic() + 200
    while not true():
        assert time.monotonic() < give_up, "it did not come true"
        time.sleep(0.005)


def begun(path: Path) -> int:
    """The process id that a job has left in a file as it began."""
    until(lambda: path.exists() and path.read_text())
    return int(path.read_text())


def kill_all(processes: Iterable[int]) -> None:
    for process in processes:
        os.kill(process, 9)
