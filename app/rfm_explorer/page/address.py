"""The browser's address and the settings: each follows the other."""

from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING, Any

from ..state.controls import OWN
from .browser import LONGEST_QUERY, Browser

if TYPE_CHECKING:
    from ..explorer import Explorer

SHOWN = ("hide", "view", "dark")  # of the page itself; they stay in its address
PAGE_KEYS = (*SHOWN, "tab", "story", "answer")  # what is shown, as opposed to what is run


def read(search: str) -> dict[str, str]:
    """The query of an address; the first value of each name."""
    pairs = urllib.parse.parse_qsl(search.lstrip("?")[:LONGEST_QUERY], max_num_fields=100)
    query: dict[str, str] = {}
    for name, value in pairs:
        query.setdefault(name, value)
    return query


def of_settings(query: dict[str, str]) -> dict[str, str]:
    """What the query says about the run."""
    return {name: value for name, value in query.items() if name not in PAGE_KEYS}


class Address:
    """Copying it copies the state; Back, Forward and reload restore it."""

    def __init__(self, explorer: Explorer, browser: Browser, query: dict[str, str]) -> None:
        self.explorer, self.browser = explorer, browser
        self._fixed = {name: value for name, value in query.items() if name in SHOWN}
        self._begun = query
        browser.went = self._went
        browser.ready = self._ready
        explorer.upload.kept = self._kept
        names = [name for name in explorer.settings.param if name != "name"]
        explorer.settings.param.watch(self._write, names)
        explorer.param.watch(self._write, "begun")
        if not waits_for_file(query):
            self._write()

    def _write(self, *events: Any) -> None:
        explorer = self.explorer
        values = {**explorer.settings.query(), **self._fixed}
        if not explorer.tabs.only:
            values["tab"] = explorer.tabs.visible
        search = "?" + urllib.parse.urlencode(values)
        self.browser.address = {"search": search, "ran": explorer.up_to_date}

    def dark(self, dark: bool) -> None:
        """The theme was changed; a link that names one goes on doing so."""
        if "dark" in self._fixed:
            self._fixed["dark"] = str(int(dark))
            self._write()

    def _went(self, search: str, ran: bool) -> None:
        query = read(search)
        self.explorer.restore(of_settings(query), query.get("tab", ""), run=ran)
        self._write()

    def _kept(self, name: str) -> None:
        self.browser.file = name

    def _ready(self, file: str) -> None:
        """The browser has drawn the page, and may have been here before with a file."""
        query, self._begun = self._begun, {}
        if waits_for_file(query):
            if file:
                self.explorer.upload.find(file)
            self.explorer.restore(of_settings(query), query.get("tab", ""), run=True)
            self._write()


def waits_for_file(query: dict[str, str]) -> bool:
    """Is it about an own file? The browser has to say which."""
    return query.get("system") == OWN
