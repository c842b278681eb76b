"""The broker: turns, places, memory, limits, and processes that are gone when they should be."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app import broker as module
from app.broker import Broker, Job, configure, get_broker, machine_memory_gb
from rfm_core import InvalidInput
from rfm_core.execute import cores
from rfm_core.tasks import Task, TaskDone, TaskFailed, TaskProgress

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
LONG = Task("long", "count", {"naps": 100_000})
SHORT = Task("short", "count", {"naps": 5})
WHO = Task("who", "who")


@pytest.fixture
def make() -> Iterator[Callable[..., Broker]]:
    made = []

    def make(**options: Any) -> Broker:
        made.append(Broker(**{"running": 1, "modules": ("broker_jobs",), **options}))
        return made[-1]

    yield make
    for broker in made:
        broker.close()


def until(true: Callable[[], Any], seconds: float = 60) -> float:
    """Wait for it; the seconds that it took."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() < began + seconds, "it did not come true"
        time.sleep(0.005)
    return time.monotonic() - began


def submit(broker: Broker, session: str, task: Task = LONG, gb: float = 0.1) -> Job:
    return broker.submit(session, task, gb, 1.0)


def process_of(job: Job) -> int:
    """From what it says in its reports."""
    seen: list[str] = []

    def heard() -> bool:
        seen.extend(e.progress.stage for e in job.take() if isinstance(e, TaskProgress))
        return bool(seen)

    until(heard)
    return int(seen[0].split()[1])


def status(process: int) -> str:
    """The letter in /proc; empty when it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def death_takes() -> float:
    """Half a second; longer where others keep the machine busy, since a killed process has to be
    given a moment of processor time, at its low priority, to go."""
    return 0.5 * max(1.0, os.getloadavg()[0] / cores())


def ended(job: Job) -> bool:
    return job.state in ("done", "failed", "cancelled")


# --- one job ---


def test_a_job_from_start_to_end(make: Callable[..., Broker]) -> None:
    broker = make(nice=12)
    first = submit(broker, "a", WHO)
    assert first.state == "running"  # at once, since nobody waits
    assert first.place is None
    assert first.wait_estimate is None
    until(lambda: ended(first))
    assert first.state == "done"
    assert first.result is not None
    assert first.result["nice"] == min(19, os.nice(0) + 12)
    assert first.take() == [TaskDone("who", first.result)]
    assert first.take() == []
    assert not first.pause()
    assert not first.resume()
    first.cancel()
    assert first.state == "done"
    second = submit(broker, "a", WHO)
    until(lambda: ended(second))
    assert second.result == first.result  # in the same process, which was kept warm
    now = broker.snapshot()
    assert (now.running, now.waiting, now.paused, now.reserved_gb) == (0, 0, 0, 0)


def test_of_one_stage_only_the_last_report_is_kept(make: Callable[..., Broker]) -> None:
    job = submit(make(), "a", Task("t", "count", {"naps": 60}))
    until(lambda: ended(job))
    progress, done = job.take()
    assert isinstance(progress, TaskProgress)
    assert progress.progress.done > 10
    assert isinstance(done, TaskDone)


def test_failures_are_worded(make: Callable[..., Broker]) -> None:
    broker = make()
    greedy = submit(broker, "a", Task("t", "allocate", {"gigabytes": 1}), gb=0.1)
    until(lambda: ended(greedy))
    (event,) = greedy.take()
    assert greedy.state == "failed"
    assert isinstance(event, TaskFailed)
    assert "not enough memory" in event.reason
    modest = submit(broker, "a", Task("t", "allocate", {"gigabytes": 0.3}), gb=0.1)
    until(lambda: ended(modest))
    assert modest.state == "done"


def test_refusals_at_once(make: Callable[..., Broker]) -> None:
    broker = make(memory_gb=2, job_minutes=3)
    with pytest.raises(InvalidInput, match=r"about 2.5 GB .* have 2 GB. Use a smaller width"):
        broker.submit("a", WHO, 2.5, 1)
    with pytest.raises(InvalidInput, match=r"about 3.5 minutes.* take 3\. Use a smaller width"):
        broker.submit("a", WHO, 1, 210)
    with pytest.raises(InvalidInput, match="seconds=nan"):
        broker.submit("a", WHO, 1, float("nan"))
    job = submit(broker, "a")
    with pytest.raises(InvalidInput, match=r"already \(running\).* Cancel it"):
        submit(broker, "a")
    job.cancel()
    again = submit(broker, "a")
    broker.close()
    assert again.state == "cancelled"
    with pytest.raises(InvalidInput, match="closing"):
        submit(broker, "b")


@linux
def test_cancel_inside_an_svd(make: Callable[..., Broker], tmp_path: Path) -> None:
    broker = make()
    file = tmp_path / "begun"
    job = submit(broker, "a", Task("svd", "svd", {"begun": str(file)}), gb=2)
    until(lambda: file.exists() and file.read_text())
    process = int(file.read_text())
    began = time.monotonic()
    job.cancel()
    assert time.monotonic() - began < 0.1
    assert job.state == "cancelled"
    assert until(lambda: status(process) in ("", "Z")) < death_takes()
    until(lambda: broker.snapshot().reserved_gb == 0)
    assert job.take() == []


@linux
def test_close_leaves_no_process(make: Callable[..., Broker]) -> None:
    broker = make(running=2, quantum=0.05)
    jobs = [submit(broker, name) for name in "abc"]
    processes = [process_of(job) for job in jobs]
    broker.close()
    assert [job.state for job in jobs] == ["cancelled"] * 3
    assert {status(process) for process in processes} <= {"", "Z"}
    broker.close()


def test_a_job_may_not_run_for_ever(make: Callable[..., Broker]) -> None:
    job = make(job_minutes=0.01).submit("a", LONG, 0.1, 0.1)
    until(lambda: ended(job))
    assert job.state == "failed"
    outcome = job.take()[-1]
    assert isinstance(outcome, TaskFailed)
    assert "0.01 minutes" in outcome.reason
    assert "smaller width" in outcome.reason
    assert 0.6 < job.ran_seconds < 5


# --- turns ---


def test_first_come_first_served(make: Callable[..., Broker]) -> None:
    broker = make(quantum=1000)
    first = broker.submit("a", LONG, 0.1, 100)
    second = broker.submit("b", SHORT, 0.1, 20)
    third = broker.submit("c", SHORT, 0.1, 20)
    assert [job.state for job in (first, second, third)] == ["running", "queued", "queued"]
    assert [job.place for job in (first, second, third)] == [None, 1, 2]
    assert second.wait_estimate == pytest.approx(100, abs=10)
    assert third.wait_estimate == pytest.approx(120, abs=10)
    now = broker.snapshot()
    assert (now.running, now.waiting) == (1, 2)
    first.cancel()
    until(lambda: ended(third))
    assert second.state == third.state == "done"


@linux
def test_turns_are_fair(make: Callable[..., Broker]) -> None:
    broker = make(quantum=0.3)
    jobs = [submit(broker, name, Task(name, "count", {"naps": 60})) for name in "abc"]
    processes = [process_of(job) for job in jobs]  # of the last one while others are unfinished
    assert not any(map(ended, jobs))
    seen = set()
    while not all(map(ended, jobs)):
        states = tuple(job.state for job in jobs)
        assert states.count("running") <= 1
        seen.add(states)
        time.sleep(0.01)
    assert ("suspended", "suspended", "running") in seen
    assert ("running", "suspended", "suspended") in seen
    assert [job.state for job in jobs] == ["done"] * 3
    assert len(set(processes)) == 3
    assert all(job.ran_seconds < 3 for job in jobs)


@linux
def test_a_suspended_process_stands_still(make: Callable[..., Broker]) -> None:
    broker = make(quantum=0.2)
    first, second = submit(broker, "a"), submit(broker, "b")
    processes = [process_of(job) for job in (first, second)]
    until(lambda: sorted(job.state for job in (first, second)) == ["running", "suspended"])
    until(lambda: sorted(status(process) == "T" for process in processes) == [False, True])
    second.cancel()
    until(lambda: first.state == "running")
    assert broker.snapshot().waiting == 0


def test_alone_a_job_keeps_its_turn(make: Callable[..., Broker]) -> None:
    broker = make(quantum=0.1, started=1)
    job = submit(broker, "a", Task("t", "count", {"naps": 60}))
    waiting = submit(broker, "b", WHO)  # cannot start: there may be one process
    until(lambda: ended(job) or job.state == "suspended")
    assert job.state == "done"
    until(lambda: ended(waiting))


@linux
def test_pause_and_resume(make: Callable[..., Broker]) -> None:
    broker = make(quantum=1000)
    job = submit(broker, "a", Task("t", "count", {"naps": 60}))
    process = process_of(job)
    assert job.pause()
    assert not job.pause()
    assert job.state == "paused"
    until(lambda: status(process) == "T")
    ran = job.ran_seconds
    other = submit(broker, "b")  # has the turn now
    assert other.state == "running"
    assert broker.snapshot().paused == 1
    assert broker.snapshot().reserved_gb == pytest.approx(0.2)
    assert job.resume()
    assert (job.state, job.place) == ("suspended", 1)
    assert job.ran_seconds == ran
    other.cancel()
    until(lambda: ended(job))
    assert job.state == "done"
    assert job.result == {"pid": process}


def test_pause_in_the_queue(make: Callable[..., Broker]) -> None:
    broker = make(quantum=1000)
    first, second = submit(broker, "a"), submit(broker, "b", WHO)
    assert second.pause()
    assert second.place is None
    first.cancel()
    third = submit(broker, "c", WHO)
    until(lambda: ended(third))
    assert second.state == "paused"
    second.resume()
    until(lambda: ended(second))
    assert second.state == "done"


# --- room ---


def test_memory_is_reserved_and_nobody_passes(make: Callable[..., Broker]) -> None:
    broker = make(running=3, memory_gb=1)
    first = submit(broker, "a", gb=0.7)
    large = submit(broker, "b", gb=0.6)
    small = submit(broker, "c", gb=0.2)  # would fit, but then the large one might wait for ever
    assert [job.state for job in (first, large, small)] == ["running", "queued", "queued"]
    assert broker.snapshot().reserved_gb == pytest.approx(0.7)
    assert large.wait_estimate == pytest.approx(0, abs=1)
    first.cancel()
    until(lambda: large.state == small.state == "running")
    assert broker.snapshot().reserved_gb == pytest.approx(0.8)


def test_paused_jobs_do_not_hold_up_others(make: Callable[..., Broker]) -> None:
    broker = make(running=3, memory_gb=1, pause_minutes=0.02)
    first = submit(broker, "a", gb=0.7)
    first.pause()
    large = submit(broker, "b", gb=0.6)
    small = submit(broker, "c", gb=0.2)
    assert [job.state for job in (first, large, small)] == ["paused", "queued", "running"]
    until(lambda: ended(first))
    outcome = first.take()[-1]
    assert isinstance(outcome, TaskFailed)
    assert "0.02 minutes" in outcome.reason
    until(lambda: large.state == "running")


def test_a_pause_that_keeps_nobody_waiting_is_kept(make: Callable[..., Broker]) -> None:
    broker = make(memory_gb=1, pause_minutes=0)
    job = submit(broker, "a", gb=0.5)
    job.pause()
    other = submit(broker, "b", WHO, gb=0.5)
    until(lambda: ended(other))
    assert job.state == "paused"


def test_a_job_whose_page_is_away_gives_way(make: Callable[..., Broker]) -> None:
    broker = make(started=2)
    away, alone = submit(broker, "a"), submit(broker, "b")
    until(lambda: away.state == "running")
    away.pause(yields=True)
    until(lambda: alone.state == "running")
    time.sleep(0.2)
    assert away.state == "paused"  # there is room for both
    third = submit(broker, "c", WHO)
    until(lambda: ended(away))
    [*_, outcome] = away.take()
    assert isinstance(outcome, TaskFailed)
    assert "others waited" in outcome.reason
    alone.cancel()
    until(lambda: third.state == "done")


# --- the process-wide one ---


def test_warm_and_idle(make: Callable[..., Broker]) -> None:
    broker = make()
    broker.warm()
    until(lambda: broker._turns.idle)
    broker.warm()
    assert not broker._warming  # one is enough
    used = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - used < 0.05
    job = submit(broker, "a", WHO)
    assert until(lambda: ended(job)) < 1
    assert broker.snapshot().running == 0


def test_one_for_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_broker", None)
    monkeypatch.setenv("RFM_JOBS", "3")
    monkeypatch.setenv("RFM_MEMORY_GB", "1.5")
    monkeypatch.setenv("RFM_JOB_MINUTES", "7")
    broker = get_broker()
    assert get_broker() is broker
    assert (broker._turns.running, broker._turns.started) == (3, 12)
    assert (broker.memory_gb, broker.job_seconds) == (1.5, 420)
    with pytest.raises(InvalidInput, match="at work already"):
        configure(running=1)
    monkeypatch.setattr(module, "_broker", None)
    assert configure(running=2, job_minutes=None) is get_broker()
    assert get_broker()._turns.running == 2
    assert get_broker().job_seconds == float("inf")
    monkeypatch.setattr(module, "_broker", None)
    monkeypatch.setenv("RFM_JOBS", "many")
    with pytest.raises(InvalidInput, match=r"RFM_JOBS='many'.*number.*unset it"):
        get_broker()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"running": 0}, "running=0"),
        ({"running": 4, "started": 3}, "started=3"),
        ({"memory_gb": 0}, "memory_gb=0"),
        ({"job_minutes": 0}, "job_minutes=0"),
        ({"quantum": 0}, "quantum=0"),
        ({"nice": 30}, "nice=30"),
        ({"modules": "app.jobs"}, "modules"),
    ],
)
def test_bad_settings(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        Broker(**options)


def test_defaults() -> None:
    broker = Broker()
    assert broker._turns.running == cores()
    assert broker.memory_gb == pytest.approx(0.6 * machine_memory_gb())
    assert 0.1 < machine_memory_gb() < 1e5
