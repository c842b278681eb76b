"""A notebook's page and its kernel, as Panel connects them. For ``notebook.transport``.

Panel alone puts the code of all widgets into each of them (54 megabytes for an explorer), asks a
CDN for style sheets that come later, and begins to send before the page has drawn what it sends to,
after which that page never understands a message again. None of this can be told it from outside.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.document.callbacks import invoke_with_curdoc
from bokeh.models import ImportedStyleSheet
from panel.io.model import patch_cds_msg
from panel.io.notebook import push
from panel.io.resources import CDN_DIST, DIST_DIR, LOCAL_DIST
from panel.models.esm import ReactComponent

from .look import ICONS

Model = Any  # bokeh.model.Model
SENT_BY_US = "embedded"  # Panel itself sends nothing to a root that has this tag


class Drawn(pn.custom.JSComponent):
    """Counts how often a browser has drawn the page around it.

    And keeps that page from telling Python everything that Python has just told it, data of all
    curves included: half of a kernel's time, and old values that come back over newer ones. For
    that it reaches into the model by which Panel connects a page, its CommManager.
    """

    times = param.Integer(0)
    instead_of = param.String("", doc="The id of what was shown in its place until now.")

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
        document.getElementById(model.instead_of)?.remove();
        model.times += 1;
      };
      drawn();
      return document.createElement("span");
    }
    """


class Column(pn.Column):
    """A column that has a say where Panel makes its model, and where a page tells it something."""

    def make_model(self, doc: Document, root: Model, parent: Model, comm: Any) -> Model:
        return super()._get_model(doc, root, parent, comm)

    def hear(self, ref: str, manager: Any, message: Any) -> None:
        """A page tells something; ``ref`` is the name of its root."""
        raise NotImplementedError

    def _get_model(
        self, doc: Any, root: Model = None, parent: Model = None, comm: Any = None
    ) -> Model:
        return self.make_model(doc, root, parent, comm)

    def _on_msg(self, ref: str, manager: Any, msg: Any) -> None:
        self.hear(ref, manager, msg)


def is_shown(ref: str) -> bool:
    """Whether the root of this name is still on a page: its cell was not cleared or run again."""
    return ref in pn.state._views


def model_of(viewable: Any, ref: str) -> Model | None:
    """What stands for this object on the page with that root."""
    found = viewable._models.get(ref)
    return None if found is None else found[0]


# --- how much is sent ------------------------------------------------------------------------


def without_code(widget: Model) -> bool:
    """Take from a widget of panel-material-ui the code that all of them share; was it one?"""
    if not isinstance(widget, ReactComponent) or not widget.bundle:
        return False
    widget.update(esm="", css_bundle=ICONS)
    return True


def give_code(model: Model) -> Model:
    """Give the shared code to that widget in ``model`` which a page makes first, and return it."""
    first = model.select_one({"id": next(_made(Serializer().encode(model)))})
    first.esm = pmui.Row._render_esm()
    return first


def _made(part: Any) -> Iterator[str]:
    """Names of widgets in the order in which a page makes them: what one holds before itself."""
    if isinstance(part, dict):
        for value in part.values():
            yield from _made(value)
        attributes = part.get("attributes", {})
        kind = part.get("name") == ReactComponent.__qualified_model__
        if part.get("type") == "object" and kind and attributes.get("bundle"):
            yield part["id"]
    elif isinstance(part, (list, tuple)):
        for value in part:
            yield from _made(value)


class Sheets(dict[str, Model]):
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

    def __bool__(self) -> bool:
        return True  # Panel does not ask one that says it is empty

    def use(self, doc: Document) -> None:
        """Panel looks there for the style sheets of this document."""
        pn.state._stylesheets[doc] = self


# --- when it is sent -------------------------------------------------------------------------


class Line:
    """The connection of a kernel to a page. Silent until the page has drawn what it is told about.

    ``comm`` is None where jupyter_bokeh connects them (VS Code): it listens to the document.
    """

    def __init__(self, root: Model, comm: Any) -> None:
        self.root, self.comm = root, comm
        self._early: list[tuple[tuple[Any, ...], dict[str, Any]]] | None = None
        if comm is not None:
            self._early = []
            comm.send = self._keep
            comm._comm = comm._comm or self  # for Panel: it is open, do not try again later

    def _keep(self, *given: Any, **more: Any) -> None:
        """What Panel sends, before there is a page, in answer to its first words."""
        assert self._early is not None
        self._early.append((given, more))

    def open(self) -> None:
        """A browser has drawn the page. Until then Panel collects the changes."""
        self.root.document.hold()
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
        else:
            self.root.document.unhold()
            self.root.document.hold()
