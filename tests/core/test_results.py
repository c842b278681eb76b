"""Rows of studies: exact, never lost once acknowledged, refused with words when the file is bad."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfm_core import DataSpec, ModelSpec, StudySpec
from rfm_core.checks import InvalidInput
from rfm_core.run.tasks import Task, TaskDone, perform
from rfm_core.study import export, results
from rfm_core.study.records import StudyRecord
from rfm_core.study.results import ResultRow, ResultStore, StoreError, statistics

SPEC = {
    "kind": "StudySpec",
    "seed": 7,
    "data": {"system": "L63", "n_train": 500, "dt": 0.01, "seed": 0},
    "model": {"architecture": "DeepSkip", "width": 64, "depth": 3, "beta": 1e-20, "noise": 0.0},
}
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals, limits or permissions")

# Children get the engine's modules without its __init__, which would import torch for seconds.
CHILD = """
import json, os, sys, types
package = types.ModuleType("rfm_core")
package.__path__ = [sys.argv[1]]
sys.modules["rfm_core"] = package
from rfm_core.study.results import ResultStore, StoreError
"""


def row(number: int, n: int = 3) -> dict[str, Any]:
    """As the job makes it, with numbers that have no short decimal form."""
    rng = random.Random(number)
    return {
        "vpt": [rng.expovariate(1) for _ in range(n)],
        "censored": [rng.random() < 0.2 for _ in range(n)],
        "diverged_at": [rng.choice([-1, 17]) for _ in range(n)],
        "unit": "Lyapunov times",
        "error": None if number % 2 else rng.random() * 1e-300,
        "size": 448,
        "device": "cpu",
        "dtype": "float64",
        "threads": 1,
        "versions": {"rfm_core": "0.1.0", "torch": "2.13.0", "python": "3.11.7"},
        "data_seconds": rng.random(),
        "fit_seconds": rng.random(),
        "forecast_seconds": rng.random(),
        "peak_mb": 100 * rng.random(),
    }


def fill(path: Path | None, number: int = 5) -> ResultStore:
    store = ResultStore(path)
    store.add_study("abc", SPEC, "first, with a comma")
    for k in range(number):
        assert store.add("abc", k, row(k))
    return store


def run(code: str, *arguments: str, prefix: tuple[str, ...] = ()) -> list[str]:
    command = [*prefix, sys.executable, "-c", CHILD + code, str(Path(results.__file__).parents[1])]
    finished = subprocess.run(
        [*command, *arguments], capture_output=True, encoding="utf-8", timeout=200
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.splitlines()


# ---- what is put in comes out


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_round_trip(where: str, tmp_path: Path) -> None:
    path = None if where == "memory" else tmp_path / "new" / "folder" / "results.sqlite"
    with fill(path) as store:
        assert [r.realization for r in store.rows("abc")] == [0, 1, 2, 3, 4]
        assert [r.result for r in store.rows("abc")] == [row(k) for k in range(5)]
        assert {r.status for r in store.rows("abc")} == {"ok"}
        assert all(r.finished.endswith("+00:00") for r in store.rows("abc"))
    if path:
        assert os.listdir(path.parent) == ["results.sqlite"]  # nothing is left beside it
        with ResultStore(path) as again:
            assert [r.result for r in again.rows("abc")] == [row(k) for k in range(5)]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_floats_come_back_bit_for_bit(values: list[float]) -> None:
    with ResultStore(None) as store:
        store.add_study("abc", {})
        store.add("abc", 0, {"vpt": values, "one": np.float64(values[0])})
        result = store.rows("abc")[0].result
    pack = f"{len(values)}d"
    assert struct.pack(pack, *result["vpt"]) == struct.pack(pack, *values)
    assert struct.pack("d", result["one"]) == struct.pack("d", values[0])


def test_adding_twice_keeps_the_first() -> None:
    with fill(None) as store:
        before = store.rows("abc")
        assert store.add("abc", 3, row(99)) is False
        assert store.add_failure("abc", 3, "late news") is False
        store.add_study("abc", SPEC)
        assert store.rows("abc") == before
        (study,) = store.studies()
        assert (study.digest, study.label, study.spec) == ("abc", "first, with a comma", SPEC)
        assert (study.done, study.failed) == (5, 0)
        store.add_study("abc", {**SPEC, "realizations": 500}, "renamed")  # the same study, enlarged
        (enlarged,) = store.studies()
        assert (enlarged.label, enlarged.spec["realizations"]) == ("renamed", 500)
        assert enlarged.created == study.created
        assert store.rows("abc") == before


def test_resume_and_failures() -> None:
    with fill(None) as store:
        assert store.add_failure("abc", 7, "There was not enough memory.", "trace", attempts=2)
        assert store.add_failure("abc", 8, "It was killed.")
        assert store.add_failure("abc", 7, "Again.", attempts=3)
        assert store.done("abc") == {0, 1, 2, 3, 4}
        assert store.done("unknown") == set()
        found = [(f.realization, f.reason, f.attempts, f.result) for f in store.failures("abc")]
        assert found == [(7, "Again.", 3, {}), (8, "It was killed.", 1, {})]
        assert store.studies()[0].failed == 2
        assert store.add("abc", 8, row(8))  # a result replaces a failure
        assert store.done("abc") == {0, 1, 2, 3, 4, 8}
        assert store.forget_failures("abc") == 1
        assert store.failures("abc") == []
        assert store.done("abc") == {0, 1, 2, 3, 4, 8}


def test_studies_are_apart_and_can_be_deleted(tmp_path: Path) -> None:
    with fill(tmp_path / "r.sqlite") as store:
        store.add_study("def", {"other": 1})
        store.add("def", 0, row(50))
        assert [s.digest for s in store.studies()] == ["abc", "def"]
        assert store.delete_study("abc")
        assert not store.delete_study("abc")
        assert [s.digest for s in store.studies()] == ["def"]
        assert store.rows("abc") == []
        store.add_study("abc", SPEC)  # nothing of the deleted one comes back
        assert store.done("abc") == set()
        assert store.done("def") == {0}


@pytest.mark.parametrize(
    ("number", "content", "words"),
    [
        (-1, {}, "realization=-1"),
        (1.5, {}, "realization=1.5"),
        (2**63, {}, "realization=9223372036854775808"),
        (0, {"vpt": [float("nan")]}, "None for what is no number"),
        (0, {"vpt": np.zeros(2)}, "plain"),
        (0, [1], "dictionary"),
    ],
)
def test_what_cannot_be_kept_is_refused(number: Any, content: Any, words: str) -> None:
    with fill(None) as store:
        with pytest.raises(InvalidInput, match=words):
            store.add("abc", number, content)
        with pytest.raises(StoreError, match="add_study first"):
            store.add("unknown", 0, {})
        assert len(store.rows("abc")) == 5


def test_a_real_realization(tmp_path: Path) -> None:
    data = {"system": "L63", "n_train": 200, "n_test": 2, "test_steps": 50}
    arguments = {"realization": 3, "seed": 1, "data": data, "model": {"width": 20}}
    outcome = perform(Task("3", "realization", arguments))
    assert isinstance(outcome, TaskDone), outcome
    with ResultStore(tmp_path / "r.sqlite") as store:
        store.add_study("abc", {"data": data, "model": {"width": 20}, "seed": 1})
        store.add("abc", 3, outcome.result)
        assert store.rows("abc")[0].result == outcome.result
        (line,) = read_csv(store.export_csv("abc", tmp_path / "r.csv"))
    assert json.loads(line["vpt"]) == outcome.result["vpt"]
    assert list(line)[: len(export.column_names())] == list(export.column_names())
    assert set(outcome.result) - {"versions"} <= set(line)  # whatever else the job may add


def test_every_field_of_the_spec_is_a_column(tmp_path: Path) -> None:
    """Two studies that differ in whatever field differ in a column."""
    spec = StudySpec(
        DataSpec("L96", parameters={"F": 8.0}, trajectories=7),
        ModelSpec("LocalDeepSkipX", G=2, left=2, right=1, depth=2, taper=0.3, L1=0.41, refine=2),
        seed=5,
    )
    study = StudyRecord("abc", spec.label, spec.to_dict(), "", done=1, failed=0)
    line = export.line(study, ResultRow(0, "ok", {"vpt": [1.0, 3.0]}, "", ""))
    asked = {**spec.data.to_dict(), **spec.model.to_dict(), "seed": 5}
    assert line["train_trajectories"] == 7
    assert line["trajectories"] == 2
    for name in set(asked) - {"kind", "schema", "realization", "trajectories"}:
        assert line[name] == asked[name], name
        assert name in export.column_names()


# ---- several writers, killed writers


def test_threads_share_one_store(tmp_path: Path) -> None:
    store, accepted, errors = fill(tmp_path / "r.sqlite", 0), [], []

    def work(who: int) -> None:
        try:
            for k in range(20):
                accepted.append((k, store.add("abc", k, {"who": who})))
                assert k in store.done("abc")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert sorted(k for k, yes in accepted if yes) == list(range(20))
    assert len(accepted) == 160
    store.close()


def test_many_open_a_new_file_at_once(tmp_path: Path) -> None:
    """Each must see the file either empty or complete, never half made."""
    errors: list[BaseException] = []
    for turn in range(8):
        start = threading.Barrier(6)

        def work(path: Path = tmp_path / f"{turn}.sqlite", start: Any = start) -> None:
            start.wait()
            try:
                with ResultStore(path) as store:
                    assert store.journal == "wal"
                    store.add_study("abc", SPEC)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []


def test_a_file_made_between_two_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, with the other one coming at the worst moment for certain."""
    path, connect = tmp_path / "r.sqlite", sqlite3.connect

    class Interrupted(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if statement == "PRAGMA user_version":
                monkeypatch.undo()
                with suppress(StoreError):  # it may also be kept out for as long as we look
                    ResultStore(path, wait=0.1).close()
            return super().execute(statement, *values)

    def interrupted(place: Path, **options: Any) -> sqlite3.Connection:
        return connect(place, factory=Interrupted, **options)

    monkeypatch.setattr(results.sqlite3, "connect", interrupted)
    with ResultStore(path) as store:
        store.add_study("abc", SPEC)
        assert store.add("abc", 0, row(0))


WRITER = """
who, first, last = map(int, sys.argv[3:6])
os.write(1, b"open\\n")
store = ResultStore(sys.argv[2])
store.add_study("abc", {"x": 1})
for k in range(first, last):
    yes = store.add("abc", k, {"who": who, "vpt": [k + who / 7] * 100})
    os.write(1, f"{k} {int(yes)} {who}\\n".encode())  # so short a line goes whole or not at all
store.close()
"""


def writer(
    path: Path, who: int, last: int, first: int = 0, to: int = -1
) -> subprocess.Popen[bytes]:
    package = str(Path(results.__file__).parents[1])
    command = [sys.executable, "-c", CHILD + WRITER, package, str(path)]
    return subprocess.Popen([*command, str(who), str(first), str(last)], stdout=to)


class Acknowledged:
    """What the writers were told: who got which row in, and which rows are there in any case."""

    def __init__(self) -> None:
        self.kept: dict[int, int] = {}
        self.seen: set[int] = set()

    def note(self, line: str) -> None:
        if line != "open\n":
            k, yes, who = map(int, line.split())
            self.seen.add(k)
            if yes:
                assert k not in self.kept, "two were told that theirs is the row"
                self.kept[k] = who

    def check(self, path: Path) -> None:
        with ResultStore(path) as store:
            stored = {r.realization: r.result for r in store.rows("abc")}
            assert self.seen <= store.done("abc")
        for k, who in self.kept.items():
            assert stored[k] == {"who": who, "vpt": [k + who / 7] * 100}
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()


def test_two_processes_create_and_write_at_once(tmp_path: Path) -> None:
    told = Acknowledged()
    writers = [writer(tmp_path / "r.sqlite", who, 60, to=subprocess.PIPE) for who in (0, 1)]
    for process in writers:
        output, _ = process.communicate(timeout=200)
        assert process.returncode == 0
        for line in output.decode().splitlines(keepends=True):
            told.note(line)
    assert set(told.kept) == told.seen == set(range(60))
    told.check(tmp_path / "r.sqlite")


@POSIX
@pytest.mark.slow
def test_killed_writers_lose_nothing_acknowledged(tmp_path: Path) -> None:
    """25 rounds, two writers each, SIGKILL at random moments: opening, writing, checkpointing."""
    path, chance, told = tmp_path / "r.sqlite", random.Random(1), Acknowledged()
    for turn in range(25):
        reading, writing = os.pipe()
        first = 10**6 * turn
        writers = [writer(path, who, first + 10**6, first, writing) for who in (0, 1)]
        os.close(writing)
        with open(reading, encoding="utf-8") as pipe:
            for process in chance.sample(writers, 2):
                lines = chance.choice(
                    [1, chance.randrange(1, 50)]
                )  # 1: it has yet to open the file
                for _ in range(lines):
                    told.note(pipe.readline())
                time.sleep(chance.uniform(0, 0.02 if lines == 1 else 0.005))
                os.kill(process.pid, signal.SIGKILL)
                assert process.wait(timeout=200) == -signal.SIGKILL
            for line in pipe:
                told.note(line)
        if turn % 5 == 4:  # in between the next writers meet what the killed ones left
            told.check(path)
    assert len(told.kept) > 200  # the test had something to lose


def test_settings_that_make_an_acknowledgement_durable(tmp_path: Path) -> None:
    """A kill cannot show whether fsync was called; these settings are what calls it."""
    with fill(tmp_path / "r.sqlite") as store:
        assert store.journal == "wal"
        assert store._db
        assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)
        assert store._db.execute("PRAGMA foreign_keys").fetchone() == (1,)


# ---- full disks

FULL = """
import resource, shutil
folder, how = sys.argv[2:4]
path, ballast = os.path.join(folder, "r.sqlite"), os.path.join(folder, "ballast")
big = {"vpt": [1 / 3] * 800}

def full():
    if how == "limit":
        size = max(os.path.getsize(path + end) for end in ("", "-wal"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 30_000, resource.RLIM_INFINITY))
    else:
        with open(ballast, "wb") as file:
            file.write(b"x" * (shutil.disk_usage(folder).free - 30_000))

def room():
    if how == "limit":
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    else:
        os.unlink(ballast)

def refused(action, *arguments):
    try:
        return action(*arguments) and None
    except StoreError as error:
        return str(error)

store = ResultStore(path)
store.add_study("abc", {})
acknowledged = [k for k in range(5) if store.add("abc", k, big)]
store.export_csv("abc", os.path.join(folder, "r.csv"))
before = open(os.path.join(folder, "r.csv"), "rb").read()
full()
for k in range(5, 400):
    message = refused(store.add, "abc", k, big)
    if message:
        break
    acknowledged.append(k)
report = {"row": message, "count": len(acknowledged)}
report["still there"] = sorted(store.done("abc")) == acknowledged
if how == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
report["csv"] = refused(store.export_csv, "abc", os.path.join(folder, "r.csv"))
report["csv kept"] = open(os.path.join(folder, "r.csv"), "rb").read() == before
report["new store"] = refused(ResultStore, os.path.join(folder, "other.sqlite"))
report["files"] = sorted(os.listdir(folder))
room()
acknowledged += [k for k in range(500, 505) if store.add("abc", k, big)]
store.export_csv("abc", os.path.join(folder, "r.csv"))
store.close()
with ResultStore(path) as again:
    rows = again.rows("abc")
report["all"] = [r.realization for r in rows] == acknowledged
report["exact"] = all(r.result == big for r in rows)
print(json.dumps(report))
"""


@POSIX
@pytest.mark.parametrize("how", ["limit", "tmpfs"])
def test_full_disk(how: str, tmp_path: Path) -> None:
    """A limit on the size of files (no root needed), and a file system with no room left."""
    prefix: tuple[str, ...] = ()
    if how == "tmpfs":
        mount = f"mount -t tmpfs -o size=1m tmpfs '{tmp_path}' && exec \"$@\""
        prefix = ("unshare", "--mount", "sh", "-c", mount, "sh")
        able = shutil.which("unshare") and subprocess.run([*prefix, "true"], capture_output=True)
        if not able or able.returncode:
            pytest.skip("may not mount a small file system here; the limit on file sizes is tested")
    report = json.loads(run(FULL, str(tmp_path), how, prefix=prefix)[-1])
    assert "disk is full" in report["row"]
    assert "All rows saved before are safe" in report["row"]
    assert "Make room" in report["row"]
    assert 5 <= report["count"] < 400
    assert report["still there"]
    assert "r.csv" in report["csv"]
    assert "unchanged" in report["csv"]
    assert report["csv kept"]
    assert "disk is full" in report["new store"]
    assert not [name for name in report["files"] if name.endswith(".tmp")]
    assert report["all"]
    assert report["exact"]


# ---- files that cannot be used


@pytest.mark.parametrize("content", [b"not a database", b"x" * 5000, b"SQLite format 3\0" * 20])
def test_other_files_are_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"notes\.txt.* damaged or no file of results"):
        ResultStore(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["notes.txt"]


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["PRAGMA user_version = 2"], "newer version .*schema 2.* update rfm-explorer"),
        (["PRAGMA user_version = 0"], "older version .*schema 0"),
        (["PRAGMA application_id = 0"], "another program"),
        (["PRAGMA application_id = 77"], "another program"),
    ],
)
def test_other_versions_are_refused(statements: list[str], words: str, tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    fill(path).close()
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=words):
        ResultStore(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["r.sqlite"]


def test_someone_elses_database_keeps_its_journal_mode(tmp_path: Path) -> None:
    path = tmp_path / "contacts.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE people (name TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program; it was not changed"):
        ResultStore(path)
    assert path.read_bytes() == before


def test_truncated_file(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    fill(path, 40).close()
    content = path.read_bytes()
    for share in (0.02, 0.3, 0.6, 0.95):
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(StoreError, match="damaged"):
            ResultStore(path)


def test_flipped_bytes_never_give_other_rows(tmp_path: Path) -> None:
    path, chance = tmp_path / "r.sqlite", random.Random(0)
    with fill(path, 12) as store:
        truth = store.rows("abc")
    content, noticed = path.read_bytes(), []
    for _ in range(60):
        broken = bytearray(content)
        broken[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(broken)
        try:
            with ResultStore(path) as store:
                rows, done = store.rows("abc"), store.done("abc")
            assert rows == truth
            assert done == {r.realization for r in truth}
        except StoreError as error:
            noticed.append(str(error))
    assert all(re.search("damaged|version|another", words) for words in noticed)
    assert len(noticed) > 10  # the others hit empty space or the spec


def test_bad_places(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="is a folder"):
        ResultStore(tmp_path)
    with pytest.raises(StoreError, match="There can be no folder"):
        ResultStore(tmp_path / "file" / "r.sqlite")
    with pytest.raises(InvalidInput, match="name of a file"):
        ResultStore("a\0b")
    with pytest.raises(InvalidInput, match="name of a file"):
        ResultStore(5)  # type: ignore[arg-type]
    with ResultStore(tmp_path / ":memory:") as store:  # a strange name, but a file
        store.add_study("abc", {})
    assert (tmp_path / ":memory:").stat().st_size > 0 if os.name == "posix" else True
    with pytest.raises(StoreError, match="no file"), ResultStore(None) as store:
        store.export_csv(None, os.devnull)  # renaming onto it would replace the device


@contextmanager
def without_rights() -> Iterator[None]:
    """Root may write anywhere: be nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@POSIX
def test_read_only_places() -> None:
    folder = Path(tempfile.mkdtemp(prefix="rfm-read-only-"))  # pytest's own are closed to nobody
    try:
        path = folder / "r.sqlite"
        fill(path).close()
        before = path.read_bytes()
        path.chmod(0o666)
        folder.chmod(0o555)
        refused = r"cannot be opened for writing.* Choose a folder"
        for name in ("new.sqlite", "r.sqlite"):
            with without_rights(), pytest.raises(StoreError, match=refused):
                ResultStore(folder / name)
        path.chmod(0o444)
        folder.chmod(0o777)
        with without_rights(), pytest.raises(StoreError, match=refused):
            ResultStore(path)
        assert path.read_bytes() == before
        folder.chmod(0o555)
        refused = r"r\.csv.* could not be written"
        with ResultStore(None) as store, without_rights(), pytest.raises(StoreError, match=refused):
            store.export_csv(None, folder / "r.csv")
    finally:
        folder.chmod(stat.S_IRWXU)
        shutil.rmtree(folder)


def test_locked_file_waits_then_says_so(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    fill(path).close()
    with ResultStore(path, wait=0.2) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        with pytest.raises(StoreError, match=r"stayed locked for 0\.2 s.* safe"):
            store.add("abc", 5, row(5))
        assert time.monotonic() - start > 0.15  # it waited
        with pytest.raises(StoreError, match="stayed locked"):
            ResultStore(path, wait=0.1)
        assert len(store.rows("abc")) == 5  # readers are not kept out
        other.execute("COMMIT")
        other.close()
        assert store.add("abc", 5, row(5))


@POSIX
def test_a_file_that_vanishes_takes_no_rows(tmp_path: Path) -> None:
    with fill(tmp_path / "r.sqlite") as store:
        (tmp_path / "r.sqlite").rename(tmp_path / "moved.sqlite")
        with pytest.raises(StoreError, match="moved, deleted or replaced"):
            store.add("abc", 5, row(5))
        (tmp_path / "moved.sqlite").rename(tmp_path / "r.sqlite")
        assert store.add("abc", 5, row(5))


def test_closed_or_foreign_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = fill(tmp_path / "r.sqlite")
    monkeypatch.setattr(store, "_process", os.getpid() + 1)  # as in a child after fork
    with pytest.raises(StoreError, match="another process"):
        store.rows("abc")
    monkeypatch.undo()
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.rows("abc")


@POSIX
def test_drive_without_shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's "unix-dotfile" locking is for network drives; it has no WAL."""
    old, connect = tmp_path / "old.sqlite", sqlite3.connect
    fill(old).close()

    def on_network(place: str, **options: Any) -> sqlite3.Connection:
        return connect(f"file:{place}?vfs=unix-dotfile", uri=True, **options)

    monkeypatch.setattr(results.sqlite3, "connect", on_network)
    for path in (tmp_path / "new.sqlite", old):
        with fill(path, 0) as store:
            assert store.journal == "delete"
            assert store._db
            assert store._db.execute("PRAGMA synchronous").fetchone() == (3,)
            store.add("abc", 9, row(9))
            with ResultStore(path) as second:
                assert second.done("abc") == store.done("abc")
    monkeypatch.undo()
    with ResultStore(old) as store:
        assert store.done("abc") == {0, 1, 2, 3, 4, 9}


# ---- exports


def read_csv(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def exported(tmp_path: Path) -> ResultStore:
    store = fill(tmp_path / "r.sqlite")
    store.add_failure("abc", 5, 'It said "no",\nthen stopped.')
    store.add_study("def", {"data": {"system": "KS"}, "model": {"beta": "auto"}}, "β-Suche")
    store.add("def", 0, {**row(0, n=1), "beta": 1e-9, "extra": [[1, 2], [3]], "deep": {"a": 1}})
    return store


def test_csv(tmp_path: Path) -> None:
    with exported(tmp_path) as store:
        lines = read_csv(store.export_csv("abc", tmp_path / "r.csv"))
        assert len(lines) == 6
        for k, line in enumerate(lines[:5]):
            truth = row(k)
            assert line["study"] == "abc"
            assert line["label"] == "first, with a comma"
            assert (line["realization"], line["status"]) == (str(k), "ok")
            for name in ("vpt", "censored", "diverged_at"):
                assert json.loads(line[name]) == truth[name]
            for name in ("fit_seconds", "data_seconds", "forecast_seconds", "peak_mb"):
                assert float(line[name]) == truth[name]
            assert (float(line["error"]) if line["error"] else None) == truth["error"]
            assert float(line["vpt_mean"]) == np.mean(truth["vpt"])
            assert int(line["censored_count"]) == sum(truth["censored"])
            assert int(line["diverged_count"]) == truth["diverged_at"].count(17)
            assert (line["system"], line["architecture"]) == ("L63", "DeepSkip")
            assert (line["width"], line["depth"], line["seed"]) == ("64", "3", "7")
            assert (line["device"], line["dtype"], line["threads"]) == ("cpu", "float64", "1")
            assert line["version_torch"] == "2.13.0"
            assert json.loads(line["spec"]) == SPEC
        assert lines[5]["reason"] == 'It said "no",\nthen stopped.'
        assert (lines[5]["status"], lines[5]["vpt"], lines[5]["width"]) == ("failed", "", "64")
        everything = read_csv(store.export_csv(None, tmp_path / "all.csv"))
        assert [line["study"] for line in everything] == ["abc"] * 6 + ["def"]
        assert float(everything[6]["beta"]) == 1e-9  # what was found, not what was asked
        assert json.loads(everything[6]["extra"]) == [[1, 2], [3]]
        with pytest.raises(StoreError, match="no study 'nope'"):
            store.export_csv("nope", tmp_path / "nope.csv")
        assert not (tmp_path / "nope.csv").exists()


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with exported(tmp_path) as store:
        table = parquet.read_table(store.export_parquet("abc", tmp_path / "r.parquet"))
        lines = table.to_pylist()
        assert [line["vpt"] for line in lines] == [*(row(k)["vpt"] for k in range(5)), None]
        assert [line["fit_seconds"] for line in lines[:5]] == [
            row(k)["fit_seconds"] for k in range(5)
        ]
        assert lines[0]["censored"] == row(0)["censored"]
        assert [line["error"] for line in lines[:5]] == [row(k)["error"] for k in range(5)]
        types = {field.name: str(field.type) for field in table.schema}
        assert types["vpt"].startswith("list<")
        assert types["vpt"].endswith("double>")
        assert (types["realization"], types["width"], types["beta"]) == ("int64", "int64", "double")
        everything = parquet.read_table(store.export_parquet(None, tmp_path / "all.parquet"))
        last = everything.to_pylist()[-1]
        assert (last["label"], last["beta"], last["extra"]) == ("β-Suche", 1e-9, [[1, 2], [3]])
        assert json.loads(last["deep"]) == {"a": 1}
    with ResultStore(None) as empty:  # no rows: the same columns of the same types
        empty.add_study("abc", SPEC)
        empty.add_failure("abc", 0, "No.")
        schema = parquet.read_schema(empty.export_parquet("abc", tmp_path / "empty.parquet"))
    assert schema.equals(table.schema)


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with fill(None) as store, pytest.raises(InvalidInput, match=r"rfm-explorer\[parquet\]"):
        store.export_parquet("abc", tmp_path / "r.parquet")
    assert not list(tmp_path.iterdir())


@POSIX
def test_export_does_not_overwrite_the_store(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "r.sqlite")
    with fill(tmp_path / "r.sqlite") as store:
        for name in ("r.sqlite", "r.sqlite-wal", "link.csv"):
            with pytest.raises(StoreError, match="another file"):
                store.export_csv("abc", tmp_path / name)
        assert len(store.rows("abc")) == 5


# ---- statistics


def ok(vpt: list[float], **more: Any) -> ResultRow:
    return ResultRow(0, "ok", {"vpt": vpt, **more}, "", "")


def test_statistics_by_hand() -> None:
    rows = [
        ok([1.0, 3.0], censored=[False, True], diverged_at=[-1, 0], fit_seconds=1.0, peak_mb=5.0),
        ok([5.0, 7.0], censored=[True, True], diverged_at=[-1, 9], fit_seconds=2.0, peak_mb=4.0),
        ResultRow(2, "failed", {}, "No.", ""),
    ]
    found = statistics(rows)
    assert (found["mean"], found["median"], found["min"], found["max"]) == (4, 4, 1, 7)
    assert found["std"] == pytest.approx(np.std([1, 3, 5, 7], ddof=1))
    assert found["sem"] == pytest.approx(np.std([2, 6], ddof=1) / np.sqrt(2))
    assert (found["n"], found["realizations"], found["failed"]) == (4, 2, 1)
    assert (found["censored"], found["diverged"]) == (3, 2)
    assert (found["fit_seconds"], found["peak_mb"]) == (1.5, 5.0)


def test_statistics_of_few_rows() -> None:
    none, one = statistics([]), statistics([ok([2.0, 4.0])])
    assert (none["n"], none["realizations"]) == (0, 0)
    assert np.isnan([none["mean"], none["sem"], none["fit_seconds"], none["peak_mb"]]).all()
    assert (one["mean"], one["n"]) == (3, 2)
    assert np.isnan(one["sem"])  # one model says nothing about how models differ
    single = statistics([ok([v]) for v in (1.0, 2.0, 4.0)])
    assert single["sem"] == pytest.approx(single["std"] / np.sqrt(3))


def test_standard_error_counts_models_not_trajectories() -> None:
    """Models differ more than the trajectories of one model: against the spread of many means."""
    rng = np.random.default_rng(0)

    def study() -> list[ResultRow]:
        sizes = rng.integers(5, 20, 25)
        return [ok(list(rng.normal() + 0.5 * rng.normal(size=n))) for n in sizes]

    found = [statistics(study()) for _ in range(400)]
    spread = np.std([f["mean"] for f in found])
    assert np.mean([f["sem"] for f in found]) == pytest.approx(spread, rel=0.12)
    naive = np.mean([f["std"] / np.sqrt(f["n"]) for f in found])
    assert naive < 0.5 * spread
