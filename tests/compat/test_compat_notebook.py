"""Panel and Bokeh still connect a notebook as ``rfm_explorer.compat.notebook`` takes it.

That the whole works is for ``tests/app/test_notebook_cell.py`` and, in a real JupyterLab,
``tests/browser/test_notebook.py``; these here say which part no longer fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet
from bokeh.server import static
from panel.io.model import add_to_doc
from panel.models.esm import ReactComponent
from pyviz_comms import Comm
from rfm_explorer.compat.loading import extension_loaded
from rfm_explorer.compat.notebook import (
    SENT_BY_US,
    Column,
    Drawn,
    Line,
    Sheets,
    give_code,
    is_shown,
    model_of,
    without_code,
)

PANEL = Path(pn.__file__).parent


@pytest.fixture(autouse=True)
def inline() -> Iterator[None]:
    before, pn.config.inline = pn.config.inline, True
    yield
    pn.config.inline = before


class Heard(Column):
    def __init__(self, *objects: Any) -> None:
        super().__init__(*objects, design=pn.theme.Native)
        self.asked: list[str] = []
        self.told: list[Any] = []

    def make_model(self, *given: Any) -> Any:
        self.asked.append("model")
        return super().make_model(*given)

    def hear(self, ref: str, manager: Any, message: Any) -> None:
        self.told.append(message)


def rendered(viewable: Any, comm: Comm | None = None) -> tuple[Any, Document]:
    doc = Document()
    root = viewable._render_model(doc, comm or Comm(id="line"))
    add_to_doc(root, doc, hold=True)
    return root, doc


def test_a_column_has_its_say() -> None:
    column = Heard("words")
    root, _ = rendered(column)
    assert column.asked == ["model"], "Panel no longer makes models by _get_model"
    column._on_msg(root.ref["id"], None, "message")
    assert column.told == ["message"]
    source = (PANEL / "viewable.py").read_text(encoding="utf-8")
    assert re.search(r"on_msg=functools.partial\(self\._on_msg, ref, manager\)", source), (
        "Panel tells an object what its page says otherwise than by _on_msg: clicks in a notebook "
        "would drop what is still to be sent (notebook.transport)"
    )


def test_panel_knows_what_is_shown() -> None:
    column = pn.Column("words", design=pn.theme.Native)
    root, _ = rendered(column)
    ref = root.ref["id"]
    assert is_shown(ref), "pn.state._views: cells that were cleared would be sent to for ever"
    assert model_of(column, ref) is root, "Renderable._models: nothing would be made light"
    assert model_of(column, "another") is None
    assert not is_shown("another")
    assert isinstance(extension_loaded(), bool), "pn.extension._loaded: it would be loaded twice"


def test_panel_sends_nothing_to_a_root_with_our_tag() -> None:
    source = (PANEL / "io" / "notebook.py").read_text(encoding="utf-8")
    assert f"'{SENT_BY_US}' not in root.tags" in source, (
        "Panel would send to a page that has not drawn anything yet, which then never understands "
        "a message (notebook.transport)"
    )


def test_widgets_share_their_code() -> None:
    row = pmui.Row(pmui.Button(label="a"), pmui.Column(pmui.Checkbox(label="b")))
    root, _ = rendered(row)
    widgets = list(root.select({"type": ReactComponent}))
    assert len(widgets) >= 4
    problem = "a notebook would get the code of all widgets with each of them, 1.4 MB every time"
    assert all(map(without_code, widgets)), f"ReactComponent.bundle: {problem}"
    assert not any(widget.esm for widget in widgets), problem
    first = give_code(root)
    assert len(first.esm) > 1e5, f"_render_esm gives no code: {problem}"
    assert [widget for widget in widgets if widget.esm] == [first]
    assert first is not root, "the page makes what is inside of a widget before itself"


def test_style_sheets_come_from_this_machine() -> None:
    doc, sheets = Document(), Sheets()
    sheets.use(doc)
    column = pn.Column(pn.widgets.Button(label="a"), pn.pane.Markdown("b"), design=pn.theme.Native)
    root = column._render_model(doc, Comm(id="line"))
    found = [str(sheet.url)[:60] for sheet in root.select({"type": ImportedStyleSheet})]
    assert found
    assert not [url for url in found if not url.startswith("data:")], (
        "Panel looks for the style sheets of a document elsewhere than in pn.state._stylesheets: "
        "notebooks would ask a CDN"
    )


class Kept(Comm):
    def __init__(self) -> None:
        super().__init__(id="line")
        self.sent: list[str] = []

    def send(self, data: str = "", metadata: Any = None, buffers: Any = ()) -> None:
        self.sent.append(data)


class Manager:
    def assemble(self, message: dict[str, Any]) -> Any:
        class Patch:
            def apply_to_document(self, doc: Document, setter: str) -> None:
                doc.apply_json_patch(message["content"], setter=setter)

        return Patch()


def test_a_line_is_silent_until_it_is_open_and_keeps_order() -> None:
    comm, text = Kept(), pn.widgets.TextInput(value="first")
    column = Heard(text)
    root, doc = rendered(column, comm)
    root.tags = [SENT_BY_US]
    line = Line(root, comm)
    doc.to_json()
    comm.send("of Panel's")
    text.value = "second"
    assert not comm.sent, "pyviz_comms' Comm.send: Panel would send before there is a page"
    line.open()
    assert comm.sent == ["of Panel's"]
    line.send()
    assert '"second"' in "".join(comm.sent), "Document.callbacks._held_events: changes are lost"
    comm.sent.clear()

    model = model_of(text, root.ref["id"])
    changes: list[str] = []
    text.param.watch(lambda event: changes.append(event.new), "value")
    text.placeholder = "still to be sent"
    event = {"kind": "ModelChanged", "model": model.ref, "attr": "value", "new": "typed"}
    line.take(Manager(), {"content": {"events": [event]}})
    assert changes == ["typed"], "callback_invoker: what somebody does in a notebook is not heard"
    sent = "".join(comm.sent)
    assert "still to be sent" in sent, "what was to be sent is dropped when a page tells something"
    assert '"typed"' not in sent, "a page is told what it has just told"


def test_the_browsers_part_is_there() -> None:
    """What ``Drawn`` reaches into: Panel's CommManager and BokehJS."""
    scripts = "".join(
        path.read_text(encoding="utf-8")
        for path in [PANEL / "dist" / "panel.min.js", *(PANEL / "models").glob("comm_manager.ts")]
    )
    for name in ("msg_handler", "_document_changed"):
        assert name in scripts, f"CommManager.{name}: pages would echo all that they are told"
        assert name in str(Drawn._esm)
    bokeh = Path(static.__path__[0]) / "js" / "bokeh.js"
    source = bokeh.read_text(encoding="utf-8")
    for name in ("get all_models()", "get roots()"):
        assert name in source, f"BokehJS has no {name} (Drawn; the button 'Copy the code')"
