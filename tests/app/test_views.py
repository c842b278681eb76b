"""What holds for every view, whatever it shows: declared once, whole, and without an explorer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import rfm_explorer.compute.jobs  # noqa: F401 - registers the jobs
from bokeh.models import SaveTool
from rfm_explorer.page.picture import PicturePane
from rfm_explorer.page.tabs import Tabs
from rfm_explorer.queue.estimate import Sizes, estimate
from rfm_explorer.results.files import Results
from rfm_explorer.state.settings import Settings
from rfm_explorer.views import EXTRAS, VIEWS, View
from rfm_explorer.views.context import Context, Shown

from rfm_core.run.tasks import JOBS, Task, TaskDone, perform


@pytest.fixture(scope="module")
def settings() -> Settings:
    small = Settings()
    small.apply({"n_train": 1500, "n_test": 3, "width": 40, "climate_times": 20.0})
    return small


@pytest.fixture(scope="module")
def run(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Everything that views may ask for, made as workers make it."""
    folder = tmp_path_factory.mktemp("run")
    given = {
        "folder": str(folder),
        "data": settings.data_spec().to_dict(),
        "model": settings.model_spec().to_dict(),
        "seed": settings.seed,
    }
    for name in ("train", *(extra.name for extra in EXTRAS)):
        own = next((e.options(settings) for e in EXTRAS if e.name == name), {})
        assert isinstance(perform(Task("", f"explorer.{name}", {**given, **own})), TaskDone)
    found = Results(folder)
    found.refresh()
    return found


def context(run: Results | None, settings: Settings) -> Context:
    return Context(
        lambda: Shown(run, settings, (0, 0)), settings, lambda: None, lambda *_, **__: None
    )


def test_declarations_are_whole() -> None:
    for name in ("key", "title", "about"):
        values = [getattr(view, name) for view in VIEWS]
        assert len(set(values)) == len(values)
        assert all(values)
    for view in VIEWS:
        assert re.fullmatch("[a-z-]+", view.key)  # it is part of links
        assert view.about[-1] in ".?"
        assert bool(view.waiting) == (view.extra is not None), view.key


def test_extras_have_jobs_and_costs(settings: Settings) -> None:
    first = estimate(Sizes.of(settings.data_spec()), settings.model_spec())
    for extra in EXTRAS:
        assert f"explorer.{extra.name}" in JOBS
        assert extra.cost(first, settings).seconds > 0


@pytest.mark.parametrize("kind", VIEWS, ids=lambda view: view.key)
def test_views_draw_and_give_without_an_explorer(
    kind: type[View], run: Results, settings: Settings
) -> None:
    assert all(run.get(need) is not None for need in kind.needs if kind.extra is not None)
    view = kind(context(run, settings))
    layout = view.panel()
    assert view.stale()
    for piece in view.pieces():
        piece()
    assert not view.stale()
    pictures = [p.picture for p in layout.select(PicturePane)]
    for picture in pictures:
        if picture.element is not None:  # its toolbar can save it, too
            [tool] = picture.pane.object.select(SaveTool)
            assert tool.filename == f"rfm-L63-SkipRFM-40-seed0-{picture.name}"
    assert run.info is not None
    if kind.key == "model":
        assert view.drawn_files()
    else:
        assert any(p.element is not None for p in pictures)
        assert view.arrays(run, run.info)
    compile(view.snippet(settings), kind.key, "exec")
    assert kind.thumbnail(run) is not None


@pytest.mark.parametrize("kind", VIEWS, ids=lambda view: view.key)
def test_views_wait_for_what_is_not_there(
    kind: type[View], settings: Settings, tmp_path: Path
) -> None:
    empty = Results(tmp_path)
    for nothing in (None, empty):
        view = kind(context(nothing, settings))
        view.panel()
        assert not list(view.pieces())
    assert kind.thumbnail(empty) is None


def test_tabs_are_the_views_and_the_last_one(settings: Settings) -> None:
    tabs = Tabs(context(None, settings), runner=None)  # type: ignore[arg-type] - it runs nothing
    assert [*tabs.views] == [*(view.key for view in VIEWS), "take-away"]
    assert tabs.visible == VIEWS[0].key
