"""The folder of a run: what is written is read exactly, at any moment, whatever lies around."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rfm_explorer.results.files
from rfm_explorer.results.files import SETTLED, Results, Writer
from rfm_explorer.results.records import (
    Climate,
    Features,
    Info,
    Regression,
    Solver,
    Times,
    Trained,
    Trajectory,
    UnitRegression,
    UnitReport,
)
from rfm_explorer.results.serialize import read_result, write_result
from rfm_explorer.results.temporary import sweep

from rfm_core import Cancelled, InvalidInput, ModelSpec, TanhRegions

STEPS = 40
RECORDS = (Info, Trained, Features, Climate, Regression)  # of which a run has one each
rng = np.random.default_rng(0)


def an_info() -> Info:
    return Info(
        name="<b>mine</b>", title="mine", dt=0.1, eps=0.3, lyapunov=None,
        lyapunov_is_estimate=False, columns=("x", "ü"), dimension=2, homogeneous=False, length=2.0,
        pairs=100, n_test=3, steps=STEPS, std=rng.random(2), mean=rng.random(2),
        backdrop=np.zeros((0, 2)), own=True,
    )  # fmt: skip


def a_trajectory(test: int, realization: int = 0, failed: int = 25) -> Trajectory:
    truth, forecast = rng.random((2, STEPS + 1, 2))
    forecast[failed + 5 :] = np.nan
    error = np.linspace(0, 1, STEPS + 1)
    return Trajectory(realization, test, truth, forecast, error, failed * 0.1, False, failed + 5)


def some_times(realization: int) -> Times:
    n = np.arange(3)
    return Times(rng.random(3), n == 0, n == 2, np.full(3, realization), n)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if dataclasses.is_dataclass(a) and not isinstance(a, ModelSpec):
        fields = [f.name for f in dataclasses.fields(a)]
        return type(a) is type(b) and all(same(getattr(a, f), getattr(b, f)) for f in fields)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return a is b or a == b or (a != a and b != b)


def results() -> list[Any]:
    line, nan = np.linspace(0, 1, 5), float("nan")
    regions = TanhRegions(line, line, line, line, line[1:], 0.4, 3.5)
    unit = UnitRegression(line, 1e-24, line, line, line * nan, line, line, float("inf"), 3.0)
    return [
        an_info(),
        Trained(ModelSpec("DeepSkip", depth=2), 2**62, 7, (UnitReport(0.1, nan, 1.0, 9),), 1, 2.5),
        a_trajectory(1),
        dataclasses.replace(a_trajectory(1), vpt=None, done=False),
        some_times(4),
        Features(({"training": regions, "naive": regions}, {"test": regions}), "gaussian"),
        Climate(("u",), True, *(line[None] for _ in range(3)), *(line[:1] for _ in range(4)),
                line, line, line * nan, 100.0, 10, 2, "why"),
        Regression((unit, unit), (Solver("qr", line, line, line, line),), float("inf"), 3),
    ]  # fmt: skip


@pytest.mark.parametrize("result", results(), ids=lambda r: type(r).__name__)
def test_results_come_back_exactly(result: Any, tmp_path: Path) -> None:
    write_result(tmp_path / "a.safetensors", result)
    assert same(read_result(tmp_path / "a.safetensors"), result)


def test_an_empty_folder_has_nothing(tmp_path: Path) -> None:
    run = Results(tmp_path)
    assert not run.refresh()
    for kind in RECORDS:
        assert run.get(kind) is None
        assert run.version(kind) == 0
    for name in ("info", "trained", "live", "times", "model_path"):
        assert getattr(run, name) is None
    assert run.trajectory(0, 0) is None


def test_each_kind_has_its_version(tmp_path: Path) -> None:
    writer, run = Writer(tmp_path), Results(tmp_path)
    for result in results():
        if type(result) not in RECORDS:
            continue
        before = {kind: run.version(kind) for kind in RECORDS}
        writer.save(result)
        assert run.refresh()
        assert {kind: run.version(kind) for kind in RECORDS} == before | {type(result): 1}
        assert same(run.get(type(result)), result)
    writer.times(4, some_times(4))
    writer.save(next(result for result in results() if isinstance(result, Climate)))  # once more
    assert run.refresh()
    assert (run.version(Times), run.version(Climate)) == (1, 2)
    assert not run.refresh()


def test_a_write_right_after_a_look_is_seen(tmp_path: Path) -> None:
    """Clocks of file systems are coarse: two writes may bear the same time."""
    writer, run = Writer(tmp_path), Results(tmp_path)
    for count in range(1, 30):
        (tmp_path / "times-000000.safetensors").unlink(missing_ok=True)
        writer.times(0, some_times(0))
        assert run.refresh()
        assert run.version(Times) == count


def test_times_of_all_realizations_in_order(tmp_path: Path) -> None:
    writer, run = Writer(tmp_path), Results(tmp_path)
    parts = {number: some_times(number) for number in (12, 0, 3)}
    for number, times in parts.items():
        writer.times(number, times)
    run.refresh()
    assert run.times is not None
    assert run.times.realization.tolist() == [0] * 3 + [3] * 3 + [12] * 3
    assert np.array_equal(run.times.vpt, np.concatenate([parts[n].vpt for n in (0, 3, 12)]))
    assert run.times is run.times  # made once


def test_a_forecast_grows_and_is_whole_in_the_end(tmp_path: Path) -> None:
    writer, run = Writer(tmp_path), Results(tmp_path)
    whole = a_trajectory(1)
    writer.live(0, 1, whole.truth)
    run.refresh()
    first = run.live
    assert first is not None
    assert not first.done
    assert np.isfinite(first.error).sum() == 1
    for low, high, vpt in ((1, 11, None), (11, 31, 2.5)):
        here = slice(low, high)
        writer.piece(low, whole.forecast[here], whole.error[here], vpt, -1)
        assert run.refresh()
        live = run.live
        assert live is not None
        assert live.vpt == vpt
        assert np.array_equal(live.forecast[1:high], whole.forecast[1:high], equal_nan=True)
        assert np.isnan(live.forecast[high:]).all()
    assert np.isfinite(first.error).sum() == 1  # what was handed out does not change
    writer.trajectories([a_trajectory(0), whole, a_trajectory(2)], shown=1)
    assert run.refresh()
    assert same(run.live, whole)
    assert same(run.trajectory(0, 1), whole)
    assert run.trajectory(0, 3) is None
    assert not list(tmp_path.glob("piece-*"))


def test_a_second_attempt_forgets_the_pieces_of_the_first(tmp_path: Path) -> None:
    writer, run = Writer(tmp_path), Results(tmp_path)
    whole = a_trajectory(0)
    writer.live(0, 0, whole.truth)
    writer.piece(20, whole.forecast[20:25], whole.error[20:25], 2.0, -1)
    run.refresh()
    writer.live(0, 0, whole.truth)
    run.refresh()
    assert run.live is not None
    assert run.live.vpt is None
    assert np.isnan(run.live.forecast[1:]).all()


@pytest.mark.parametrize("content", [b"", b"\x00" * 5, b"{}", b"\xff" * 4096, None])
def test_damaged_files_are_as_absent(content: bytes | None, tmp_path: Path) -> None:
    writer, run = Writer(tmp_path), Results(tmp_path)
    writer.save(an_info())
    writer.trajectories([a_trajectory(0)])
    writer.live(0, 0, np.zeros((3, 2)))
    writer.piece(1, np.zeros((1, 2)), np.zeros(1), None, -1)
    good = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for path in good:
        half = path.read_bytes()[: path.stat().st_size // 2]
        path.write_bytes(half if content is None else content)
    (tmp_path / "surprise.safetensors").write_bytes(b"?")
    (tmp_path / "tests-x-y-z.safetensors").write_bytes(b"?")
    run.refresh()
    assert run.info is None
    assert run.live is None
    assert run.trajectory(0, 0) is None
    info = an_info()
    writer.save(info)
    assert run.refresh()
    assert same(run.info, info)


def test_where_nothing_is_new_no_file_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, run = Writer(tmp_path), Results(tmp_path)
    writer.times(0, some_times(0))
    assert run.refresh()
    old = os.stat(tmp_path).st_mtime_ns - 10 * SETTLED  # as if the last change were long ago
    os.utime(tmp_path, ns=(old, old))
    run.refresh()
    looks: list[object] = []
    real = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: looks.append(path) or real(path))
    for _ in range(100):
        assert not run.refresh()
    assert not looks
    writer.times(1, some_times(1))
    assert run.refresh()
    assert len(looks) == 1


def test_beyond_its_room_only_the_shown_test_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rfm_explorer.results.files, "FILE_BYTES", 1)
    monkeypatch.setattr(rfm_explorer.results.files, "TESTS_BYTES", 4000)
    several = [a_trajectory(test) for test in range(6)]
    Writer(tmp_path).trajectories(several, shown=4)
    run = Results(tmp_path)
    run.refresh()
    there = [test for test in range(6) if run.trajectory(0, test) is not None]
    assert there == [0, 1, 4]
    Writer(tmp_path).trajectories([a_trajectory(0, realization=1)])
    run.refresh()
    assert run.trajectory(1, 0) is None


def test_many_tests_are_few_files(tmp_path: Path) -> None:
    Writer(tmp_path).trajectories([a_trajectory(test) for test in range(100)])
    assert len(list(tmp_path.iterdir())) == 1


def test_what_was_removed_does_not_come_back(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    writer, run = Writer(folder), Results(folder)
    writer.save(an_info())
    run.refresh()
    run.remove()
    assert not folder.exists()
    assert not run.refresh()
    with pytest.raises(Cancelled):
        writer.times(0, some_times(0))
    assert not folder.exists()


def test_what_cannot_be_written_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "info.safetensors").mkdir()  # no file can take its place
    with pytest.raises(InvalidInput, match="could not be kept"):
        Writer(tmp_path).save(an_info())


def test_folders_are_private_and_gone_at_exit() -> None:
    code = (
        "from rfm_explorer.results.temporary import new_folder; import os;"
        "f = new_folder(); g = new_folder();"
        "assert f != g and f.parent == g.parent; (f / 'x').write_text('x');"
        "print(oct(os.stat(f.parent).st_mode)[-3:], oct(os.stat(f).st_mode)[-3:], f.parent)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    home, own, parent = done.stdout.split(maxsplit=2)
    assert (home, own) == ("700", "700")
    assert not Path(parent.strip()).exists()


def test_sweeping_takes_old_leftovers_of_the_dead_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    days = {f"rfm-explorer-{dead.pid}-old": 2, f"rfm-explorer-{dead.pid}-young": 0,
            f"rfm-explorer-{os.getpid()}-living": 2, "rfm-explorer-notes": 2}  # fmt: skip
    for name, age in days.items():
        (tmp_path / name / "run-1").mkdir(parents=True)
        then = time.time() - age * 24 * 3600
        os.utime(tmp_path / name, (then, then))
    sweep()
    assert {path.name for path in tmp_path.iterdir()} == set(days) - {next(iter(days))}
