"""What sessions share: one scheduler, one cache of runs, one stage for all who want it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rfm_explorer.queue import shared
from rfm_explorer.queue.run import Run
from rfm_explorer.queue.run_cache import RunCache
from rfm_explorer.queue.shared import configure, get_run_cache, get_scheduler, machine_memory_gb

from rfm_core import InvalidInput
from rfm_core.run import cores
from rfm_core.run.tasks import Task


def identity(seed: int, **data: Any) -> dict[str, Any]:
    return {"data": data or {"system": "L63"}, "model": {}, "seed": seed}


def until(true: Callable[[], Any]) -> None:
    while not true():
        time.sleep(0.005)


# --- the cache ---


def test_a_run_is_found_by_what_determines_it(runs: RunCache) -> None:
    one = runs.hold(identity(1), "a")
    assert runs.hold(identity(1), "b") is one
    assert runs.hold(identity(2), "a") is not one
    assert one.holders == {"a", "b"}
    assert one.folder.is_dir()


def test_some_runs_that_nobody_holds_are_kept(runs: RunCache) -> None:
    few = RunCache(runs.scheduler, kept=2)
    held = [few.hold(identity(seed), "a") for seed in range(4)]
    for run in held[:3]:
        few.let_go(run, "a")
    assert [run.folder.exists() for run in held] == [False, True, True, True]
    assert few.hold(identity(1), "b") is held[1]
    assert few.hold(identity(0), "b") is not held[0]  # begun anew


def test_nobody_elses_data_are_kept(runs: RunCache) -> None:
    run = runs.hold(identity(0, series={"file": "x"}), "a")
    assert run.private
    runs.let_go(run, "a")
    assert not run.folder.exists()


# --- a stage ---


@pytest.fixture
def run(runs: RunCache, tmp_path: Path) -> Iterator[Run]:
    run = Run("key", tmp_path)
    yield run
    for stage in run.stages.values():
        stage.work.cancel()


@pytest.fixture
def begin(runs: RunCache, tmp_path: Path) -> Callable[[], Any]:
    """Work that goes on for long enough."""
    data = {"system": "L63", "n_train": 1_000_000}
    arguments = {**identity(5, **data), "folder": str(tmp_path), "shown": 0}
    return lambda: runs.submit(Task("train", "explorer.train", arguments), 0.5, 60)


def test_one_stage_for_all_and_the_last_one_ends_it(run: Run, begin: Callable[[], Any]) -> None:
    first = run.join("train", "a", begin)
    assert run.join("train", "b", begin) is first
    first.leave("a")
    assert first.work.state == "running"
    first.leave("b")
    assert first.work.state == "cancelled"
    assert first.failure == "The run was cancelled."
    run.settle("train")
    assert run.stages == {}
    assert run.finished == set()
    again = run.join("train", "a", begin)
    assert again is not first
    assert again.work.state in ("running", "queued")


def test_it_stands_still_when_all_who_watch_rest(run: Run, begin: Callable[[], Any]) -> None:
    stage = run.join("train", "a", begin)
    run.join("train", "b", begin)
    stage.pause("a")
    assert stage.work.state == "running"
    stage.pause("b", away=True)
    assert stage.work.state == "paused"
    assert not stage.work.yields  # somebody is in front of a page
    stage.leave("a")
    assert stage.work.state == "paused"
    run.join("train", "c", begin)  # whoever joins sees it go on
    assert stage.work.state == "running"


def test_it_gives_way_where_everybody_is_away(run: Run, begin: Callable[[], Any]) -> None:
    stage = run.join("train", "a", begin)
    stage.pause("a", away=True)
    assert stage.work.yields


def test_a_failure_is_told_and_can_be_tried_again(run: Run, runs: RunCache) -> None:
    def wrong() -> Any:
        return runs.submit(Task("x", "no such job"), 0.1, 1)

    stage = run.join("x", "a", wrong)
    until(lambda: stage.look() or stage.over)
    assert "no such job" in stage.failure
    assert run.join("x", "a", wrong) is not stage


def test_what_is_finished_is_noted(run: Run, runs: RunCache) -> None:
    stage = run.join("x", "a", lambda: runs.submit(Task("x", "ping"), 0.1, 1))
    until(lambda: stage.look() or stage.over)
    run.settle("x")
    assert run.finished == {"x"}
    assert run.stages == {}


# --- the ones of the process ---


def test_one_for_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "_scheduler", None)
    monkeypatch.setattr(shared, "_runs", None)
    monkeypatch.setenv("RFM_JOBS", "3")
    monkeypatch.setenv("RFM_MEMORY_GB", "1.5")
    monkeypatch.setenv("RFM_JOB_MINUTES", "7")
    scheduler = get_scheduler()
    assert get_scheduler() is scheduler
    assert get_run_cache() is get_run_cache()
    assert get_run_cache().scheduler is scheduler
    assert (scheduler.running, scheduler.started) == (3, 12)
    assert (scheduler.memory_gb, scheduler.job_seconds) == (1.5, 420)
    with pytest.raises(InvalidInput, match="at work already"):
        configure(running=1)
    monkeypatch.setattr(shared, "_scheduler", None)
    assert configure(running=2, job_minutes=None) is get_scheduler()
    assert get_scheduler().running == 2
    assert get_scheduler().job_seconds == float("inf")
    monkeypatch.setattr(shared, "_scheduler", None)
    monkeypatch.setenv("RFM_JOBS", "many")
    with pytest.raises(InvalidInput, match=r"RFM_JOBS='many'.*number.*unset it"):
        get_scheduler()


def test_as_suits_a_server() -> None:
    scheduler = shared.make_scheduler()
    assert (scheduler.running, scheduler.started) == (cores(), 4 * cores())
    assert scheduler.memory_gb == pytest.approx(0.6 * machine_memory_gb())
    assert scheduler.job_seconds == 3600
    assert 0.1 < machine_memory_gb() < 1e5
    with pytest.raises(InvalidInput, match="modules"):
        shared.make_scheduler(modules="rfm_explorer.compute.jobs")
