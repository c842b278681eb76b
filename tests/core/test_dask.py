"""The dask executor on real local clusters: same rows, poison isolated, nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from executor_cases import (
    BAD,
    GOOD,
    alive,
    begun,
    check_outcomes,
    descendants,
    kill_all,
    outcomes,
    realizations,
    rows,
    until,
)

from rfm_core.checks import Cancelled, InvalidInput
from rfm_core.events import CancelToken
from rfm_core.run import Inline, make_executor
from rfm_core.run.dask_executor import Dask
from rfm_core.run.tasks import Task, TaskDone, TaskEvent, TaskFailed

pytest.importorskip("distributed", reason='needs pip install "rfm-explorer[cluster]"')
if sys.platform != "linux":
    pytest.skip("looks into /proc", allow_module_level=True)

HERE = Path(__file__).resolve().parent
MODULES = ("extra_jobs",)
SVD = {"size": 5000}  # takes minutes


@pytest.fixture(scope="module")
def dask() -> Iterator[Dask]:
    with Dask(workers=2, modules=MODULES) as executor:
        yield executor
        local = executor._local
        assert local is not None
        below = descendants(local._process.pid)
    until(lambda: not any(map(alive, below)))


def ticks(count: int) -> list[Task]:
    return [Task(str(n), "tick", {"seconds": 0.2}) for n in range(count)]


def worker_pids(executor: Dask) -> set[int]:
    return set(executor._client.run(os.getpid).values())


def test_bad_tasks_end_worded_and_harm_no_other(dask: Dask) -> None:
    check_outcomes(outcomes(dask.run([*BAD, GOOD])))
    assert dask.slots == 2


def test_tasks_are_taken_as_places_become_free(dask: Dask) -> None:
    taken = done = 0

    def tasks() -> Iterator[Task]:
        nonlocal taken
        for taken in range(1, 13):
            yield Task(str(taken), "echo")

    for event in dask.run(tasks()):
        done += isinstance(event, TaskDone)
        assert taken <= done + 2 * dask.slots
    assert done == 12
    assert list(dask.run([])) == []


def test_same_rows_even_when_workers_are_killed(dask: Dask) -> None:
    tasks = realizations(3)
    expected = rows(Inline().run(tasks))
    assert rows(dask.run(tasks)) == expected
    events: list[TaskEvent] = []
    killed = worker_pids(dask)
    for event in dask.run(tasks):
        if not events:
            kill_all(killed)
        events.append(event)
    assert rows(events) == expected
    assert not killed & worker_pids(dask)


def test_poison_is_isolated(dask: Dask) -> None:
    found = outcomes(dask.run([Task("x", "die"), *ticks(3), Task("y", "segfault")]))
    for key in "xy":
        poison = found.pop(key)
        assert isinstance(poison, TaskFailed)
        assert poison.attempts == 4
        assert "died 4 times" in poison.reason
    assert len(found) == 3
    assert all(isinstance(event, TaskDone) for event in found.values())


def test_a_task_whose_worker_died_is_tried_again(dask: Dask, tmp_path: Path) -> None:
    (event,) = dask.run([Task("x", "die", {"marker": str(tmp_path / "marker")})])
    assert event == TaskDone("x", {"survived": True})


def test_cancel_inside_an_svd_frees_the_machine(dask: Dask, tmp_path: Path) -> None:
    token, file = CancelToken(), tmp_path / "begun"

    def cancel() -> None:
        begun(file)
        time.sleep(0.3)  # well inside LAPACK
        token.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    seen: list[TaskEvent] = []
    tasks = [GOOD, Task("svd", "svd", {**SVD, "begun": str(file)})]
    with pytest.raises(Cancelled):
        seen.extend(dask.run(tasks, token))
    thread.join()
    assert not alive(begun(file))
    assert [event.key for event in seen] == ["good"]
    assert isinstance(next(dask.run([GOOD])), TaskDone)
    with pytest.raises(Cancelled):
        next(dask.run([GOOD], token))


def test_closing_the_iterator_kills(dask: Dask, tmp_path: Path) -> None:
    file = tmp_path / "begun"
    events = dask.run([GOOD, Task("svd", "svd", {**SVD, "begun": str(file)})])
    next(events)
    worker = begun(file)
    events.close()  # type: ignore[attr-defined]
    assert not alive(worker)


def test_only_this_machine_can_reach_it(dask: Dask) -> None:
    list(dask.run([GOOD]))
    local = dask._local
    assert local is not None
    ours = set()
    for process in {local._process.pid, *descendants(local._process.pid)}:
        for end in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                ours.add(os.readlink(end))
    listening = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in ours:
                listening.append(fields[1].split(":")[0])
    assert set(listening) == {"0100007F"}  # 127.0.0.1
    pytest.importorskip("cryptography", reason="without it, there is no TLS on loopback")
    assert local.address.startswith("tls://")
    with pytest.raises(InvalidInput, match="scheduler"):
        Dask(local.address)


# --- a cluster started by hand, as on several machines ---


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Its address and its scheduler."""
    path = os.pathsep.join([str(HERE), str(HERE.parent.parent)])
    environment = {**os.environ, "PYTHONPATH": path}
    file = tmp_path / "scheduler.json"

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet, cwd=tmp_path)

    options = ["--scheduler-file", str(file), "--dashboard-address", "127.0.0.1:0"]
    scheduler = start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", *options)
    until(lambda: file.exists() and file.read_text())
    worker = start("dask_worker", "--nthreads", "1", "--host", "127.0.0.1", *options)
    yield json.loads(file.read_text())["address"], scheduler
    below = descendants(worker.pid)
    kill_all(below)
    for process in (worker, scheduler):
        process.kill()
        process.wait()


def test_a_cluster_by_its_address(
    cluster: tuple[str, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    address, scheduler = cluster
    with make_executor("dask", address=address, modules=MODULES) as executor:
        (done,) = executor.run([GOOD])
        assert isinstance(done, TaskDone)
        # cancelled, a running task comes to its end, and a waiting one never begins
        token = CancelToken()
        tasks = [Task("a", "tick", {"seconds": 0.5}), Task("b", "die", {"marker": "b"})]
        threading.Timer(0.2, token.cancel).start()
        with pytest.raises(Cancelled):
            list(executor.run(tasks, token))
    assert alive(done.result["pid"])
    with Dask(address, modules=MODULES) as executor:
        (again,) = executor.run([GOOD])
        assert isinstance(again, TaskDone)
        assert again.result["pid"] == done.result["pid"]
        assert not (tmp_path / "b").exists()
        events = executor.run([GOOD, Task("t", "tick", {"seconds": 60})])
        next(events)
        scheduler.kill()
        with pytest.raises(ConnectionError, match="scheduler"):
            list(events)


# --- refusals ---


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"address": "tcp://127.0.0.1:9"}, "dask scheduler"),
        ({"address": "nonsense://"}, "dask scheduler"),
        ({"address": "tcp://127.0.0.1:9", "workers": 2}, "workers=2"),
        ({"workers": 0}, "workers=0"),
        ({"threads": 0}, "threads=0"),
        ({"modules": "extra_jobs"}, "modules"),
        ({"slots": 2}, "slots"),
    ],
)
def test_refusals(options: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rfm_core.run.dask_executor.CONNECT_SECONDS", 0.5)
    with pytest.raises(InvalidInput, match=words):
        make_executor("dask", **options)


def test_without_distributed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InvalidInput, match=r"rfm-explorer\[cluster\]"):
        make_executor("dask")


def test_closed() -> None:
    executor = Dask(workers=1)
    executor.close()
    with pytest.raises(InvalidInput, match="closed"):
        next(executor.run([GOOD]))


# --- whoever drives ---

DOOMED = """
import os
print("main", flush=True)
from rfm_core.run.dask_executor import Dask
from rfm_core.run.tasks import Task

executor = Dask(workers=1, modules=("extra_jobs",))
print(next(executor.run([Task("a", "echo")])).key, flush=True)
tasks = [Task("x", "die", {"marker": "marker"}), Task("s", "svd", {"size": 5000, "begun": "svd"})]
list(executor.run(tasks))
"""


def test_a_script_without_a_guard_and_killed(tmp_path: Path) -> None:
    (tmp_path / "doomed.py").write_text(DOOMED)
    path = os.pathsep.join([str(HERE), str(HERE.parent.parent)])
    driver = subprocess.Popen(
        [sys.executable, "doomed.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "error"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    worker = begun(tmp_path / "svd")
    below = descendants(driver.pid)
    assert worker in below
    driver.kill()
    out, err = driver.communicate()
    until(lambda: not alive(worker))
    until(lambda: not any(map(alive, below)))
    assert out.split() == ["main", "a"]
    assert err == ""
