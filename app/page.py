"""The served page: a session's explorer between a title bar and the browser's address."""

from __future__ import annotations

import logging
import urllib.parse
from typing import Any

import panel as pn
import param
from panel.util.parameters import edit_readonly
from panel_material_ui.template.base import Page

from . import garbage
from .explorer import Explorer
from .settings import OWN
from .theme import THEME

log = logging.getLogger("rfm_explorer")
TITLE = "RFM Explorer"
PAGE_KEYS = ("hide", "view", "tab", "story")  # what is shown, as opposed to what is run
TO_GALLERY = (
    '<a href="gallery" style="color: var(--panel-on-primary-color, #fff); font-size: 17px">'
    "Gallery</a>"
)
LONGEST_QUERY = 4000  # characters; a link of ours has a few hundred


def serve_session() -> None:
    """Everything for one visitor; called once a session by ``main.py`` and by the launcher."""
    make_page().servable(title=TITLE)


def make_page(gallery: bool = False) -> Any:
    """The page for the session that is being made; ``gallery``: there is one to link to."""
    query = read_address()
    explorer = Explorer(
        query={k: v for k, v in query.items() if k not in PAGE_KEYS},
        hide=tuple(part for part in query.get("hide", "").split(",") if part),
        only=query.get("view", ""),
        tab=query.get("tab", ""),
        story=query.get("story", ""),
    )
    keep_address(explorer, query)
    if pn.state.curdoc is not None and pn.state.curdoc.session_context is not None:
        pn.state.on_session_destroyed(lambda context: ended(explorer))
        pn.state.onload(garbage.set_aside)
    sidebar = [] if explorer.stage.only else explorer.side()
    page = Page(
        title=TITLE,
        header=[pn.pane.HTML(TO_GALLERY, align="center")] if gallery else [],
        sidebar=sidebar,
        sidebar_width=340,
        main=[pn.Column(*explorer.main(), sizing_mode="stretch_width", margin=(8, 8))],
        theme_config=THEME,
    )
    # It would follow every event of every session, at the cost of a walk through the whole page,
    # and the list of its followers would keep every page in memory for ever.
    with edit_readonly(page):
        page.busy = _Idle().param.busy
    return page


class _Idle(param.Parameterized):
    busy = param.Boolean(False)


def ended(explorer: Explorer) -> None:
    explorer.close()
    garbage.collect_later()


def read_address() -> dict[str, str]:
    """The query of the address; the first value of each name."""
    location = pn.state.location
    text = "" if location is None else str(location.search or "")
    pairs = urllib.parse.parse_qsl(text.lstrip("?")[:LONGEST_QUERY], max_num_fields=100)
    query: dict[str, str] = {}
    for name, value in pairs:
        query.setdefault(name, value)
    return query


def keep_address(explorer: Explorer, query: dict[str, str]) -> None:
    """The address follows the settings, so that copying it copies the state."""
    location = pn.state.location
    if location is None:
        return
    fixed = {name: value for name, value in query.items() if name in ("hide", "view")}

    def write(*events: Any) -> None:
        if explorer.settings.system == OWN:
            return  # a file cannot be in a link
        values = dict(explorer.settings.query())
        values.update(fixed)
        if not explorer.stage.only:
            values["tab"] = explorer.stage.visible
        location.search = "?" + urllib.parse.urlencode(values)

    names = [name for name in explorer.settings.param if name != "name"]
    explorer.settings.param.watch(write, names)
    write()
