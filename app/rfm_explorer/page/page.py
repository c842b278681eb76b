"""The served page: a session's explorer between a title bar and the browser's address."""

from __future__ import annotations

import logging

import panel as pn
from panel_material_ui import Page

from ..compat.pages import stop_following_busy
from ..explorer import Explorer
from ..serve import gc_policy as garbage
from .address import Address, of_settings, read, waits_for_file
from .browser import Browser
from .theme import CSS, SX, TEMPLATE, THEME

log = logging.getLogger("rfm_explorer")
TITLE = "RFM Explorer"
TO_GALLERY = '<a href="gallery">Gallery</a>'
IN_BAR = """a { color: #ffffff; font-size: 17px; }
a:focus-visible { outline: 3px solid #ffffff; outline-offset: 2px; }"""


def serve_session() -> None:
    """Everything for one visitor; called once a session by ``main.py`` and by the launcher."""
    make_page().servable(title=TITLE)


def make_page(gallery: bool = False) -> Page:
    """The page for the session that is being made; ``gallery``: there is one to link to."""
    location = pn.state.location
    query = read("" if location is None else str(location.search or ""))
    waits = waits_for_file(query)
    explorer = Explorer(
        query={} if waits else of_settings(query),
        hide=tuple(part for part in query.get("hide", "").split(",") if part),
        only=query.get("view", ""),
        tab=query.get("tab", ""),
        story=query.get("story", ""),
        answer=query.get("answer", "") == "1",
        train=not waits,
    )
    browser = Browser()
    address = Address(explorer, browser, query)
    explorer.param.watch(address.write, "begun")
    explorer.upload.kept = lambda name: setattr(browser, "file", name)
    if pn.state.curdoc is not None and pn.state.curdoc.session_context is not None:
        pn.state.on_session_destroyed(lambda context: ended(explorer))
        pn.state.onload(garbage.set_aside)
    page = Page(
        title=TITLE,
        header=[pn.pane.HTML(TO_GALLERY, align="center", stylesheets=[IN_BAR])] if gallery else [],
        sidebar=[] if explorer.tabs.only else explorer.side(),
        sidebar_width=340,
        main=[pn.Column(*explorer.main(), browser, sizing_mode="stretch_width", margin=(8, 8))],
        theme_config=THEME,
        sx=SX,
        sidebar_resizable=False,
        raw_css=[CSS],
        template=TEMPLATE,
    )
    browser.jslink(page, wide="sidebar_open")  # in the browser, so at once
    browser.jslink(page, bidirectional=True, dark="dark_theme")
    page.param.watch(lambda event: address.dark(event.new), "dark_theme")
    stop_following_busy(page)
    return page


def ended(explorer: Explorer) -> None:
    explorer.close()
    garbage.collect_later()
