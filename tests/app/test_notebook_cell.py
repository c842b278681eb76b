"""The explorer as the result of a cell, without a browser: what is sent, when, and what instead."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from typing import Any

import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet, Plot
from panel.io.model import add_to_doc
from panel.models.esm import ReactComponent
from pyviz_comms import Comm

import rfm_core as rfm
from app import notebook
from app.cell import _Page
from app.explorer import Explorer
from app.shelf import Shelf

SMALL = {"width": 40, "n_train": 1000, "n_test": 4}


@pytest.fixture(autouse=True)
def inline(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As a notebook has it: everything from this machine."""
    monkeypatch.setattr("app.explorer.get_shelf", lambda: shelf)
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


def test_the_page_is_light_and_asks_nobody(explorer: Explorer) -> None:
    _, _, doc, _ = shown(explorer)
    text = json.dumps(doc.to_json(deferred=False))
    assert len(text) < 3e6
    widgets = list(doc.select({"type": ReactComponent}))
    assert len(widgets) > 30
    assert len([w for w in widgets if w.esm and w.bundle]) == 1
    for sheet in doc.select({"type": ImportedStyleSheet}):
        assert str(sheet.url).startswith("data:text/css")
    assert "Material Icons" in text


def test_all_changes_arrive_light_and_in_order_and_none_too_soon(explorer: Explorer) -> None:
    cell, line, doc, page = shown(explorer)
    ref = page.root.ref["id"]
    explorer.settings.architecture = "DeepSkip"  # the next cell may change something at once
    cell._beat()
    assert not line.sent
    assert "Connecting" in explorer.runbar.stage.text
    tell(cell, page, cell._seen._models[ref][0].data, "times", 1)
    assert ("ModelChanged", "disabled") in line.changes()

    explorer.runbar.stage.say("before the click")
    tell(cell, page, explorer.sidebar.more_toggle._models[ref][0].data, "clicks", 1)
    assert explorer.sidebar.more.visible
    parts = "".join(line.sent)
    assert "before the click" in parts
    assert "Training pairs N" in parts
    assert len(parts) < 1e6  # nineteen widgets, without the code of any
    changes = line.changes()
    assert ("ModelChanged", "visible") in changes
    assert changes.index(("ModelChanged", "text")) < changes.index(("ModelChanged", "children"))
    assert not doc.callbacks._held_events
    cell._beat()
    assert not line.sent


def test_a_page_that_speaks_in_a_thread_is_heard_here(explorer: Explorer) -> None:
    async def speak() -> list[threading.Thread]:
        cell, _, _, page = shown(explorer)
        heard: list[threading.Thread] = []
        explorer.settings.param.watch(lambda _: heard.append(threading.current_thread()), "width")
        slider = explorer.sidebar.controls["width"].widget
        model = slider._models[page.root.ref["id"]][0].data
        speaker = threading.Thread(target=tell, args=(cell, page, model, "value_throttled", 3))
        speaker.start()
        speaker.join()
        await asyncio.sleep(0.05)
        return heard

    assert asyncio.run(speak()) == [threading.main_thread()]


def test_figures_that_come_together_are_all_drawn(explorer: Explorer) -> None:
    _, _, doc, _ = shown(explorer)
    explorer.train()
    assert explorer.wait(60)
    explorer.stage.draw_at_once()
    plots = list(doc.select({"type": Plot}))
    assert len(plots) >= 4
    assert {plot.output_backend for plot in plots} == {"canvas"}  # see app.cell


# --- without a page ---------------------------------------------------------------------------


class Shell:
    """IPython's in a kernel that was sent a cell."""

    def __init__(self, **content: Any) -> None:
        self.kernel = self
        self.content = content

    def get_parent(self, channel: str) -> dict[str, Any]:
        return {"content": self.content} if channel == "shell" else {}


@pytest.fixture
def unattended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "_shell", lambda: Shell(allow_stdin=False))


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
    assert notebook._attended(Shell(allow_stdin=True))
    assert notebook._attended(Shell())  # a message of another kind
    assert not notebook._attended(Shell(allow_stdin=False))
    assert explorer._repr_mimebundle_() == ({"text/plain": repr(explorer)}, {})  # no kernel here
    monkeypatch.setattr(notebook, "_shell", lambda: Shell(allow_stdin=True))
    monkeypatch.setattr(notebook.importlib.util, "find_spec", lambda name: None)
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
