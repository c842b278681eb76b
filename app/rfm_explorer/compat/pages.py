"""Panel's server and pages: what makes them, and what they would follow for ever."""

from __future__ import annotations

from typing import Any

import panel as pn
import param
from bokeh.server.urls import per_app_patterns
from bokeh.server.views.auth_request_handler import AuthRequestHandler
from panel.io.resources import DIST_DIR
from panel.io.server import DocHandler as PageHandler
from panel.util.parameters import edit_readonly
from panel_material_ui import Page

__all__ = [
    "DIST_DIR",  # for serve.gallery: where Panel's server has its scripts (KaTeX)
    "AuthRequestHandler",  # for serve.gallery: who may see the explorer may see a page of ours
    "PageHandler",  # for serve.admission: what makes a page for a request
    "RedrawnPane",
    "make_pages_by",
    "stop_following_busy",
]


def make_pages_by(handler: type[PageHandler]) -> None:
    """Servers made from now on use this handler, a subclass of ``PageHandler``, for their pages.

    For ``serve.admission``. Panel puts its own handler into this list of Bokeh's in the same way.
    """
    per_app_patterns[:] = [
        (path, handler if kind is PageHandler else kind, *more)
        for path, kind, *more in per_app_patterns
    ]


class _Idle(param.Parameterized):
    busy = param.Boolean(False)


def stop_following_busy(page: Page) -> None:
    """A ``panel_material_ui.Page`` no longer shows whether the server is busy.

    For ``page.page``. It would follow every event of every session, at the cost of a walk through
    the whole page, and the list of its followers would keep every page in memory for ever.
    """
    with edit_readonly(page):
        page.busy = _Idle().param.busy


class RedrawnPane(pn.pane.Bokeh):
    """Shown a second time, as an explorer in a further cell is, it has a figure of its own.

    For ``page.picture``. A Bokeh figure belongs to one document. ``again()`` makes another one; the
    newest view is the live one.
    """

    object: Any

    def again(self) -> Any:
        raise NotImplementedError

    def _get_model(self, doc: Any, root: Any = None, parent: Any = None, comm: Any = None) -> Any:
        shown = self.object
        if root is not None and shown is not None and shown.document not in (None, doc):
            with param.discard_events(self):
                self.object = self.again()
        return super()._get_model(doc, root, parent, comm)
