"""What workers do for the app: the engine's numbers to the bit, in files, and worded refusals."""

from __future__ import annotations

import io
import json
import struct
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rfm_explorer.compute.jobs
from rfm_explorer.results.files import Results
from rfm_explorer.results.records import Climate, Features, Regression

import rfm_core as rfm
from rfm_core.measure.climate import RUNS
from rfm_core.model.fit import AUTO_BETAS
from rfm_core.run.slots import Slot
from rfm_core.run.tasks import Task, TaskDone, TaskFailed, perform

DATA = rfm.DataSpec("L63", n_train=2000, n_test=4, test_steps=1500, seed=3)
MODEL = rfm.ModelSpec("SkipRFM", width=64, beta=1e-12, refine=1)


def arguments(
    folder: Path, data: Any = DATA, model: rfm.ModelSpec = MODEL, **more: Any
) -> dict[str, Any]:
    plain = data if isinstance(data, dict) else data.to_dict()
    base = {"folder": str(folder), "data": plain, "model": model.to_dict(), "seed": 3}
    return {**base, "device": "cpu", **more}


def done(job: str, given: dict[str, Any], listener: Any = None) -> dict[str, Any]:
    outcome = perform(Task("test", job, given), listener)
    assert isinstance(outcome, TaskDone), outcome
    return outcome.result


def refused(job: str, given: dict[str, Any]) -> str:
    outcome = perform(Task("test", job, given))
    assert isinstance(outcome, TaskFailed), outcome
    return outcome.reason


def reading(folder: Path) -> Results:
    run = Results(folder)
    run.refresh()
    return run


@pytest.fixture(scope="module")
def slot() -> Iterator[Slot]:
    slot = Slot(modules=("rfm_explorer.compute.jobs",), memory_gb=1.5)
    yield slot
    slot.kill()


def outcome_of(slot: Slot, job: str, given: dict[str, Any]) -> TaskDone | TaskFailed:
    slot.start(Task("test", job, given))
    end = time.monotonic() + 120
    while time.monotonic() < end:
        for event in slot.poll():
            if isinstance(event, (TaskDone, TaskFailed)):
                return event
        time.sleep(0.02)
    raise AssertionError(f"{job} took too long")


@pytest.fixture(scope="module")
def trained(slot: Slot, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A run that a worker process has trained; the tests only read it."""
    folder = tmp_path_factory.mktemp("run")
    assert isinstance(outcome_of(slot, "ping", {}), TaskDone)
    outcome = outcome_of(slot, "explorer.train", arguments(folder, shown=2))
    assert isinstance(outcome, TaskDone), outcome
    return reading(folder)


@pytest.fixture(scope="module")
def engine() -> tuple[rfm.Dataset, rfm.Model]:
    data = rfm.make_dataset(DATA)
    return data, rfm.fit(MODEL, data, seed=3, device="cpu")


def test_a_worker_gives_the_numbers_of_the_engine(
    trained: Results, engine: tuple[rfm.Dataset, rfm.Model]
) -> None:
    data, model = engine
    expected = rfm.evaluate(model, data)
    assert trained.times is not None
    assert np.array_equal(trained.times.vpt, expected.vpt)
    assert np.array_equal(trained.times.censored, expected.censored)
    assert np.array_equal(trained.times.diverged, expected.diverged_at >= 0)
    assert trained.times.test.tolist() == [0, 1, 2, 3]


def test_the_saved_model_forecasts_to_the_bit(
    trained: Results, engine: tuple[rfm.Dataset, rfm.Model]
) -> None:
    data, model = engine
    assert trained.model_path is not None
    loaded = rfm.load(trained.model_path, device="cpu")
    steps = 1500
    expected = model.forecast(data.test[:, 0], steps)
    assert np.array_equal(loaded.forecast(data.test[:, 0], steps), expected)
    for test in range(4):
        kept = trained.trajectory(0, test)
        assert kept is not None
        seen = np.isfinite(kept.forecast[:, 0])
        assert np.array_equal(kept.truth, data.test[test])
        assert np.array_equal(kept.forecast[seen], expected[test][seen])
        # it goes on beyond the failure, so that a picture shows it
        largest = rfm.evaluate(model, data).vpt.max() / (data.dt * 0.91)
        assert seen.sum() >= min(steps, 1.3 * largest + 1 / (data.dt * 0.91))
        error = rfm.forecast_error(expected[test], data.test[test], data.std)
        assert np.array_equal(kept.error[seen], error[seen])


def test_what_is_known_of_data_and_model(trained: Results) -> None:
    info, told = trained.info, trained.trained
    assert info is not None
    assert told is not None
    assert (info.title, info.columns, info.unit) == (
        "Lorenz 1963",
        ("x", "y", "z"),
        "Lyapunov times",
    )
    assert (info.pairs, info.n_test, info.steps, info.own) == (2000, 4, 1500, False)
    assert info.backdrop.shape == (2001, 3)
    assert told.spec == MODEL
    assert told.size == MODEL.size(3)
    assert [unit.beta for unit in told.units] == [1e-12]
    assert trained.live is not None
    assert (trained.live.test, trained.live.done) == (2, True)


def test_naive_features_saturate_and_ours_do_not(trained: Results) -> None:
    assert trained.get(Features) is not None
    [unit] = trained.get(Features).units
    assert set(unit) == {"training", "test", "forecast", "naive"}
    assert unit["training"].overall["good"] == 1.0
    assert unit["forecast"].overall["good"] > 0.9
    assert unit["naive"].overall["saturated"] > 0.5


def test_the_page_sees_the_forecast_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rfm_explorer.compute.jobs, "PIECE_SECONDS", 0.0)
    run, lengths, failures = Results(tmp_path), [], []

    def look(progress: rfm.Progress) -> None:
        if progress.stage == "forecast" and run.refresh() and run.live is not None:
            lengths.append(int(np.isfinite(run.live.error).sum()))
            failures.append(run.live.vpt)
            assert not run.live.done

    done("explorer.train", arguments(tmp_path, shown=1), look)
    assert len(lengths) > 3
    assert lengths == sorted(set(lengths))
    run.refresh()
    assert run.live is not None
    assert run.live.done
    known = {vpt for vpt in failures if vpt is not None}
    assert failures[0] is None
    assert known == {run.live.vpt}  # as soon as it has failed, and to the bit


def test_realizations_are_those_of_a_study(tmp_path: Path) -> None:
    model = MODEL.replace(beta="auto")
    done("explorer.train", arguments(tmp_path, model=model, shown=99))  # the last is shown
    done("explorer.realizations", arguments(tmp_path, model=model, first=1, count=2))
    run = reading(tmp_path)
    assert run.times is not None
    assert len(run.times) == 12
    for number in range(3):
        given = {"data": DATA.to_dict(), "model": model.to_dict(), "seed": 3, "device": "cpu"}
        row = done("realization", {**given, "realization": number})
        mine = run.times.realization == number
        assert run.times.vpt[mine].tolist() == row["vpt"]
        assert run.times.censored[mine].tolist() == row["censored"]
        assert run.times.diverged[mine].tolist() == [step >= 0 for step in row["diverged_at"]]
        kept = run.trajectory(number, 3)
        assert kept is not None
        assert kept.vpt == row["vpt"][3]
    free = run.get(Regression)  # of the unit whose beta was chosen
    assert free is not None
    assert free.units[0].betas.tolist() == list(AUTO_BETAS)
    assert free.solvers == ()
    assert "not compared yet" in free.reason


def test_climate_of_a_good_surrogate_is_near_the_truth(trained: Results) -> None:
    done("explorer.climate", {**arguments(trained.folder), "times": 300})
    trained.refresh()
    found = trained.get(Climate)
    assert found is not None
    assert found.columns == ("x", "y", "z")
    assert (found.runs, found.diverged, found.pooled, found.reason) == (RUNS, 0, False, "")
    assert found.times == pytest.approx(300, rel=0.01)
    for densities in (found.truth, found.surrogate):
        mass = (densities * np.diff(found.edges)).sum(axis=1)
        assert np.allclose(mass + (densities is found.surrogate) * found.outside, 1)
    spread = trained.info.std if trained.info else np.zeros(3)
    assert (found.w2 < 0.2 * spread).all()
    assert (found.w2_true > 0).all()
    assert np.allclose(found.sinkhorn, found.w2, rtol=0.2, atol=0.05)
    band = (found.frequency > 0.2) & (found.frequency < 3)
    ratio = found.power_surrogate[band].sum() / found.power_truth[band].sum()
    assert 0.7 < ratio < 1.4


def test_climate_length_has_limits(trained: Results) -> None:
    for times in (0.01, 1e9, "long"):
        given = {**arguments(trained.folder), "times": times}
        assert "times=" in refused("explorer.climate", given)


def test_stability_is_the_engines(trained: Results) -> None:
    assert trained.get(rfm.Stability) is None
    done("explorer.stability", arguments(trained.folder))
    trained.refresh()
    found = trained.get(rfm.Stability)
    assert found is not None
    assert trained.model_path is not None
    expected = rfm.stability(rfm.load(trained.model_path), rfm.make_dataset(DATA))
    np.testing.assert_array_equal(found.tau_f, expected.tau_f)
    np.testing.assert_array_equal(found.surrogate.exponents, expected.surrogate.exponents)
    np.testing.assert_array_equal(found.one_step.error, expected.one_step.error)
    assert (found.truth_dimension, found.truth_reason) == (expected.truth_dimension, "")
    assert trained.version(rfm.Stability) == 1


def test_inside_the_regression(trained: Results) -> None:
    assert trained.get(Regression) is None  # beta was given, so training has not tried others
    done("explorer.regression", arguments(trained.folder))
    trained.refresh()
    found = trained.get(Regression)
    assert found is not None
    [unit] = found.units
    data = rfm.make_dataset(DATA)
    assert trained.model_path is not None
    conditions = rfm.condition_numbers(rfm.load(trained.model_path, device="cpu"), data)
    assert unit.condition_features == conditions.features[0]
    assert unit.condition_weights == conditions.weights[0]
    assert found.condition_data == conditions.data
    assert unit.singular_values.shape == (64,)
    assert (np.diff(unit.singular_values) <= 0).all()
    assert (np.diff(unit.norm) <= 1e-9 * unit.norm[:-1]).all()  # larger beta, smaller weights
    assert [solver.solver for solver in found.solvers] == ["qr", "normal"]
    for solver in found.solvers:
        expected = rfm.search_beta(MODEL.replace(solver=solver.solver), data, seed=3, device="cpu")
        assert np.array_equal(solver.forecast, expected.forecast)
        assert np.array_equal(solver.betas, expected.betas)


def test_a_local_deep_model_in_space(tmp_path: Path) -> None:
    data = rfm.DataSpec(
        "L96", n_train=1500, n_test=3, test_steps=200, parameters={"D": 12}, lyapunov=2.0
    )
    model = rfm.ModelSpec("LocalDeepSkip", width=300, depth=2, G=2, I=1, beta="auto")
    done("explorer.train", arguments(tmp_path, data, model))
    run = reading(tmp_path)
    assert run.info is not None
    assert (run.info.homogeneous, run.info.length, len(run.info.columns)) == (True, 12.0, 12)
    assert run.info.backdrop.shape == (0, 12)
    assert run.get(Features) is not None
    assert [set(unit) for unit in run.get(Features).units] == [
        {"training", "test", "forecast", "naive"},
        {"training", "test", "forecast"},
    ]
    first = run.get(Regression)
    assert first is not None
    done("explorer.climate", {**arguments(tmp_path, data, model), "times": 100})
    done("explorer.regression", arguments(tmp_path, data, model))
    run.refresh()
    assert run.get(Climate) is not None
    assert (run.get(Climate).columns, run.get(Climate).pooled) == (("u",), True)
    assert run.get(Climate).w2.shape == (1,)
    assert run.get(Climate).power_truth.max() > 0
    whole = run.get(Regression)
    assert whole is not None
    assert whole.solvers == ()
    assert "600" in whole.reason
    for before, after in zip(first.units, whole.units, strict=True):
        assert before.beta == after.beta
        # the second unit sees what it saw in training, so the path is the same one
        assert np.allclose(before.heldout, after.heldout, rtol=1e-6)


def test_runs_that_diverge_are_counted_and_said(tmp_path: Path) -> None:
    wild = rfm.ModelSpec("SkipRFM", features="polynomial", degree=5, beta=0.0, noise=3.0, rows=80)
    done("explorer.train", arguments(tmp_path, model=wild))
    run = reading(tmp_path)
    assert run.times is not None
    assert run.times.diverged[0]
    assert run.live is not None
    assert run.live.diverged_at > 0
    assert np.isnan(run.live.forecast[run.live.diverged_at :]).all()
    assert run.get(Features) is not None
    assert run.get(Features).units == ()
    done("explorer.climate", {**arguments(tmp_path, model=wild), "times": 50})
    run.refresh()
    assert run.get(Climate) is not None
    assert run.get(Climate).diverged == RUNS
    assert "left every bound" in run.get(Climate).reason
    assert np.isnan(run.get(Climate).power_surrogate).all()


def test_extras_need_a_model(tmp_path: Path) -> None:
    for job in ("explorer.climate", "explorer.regression", "explorer.stability"):
        reason = refused(job, {**arguments(tmp_path), "times": 100})
        assert "Train it first" in reason
        assert str(tmp_path) not in reason


# --- a user's own file -----------------------------------------------------------------------


def own_file(folder: Path, header: str, with_time: bool = True) -> Path:
    states = rfm.make_dataset(DATA).train[0]
    rows = np.column_stack([np.arange(len(states)) * 0.01, states]) if with_time else states
    path = folder / "upload-1"
    np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.17g")
    return path


def series(path: Path, **more: Any) -> dict[str, Any]:
    base = {"file": str(path), "name": "<img src=x>.csv", "columns": None, "time": None}
    rest = {"dt": None, "key": None, "lyapunov": None, "estimate": False, "eps": 0.4, "n_test": 5}
    return {"series": {**base, **rest, "homogeneous": False, **more}}


def test_an_own_series_from_file_to_climate(tmp_path: Path) -> None:
    path = own_file(tmp_path, "t,x,y,<b>z</b>")
    found = done("explorer.inspect", {"file": str(path), "name": "mine.csv"})
    assert found["columns"] == ["t", "x", "y", "<b>z</b>"]
    assert (found["rows"], found["columns_count"], found["components"]) == (2001, 4, 3)
    assert (found["time_guess"], found["arrays"]) == ("t", [])
    assert found["dt_guess"] == pytest.approx(0.01)
    assert len(found["sample"]) == 6
    folder = tmp_path / "run"
    folder.mkdir()
    given = arguments(folder, series(path), MODEL)
    done("explorer.train", given)
    run = reading(folder)
    assert run.info is not None
    assert (run.info.own, run.info.unit, run.info.name) == (True, "time units", "<img src=x>")
    assert run.info.columns == ("x", "y", "<b>z</b>")
    data = rfm.load_series((path.read_bytes(), "mine.csv"), eps=0.4, n_test=5)
    model = rfm.fit(MODEL, data, seed=3, device="cpu")
    assert run.times is not None
    assert np.array_equal(run.times.vpt, rfm.evaluate(model, data).vpt)
    done("explorer.climate", {**given, "times": 100})
    run.refresh()
    assert run.get(Climate) is not None
    assert "your own series" in run.get(Climate).reason
    assert run.get(Climate).w2_true.shape == (3,)
    path.unlink()
    assert "Choose it again" in refused("explorer.train", given)


def test_columns_without_names_go_by_position(tmp_path: Path) -> None:
    path = own_file(tmp_path, "")
    path.write_bytes(path.read_bytes().lstrip())  # no header at all
    found = done("explorer.inspect", {"file": str(path), "name": "mine.csv"})
    assert found["columns"] == ["column 1", "column 2", "column 3", "column 4"]
    assert found["time_guess"] == "column 1"
    folder = tmp_path / "run"
    folder.mkdir()
    chosen = series(path, columns=["column 4", "column 2"], time="column 1")
    done("explorer.train", arguments(folder, chosen))
    run = reading(folder)
    truth = rfm.make_dataset(DATA).train[0]
    assert run.info is not None
    assert np.array_equal(run.info.backdrop[0], truth[0, [2, 0]])


def test_what_is_missing_is_asked_for(tmp_path: Path) -> None:
    path = own_file(tmp_path, "x,y,z", with_time=False)
    found = done("explorer.inspect", {"file": str(path), "name": "mine.csv"})
    assert (found["time_guess"], found["dt_guess"], found["components"]) == (None, None, 3)
    assert "No time column was found" in found["message"]


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def test_an_archive_of_several_arrays(tmp_path: Path) -> None:
    path, walk = tmp_path / "upload-2", np.arange(90.0).reshape(30, 3)
    path.write_bytes(npz(a=walk, b=walk[:, :2]))
    given = {"file": str(path), "name": "two.npz"}
    found = done("explorer.inspect", given)
    assert (found["arrays"], found["columns"]) == (["a", "b"], [])
    assert "which array is the series" in found["message"]
    assert done("explorer.inspect", {**given, "key": "b"})["columns_count"] == 2
    path.write_bytes(npz(u=np.where(walk == 4, np.nan, walk)))
    found = done("explorer.inspect", given)
    assert "1 entries are not finite" in found["message"]
    assert found["sample"][1] == [3.0, None, 5.0]


def hostile() -> dict[str, tuple[bytes, str]]:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 3), }"
    lying = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("u.npy", b"\0" * 60_000_000)
    objects = io.BytesIO()
    np.save(objects, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return {
        "empty": (b"", "a.csv"),
        "binary": (b"\x00\x01\x02" * 50, "a.csv"),
        "words": (b"<script>alert(1)</script>\n" * 30, "a.csv"),
        "ending": (b"1,2\n" * 30, "../../etc/passwd"),
        "lying": (lying, "a.npy"),
        "bomb": (bomb.getvalue(), "a.npz"),
        "objects": (objects.getvalue(), "a.npy"),
        "no zip": (b"PK\x03\x04 and nothing more", "a.npz"),
        "key": (b"1,2\n" * 30, "a\n<b>.csv"),
    }


def test_hostile_files_are_refused_in_words_and_the_worker_lives(
    slot: Slot, tmp_path: Path
) -> None:
    path = tmp_path / "upload-3"
    for kind, (content, name) in hostile().items():
        path.write_bytes(content)
        given: dict[str, Any] = {"file": str(path), "name": name}
        if kind == "key":
            given["key"] = "u"
        outcome = outcome_of(slot, "explorer.inspect", given)
        assert isinstance(outcome, TaskFailed), kind
        assert outcome.attempts == 1
        assert "Something went wrong" not in outcome.reason, (kind, outcome.details)
        assert outcome.reason.endswith((".", "?"))
        assert str(tmp_path) not in outcome.reason
        assert "\n" not in outcome.reason
    path.write_bytes(own_file(tmp_path, "t,x,y,z").read_bytes())
    good = outcome_of(slot, "explorer.inspect", {"file": str(path), "name": "a.csv"})
    assert isinstance(good, TaskDone)
    assert json.loads(json.dumps(good.result)) == good.result
