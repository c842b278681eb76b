"""What only the browser knows: Back and Forward, its width, the theme, the file of this tab."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import panel as pn
import param

LONGEST_QUERY = 4000  # characters; a link of ours has a few hundred


class Browser(pn.custom.JSComponent):
    """An element without extent that speaks for the browser of a served page.

    ``went(search, ran)`` is called for Back and Forward, ``ready(file)`` once at the beginning with
    the name of the file that was given in this tab, if any.
    """

    address = param.Dict(default={}, doc="search: the query to show; ran: is its run on the page?")
    dark = param.Boolean(False)
    wide = param.Boolean(True)
    file = param.String("", doc="Name under which a reload of this tab finds its file.")

    _esm = Path(__file__).parent / "browser.js"

    def __init__(self) -> None:
        super().__init__(width=0, height=0, margin=0)
        self.went: Callable[[str, bool], None] = lambda search, ran: None
        self.ready: Callable[[str], None] = lambda file: None

    def _handle_msg(self, data: Any) -> None:
        """From the browser, so it may be anything."""
        if not isinstance(data, dict):
            return
        if data.get("kind") == "went":
            self.went(str(data.get("search") or "")[:LONGEST_QUERY], bool(data.get("ran")))
        elif data.get("kind") == "ready":
            # the rest of the page may not be drawn yet, and would lose what changes until then
            pn.state.onload(partial(self.ready, str(data.get("file") or "")[:100]))
