"""The explorer's place in a notebook: everything comes from this machine, once, and in order.

A cell begins as a few lines that say what to do should they stay. The page tells that it has drawn
them; only then the explorer itself is sent. So what Jupyter saves with the notebook is small, and a
page that is opened again without its kernel shows those lines instead of buttons that are dead.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import panel as pn
from bokeh.document import Document
from bokeh.models import GlobalInlineStyleSheet, Plot
from bokeh.models.ui import UIElement
from panel.theme import Native
from param.parameterized import Event

from ..compat.look import icon_font
from ..compat.notebook import (
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

Model = Any  # bokeh.model.Model
BEAT_MILLISECONDS = 100


class Cell(Column):
    """One showing of ``live``; ``until`` is the HTML in its place before a page is connected.

    ``begun()`` and ``drawn()`` are called before and after a page draws it; ``place`` is the id of
    an element of the page that goes when it comes.
    """

    def __init__(
        self,
        live: pn.viewable.Viewable,
        until: str,
        *,
        begun: Callable[[], None],
        drawn: Callable[[], None],
        place: str = "",
    ) -> None:
        self._live, self._begun, self._drawn = live, begun, drawn
        self._seen = Drawn(instead_of=place, width=0, height=0, margin=0)
        self._until = pn.pane.HTML(until, sizing_mode="stretch_width")
        super().__init__(
            self._until,
            self._seen,
            sizing_mode="stretch_width",
            hooks=[self._to_be_sent],
            design=Native,  # another one would be wrapped in a widget, with the code of all
        )
        self._pages: dict[str, _Page] = {}  # by name of their root
        self._telling = ""  # the one that tells something
        self._loop: asyncio.AbstractEventLoop | None = None
        self._seen.param.watch(self._was_drawn, "times")
        self._pulse = pn.state.add_periodic_callback(self._beat, BEAT_MILLISECONDS, start=False)

    def make_model(self, doc: Document, root: Model, parent: Model, comm: Any) -> Model:
        if doc.session_context is not None:  # served: the server has files and keeps order
            self.objects = [self._live]
            return super().make_model(doc, root, parent, comm)
        with suppress(RuntimeError):  # no notebook
            self._loop = asyncio.get_running_loop()
        self._begun()
        sheets = Sheets()
        sheets.use(doc)
        if root is not None:  # in a layout of somebody's, which does not let itself be extended
            self.objects = [self._live, self._seen]
        model = super().make_model(doc, root, parent, comm)
        top = root or model
        page = self._pages[top.ref["id"]] = _Page(top, comm, sheets)
        page.lighten(model)
        if root is None:
            model.tags = [*model.tags, SENT_BY_US]
        return model

    def hear(self, ref: str, manager: Any, message: Any) -> None:
        """JupyterLab has it told in a thread: everything else is here."""
        if threading.current_thread() is threading.main_thread() or self._loop is None:
            self._take(ref, manager, message)
        else:
            self._loop.call_soon_threadsafe(self._take, ref, manager, message)

    def _take(self, ref: str, manager: Any, message: Any) -> None:
        if ref in self._pages:
            self._telling = ref
            self._pages[ref].line.take(manager, message)
            self._telling = ""

    def _to_be_sent(self, view: Any, root: Model, changed: Any, old: Any) -> None:
        """Panel calls this for what comes to a page, before it is sent."""
        page = self._pages.get(root.ref["id"])
        model = None if page is None else model_of(changed, root.ref["id"])
        if page is not None and model is not None:
            page.lighten(model)

    def _was_drawn(self, event: Event) -> None:
        for ref, page in self._pages.items():
            if self._telling in ("", ref):  # jupyter_bokeh does not say which
                page.begin()
        if self._pulse.running:
            return  # a saved page was opened again: it has the lines alone, which say what to do
        self.objects = [self._live, self._seen]
        self._pulse.start()
        self._drawn()

    def _beat(self) -> None:
        for ref in [ref for ref in self._pages if not is_shown(ref)]:
            del self._pages[ref]  # its cell was cleared or run again
        for page in self._pages.values():
            page.line.send()
        if not self._pages:
            self._pulse.stop()


class _Page:
    """One that shows a cell."""

    def __init__(self, root: Model, comm: Any, sheets: Sheets) -> None:
        self.root, self.sheets = root, sheets
        self.line = Line(root, comm)
        self._has_code: Model = None  # the widget that brings the code of all

    def begin(self) -> None:
        self.line.open()
        self.sheets.use(self.root.document)  # jupyter_bokeh has made its own ones

    def lighten(self, model: Model) -> None:
        """Widgets without their code, which the page gets once, with the font of their icons.

        Figures are drawn without WebGL: of several that come at once Bokeh leaves all but one
        empty, because they share one context before it is ready.
        """
        widgets = 0
        for element in model.select({"type": UIElement}):
            if isinstance(element, Plot):
                element.output_backend = "canvas"
            elif element is not self._has_code:
                widgets += without_code(element)
        if widgets and self._has_code is None:
            self._has_code = give_code(model)
            model.stylesheets = [*model.stylesheets, GlobalInlineStyleSheet(css=icon_font())]
