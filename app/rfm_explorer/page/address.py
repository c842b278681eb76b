"""The browser's address and the settings: each follows the other."""

from __future__ import annotations

import urllib.parse
from typing import Protocol

from ..state.controls import OWN
from ..state.settings import Settings
from .browser import LONGEST_QUERY, Browser

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


class Shows(Protocol):
    """What an address is the address of."""

    settings: Settings

    @property
    def tab(self) -> str:
        """The one in sight; empty where there is only one picture."""

    @property
    def up_to_date(self) -> bool:
        """Are these the settings of what is shown?"""

    def restore(self, query: dict[str, str], tab: str, *, run: bool, file: str = "") -> None:
        """Everything as a link says."""


class Address:
    """Copying it copies the state; Back, Forward and reload restore it."""

    def __init__(self, shows: Shows, browser: Browser, query: dict[str, str]) -> None:
        self.shows, self.browser = shows, browser
        self._fixed = {name: value for name, value in query.items() if name in SHOWN}
        self._begun = query
        browser.went = self._went
        browser.ready = self._ready
        names = [name for name in shows.settings.param if name != "name"]
        shows.settings.param.watch(self.write, names)
        if not waits_for_file(query):
            self.write()

    def write(self, *events: object) -> None:
        """After whatever may have changed it."""
        values = {**self.shows.settings.query(), **self._fixed}
        if self.shows.tab:
            values["tab"] = self.shows.tab
        search = "?" + urllib.parse.urlencode(values)
        self.browser.address = {"search": search, "ran": self.shows.up_to_date}

    def dark(self, dark: bool) -> None:
        """The theme was changed; a link that names one goes on doing so."""
        if "dark" in self._fixed:
            self._fixed["dark"] = str(int(dark))
            self.write()

    def _went(self, search: str, ran: bool) -> None:
        query = read(search)
        self.shows.restore(of_settings(query), query.get("tab", ""), run=ran)
        self.write()

    def _ready(self, file: str) -> None:
        """The browser has drawn the page, and may have been here before with a file."""
        query, self._begun = self._begun, {}
        if waits_for_file(query):
            self.shows.restore(of_settings(query), query.get("tab", ""), run=True, file=file)
            self.write()


def waits_for_file(query: dict[str, str]) -> bool:
    """Is it about an own file? The browser has to say which."""
    return query.get("system") == OWN
