"""The explorer without a browser: settings in, results and pictures out, nothing left behind."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import rfm_core as rfm
from app.explorer import Explorer
from app.shelf import Shelf

SMALL = {"width": 40, "n_train": 1000, "n_test": 4}


@pytest.fixture
def make(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Iterator[Callable[..., Explorer]]:
    monkeypatch.setattr("app.explorer.get_shelf", lambda: shelf)
    made: list[Explorer] = []

    def explorer(**settings: object) -> Explorer:
        new = Explorer(**{**SMALL, **settings})
        made.append(new)
        return new

    yield explorer
    for one in made:
        one.close()
    assert shelf.broker.snapshot().running == 0
    assert not [r for r in caplog.get_records("call") if r.exc_info], caplog.text


def until(explorer: Explorer, done: Callable[[], bool], seconds: float = 60.0) -> None:
    """Tick as the page would."""

    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, explorer.runner.progress
        explorer._tick()
        time.sleep(0.02)


def finished(explorer: Explorer) -> Callable[[], bool]:
    return lambda: not explorer.runner.active


def test_results_are_the_engines(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=3)
    explorer.stage.views["forecast"].panel()
    until(explorer, finished(explorer))
    assert explorer.runner.state == "done"
    data = rfm.make_dataset(explorer.settings.data_spec())
    model = rfm.fit(explorer.settings.model_spec(), data, seed=3)
    np.testing.assert_array_equal(explorer.result.vpt, rfm.evaluate(model, data).vpt)
    states = data.test[:, 0]
    np.testing.assert_array_equal(explorer.model.forecast(states, 50), model.forecast(states, 50))
    assert explorer.runbar.lead.text


def test_every_view_draws(make: Callable[..., Explorer]) -> None:
    explorer = make(climate_times=20.0)
    until(explorer, finished(explorer))
    for key, view in explorer.stage.views.items():
        view.panel()
        explorer.stage.look_at(key)
        until(explorer, lambda: not (explorer.runner.active or explorer.stage.undrawn))
        assert explorer.runner.state == "done", explorer.runner.message
    assert explorer.stage.views["statistics"].marginal.element is not None
    assert explorer.stage.views["regression"].solvers.element is not None
    for key in ("forecast", "density", "features", "statistics", "regression"):
        view = explorer.stage.views[key]
        arrays = np.load(io.BytesIO(view.npz().read()))
        assert len(arrays.files) > 2, key
        assert view.csv().read().count(b"\n") > 3, key


def test_two_sessions_share_a_run_and_not_their_choices(make: Callable[..., Explorer]) -> None:
    first = make(seed=11)
    second = make(seed=11)
    assert first.run is second.run
    until(second, finished(second))
    until(first, finished(first))
    assert first.runner.state == second.runner.state == "done"
    second.select(0, 2)
    assert first.selected == (0, 0)


def test_leaving_does_not_stop_others(make: Callable[..., Explorer]) -> None:
    first = make(seed=12, n_train=20_000, width=300)
    second = make(seed=12, n_train=20_000, width=300)
    first.close()
    until(second, finished(second))
    assert second.runner.state == "done"


def test_cancel_acts_at_once(make: Callable[..., Explorer], shelf: Shelf) -> None:
    explorer = make(seed=13, n_train=200_000, width=1500)
    until(explorer, lambda: explorer.runner.state == "running")
    began = time.monotonic()
    explorer.cancel()
    while shelf.broker.snapshot().running:
        assert time.monotonic() - began < 0.5
        time.sleep(0.01)
    assert explorer.runner.state == "cancelled"
    assert "Cancelled" in explorer.runbar.stage.text


def test_pause_and_resume(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=14, n_train=30_000, width=400)
    until(explorer, lambda: explorer.runner.state == "running")
    explorer.pause()
    assert explorer.runner.state == "paused"
    assert "Paused" in explorer.runbar.stage.text
    explorer.pause()
    until(explorer, finished(explorer))
    assert explorer.runner.state == "done"


def test_a_run_stands_still_when_nobody_watches_it(
    make: Callable[..., Explorer], shelf: Shelf
) -> None:
    first, second = (make(seed=16, n_train=200_000, width=1500) for _ in range(2))
    until(first, lambda: first.runner.state == "running")
    second._tick()
    first.pause()
    assert shelf.broker.snapshot().paused == 0  # the second one watches
    second.runner.pause(away=True)
    assert shelf.broker.snapshot().paused == 1
    second.runner.resume()
    assert shelf.broker.snapshot().paused == 0
    second.close()
    assert shelf.broker.snapshot().paused == 1
    third = make(seed=16, n_train=200_000, width=1500)
    assert shelf.broker.snapshot().paused == 0
    until(third, lambda: third.runner.state == "running")


def test_realizations_fill_up(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=15, realizations=3)
    explorer.stage.views["density"].panel()
    explorer.stage.look_at("density")
    until(explorer, finished(explorer))
    assert sorted(set(explorer.result.realization.tolist())) == [0, 1, 2]
    assert len(explorer.result) == 12
    explorer.select(2, 1)
    assert explorer.trajectory.realization == 2


def test_pins_stay_and_the_table_shows_what_differs(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=16)
    until(explorer, finished(explorer))
    explorer.pinboard.pin()
    explorer.settings.width = 60
    explorer.train()
    until(explorer, finished(explorer))
    table = explorer.pinboard.table.object
    assert "Width" in table
    assert "Seed" not in table
    assert len(explorer.pins) == 1
    assert explorer.pins[0].times is not explorer.result


def test_bad_values_are_sentences(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=17)
    until(explorer, finished(explorer))
    before = explorer.run
    explorer.settings.L1 = 0.1
    explorer.train()
    assert "L1=0.1" in explorer.runbar.trouble.text
    assert explorer.run is before


def test_what_cannot_fit_is_refused_at_once(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=18)
    until(explorer, finished(explorer))
    explorer.settings.param.update(architecture="DeepSkip", width=16384, depth=32, n_train=10**6)
    explorer.train()
    assert "GB" in explorer.runbar.trouble.text or "minutes" in explorer.runbar.trouble.text


def test_a_link_reproduces(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=19, sampler="gaussian", w=0.3)
    until(explorer, finished(explorer))
    again = Explorer(query=explorer.settings.query(), train=False)
    assert again.complaints == []
    assert again.settings.data_spec() == explorer.settings.data_spec()
    assert again.settings.model_spec() == explorer.settings.model_spec()
    again.train()
    assert again.run is explorer.run  # the very same run, so it is there at once
    again.close()


def test_words_and_code_are_of_the_run_not_of_the_controls(make: Callable[..., Explorer]) -> None:
    explorer = make(width=512, n_train=50_000)
    until(explorer, finished(explorer))
    assert "the paper reports 10.1" in explorer.runbar.lead.text
    view = explorer.stage.views["take-away"]
    view.panel()
    explorer.settings.width = 100
    explorer.runbar.follow_run()
    explorer.stage.look_at("take-away")
    until(explorer, lambda: not explorer.stage.undrawn)
    assert "the paper reports 10.1" in explorer.runbar.lead.text
    assert "width=512" in view.code.text


def test_whoever_joins_a_paused_run_does_not_wait_for_ever(make: Callable[..., Explorer]) -> None:
    first = make(seed=20, n_train=30_000, width=400)
    until(first, lambda: first.runner.state == "running")
    first.pause()
    second = make(seed=20, n_train=30_000, width=400)
    until(second, finished(second))
    assert second.runner.state == "done"
    assert first.runner.state == "paused"


def test_a_story_that_is_refused_does_not_go_on_with_another_run(
    make: Callable[..., Explorer], monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = make(seed=21)
    until(explorer, finished(explorer))
    monkeypatch.setattr(type(explorer.runner.shelf.broker), "memory_gb", 0.01)
    explorer.stories.choice.value = "linear"
    explorer._tick()
    assert "GB" in explorer.runbar.trouble.text
    assert not explorer.pins


def test_unknown_settings_are_named(make: Callable[..., Explorer]) -> None:
    with pytest.raises(rfm.InvalidInput, match="'widht' is not a setting"):
        make(widht=3)
    with pytest.raises(rfm.InvalidInput, match="no view 'featurs'"):
        Explorer.view("featurs")


def test_own_series(make: Callable[..., Explorer]) -> None:
    data = rfm.make_dataset(rfm.DataSpec("L63", n_train=3000, n_test=1))
    table = "\n".join(",".join(map(str, row)) for row in data.train[0])
    explorer = make(system="own", train=False)
    explorer.upload.receive(("<b>x</b>,y,z\n" + table).encode(), "<script>alert(1)</script>.csv")
    until(explorer, lambda: not explorer.upload.busy)
    assert not explorer.upload.trouble.text
    explorer.settings.param.update(series_dt=0.01, lyapunov=0.9)
    explorer.train()
    until(explorer, finished(explorer))
    assert explorer.runner.state == "done", explorer.runner.message
    assert len(explorer.result)
    folders = [explorer.run.folder, explorer.upload._files[-1].parent]
    explorer.close()
    assert not any(folder.exists() for folder in folders)  # nothing of it stays behind


def test_a_model_found_for_own_data(make: Callable[..., Explorer]) -> None:
    """Lorenz-96 as somebody's file: the worker finds out that it reaches further to the left."""
    ring = rfm.DataSpec("L96", n_train=3000, n_test=1, test_steps=10, parameters={"D": 12})
    table = "\n".join(",".join(map(repr, row)) for row in rfm.make_dataset(ring).train[0].tolist())
    explorer = make(system="own", train=False)
    bar, upload = explorer.runbar, explorer.upload
    assert bar.usual.disabled
    upload.receive(table.encode(), "ring.csv")
    until(explorer, lambda: not upload.busy)
    explorer.settings.param.update(series_dt=0.01, homogeneous=True)
    assert "find it" in bar.usual.label
    assert not bar.usual.disabled

    bar._set_recommended(False)
    until(explorer, lambda: "halos tried" in upload.reading.text)
    assert bar.usual.label == "Stop looking"
    bar._set_recommended(False)
    assert not upload.busy
    assert explorer.settings.architecture == "SkipRFM"
    assert "3,001 rows" in upload.reading.text

    bar._set_recommended(False)
    until(explorer, lambda: not upload.busy)
    assert not upload.trouble.text
    wanted = rfm.recommended("L96").replace(patches="all")
    assert explorer.settings.model_spec() == wanted
    assert "4 components to its left and 2 to its right" in upload.reading.text
    assert wanted.label in upload.reading.text


def test_a_broken_file_gets_a_sentence(make: Callable[..., Explorer]) -> None:
    explorer = make(system="own", train=False)
    explorer.upload.receive(b"PK\x03\x04 not a zip", "x.npz")
    until(explorer, lambda: not explorer.upload.busy)
    assert explorer.upload.trouble.text
    explorer.train()
    assert "no file" in explorer.runbar.trouble.text
    explorer.upload.receive(b"0" * 50_000_001, "large.csv")
    assert "50 MB" in explorer.upload.trouble.text
