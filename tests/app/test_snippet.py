"""The code to take away gives the numbers of the app's runs, which are the engine's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rfm_explorer.compute.jobs  # noqa: F401 - registers the jobs
from rfm_explorer.results.files import Results
from rfm_explorer.results.records import Climate, Features
from rfm_explorer.state.controls import OWN
from rfm_explorer.state.settings import Settings
from rfm_explorer.views import VIEWS

import rfm_core as rfm
from rfm_core.run.tasks import Task, TaskDone, perform

SMALL = {"n_train": 1500, "n_test": 3, "width": 40, "seed": 4, "climate_times": 40.0}


def made(**changes: Any) -> Settings:
    s = Settings()
    s.apply({**SMALL, **changes})
    return s


def snippet(s: Settings, key: str, shown: tuple[int, int] = (0, 0)) -> str:
    return next(view for view in VIEWS if view.key == key).snippet(s, shown)


def run(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(code, "snippet", "exec"), names)
    return names


@pytest.fixture
def direct() -> tuple[rfm.Dataset, rfm.Model]:
    data = rfm.make_dataset(rfm.DataSpec("L63", n_train=1500, n_test=3, seed=4))
    return data, rfm.fit(rfm.ModelSpec("SkipRFM", width=40, refine=2), data, seed=4)


def test_the_shortest_one_is_as_short_as_can_be() -> None:
    assert snippet(Settings(), "forecast").startswith(
        "import rfm_core as rfm\n\n"
        "data_spec = rfm.DataSpec('L63', n_test=20)\n"
        "model_spec = rfm.ModelSpec('SkipRFM', width=512, refine=2)\n"
        "data = rfm.make_dataset(data_spec)\n"
        "model = rfm.fit(model_spec, data)\n"
    )


def test_forecast(direct: tuple[rfm.Dataset, rfm.Model]) -> None:
    data, model = direct
    names = run(snippet(made(), "forecast", shown=(0, 2)))
    steps = data.test.shape[1] - 1
    assert np.array_equal(names["forecast"], model.forecast(data.test[:, 0], steps)[2])
    assert np.array_equal(names["truth"], data.test[2])
    assert np.array_equal(names["times"].vpt, rfm.evaluate(model, data).vpt)


def test_forecast_of_another_realization() -> None:
    names = run(snippet(made(), "forecast", shown=(2, 1)))
    data = rfm.make_dataset(rfm.DataSpec("L63", n_train=1500, n_test=3, seed=4, realization=2))
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=40, refine=2), data, seed=4, realization=2)
    assert np.array_equal(names["times"].vpt, rfm.evaluate(model, data).vpt)


def test_density_over_realizations() -> None:
    names = run(snippet(made(realizations=2), "density"))
    spec = rfm.StudySpec(
        rfm.DataSpec("L63", n_train=1500, n_test=3),
        rfm.ModelSpec("SkipRFM", width=40, refine=2),
        realizations=2,
        seed=4,
    )
    *_, last = rfm.run_study(spec)
    assert len(names["vpt"]) == 6
    assert names["mean"] == pytest.approx(last.statistics["mean"], rel=1e-12)


def test_features_and_statistics_are_those_of_the_app(tmp_path: Path) -> None:
    s = made(climate_times=30.0)
    arguments = {
        "folder": str(tmp_path),
        "data": s.data_spec().to_dict(),
        "model": s.model_spec().to_dict(),
        "seed": s.seed,
        "times": s.climate_times,
    }
    for name in ("explorer.train", "explorer.climate"):
        assert isinstance(perform(Task("", name, arguments)), TaskDone)
    shown = Results(tmp_path)
    shown.refresh()
    assert shown.get(Features) is not None
    assert shown.get(Climate) is not None
    regions = run(snippet(s, "features"))["unit"]
    assert np.array_equal(regions.good, shown.get(Features).units[0]["training"].good)
    assert run(snippet(s, "statistics"))["w2"] == pytest.approx(shown.get(Climate).w2, rel=1e-9)


def test_regression(capsys: pytest.CaptureFixture[str]) -> None:
    names = run(snippet(made(), "regression"))
    fixed = run(snippet(made(beta_auto=False, beta=1e-9), "regression"))
    path = names["fitted"].units[0].path
    assert path.best == names["fitted"].units[0].beta
    assert np.array_equal(path.heldout, fixed["fitted"].units[0].path.heldout)
    assert fixed["fitted"].units[0].beta == 1e-9
    assert "ConditionNumbers" in capsys.readouterr().out


def test_model_in_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    run(snippet(made(system="L96", width=512), "model"))
    assert capsys.readouterr().out == "LocalDeepSkipX(1,4|2,2|1) 512x3 17920\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": {"rho": 30.0}, "dt": 0.02, "eps": 0.4, "accuracy": "paper"},
        {"architecture": "DeepSkip", "depth": 2, "noise": 1e-3, "noise_on": "series"},
        {
            "system": "L96",
            "architecture": "LocalDeepSkipX",
            "sides": "separate",
            "beta_auto": False,
            "beta": 1e-20,
            "rows": 1000,
            "standardize": True,
        },
        {"sampler": "gaussian", "w": 0.1, "b": 2.0, "solver": "normal", "device": "cpu"},
    ],
)
def test_specs_are_the_ones_of_the_run(changes: dict[str, Any]) -> None:
    s = made(**changes)
    code = snippet(s, "forecast").split("data = ")[0]
    names = run(code)
    assert names["data_spec"] == s.data_spec()
    assert names["model_spec"] == s.model_spec()


@pytest.mark.parametrize("view", [view.key for view in VIEWS])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"system": "KS", "architecture": "LocalDeepSkipX", "device": "cpu", "realizations": 3},
        {"system": OWN, "file_name": "x.csv", "series_dimension": 3, "series_dt": 0.1, "beta": 1.0},
    ],
)
def test_code_is_in_standard_form(view: str, changes: dict[str, Any]) -> None:
    code = snippet(made(**changes), view, shown=(1, 1)).replace("'", '"')
    ruff = [sys.executable, "-m", "ruff"]
    for rules in (["format", "--check"], ["check", "--select", "E,F,W,I,UP,B"]):
        command = [*ruff, *rules, "--isolated", "--no-cache", "-"]
        done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + code


def test_own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = 'it\'s "mine"; print(1) <b>.csv'
    states = rfm.make_dataset(rfm.DataSpec("L63", n_train=1500, n_test=0)).train[0]
    Path(name).write_text(
        "x,y,z'\n" + "\n".join(",".join(map(repr, map(float, u))) for u in states)
    )
    s = made(
        system=OWN, file_name=name, columns=["x", "z'"], series_dt=0.01, time=False, lyapunov=0.9
    )  # fmt: skip
    data = rfm.load_series(
        name, columns=["x", "z'"], dt=0.01, time=False, lyapunov=0.9, eps=0.5, n_test=3
    )
    model = rfm.fit(s.model_spec(), data, seed=4)
    names = run(snippet(s, "forecast", shown=(0, 1)))
    assert names["data"].digest == data.digest
    assert np.array_equal(names["times"].vpt, rfm.evaluate(model, data).vpt)
    for view in VIEWS[1:]:
        run(view.snippet(s))


def test_bad_settings_are_refused_in_words() -> None:
    with pytest.raises(rfm.InvalidInput, match="divisor of the dimension"):
        snippet(made(system="L96", G=7), "forecast")
