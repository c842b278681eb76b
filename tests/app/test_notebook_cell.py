"""The explorer as the result of a cell, without a browser: what is sent, when, and what instead."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from typing import Any

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet, Plot
from panel.io.model import add_to_doc
from panel.models.esm import ReactComponent
from pyviz_comms import Comm
from rfm_explorer.explorer import Explorer
from rfm_explorer.notebook import bundle as notebook
from rfm_explorer.notebook import extension
from rfm_explorer.notebook.bundle import NOT_CONNECTED
from rfm_explorer.notebook.transport import _Page
from rfm_explorer.page.fields import Fields
from rfm_explorer.queue.run_cache import RunCache

import rfm_core as rfm

SMALL = {"width": 40, "n_train": 1000, "n_test": 4}


@pytest.fixture(autouse=True)
def inline(runs: RunCache, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As a notebook has it: everything from this machine."""
    monkeypatch.setattr("rfm_explorer.explorer.get_run_cache", lambda: runs)
    before, pn.config.inline = pn.config.inline, True
    yield
    pn.config.inline = before


class Line(Comm):
    """Keeps what is sent."""

    def __init__(self) -> None:
        super().__init__(id="line")
        self.sent: list[str] = []

    def send(self, data: str = "", metadata: Any = None, buffers: Any = ()) -> None:
        assert not buffers
        self.sent.append(data)

    def changes(self) -> list[tuple[str, str]]:
        """Kinds and attributes of what was sent: three parts make a message."""
        patches = [json.loads(part) for part in self.sent[2::3]]
        self.sent.clear()
        return [(e["kind"], e.get("attr", "")) for patch in patches for e in patch["events"]]


class Manager:
    """Makes a patch of what a page tells, as Panel's does."""

    def assemble(self, message: dict[str, Any]) -> Any:
        class Patch:
            def apply_to_document(self, doc: Document, setter: str) -> None:
                doc.apply_json_patch(message["content"], setter=setter)

        return Patch()


def shown(explorer: Explorer) -> tuple[Any, Line, Document, _Page]:
    """In a cell, not drawn yet."""
    cell: Any = explorer.__panel__()
    assert cell is not explorer.__panel__()  # each showing has its own
    doc, line = Document(), Line()
    root = cell._render_model(doc, line)
    add_to_doc(root, doc, hold=True)
    doc.to_json()  # what the page begins with
    return cell, line, doc, cell._pages[root.ref["id"]]


def tell(cell: Any, page: _Page, model: Any, attr: str, new: Any) -> None:
    event = {"kind": "ModelChanged", "model": model.ref, "attr": attr, "new": new}
    cell._on_msg(page.root.ref["id"], Manager(), {"content": {"events": [event]}})


@pytest.fixture
def explorer() -> Iterator[Explorer]:
    made = Explorer(**SMALL, train=False)
    yield made
    made.close()


def draw(cell: Any, page: _Page) -> None:
    """The page tells that it has drawn what it got."""
    ref = page.root.ref["id"]
    tell(cell, page, cell._seen._models[ref][0].data, "times", cell._seen.times + 1)


def from_elsewhere(doc: Document) -> list[str]:
    sheets = [str(sheet.url) for sheet in doc.select({"type": ImportedStyleSheet})]
    assert sheets
    return [url for url in sheets if not url.startswith("data:text/css")]


def test_what_a_notebook_keeps_is_small_and_says_what_to_do(explorer: Explorer) -> None:
    cell, line, doc, page = shown(explorer)
    text = json.dumps({k: v for k, v in doc.to_json(deferred=False).items() if k != "defs"})
    assert len(text) < 300_000  # with Panel's style sheets
    assert "run the cell again" in text
    assert not list(doc.select({"type": ReactComponent}))
    assert not from_elsewhere(doc)
    draw(cell, page)
    line.sent.clear()
    kept = cell.objects
    draw(cell, page)  # as a page does that was saved and is opened again, its kernel still there
    assert cell.objects == kept
    assert not line.changes()


def test_the_page_is_light_and_asks_nobody(explorer: Explorer) -> None:
    cell, line, doc, page = shown(explorer)
    draw(cell, page)
    assert len("".join(line.sent)) < 5e6
    assert NOT_CONNECTED not in "".join(line.sent)
    widgets = [w for w in doc.select({"type": ReactComponent}) if w.bundle]
    assert len(widgets) > 10
    assert len([w for w in widgets if w.esm]) == 1
    assert not from_elsewhere(doc)
    assert "Material Icons" in "".join(line.sent)


def test_in_a_layout_of_somebody_it_comes_at_once(explorer: Explorer) -> None:
    doc = Document()
    root = pn.Column("words", explorer)._render_model(doc, Line())
    widgets = [w for w in root.select({"type": ReactComponent}) if w.bundle]
    assert len([w for w in widgets if w.esm]) <= 2  # one may be Panel's own, around the layout


def test_all_changes_arrive_light_and_in_order_and_none_too_soon(explorer: Explorer) -> None:
    cell, line, doc, page = shown(explorer)
    ref = page.root.ref["id"]
    explorer.settings.architecture = "DeepSkip"  # the next cell may change something at once
    cell._beat()
    assert not line.sent
    draw(cell, page)
    assert ("ModelChanged", "children") in line.changes()

    explorer.runbar.stage.say("before the click")
    [tabs] = cell.select(pmui.Tabs)
    tell(cell, page, tabs._models[ref][0].data, "active", 1)
    assert explorer.tabs.visible == "density"
    parts = "".join(line.sent)
    assert "before the click" in parts
    assert len(parts) < 1e6  # a whole tab, without the code of its widgets
    changes = line.changes()
    assert changes.index(("ModelChanged", "text")) < changes.index(("ModelChanged", "children"))
    assert not doc.callbacks._held_events
    cell._beat()
    assert not line.sent


def test_a_page_that_speaks_in_a_thread_is_heard_here(explorer: Explorer) -> None:
    async def speak() -> list[threading.Thread]:
        cell, _, _, page = shown(explorer)
        draw(cell, page)
        heard: list[threading.Thread] = []
        explorer.settings.param.watch(lambda _: heard.append(threading.current_thread()), "width")
        fields = next(f for f in cell.select(Fields) if "width" in f.state)
        model = fields._models[page.root.ref["id"]][0].data
        edit = {"name": "width", "text": "64", "final": True, "number": 1}
        speaker = threading.Thread(target=tell, args=(cell, page, model, "edit", edit))
        speaker.start()
        speaker.join()
        while not heard:  # pytest has a limit for what never comes
            await asyncio.sleep(0.01)
        return heard

    assert asyncio.run(speak()) == [threading.main_thread()]


def test_figures_that_come_together_are_all_drawn(explorer: Explorer) -> None:
    cell, _, doc, page = shown(explorer)
    draw(cell, page)
    explorer.train()
    assert explorer.wait(60)
    explorer.tabs.draw_at_once()
    plots = list(doc.select({"type": Plot}))
    assert len(plots) >= 4
    assert {plot.output_backend for plot in plots} == {"canvas"}  # see notebook.transport


# --- without a page ---------------------------------------------------------------------------


class Shell:
    """IPython's in a kernel that was sent a cell."""

    def __init__(self, **content: Any) -> None:
        self.kernel = self
        self.content = content

    def get_parent(self, channel: str) -> dict[str, Any]:
        return {"content": self.content} if channel == "shell" else {}


def in_kernel(monkeypatch: pytest.MonkeyPatch, **content: Any) -> None:
    for module in (notebook, extension):
        monkeypatch.setattr(module, "shell", lambda: Shell(**content))


@pytest.fixture
def unattended(monkeypatch: pytest.MonkeyPatch) -> None:
    in_kernel(monkeypatch, allow_stdin=False)


@pytest.mark.usefixtures("unattended")
@pytest.mark.parametrize("view", ["", "features", "regression", "model"])
def test_unattended_it_is_a_still_picture(view: str) -> None:
    explorer = Explorer(only=view, **SMALL)
    data, _ = explorer._repr_mimebundle_()
    explorer.close()
    html = data["text/html"]
    assert html.count("<img") == {"": 5, "features": 3, "regression": 3, "model": 1}[view]
    assert len(html) < 400_000
    assert "script" not in html
    assert "With 40 random features" in data["text/plain"]
    assert "nobody in front of it" in data["text/plain"]


@pytest.mark.usefixtures("unattended")
def test_a_still_picture_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Explorer(**{**SMALL, "width": -3})
    assert "width=-3" in refused._repr_mimebundle_()[0]["text/plain"]
    monkeypatch.setattr(notebook, "LONGEST", 0.0)
    late = Explorer(**SMALL, seed=1)
    assert "explorer.wait(600)" in late._repr_mimebundle_()[0]["text/html"]
    for explorer in (refused, late):
        explorer.close()


def test_who_looks_on(monkeypatch: pytest.MonkeyPatch, explorer: Explorer) -> None:
    assert explorer._repr_mimebundle_() == ({"text/plain": repr(explorer)}, {})  # no kernel here
    for content in ({"allow_stdin": False}, {}, {"allow_stdin": True}):  # {}: of another kind
        in_kernel(monkeypatch, **content)
        assert extension.attended() == content.get("allow_stdin", True)
    monkeypatch.setattr(extension.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("VSCODE_PID", "1")
    explorer.train()
    assert "VS Code shows the live one through" in explorer._repr_mimebundle_()[0]["text/html"]


def test_wait_says_whether_it_is_over() -> None:
    explorer = Explorer(**{**SMALL, "width": 300, "n_train": 20_000}, seed=2)
    assert explorer.wait(0) is False
    assert explorer.wait(60) is True
    assert explorer.model.size == 2100
    explorer.close()
    with pytest.raises(rfm.InvalidInput, match=re.escape("seconds=-1")):
        explorer.wait(-1)


def test_stories_by_name(explorer: Explorer) -> None:
    assert "no story 'rigde'" in explorer.stories.open("rigde")[0]
    told = Explorer(story="linear", train=False)
    assert told.stories.act == "against"
    assert told.runner.active
    told.close()
