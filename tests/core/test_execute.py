"""Executors in this process and in killable ones: same rows, no task lost, nothing left behind."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from executor_cases import (
    BAD,
    GOOD,
    alive,
    begun,
    check_outcomes,
    children,
    kill_all,
    outcomes,
    realizations,
    rows,
    until,
)

from rfm_core.checks import Cancelled, InvalidInput
from rfm_core.events import CancelToken
from rfm_core.run import Executor, Inline, ProcessSlots, Slot, launch, make_executor, using
from rfm_core.run.slots import usual_nice
from rfm_core.run.tasks import Task, TaskDone, TaskEvent, TaskFailed, TaskProgress

HERE = Path(__file__).resolve().parent
MODULES = ("extra_jobs",)
SVD = {"size": 5000}  # takes minutes
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessSlots]:
    with ProcessSlots(2, threads=1, modules=MODULES) as executor:
        yield executor


@pytest.fixture(scope="module", params=["inline", "processes"])
def executor(request: pytest.FixtureRequest, processes: ProcessSlots) -> Executor:
    return Inline(modules=MODULES) if request.param == "inline" else processes


@pytest.fixture
def slot() -> Iterator[Slot]:
    slot = Slot(modules=MODULES)
    yield slot
    slot.close()


def workers() -> set[int]:
    process = launch._template._process
    return set() if process is None else children(process.pid)


def finish(slot: Slot) -> TaskDone | TaskFailed:
    events: list[TaskEvent] = []
    until(lambda: events.extend(slot.poll()) or not slot.busy)
    (outcome,) = outcomes(events).values()
    return outcome


# --- all executors ---


def test_bad_tasks_end_worded_and_harm_no_other(executor: Executor) -> None:
    check_outcomes(outcomes(executor.run([*BAD, GOOD])))


def test_tasks_are_taken_as_places_become_free(executor: Executor) -> None:
    taken = 0

    def tasks() -> Iterator[Task]:
        nonlocal taken
        for taken in itertools.count(1):
            yield Task(str(taken), "echo")

    events = executor.run(tasks())
    done = 0
    for event in events:
        done += isinstance(event, TaskDone)
        assert taken <= done + 2 * executor.slots
        if done == 9:
            break
    events.close()  # type: ignore[attr-defined]
    assert isinstance(next(executor.run([GOOD])), TaskDone)


def test_no_tasks_no_events(executor: Executor) -> None:
    assert list(executor.run([])) == []


def test_cancelled_before_it_began(executor: Executor) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        list(executor.run([GOOD], token))


def test_cancel_keeps_what_was_yielded(executor: Executor) -> None:
    token = CancelToken()
    seen: list[TaskEvent] = []
    tasks = [GOOD, *(Task(str(n), "tick", {"seconds": 30}) for n in range(3))]
    list(executor.run([GOOD]))  # so that workers are warm
    timer = threading.Timer(0.5, token.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        seen.extend(executor.run(tasks, token))
    timer.join()
    assert set(outcomes(seen)) == {"good"}


def test_an_error_of_the_tasks_own_source_stops_the_run(executor: Executor) -> None:
    def tasks() -> Iterator[Task]:
        yield GOOD
        raise LookupError("no more")

    with pytest.raises(LookupError):
        list(executor.run(tasks()))
    assert isinstance(next(executor.run([GOOD])), TaskDone)


def test_progress_is_passed_on_but_seldom(executor: Executor) -> None:
    *progress, done = executor.run([Task("t", "tick", {"seconds": 0.55})])
    assert isinstance(done, TaskDone)
    assert done.result["count"] > 50
    assert 3 <= len(progress) <= 7
    for event in progress:
        assert isinstance(event, TaskProgress)
        assert event.key == "t"
        assert event.progress.stage == "ticking"
        assert 0 < event.progress.done <= done.result["count"]


def test_threads_are_the_tasks(executor: Executor) -> None:
    tasks = [Task(str(n), "echo", threads=n) for n in (1, 2)]
    found = outcomes(executor.run(tasks))
    assert {k: e.result["threads"] for k, e in found.items() if isinstance(e, TaskDone)} == {
        "1": 1,
        "2": 2,
    }


@linux
def test_same_rows_even_when_workers_are_killed(processes: ProcessSlots) -> None:
    tasks = realizations(3)
    expected = rows(Inline().run(tasks))
    assert len({str(row["vpt"]) for row in expected.values()}) == len(tasks)
    assert rows(processes.run(tasks)) == expected
    events, killed = [], set[int]()
    for event in processes.run(tasks):
        if not killed and isinstance(event, TaskProgress):
            killed = workers()
            kill_all(killed)
        events.append(event)
    assert rows(events) == expected
    assert killed
    assert not killed & workers()


# --- making them ---


def test_make_executor() -> None:
    assert isinstance(make_executor(), Inline)
    assert isinstance(make_executor("inline"), Inline)
    ready = Inline()
    assert make_executor(ready) is ready
    with using("processes", slots=3, threads=2) as made:
        assert isinstance(made, ProcessSlots)
        assert (made.slots, made.threads) == (3, 2)
    with pytest.raises(InvalidInput, match="closed"):
        next(made.run([GOOD]))
    with using(made) as same:
        assert same is made


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("cluster", {}, "inline"),
        (3, {}, "name or an executor"),
        ("inline", {"slots": 2}, "slots"),
        (Inline(), {"slots": 2}, "already"),
        ("processes", {"slots": 0}, "slots=0"),
        ("processes", {"slots": 1, "threads": 0}, "threads=0"),
        ("processes", {"memory_gb": -1}, "memory_gb=-1"),
        ("processes", {"nice": 40}, "nice=40"),
        ("processes", {"modules": "extra_jobs"}, "modules"),
        ("processes", {"method": "fork"}, "method"),
    ],
)
def test_refusals(name: object, options: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        make_executor(name, **options)  # type: ignore[arg-type]


def test_cores_are_divided_among_slots() -> None:
    from rfm_core.run import cores

    assert ProcessSlots().slots == cores()
    assert ProcessSlots(1).threads == cores()
    assert ProcessSlots(10 * cores()).threads == 1


def test_inline_reports_come_while_the_job_runs() -> None:
    """Work for longer than any test may take; it ends as soon as the first report is seen."""
    token = CancelToken()
    events = Inline(modules=MODULES).run([Task("t", "tick", {"seconds": 3600})], token)
    assert isinstance(next(events), TaskProgress)
    token.cancel()
    with pytest.raises(Cancelled):
        list(events)
    events = Inline(modules=MODULES).run([Task("t", "tick", {"seconds": 3600})])
    assert isinstance(next(events), TaskProgress)
    events.close()
    assert not [t for t in threading.enumerate() if t.name == "task t"]


# --- processes ---


@linux
def test_cancel_inside_an_svd_frees_the_machine_at_once(
    processes: ProcessSlots, tmp_path: Path
) -> None:
    token, files = CancelToken(), [tmp_path / "a", tmp_path / "b"]

    def cancel() -> None:
        for file in files:
            begun(file)
        time.sleep(0.3)  # well inside LAPACK
        token.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    tasks = [GOOD, *(Task(str(file), "svd", {**SVD, "begun": str(file)}) for file in files)]
    seen: list[TaskEvent] = []
    with pytest.raises(Cancelled):
        seen.extend(processes.run(tasks, token))
    thread.join()
    assert not any(alive(begun(file)) for file in files)
    assert [event.key for event in seen] == ["good"]
    assert isinstance(next(processes.run([GOOD])), TaskDone)


@linux
def test_closing_the_iterator_kills(processes: ProcessSlots, tmp_path: Path) -> None:
    file = tmp_path / "begun"
    events = processes.run([GOOD, Task("svd", "svd", {**SVD, "begun": str(file)})])
    next(events)
    worker = begun(file)
    events.close()  # type: ignore[attr-defined]
    assert not alive(worker)


@linux
def test_close_kills_and_ends_runs_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "begun"
    executor = ProcessSlots(1, modules=MODULES)
    ended = []

    def run() -> None:
        try:
            list(executor.run([Task("svd", "svd", {**SVD, "begun": str(file)})]))
        except Cancelled as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    worker = begun(file)
    executor.close()
    assert not alive(worker)
    thread.join()
    assert ended


def test_workers_stay_warm_and_know_their_driver(
    processes: ProcessSlots, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tasks = [Task(str(n), "echo") for n in range(12)]
    found = [outcomes(processes.run(tasks)) for _ in range(2)]
    pids = [{e.result["pid"] for e in f.values() if isinstance(e, TaskDone)} for f in found]
    assert pids[0] == pids[1]
    assert len(pids[0]) <= 2
    assert os.getpid() not in pids[0]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RFM_CACHE", "elsewhere")
    with ProcessSlots(1, nice=7, modules=MODULES) as executor:
        (event,) = executor.run([Task("s", "surroundings")])
    assert isinstance(event, TaskDone)
    assert event.result["nice"] == min(19, os.nice(0) + 7)
    assert event.result["folder"] == str(tmp_path)
    assert event.result["cache"] == "elsewhere"


@pytest.mark.parametrize(("said", "expected"), [(None, 10), ("3", 3)])
def test_how_far_workers_stand_back(
    said: str | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RFM_NICE")
    if said is not None:
        monkeypatch.setenv("RFM_NICE", said)
    assert usual_nice() == expected


@pytest.mark.parametrize("said", ["40", "-1", "very", ""])
def test_what_rfm_nice_cannot_be(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RFM_NICE", said)
    with pytest.raises(InvalidInput, match=r"RFM_NICE=.* at least 0 and at most 19"):
        Slot()


@linux
def test_no_pipe_is_shared_between_workers(processes: ProcessSlots) -> None:
    with ProcessSlots(2, modules=MODULES) as other:
        list(other.run([Task(str(n), "tick", {"seconds": 0.2}) for n in range(2)]))
        tasks = [Task(str(n), "surroundings") for n in range(6)]
        found = [*outcomes(processes.run(tasks)).values(), *outcomes(other.run(tasks)).values()]
    sets = {tuple(e.result["pipes"]) for e in found if isinstance(e, TaskDone)}
    assert len(sets) >= 2
    for one, two in itertools.combinations(sets, 2):
        ours = [pipe for pipe in one if pipe.startswith(("pipe:", "socket:"))]
        assert len(ours) == 2  # its connection and its lifeline
        assert not set(ours) & set(two)


@linux
@pytest.mark.parametrize("by", ["torch", "numpy"])
def test_too_much_memory_is_an_outcome(by: str) -> None:
    sizes = {"small": 0.2, "large": 1.5, "small again": 0.2}
    tasks = [Task(k, "allocate", {"gigabytes": v, "by": by}) for k, v in sizes.items()]
    with ProcessSlots(1, memory_gb=0.5, modules=MODULES) as executor:
        found = outcomes(executor.run(tasks))
    large = found.pop("large")
    assert isinstance(large, TaskFailed)
    assert "memory" in large.reason
    assert large.attempts == 1
    pids = {e.result["pid"] for e in found.values() if isinstance(e, TaskDone)}
    assert len(pids) == 1  # the worker has survived


@pytest.mark.parametrize(
    ("job", "words"), [("die", "memory"), ("segfault", "crashed"), ("exit", "exit code 3")]
)
def test_a_deadly_task_fails_alone(processes: ProcessSlots, job: str, words: str) -> None:
    tasks = [Task("x", job), *(Task(str(n), "echo") for n in range(4))]
    found = outcomes(processes.run(tasks))
    deadly = found.pop("x")
    assert isinstance(deadly, TaskFailed)
    assert deadly.attempts == 2
    assert words in deadly.reason
    assert len(found) == 4
    assert all(isinstance(event, TaskDone) for event in found.values())


def test_a_task_whose_worker_died_is_tried_again(processes: ProcessSlots, tmp_path: Path) -> None:
    marker = str(tmp_path / "marker")
    (event,) = processes.run([Task("x", "die", {"marker": marker})])
    assert event == TaskDone("x", {"survived": True})


def test_a_module_that_is_not_there() -> None:
    with ProcessSlots(1, modules=("no_such_module",)) as executor:
        (event,) = executor.run([GOOD])
    assert isinstance(event, TaskFailed)
    assert "no_such_module" in event.reason


@linux
def test_runs_in_several_threads_share_the_slots(processes: ProcessSlots) -> None:
    token, found = CancelToken(), {}

    def run(name: str, cancel: CancelToken | None) -> None:
        tasks = [Task(f"{name}{n}", "tick", {"seconds": 0.1}) for n in range(8)]
        try:
            found[name] = outcomes(processes.run(tasks, cancel))
        except Cancelled:
            found[name] = {}

    threads = [threading.Thread(target=run, args=a) for a in (("a", None), ("b", token))]
    for thread in threads:
        thread.start()
    time.sleep(0.15)
    token.cancel()
    for thread in threads:
        thread.join()
    assert len(found["a"]) == 8
    assert all(isinstance(event, TaskDone) for event in found["a"].values())
    assert found["b"] == {}


def test_a_long_run_lets_others_have_a_turn() -> None:
    with ProcessSlots(1, modules=MODULES) as executor:
        long = executor.run(Task(str(n), "tick", {"seconds": 0.05}) for n in range(40))
        assert isinstance(next(e for e in long if not isinstance(e, TaskProgress)), TaskDone)
        short: list[TaskEvent] = []
        thread = threading.Thread(target=lambda: short.extend(executor.run([GOOD])))
        thread.start()
        before = 0
        for event in long:
            before += isinstance(event, TaskDone) and not short
        thread.join()
    assert len(short) == 1
    assert before < 20


@linux
def test_the_template_can_die(processes: ProcessSlots) -> None:
    list(processes.run([GOOD]))
    template = launch._template._process
    assert template is not None
    warm = workers()
    template.kill()
    template.wait()
    assert all(map(alive, warm))  # they do not need it
    kill_all(warm)
    assert isinstance(next(processes.run([GOOD])), TaskDone)


@linux
def test_the_template_is_safe_to_fork_and_nothing_is_left(processes: ProcessSlots) -> None:
    list(processes.run([GOOD]))
    before = workers()
    with ProcessSlots(2, modules=MODULES) as executor:
        list(executor.run([Task(str(n), "tick", {"seconds": 0.1}) for n in range(2)]))
        assert len(workers() - before) == 2
    assert workers() <= before
    template = launch._template._process
    assert template is not None
    assert len(os.listdir(f"/proc/{template.pid}/task")) == 1  # a thread would be lost in forks
    assert len(os.listdir(f"/proc/{template.pid}/fd")) < 20


# --- one slot ---


@linux
def test_slot(slot: Slot, tmp_path: Path) -> None:
    assert not slot.busy
    assert slot.poll() == []
    slot.start(GOOD)
    assert slot.busy
    with pytest.raises(RuntimeError, match="good"):
        slot.start(GOOD)
    done = finish(slot)
    assert isinstance(done, TaskDone)
    file = tmp_path / "begun"
    slot.start(Task("svd", "svd", {**SVD, "begun": str(file)}))
    worker = begun(file)
    assert worker == done.result["pid"]
    assert slot.poll() == []
    slot.kill()
    assert not alive(worker)  # in the middle of minutes of work
    assert not slot.busy
    assert slot.poll() == []
    slot.kill()
    slot.start(GOOD)
    assert isinstance(finish(slot), TaskDone)


@linux
def test_slot_with_a_limit_for_one_task(slot: Slot) -> None:
    task = Task("x", "allocate", {"gigabytes": 0.6, "by": "torch"})
    ended = []
    for limit in (0.3, None, 1.0):
        slot.start(task, memory_gb=limit)
        ended.append(type(finish(slot)))
    assert ended == [TaskFailed, TaskDone, TaskDone]


@linux
def test_a_worker_that_died_idle_costs_no_attempt(slot: Slot) -> None:
    slot.start(GOOD)
    first = finish(slot)
    assert isinstance(first, TaskDone)
    kill_all([first.result["pid"]])
    until(lambda: not alive(first.result["pid"]))
    slot.start(Task("x", "die"))
    failed = finish(slot)
    assert isinstance(failed, TaskFailed)
    assert failed.attempts == 2


@linux
def test_kill_while_the_worker_is_still_starting() -> None:
    launch.stop_template()  # so that starting takes seconds
    slot = Slot(modules=MODULES)
    slot.start(GOOD)
    slot.kill()
    assert not slot.busy
    assert slot.poll() == []
    slot.start(GOOD)
    assert isinstance(finish(slot), TaskDone)
    slot.close()


def stopped(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "T"


@linux
@pytest.mark.parametrize("method", launch.METHODS)
def test_a_suspended_task_stands_still_and_goes_on(method: str) -> None:
    slot = Slot(modules=MODULES, method=method)
    assert not slot.suspend()  # nothing to suspend
    slot.start(Task("pid", "echo"))
    first = finish(slot)
    assert isinstance(first, TaskDone)
    slot.start(Task("t", "tick", {"seconds": 0.3}))
    assert slot.suspend()
    assert slot.suspended
    until(lambda: stopped(first.result["pid"]))
    slot.poll()
    time.sleep(0.5)
    assert slot.poll() == []
    assert slot.busy
    assert slot.resume()
    assert not slot.resume()
    ticked = finish(slot)
    assert isinstance(ticked, TaskDone)
    assert ticked.result["pid"] == first.result["pid"]
    assert not slot.suspended
    slot.close()


@linux
def test_kill_while_suspended(slot: Slot, tmp_path: Path) -> None:
    file = tmp_path / "begun"
    slot.start(Task("svd", "svd", {**SVD, "begun": str(file)}))
    worker = begun(file)
    slot.suspend()
    until(lambda: stopped(worker))
    slot.kill()
    assert not alive(worker)
    assert not slot.suspended


@linux
def test_an_outcome_sent_before_the_suspension_leaves_the_worker_usable(slot: Slot) -> None:
    slot.start(GOOD)
    until(lambda: slot.pipe is not None and slot.pipe.poll())
    slot.suspend()
    assert isinstance(finish(slot), TaskDone)
    slot.start(GOOD)
    assert isinstance(finish(slot), TaskDone)


@linux
def test_suspend_while_the_worker_is_still_starting(slot: Slot) -> None:
    launch.stop_template()
    slot.start(Task("t", "tick", {"seconds": 1.0}))
    assert slot.suspend()

    def held() -> bool:
        assert all(isinstance(event, TaskProgress) for event in slot.poll())
        found = workers()
        return bool(found) and all(map(stopped, found))

    until(held)
    assert slot.busy
    slot.resume()
    assert isinstance(finish(slot), TaskDone)


# --- whoever drives ---

GUARDLESS = """
import os, sys, threading
print("main", flush=True)
from rfm_core.run import ProcessSlots
from rfm_core.run.tasks import Task

def run():
    with ProcessSlots(1, modules=("extra_jobs",), method=sys.argv[1]) as executor:
        for event in executor.run([Task("a", "echo"), Task("b", "echo")]):
            print(event.key, event.result["pid"] != os.getpid(), flush=True)

run()
assert __file__
del __file__, __spec__  # as in a notebook
thread = threading.Thread(target=run)
thread.start()
thread.join()
assert "__file__" not in globals() and "__spec__" not in globals()
"""


@pytest.mark.parametrize("method", launch.METHODS)
def test_a_script_without_a_guard(method: str, tmp_path: Path) -> None:
    (tmp_path / "guardless.py").write_text(GUARDLESS)
    command = ["-m", "guardless"] if method == "spawn" else [str(tmp_path / "guardless.py")]
    run = _script([*command, method], tmp_path)
    out, err = run.communicate(timeout=200)
    assert run.returncode == 0, err
    first, *rest = out.split("\n")
    assert first == "main"
    assert sorted(rest) == ["", "a True", "a True", "b True", "b True"]
    assert err == ""


DOOMED = """
import os, sys, time
from rfm_core.run import Slot
from rfm_core.run.tasks import Task

slots = []
for name, job, arguments in (
    ("svd", "svd", {"size": 5000}),
    ("lock", "hold the lock", {"seconds": 3600}),
    ("idle", "echo", {}),
):
    slots.append(Slot(modules=("extra_jobs",)))
    slots[-1].start(Task(name, job, {**arguments, "begun": name}))
while slots[-1].busy:
    for event in slots[-1].poll():
        open("idle", "w").write(str(event.result["pid"]))
    time.sleep(0.01)
fork = os.fork()  # what a driver forks must not keep its workers alive
open("template" if fork else "fork", "w").write(str(os.getpid()))
time.sleep(3600)
"""


@linux
def test_workers_die_with_a_killed_driver(tmp_path: Path) -> None:
    (tmp_path / "doomed.py").write_text(DOOMED)
    driver = _script(["doomed.py"], tmp_path)
    pids = {name: begun(tmp_path / name) for name in ("svd", "lock", "idle", "fork")}
    (template,) = children(driver.pid) - {pids["fork"]}
    time.sleep(0.3)  # well inside LAPACK
    driver.kill()
    driver.wait()
    try:
        until(lambda: not any(alive(p) for n, p in pids.items() if n != "fork"))
        until(lambda: not alive(template))
        assert alive(pids["fork"])
    finally:
        os.kill(pids["fork"], signal.SIGKILL)
        driver.communicate()


def _script(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(HERE), str(HERE.parent.parent)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "error"}
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
