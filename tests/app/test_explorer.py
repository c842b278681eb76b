"""The explorer without a browser: settings in, results and pictures out, nothing left behind."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from rfm_explorer.explorer import Explorer
from rfm_explorer.notebook import bundle
from rfm_explorer.page.export import archive
from rfm_explorer.queue.run_cache import RunCache
from rfm_explorer.state.stories import BY_KEY, Story

import rfm_core as rfm

SMALL = {"width": 40, "n_train": 1000, "n_test": 4}


@pytest.fixture
def make(
    runs: RunCache, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Iterator[Callable[..., Explorer]]:
    monkeypatch.setattr("rfm_explorer.explorer.get_run_cache", lambda: runs)
    made: list[Explorer] = []

    def explorer(**settings: object) -> Explorer:
        new = Explorer(**{**SMALL, **settings})
        made.append(new)
        return new

    yield explorer
    for one in made:
        one.close()
    assert runs.scheduler.snapshot().running == 0
    assert not [r for r in caplog.get_records("call") if r.exc_info], caplog.text


def until(explorer: Explorer, done: Callable[[], bool]) -> None:
    """Tick as the page would; pytest ends what never comes true."""
    while not done():
        explorer._tick()
        time.sleep(0.02)


def finished(explorer: Explorer) -> Callable[[], bool]:
    return lambda: not explorer.runner.active


def test_results_are_the_engines(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=3)
    explorer.tabs.views["forecast"].panel()
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
    for key, view in explorer.tabs.views.items():
        view.panel()
        explorer.tabs.look_at(key)
        until(explorer, lambda: not (explorer.runner.active or explorer.tabs.undrawn))
        assert explorer.runner.state == "done", explorer.runner.message
    assert explorer.tabs.views["statistics"].marginal.element is not None
    assert explorer.tabs.views["regression"].solvers.element is not None
    for key, view in explorer.tabs.views.items():
        if key == "take-away":  # it is nothing else
            continue
        saved = archive(view, view.shown)
        assert saved.name == f"rfm-L63-SkipRFM-40-seed0-{key}.zip"
        assert b"import rfm_core" in saved.files["code.py"]
        assert b"tab=" + key.encode() in saved.files["README.txt"]
        if key == "model":
            assert saved.files["model.svg"].startswith(b"<svg")
        else:
            arrays = np.load(io.BytesIO(saved.files["data.npz"]))
            assert len(arrays.files) > 2, key
            assert saved.files["data.csv"].count(b"\n") > 3, key


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


def test_cancel_acts_at_once(make: Callable[..., Explorer], runs: RunCache) -> None:
    explorer = make(seed=13, n_train=200_000, width=1500)
    until(explorer, lambda: explorer.runner.state == "running")
    explorer.cancel()
    assert runs.scheduler.snapshot().running == 0  # there and then, without another look
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
    make: Callable[..., Explorer], runs: RunCache
) -> None:
    first, second = (make(seed=16, n_train=200_000, width=1500) for _ in range(2))
    until(first, lambda: first.runner.state == "running")
    second._tick()
    first.pause()
    assert runs.scheduler.snapshot().paused == 0  # the second one watches
    second.runner.pause(away=True)
    assert runs.scheduler.snapshot().paused == 1
    second.runner.resume()
    assert runs.scheduler.snapshot().paused == 0
    second.close()
    assert runs.scheduler.snapshot().paused == 1
    third = make(seed=16, n_train=200_000, width=1500)
    assert runs.scheduler.snapshot().paused == 0
    until(third, lambda: third.runner.state == "running")


def test_realizations_fill_up(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=15, realizations=3)
    explorer.tabs.views["density"].panel()
    explorer.tabs.look_at("density")
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
    view = explorer.tabs.views["take-away"]
    view.panel()
    explorer.settings.width = 100
    explorer.runbar.follow_run()
    explorer.tabs.look_at("take-away")
    until(explorer, lambda: not explorer.tabs.undrawn)
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
    monkeypatch.setattr(explorer.runner.runs.scheduler, "memory_gb", 0.01)
    explorer.stories.open("linear")
    explorer._tick()
    assert "GB" in explorer.runbar.trouble.text
    assert not explorer.pins


QUICK_STORY = {
    "settings": {**SMALL, "seed": 30, "width": 20},
    "against": {**SMALL, "seed": 30},
}


@pytest.fixture
def story(monkeypatch: pytest.MonkeyPatch) -> Story:
    """A story whose runs take a moment."""
    quick = replace(BY_KEY["linear"], **QUICK_STORY)
    monkeypatch.setitem(BY_KEY, "linear", quick)
    return quick


class Pump:
    """The page's timer, which looks only as long as it runs."""

    def __init__(self) -> None:
        self.running, self.looks = False, 0

    def start(self) -> None:
        self.running = True

    def stop(self) -> None:
        self.running = False


def look_while_it_runs(explorer: Explorer) -> None:
    while explorer._pump.running:
        explorer._tick()


def with_pump(explorer: Explorer) -> Explorer:
    """As on a page that a browser has drawn, and at rest."""
    explorer._pump, explorer._loaded = Pump(), True
    return explorer


@pytest.mark.parametrize("view", ["density", "model"])
def test_a_story_whose_runs_are_both_there_is_told_every_time(
    make: Callable[..., Explorer], story: Story, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    """The timer once stopped between the acts where nothing was left to draw."""
    monkeypatch.setitem(BY_KEY, "linear", replace(story, view=view))
    first = make(story="linear", answer=True)
    until(first, lambda: first.stories.act == "told")
    for built in (False, True) * 5:
        explorer = with_pump(make(train=False))
        if built:  # drawn in the same tick, or in later ones
            explorer.tabs.views[view].panel()
        explorer.stories.open("linear", answer=True)
        look_while_it_runs(explorer)
        assert explorer.stories.act == "told"
        assert "Pinned, " in explorer.stories.reading.text


def test_whatever_wakes_the_page_during_a_look_gets_another_one(
    make: Callable[..., Explorer], monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = with_pump(make(train=False))
    asked = iter([True, True, False, False])
    monkeypatch.setattr(
        explorer.pinboard, "follow_run", lambda: explorer.wake() if next(asked) else None
    )
    explorer.wake()
    look_while_it_runs(explorer)
    assert list(asked) == [False]


def test_a_story_asks_before_it_tells(make: Callable[..., Explorer], story: Story) -> None:
    explorer = make(train=False)
    explorer.stories.open("linear")
    box = explorer.stories
    assert box.reading.text == story.before
    until(explorer, lambda: box.act == "ready")
    assert box.button.visible
    assert box.reading.text == story.before
    assert explorer.runbar.lead.text == ""  # which would give it away, as would the table
    assert explorer.pins
    assert not explorer.pinboard.layout.visible
    box.button.clicks += 1
    assert box.act == "told"
    assert not box.button.visible
    assert explorer.runbar.lead.text
    assert explorer.pinboard.layout.visible
    question, answer = box.reading.text.split("\n")
    assert question == story.before
    assert "Pinned, L63 SkipRFM 40: " in answer
    assert "now, L63 SkipRFM 20: " in answer
    explorer.settings.width = 24
    assert box.reading.text == ""
    assert box.choice.state["story"] == {"text": ""}


def test_what_is_set_by_hand_ends_a_story(make: Callable[..., Explorer], story: Story) -> None:
    explorer = make(train=False)
    explorer.stories.open("linear")
    explorer.settings.choose_system("L96")
    until(explorer, finished(explorer))
    for _ in range(3):
        explorer._tick()
    assert not explorer.pins
    assert explorer.stories.act == ""
    assert explorer.stories.reading.text == ""
    assert explorer.settings.system == "L96"


def test_a_story_is_told_twice_without_a_complaint(
    make: Callable[..., Explorer], story: Story
) -> None:
    explorer = make(train=False)
    for _ in range(2):
        explorer.stories.open("linear", answer=True)
        until(explorer, lambda: explorer.stories.act == "told")
        explorer.stories.close()
    assert explorer.runbar.trouble.text == ""
    assert len(explorer.pins) == 1


def test_waiting_for_a_story_waits_for_both_runs(
    make: Callable[..., Explorer], story: Story
) -> None:
    explorer = make(story="linear", train=False)
    assert explorer.wait(100)
    assert explorer.stories.act == "ready"
    assert explorer.trained.width == 20


def test_a_still_picture_of_a_story_has_its_answer(
    make: Callable[..., Explorer], story: Story
) -> None:
    explorer = make(story="linear", train=False)
    page = bundle._waited_for(explorer, "nobody is here")["text/html"]
    assert story.before in page
    assert "Pinned, L63 SkipRFM 40" in page


def test_progress_names_its_run(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=31, n_train=200_000, width=1500)
    explorer.settings.choose_system("L96")
    until(explorer, lambda: "unit" in explorer.runbar.stage.text)
    assert explorer.runbar.stage.text.startswith("Training L63 SkipRFM 1500: unit 1 of 1")
    other = make(seed=32, n_train=200_000, width=1500)
    assert other.runbar.stage.text.startswith(
        "L63 SkipRFM 1500 waits for a free processor: place 1"
    )


def test_a_picture_older_than_the_controls_is_marked(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=33)
    explorer.tabs.current.panel()
    bar = explorer.runbar
    until(explorer, lambda: not (explorer.runner.active or explorer.tabs.undrawn))
    assert (bar.mark.text, bar.train.sx) == ("", {})
    explorer.settings.width = 50
    words = "The pictures show L63 SkipRFM 40; the controls say L63 SkipRFM 50: press Train."
    assert bar.mark.text == words
    assert bar.train.sx
    explorer.settings.width = 40
    assert (bar.mark.text, bar.train.sx) == ("", {})
    explorer.settings.seed = 34
    assert "L63 SkipRFM 40 (Seed: 33); the controls say L63 SkipRFM 40 (Seed: 34)" in bar.mark.text
    explorer.settings.param.update(n_train=200_000, width=1500)
    explorer.train()
    explorer._tick()
    assert "pictures still show L63 SkipRFM 40" in bar.mark.text
    assert not bar.train.sx
    explorer.settings.choose_system("L96")
    explorer._tick()
    assert bar.mark.text.startswith("The pictures show L63 SkipRFM 40; L63 SkipRFM 1500 is being")
    assert "the controls say L96 LocalDeepSkipX" in bar.mark.text
    explorer.cancel()
    explorer._tick()
    assert "The pictures show L63 SkipRFM 40; the controls say L96" in bar.mark.text


def test_the_beta_in_use(make: Callable[..., Explorer]) -> None:
    explorer = make(seed=35, architecture="DeepSkip", depth=2, train=False)
    assert explorer.beta_in_use() == ""
    explorer.train()
    until(explorer, finished(explorer))
    betas = [unit.beta for unit in explorer.run.trained.units]
    given = [float(text) for text in explorer.beta_in_use().removeprefix("in use: ").split(", ")]
    assert given == list(dict.fromkeys(betas))
    assert len(betas) == 2


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
    folders = [explorer.run.folder, explorer.upload._files[-1].path.parent]
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
    wanted = rfm.recommended("L96")
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
