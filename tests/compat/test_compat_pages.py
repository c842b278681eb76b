"""Panel's server and pages still are as ``rfm_explorer.compat.pages`` takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from bokeh.models import Plot
from bokeh.plotting import figure
from bokeh.server.urls import per_app_patterns
from rfm_explorer.compat.pages import (
    DIST_DIR,
    AuthRequestHandler,
    PageHandler,
    RedrawnPane,
    make_pages_by,
    stop_following_busy,
)


@pytest.fixture
def patterns() -> Iterator[list[Any]]:
    before = list(per_app_patterns)
    yield per_app_patterns
    per_app_patterns[:] = before


def test_pages_are_made_by_a_handler_of_ours(patterns: list[Any]) -> None:
    class Handler(PageHandler):
        pass

    make_pages_by(Handler)
    server = pn.serve({"/some": lambda: "page"}, port=0, show=False, start=False)
    try:
        routes = server._tornado.wildcard_router.rules
        found = [route.target for route in routes if issubclass(route.target, PageHandler)]
    finally:
        server.stop()
    assert found == [Handler], (
        "Bokeh's per_app_patterns or Panel's DocHandler changed: pages of a class that comes at "
        "once would be made in one go (serve.admission)"
    )


def test_handlers_know_who_may_see_them() -> None:
    for handler in (PageHandler, AuthRequestHandler):
        problem = f"{handler.__name__} has no get_login_url: the gallery would be open to everybody"
        assert hasattr(handler, "get_login_url"), problem
    for name in ("get", "on_finish", "on_connection_close"):
        assert callable(getattr(PageHandler, name)), f"serve.admission overrides {name}"


def test_formulas_can_be_set() -> None:
    found = list(DIST_DIR.glob("bundled/katex/*/dist/katex.min.js"))
    assert len(found) == 1, "Panel keeps KaTeX elsewhere: serve.gallery.reading sets formulas by it"


def followers() -> int:
    watchers = pn.state.param.watchers.get("busy", {}).get("value", [])
    return len(watchers)


def test_a_page_does_not_follow_the_server() -> None:
    before = followers()
    page = pmui.Page()
    assert followers() == before + 1, (
        "panel_material_ui.Page no longer follows pn.state.busy: delete stop_following_busy"
    )
    stop_following_busy(page)
    assert followers() == before, "every page would stay in memory for ever (page.page)"
    assert page.busy is False


class Pane(RedrawnPane):
    def again(self) -> Any:
        return figure(width=200, name="again")


def test_a_figure_that_is_shown_again_is_another_one() -> None:
    pane = Pane(figure(width=200, name="first"))
    documents = [Document(), Document()]
    for document in documents:
        document.add_root(pn.Row(pane).get_root(document))  # refuses a model of another document
    names = [document.select_one({"type": Plot}).name for document in documents]
    assert names == ["first", "again"], (
        "Panel makes the model of a Bokeh pane otherwise than by _get_model: an explorer shown in "
        "a second cell would fail (page.picture)"
    )
