"""Kinds of features on the page: chosen, linked, coded and explained, whichever there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rfm_explorer.compute.jobs  # noqa: F401 - registers the jobs
import torch
from rfm_explorer.captions.forecast import first_sight
from rfm_explorer.results.files import Results
from rfm_explorer.results.records import Info, Trained
from rfm_explorer.state.controls import CONTROLS
from rfm_explorer.state.settings import Settings
from rfm_explorer.views.context import Context, Shown
from rfm_explorer.views.features import FeaturesView

import rfm_core as rfm
from rfm_core.model.features.base import SETTINGS
from rfm_core.run.tasks import Task, TaskDone, perform

KINDS = list(rfm.FEATURES)
USUAL = rfm.ModelSpec().features


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    before = dict(rfm.FEATURES)
    yield
    rfm.FEATURES.clear()
    rfm.FEATURES.update(before)


def made(**changes: Any) -> Settings:
    s = Settings()
    s.apply(changes)
    return s


@pytest.mark.parametrize("system", ["L63", "L96"])
@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_a_setting_like_any_other(name: str, system: str) -> None:
    s = made(system=system)
    assert s.edit("features", name) == ""
    assert s.problems() == {}
    spec = s.model_spec()
    assert spec.features == name
    assert s.label().split()[2:] == spec.label.split()[1:]  # its size
    again = Settings()
    assert again.read(s.query()) == []
    assert again.model_spec() == spec
    code = FeaturesView.snippet(s)
    start, end = code.index("model_spec"), code.index("data = ")
    names: dict[str, Any] = {"rfm": rfm}
    exec(code[start:end], names)
    assert names["model_spec"] == spec
    assert s.is_recommended() == (name == USUAL)


@pytest.mark.parametrize("name", KINDS)
def test_what_a_kind_has_no_use_for_does_not_apply(name: str) -> None:
    kind = rfm.get_features(name)
    s = made(system="L96", features=name, architecture="LocalDeepSkip", sampler="gaussian")
    off = s.disabled()
    own = {"standardize"}  # not with a naive sampler
    assert {n for n in SETTINGS if n in off} == {*SETTINGS} - {*kind.settings} | own
    for field in set(SETTINGS) - set(kind.settings) - own:
        assert off[field] == f"Features “{kind.title}” do not have it."


def test_only_the_paper_s_kind_has_a_row_in_the_paper() -> None:
    s = Settings()
    s.apply_paper(s.nearest_paper_row())  # type: ignore[arg-type]
    assert s.paper_row() is not None
    for name in KINDS:
        s.features = name
        assert (s.paper_row() is not None) == s.is_paper_faithful() == (name == USUAL)


def test_a_script_s_own_kind_can_be_chosen_on_a_page_that_is_open() -> None:
    class Sine(rfm.RandomFeatures):
        name, title, about, icon = "sine", "sine waves", "waves", "m0 0 h30"
        activation, slope = staticmethod(torch.sin), staticmethod(torch.cos)

    s = Settings()
    rfm.register_features(Sine)
    assert (CONTROLS["features"].choices or {})["sine"] == "sine waves"
    assert s.edit("features", "sine") == ""
    assert s.model_spec().kind is Sine
    assert made(features="sine").label() == "L63 SkipRFM sine 512"


@pytest.mark.parametrize("name", KINDS)
def test_the_tab_shows_zones_or_says_why_there_are_none(name: str, tmp_path: Path) -> None:
    s = made(n_train=1500, n_test=3, width=40, features=name)
    given = {"data": s.data_spec().to_dict(), "model": s.model_spec().to_dict(), "seed": 0}
    task = Task("", "explorer.train", {"folder": str(tmp_path), **given})
    assert isinstance(perform(task), TaskDone)
    run = Results(tmp_path)
    run.refresh()
    view = FeaturesView(
        Context(lambda: Shown(run, s, (0, 0)), s, lambda: None, lambda *_, **__: None)
    )
    view.panel()
    for draw in view.pieces():
        draw()
    kind = rfm.get_features(name)
    zones = kind.zones(s.model_spec()) is not None
    assert (view.reading.text == kind.no_zones) != zones
    assert (view.thumbnail(run) is not None) == zones
    assert bool(view.arrays(run, run.get(Info))) == zones  # type: ignore[arg-type]
    words = first_sight(run.get(Info), run.get(Trained), None, None)  # type: ignore[arg-type]
    assert words.startswith("With 40 random features" if "width" in kind.settings else "With 20 ")
