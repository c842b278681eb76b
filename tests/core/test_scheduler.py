"""The scheduler: turns, places, memory, limits, and processes that are gone when they should be."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from executor_cases import alive, begun

from rfm_core import InvalidInput
from rfm_core.run import ProcessSlots, ScheduledTask, Scheduler, Slot, cores
from rfm_core.run.tasks import Task, TaskDone, TaskFailed, TaskProgress

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
LONG = Task("long", "count", {"naps": 100_000})
SHORT = Task("short", "count", {"naps": 5})
WHO = Task("who", "echo")
MODULES = ("extra_jobs",)


class Clock:
    """Stands still until somebody moves it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def make() -> Iterator[Callable[..., Scheduler]]:
    made = []

    def make(nice: int = 0, **options: Any) -> Scheduler:
        slot = partial(Slot, nice=nice, modules=MODULES)
        options = {"running": 1, "started": 8, "memory_gb": 8, **options}
        made.append(Scheduler(slot, **options))
        return made[-1]

    yield make
    for scheduler in made:
        scheduler.close()


def until(true: Callable[[], Any]) -> None:
    """Wait for it; pytest ends what never comes true."""
    while not true():
        time.sleep(0.005)


def submit(scheduler: Scheduler, task: Task = LONG, gb: float = 0.1) -> ScheduledTask:
    return scheduler.submit(task, gb, 1.0)


def process_of(task: ScheduledTask) -> int:
    """From what it says in its reports."""
    seen: list[str] = []

    def heard() -> bool:
        seen.extend(e.progress.stage for e in task.take() if isinstance(e, TaskProgress))
        return bool(seen)

    until(heard)
    return int(seen[0].split()[1])


def status(process: int) -> str:
    """The letter in /proc; empty when it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def ended(task: ScheduledTask) -> bool:
    return task.state in ("done", "failed", "cancelled")


# --- one task ---


def test_a_task_from_start_to_end(make: Callable[..., Scheduler]) -> None:
    scheduler = make(nice=12)
    first = submit(scheduler, Task("s", "surroundings"))
    assert first.state == "running"  # at once, since nobody waits
    assert first.place is None
    assert first.wait_estimate is None
    until(lambda: ended(first))
    assert first.state == "done"
    assert first.result is not None
    assert first.result["nice"] == min(19, os.nice(0) + 12)
    assert first.take() == [TaskDone("s", first.result)]
    assert first.take() == []
    assert not first.pause()
    assert not first.resume()
    first.cancel()
    assert first.state == "done"
    again = [submit(scheduler, WHO)]
    until(lambda: ended(again[-1]))
    again.append(submit(scheduler, WHO))
    until(lambda: ended(again[-1]))
    assert again[0].result == again[1].result  # in the same process, which was kept warm
    now = scheduler.snapshot()
    assert (now.running, now.waiting, now.paused, now.reserved_gb) == (0, 0, 0, 0)


def test_of_one_stage_only_the_last_report_is_kept(make: Callable[..., Scheduler]) -> None:
    task = submit(make(), Task("t", "count", {"naps": 60}))
    until(lambda: ended(task))
    progress, done = task.take()
    assert isinstance(progress, TaskProgress)
    assert progress.progress.done > 10
    assert isinstance(done, TaskDone)


def test_a_limit_of_memory_is_a_worded_failure(make: Callable[..., Scheduler]) -> None:
    scheduler = make()
    outcomes = []
    for gigabytes in (1.0, 0.3):
        allocate = Task("t", "allocate", {"gigabytes": gigabytes, "by": "numpy"})
        task = scheduler.submit(allocate, 0.1, 1.0, limit_gb=0.6)
        until(lambda task=task: ended(task))
        outcomes.append(task)
    assert [task.state for task in outcomes] == ["failed", "done"]
    (event,) = outcomes[0].take()
    assert isinstance(event, TaskFailed)
    assert "not enough memory" in event.reason


def test_refusals_at_once(make: Callable[..., Scheduler]) -> None:
    scheduler = make(memory_gb=2, job_minutes=3)
    with pytest.raises(InvalidInput, match=r"about 2.5 GB .* have 2 GB. Use a smaller width"):
        scheduler.submit(WHO, 2.5, 1)
    with pytest.raises(InvalidInput, match=r"about 3.5 minutes.* take 3\. Use a smaller width"):
        scheduler.submit(WHO, 1, 210)
    with pytest.raises(InvalidInput, match="seconds=nan"):
        scheduler.submit(WHO, 1, float("nan"))
    task = submit(scheduler)
    scheduler.close()
    assert task.state == "cancelled"
    with pytest.raises(InvalidInput, match=r"closing\. Try again"):
        submit(scheduler)


@linux
def test_cancel_inside_an_svd(make: Callable[..., Scheduler], tmp_path: Path) -> None:
    scheduler = make()
    file = tmp_path / "begun"
    task = submit(scheduler, Task("svd", "svd", {"size": 5000, "begun": str(file)}), gb=2)
    process = begun(file)
    scheduler.cancel([task], patiently=True)
    assert task.state == "cancelled"
    assert not alive(process)
    until(lambda: scheduler.snapshot().reserved_gb == 0)
    assert task.take() == []


@linux
def test_close_leaves_no_process(make: Callable[..., Scheduler]) -> None:
    scheduler = make(running=2)
    tasks = [submit(scheduler) for _ in range(3)]
    processes = [process_of(task) for task in tasks[:2]]
    scheduler.close()
    assert [task.state for task in tasks] == ["cancelled"] * 3
    assert {status(process) for process in processes} <= {"", "Z"}
    scheduler.close()


def test_a_task_may_not_run_for_ever(make: Callable[..., Scheduler]) -> None:
    clock = Clock()
    task = submit(make(job_minutes=2, clock=clock))
    process_of(task)
    clock.now += 119
    assert task.ran_seconds == 119
    clock.now += 2
    until(lambda: ended(task))
    assert task.state == "failed"
    outcome = task.take()[-1]
    assert isinstance(outcome, TaskFailed)
    assert "for 2 minutes" in outcome.reason
    assert "smaller width" in outcome.reason


@linux
def test_nothing_is_left_of_a_scheduler_that_was_forgotten() -> None:
    """A script need not close its executor: its thread and processes end with it."""
    executor = ProcessSlots(1, modules=MODULES)
    (event,) = executor.run([WHO])
    assert isinstance(event, TaskDone)
    until(lambda: not [t for t in threading.enumerate() if t.name == "scheduler"])
    left = weakref.ref(executor)
    del executor
    gc.collect()
    assert left() is None
    until(lambda: not alive(event.result["pid"]))


# --- turns ---


def test_first_come_first_served(make: Callable[..., Scheduler]) -> None:
    clock = Clock()
    scheduler = make(clock=clock)
    first = scheduler.submit(LONG, 0.1, 100)
    clock.now += 10
    second = scheduler.submit(SHORT, 0.1, 20)
    third = scheduler.submit(SHORT, 0.1, 20)
    assert [task.state for task in (first, second, third)] == ["running", "queued", "queued"]
    assert [task.place for task in (first, second, third)] == [None, 1, 2]
    assert second.wait_estimate == 90
    assert third.wait_estimate == 110
    now = scheduler.snapshot()
    assert (now.running, now.waiting) == (1, 2)
    first.cancel()
    until(lambda: ended(third))
    assert second.state == third.state == "done"


def test_turns_are_fair(make: Callable[..., Scheduler]) -> None:
    clock = Clock()
    scheduler = make(quantum=5, clock=clock)
    tasks = [submit(scheduler) for _ in range(3)]

    def states() -> str:
        return " ".join(task.state for task in tasks)

    assert states() == "running queued queued"
    clock.now += 4.9
    scheduler.collect()
    assert states() == "running queued queued"
    wanted = ["suspended running queued", "suspended suspended running"]
    for expected in [*wanted, "running suspended suspended", "suspended running suspended"]:
        clock.now += 5
        until(lambda expected=expected: states() == expected)
    assert [round(task.ran_seconds) for task in tasks] == [15, 5, 5]


def test_of_several_owners_the_one_with_the_fewest_running_comes_first(
    make: Callable[..., Scheduler],
) -> None:
    scheduler = make(running=2)
    many = [scheduler.submit(LONG, owner="many") for _ in range(4)]
    few = [scheduler.submit(LONG, owner="few") for _ in range(2)]
    assert [task.place for task in (*many, *few)] == [None, None, 3, 4, 1, 2]
    many[0].cancel()
    assert few[0].state == "running"
    assert [task.place for task in (many[2], many[3], few[1])] == [1, 2, 3]


@linux
def test_a_suspended_process_stands_still(make: Callable[..., Scheduler]) -> None:
    clock = Clock()
    scheduler = make(quantum=5, clock=clock)
    first, second = submit(scheduler), submit(scheduler)
    process = process_of(first)
    clock.now += 5
    until(lambda: second.state == "running")
    assert first.state == "suspended"
    until(lambda: status(process) == "T")
    second.cancel()
    assert first.state == "running"
    until(lambda: status(process) != "T")
    assert scheduler.snapshot().waiting == 0


def test_alone_a_task_keeps_its_turn(make: Callable[..., Scheduler]) -> None:
    clock = Clock()
    scheduler = make(quantum=5, started=1, clock=clock)
    task = submit(scheduler, Task("t", "count", {"naps": 60}))
    waiting = submit(scheduler, WHO)  # cannot start: there may be one process
    seen = set()
    until(lambda: seen.add(task.state) or setattr(clock, "now", clock.now + 5) or ended(task))
    assert seen <= {"running", "done"}
    until(lambda: ended(waiting))
    assert (task.state, waiting.state) == ("done", "done")


@linux
def test_pause_and_resume(make: Callable[..., Scheduler]) -> None:
    scheduler = make()
    task = submit(scheduler, Task("t", "count", {"naps": 60}))
    process = process_of(task)
    assert task.pause()
    assert not task.pause()
    assert task.state == "paused"
    until(lambda: status(process) == "T")
    ran = task.ran_seconds
    other = submit(scheduler)  # has the turn now
    assert other.state == "running"
    assert scheduler.snapshot().paused == 1
    assert scheduler.snapshot().reserved_gb == pytest.approx(0.2)
    assert task.resume()
    assert (task.state, task.place) == ("suspended", 1)
    assert task.ran_seconds == ran
    other.cancel()
    until(lambda: ended(task))
    assert task.state == "done"
    assert task.result == {"pid": process}


def test_pause_in_the_queue(make: Callable[..., Scheduler]) -> None:
    scheduler = make()
    first, second = submit(scheduler), submit(scheduler, WHO)
    assert second.pause()
    assert second.place is None
    first.cancel()
    third = submit(scheduler, WHO)
    until(lambda: ended(third))
    assert second.state == "paused"
    until(lambda: scheduler.snapshot().reserved_gb == 0)  # nothing runs, and the thread may end
    second.resume()
    until(lambda: ended(second))
    assert second.state == "done"


# --- room ---


def test_memory_is_reserved_and_nobody_passes(make: Callable[..., Scheduler]) -> None:
    clock = Clock()
    scheduler = make(running=3, memory_gb=1, clock=clock)
    first = submit(scheduler, gb=0.7)
    large = submit(scheduler, gb=0.6)
    small = submit(scheduler, gb=0.2)  # would fit, but then the large one might wait for ever
    assert [task.state for task in (first, large, small)] == ["running", "queued", "queued"]
    assert scheduler.snapshot().reserved_gb == pytest.approx(0.7)
    assert large.wait_estimate == 0
    first.cancel()
    until(lambda: large.state == small.state == "running")
    assert scheduler.snapshot().reserved_gb == pytest.approx(0.8)


def test_paused_tasks_do_not_hold_up_others(make: Callable[..., Scheduler]) -> None:
    clock = Clock()
    scheduler = make(running=3, memory_gb=1, pause_minutes=2, clock=clock)
    first = submit(scheduler, gb=0.7)
    first.pause()
    large = submit(scheduler, gb=0.6)
    small = submit(scheduler, gb=0.2)
    clock.now += 119
    assert [task.state for task in (first, large, small)] == ["paused", "queued", "running"]
    clock.now += 2
    until(lambda: ended(first))
    outcome = first.take()[-1]
    assert isinstance(outcome, TaskFailed)
    assert "2 minutes" in outcome.reason
    until(lambda: large.state == "running")


def test_a_pause_that_keeps_nobody_waiting_is_kept(make: Callable[..., Scheduler]) -> None:
    clock = Clock()
    scheduler = make(memory_gb=1, pause_minutes=0, clock=clock)
    task = submit(scheduler, gb=0.5)
    task.pause()
    other = submit(scheduler, WHO, gb=0.5)
    clock.now += 1
    until(lambda: ended(other))
    assert task.state == "paused"


def test_a_task_that_nobody_watches_gives_way(make: Callable[..., Scheduler]) -> None:
    clock = Clock()
    scheduler = make(started=2, clock=clock)
    away = submit(scheduler)
    away.pause(yields=True)
    alone = submit(scheduler)
    clock.now += 30
    assert (away.state, alone.state) == ("paused", "running")  # there is room for both
    third = submit(scheduler, WHO)
    assert away.state == "failed"
    [*_, outcome] = away.take()
    assert isinstance(outcome, TaskFailed)
    assert "for 30 seconds while others waited for its place (2 may be started" in outcome.reason
    assert "Train again" in outcome.reason
    alone.cancel()
    until(lambda: third.state == "done")


# --- making it ---


def test_warm(make: Callable[..., Scheduler]) -> None:
    scheduler = make()
    scheduler.warm()
    until(lambda: scheduler._pool.idle)
    [slot] = scheduler._pool.idle
    scheduler.warm()
    assert not scheduler._pool.warming  # one is enough
    until(lambda: scheduler._thread is None)  # and costs nothing
    task = submit(scheduler, WHO)
    assert task.slot is slot
    until(lambda: ended(task))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"running": 0}, "running=0"),
        ({"running": 4, "started": 3}, "started=3"),
        ({"memory_gb": 0}, "memory_gb=0"),
        ({"job_minutes": 0}, "job_minutes=0"),
        ({"quantum": 0}, "quantum=0"),
        ({"pause_minutes": -1}, "pause_minutes=-1"),
    ],
)
def test_bad_settings(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Scheduler(Slot, **options)
    with pytest.raises(InvalidInput, match="nice=30"):
        Scheduler(partial(Slot, nice=30))


def test_without_settings_there_is_no_limit_but_the_cores() -> None:
    scheduler = Scheduler(Slot)
    assert (scheduler.running, scheduler.started) == (cores(), cores())
    assert scheduler.memory_gb == scheduler.job_seconds == scheduler.quantum == float("inf")
