"""The explorer's place in a notebook: everything comes from this machine, once, and in order.

Panel alone puts the code of all widgets into each of them (54 megabytes for an explorer), asks a
CDN for style sheets that come later, and begins to send before the page has drawn what it sends to,
after which that page never understands a message again.
"""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.core.serialization import Serializer
from bokeh.document.callbacks import invoke_with_curdoc
from bokeh.models import GlobalInlineStyleSheet, ImportedStyleSheet, Plot
from bokeh.models.ui import UIElement
from panel.io.model import patch_cds_msg
from panel.io.notebook import push
from panel.io.resources import CDN_DIST, DIST_DIR, LOCAL_DIST
from panel.models.esm import ReactComponent
from panel_material_ui.base import DIST_PATH

from .theme import THEME

Model = Any  # bokeh.model.Model
BEAT_MILLISECONDS = 100
SENT_BY_US = "embedded"  # Panel itself sends nothing to a root that has this tag
ICONS = (
    ".material-icons { font-family: 'Material Icons'; font-weight: normal; font-style: normal; "
    "line-height: 1; letter-spacing: normal; text-transform: none; display: inline-block; "
    "white-space: nowrap; direction: ltr; font-feature-settings: 'liga'; }"
)


@cache
def icon_font() -> str:
    """The font whose ligatures are the icons: the page of a notebook has none, and no CDN."""
    [path] = DIST_PATH.glob("material-icons-[A-Z]*.woff2")
    data = base64.b64encode(path.read_bytes()).decode()
    source = f"url(data:font/woff2;base64,{data}) format('woff2')"
    return f"@font-face {{ font-family: 'Material Icons'; src: {source}; }}"


class Drawn(pn.custom.JSComponent):
    """Counts how often a browser has drawn the page around it.

    And keeps that page from telling Python everything that Python has just told it, data of all
    curves included: half of a kernel's time, and old values that come back over newer ones.
    """

    times = param.Integer(0)

    _esm = """
    function no_echo(manager) {
      const {msg_handler, _document_changed} = manager;
      let told = false;
      manager.msg_handler = (message) => {
        told = true;
        try { msg_handler.call(manager, message); } finally { told = false; }
      };
      manager._document_changed = (event) => {
        if (!told) _document_changed.call(manager, event);
      };
      manager.without_echo = true;
    }
    export function render({model, view}) {
      const drawn = () => {
        if (!Array.from(Bokeh.index.roots).includes(view.root)) return setTimeout(drawn, 50);
        for (const root of view.model.document.roots()) {
          if (root.msg_handler != null && !root.without_echo) no_echo(root);
        }
        model.times += 1;
      };
      drawn();
      return document.createElement("span");
    }
    """


class Cell(pmui.Row):
    """A row of things. ``begun()`` and ``drawn()`` are called before and after a page draws it."""

    def __init__(
        self, *objects: Any, begun: Callable[[], None], drawn: Callable[[], None], **more: Any
    ) -> None:
        self._seen = Drawn(width=0, height=0, margin=0)
        super().__init__(*objects, self._seen, theme_config=THEME, hooks=[self._later], **more)
        self._begun, self._drawn = begun, drawn
        self._pages: dict[str, _Page] = {}  # by number of their root
        self._telling = ""  # the one that tells something
        self._loop: asyncio.AbstractEventLoop | None = None
        self._seen.param.watch(self._was_drawn, "times")
        self._pulse = pn.state.add_periodic_callback(self._beat, BEAT_MILLISECONDS, start=False)

    def _get_model(
        self, doc: Any, root: Model = None, parent: Model = None, comm: Any = None
    ) -> Model:
        if doc.session_context is not None:  # served: the server has files and keeps order
            return super()._get_model(doc, root, parent, comm)
        with suppress(RuntimeError):  # no notebook
            self._loop = asyncio.get_running_loop()
        self._begun()
        sheets = pn.state._stylesheets[doc] = _Sheets()
        model: Model = super()._get_model(doc, root, parent, comm)
        _lighten(model)
        # all widgets share one module: it goes with that one of them which the page makes first
        first = next(_made(Serializer().encode(model)))
        model.select_one({"id": first}).esm = self._render_esm()
        model.stylesheets = [*model.stylesheets, GlobalInlineStyleSheet(css=icon_font())]
        top = root or model
        self._pages[top.ref["id"]] = _Page(top, comm, sheets)
        if root is None:
            model.tags = [*model.tags, SENT_BY_US]
        return model

    def _on_msg(self, ref: str, manager: Any, msg: Any) -> None:
        """The page tells something. JupyterLab has it told in a thread: everything else is here."""
        if threading.current_thread() is threading.main_thread() or self._loop is None:
            self._take(ref, manager, msg)
        else:
            self._loop.call_soon_threadsafe(self._take, ref, manager, msg)

    def _take(self, ref: str, manager: Any, msg: Any) -> None:
        if ref in self._pages:
            self._telling = ref
            self._pages[ref].take(manager, msg)
            self._telling = ""

    def _later(self, view: Any, root: Model, changed: Any, old: Any) -> None:
        """Panel calls this for what comes to a page, before it is sent."""
        ref = root.ref["id"]
        if changed is not self and ref in self._pages and ref in changed._models:
            _lighten(changed._models[ref][0])

    def _was_drawn(self, event: Any) -> None:
        for ref, page in self._pages.items():
            if self._telling in ("", ref):  # jupyter_bokeh does not say which
                page.drawn()
        if not self._pulse.running:
            self._pulse.start()
        self._drawn()

    def _beat(self) -> None:
        for ref in [ref for ref in self._pages if ref not in pn.state._views]:
            del self._pages[ref]  # its cell was cleared or run again
        for page in self._pages.values():
            page.send()
        if not self._pages:
            self._pulse.stop()


class _Page:
    """One showing of a cell. What changes is sent by ``send``, in its order and all together."""

    def __init__(self, root: Model, comm: Any, sheets: _Sheets) -> None:
        self.root, self.comm, self.sheets = root, comm, sheets
        self._early: list[tuple[tuple[Any, ...], dict[str, Any]]] | None = None
        if comm is not None:
            self._early = []
            comm.send = self._keep
            comm._comm = comm._comm or self  # for Panel: it is open, do not try again later

    def _keep(self, *given: Any, **more: Any) -> None:
        """What Panel sends, before there is a page, in answer to its first words."""
        assert self._early is not None
        self._early.append((given, more))

    def drawn(self) -> None:
        """A browser has it. Until then Panel collects the changes."""
        self.root.document.hold()
        pn.state._stylesheets[self.root.document] = self.sheets  # jupyter_bokeh makes its own one
        if self._early is not None:
            del self.comm.send  # the class has it
            for given, more in self._early:
                self.comm.send(*given, **more)
            self._early = None

    def take(self, manager: Any, message: Any) -> None:
        """What the page tells. Panel's own way of taking it drops what is still to be sent."""
        self.send()  # Bokeh takes all models for known to a page that tells something
        doc = self.root.document
        doc.hold()
        patch_cds_msg(self.root, message)
        manager.assemble(message).apply_to_document(doc, self.comm.id)
        changes = doc.callbacks._held_events
        doc.callbacks._held_events = [e for e in changes if e.setter is None]
        for change in changes:
            if change.setter is not None and change.callback_invoker is not None:
                invoke_with_curdoc(doc, change.callback_invoker)
        self.send()

    def send(self) -> None:
        """What has changed since the last time, what is inside of Bokeh's figures included."""
        if self.comm is not None:
            # every binary part would be two messages more, and Jupyter drops those beyond a
            # thousand a second: then no later one is understood
            push(self.root.document, self.comm, binary=False)
        else:  # jupyter_bokeh listens to the document
            self.root.document.unhold()
            self.root.document.hold()


class _Sheets(dict[str, Model]):
    """Panel's style sheets of one document by their address: each once, and from this machine."""

    def __contains__(self, url: object) -> bool:
        if super().__contains__(url):
            return True
        for base in (CDN_DIST, LOCAL_DIST):
            path = DIST_DIR / str(url).removeprefix(base).split("?")[0]
            if str(url).startswith(base) and path.is_file():
                data = base64.b64encode(path.read_bytes()).decode()
                self[str(url)] = ImportedStyleSheet(url=f"data:text/css;base64,{data}")
                return True
        return False  # somebody's own


def _lighten(model: Model) -> None:
    """Widgets without their code, which the page has, and with the style of icons.

    Figures are drawn without WebGL: of several that come at once Bokeh leaves all but one empty,
    because they share one context before it is ready.
    """
    for element in model.select({"type": UIElement}):
        if isinstance(element, Plot):
            element.output_backend = "canvas"
        elif isinstance(element, ReactComponent) and element.bundle:
            element.update(esm="", css_bundle=ICONS)


def _made(part: Any) -> Iterator[str]:
    """Numbers of widgets in the order in which a page makes them: what one holds before itself."""
    if isinstance(part, dict):
        for value in part.values():
            yield from _made(value)
        name = str(part.get("name", ""))
        if part.get("type") == "object" and name == ReactComponent.__qualified_model__:
            yield part["id"]
    elif isinstance(part, (list, tuple)):
        for value in part:
            yield from _made(value)
