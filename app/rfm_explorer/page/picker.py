"""A file from the visitor's disk: offered with name and size, fetched piece by piece.

Python asks for every piece, so a file that is too large is refused before any of it has come, and
one that is no longer wanted is no longer asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import panel as pn
import param

PIECE = 1_000_000  # bytes


class FilePicker(pn.custom.JSComponent):
    """``offered(name, size)`` says whether the file is wanted; then ``came(bytes so far)`` for each
    piece, and at last ``received(content, name)`` or ``lost(name)``.
    """

    label = param.String("Choose a file")
    accept = param.String("")

    _esm = Path(__file__).parent / "picker.js"
    _stylesheets = [Path(__file__).parent / "picker.css"]  # noqa: RUF012 - as Panel declares it

    def __init__(
        self,
        offered: Callable[[str, int], bool],
        came: Callable[[int], None],
        received: Callable[[bytes, str], None],
        lost: Callable[[str], None],
        **layout: Any,
    ) -> None:
        super().__init__(**layout)
        self._offered, self._came, self._received, self._lost = offered, came, received, lost
        self._name, self._size, self._number = "", 0, -1
        self._content = bytearray()

    @property
    def fetching(self) -> bool:
        return self._number >= 0

    def stop(self) -> None:
        """Ask for no more of it."""
        self._number = -1
        self._content = bytearray()

    def _handle_msg(self, data: Any) -> None:
        """From the browser, so it may be anything."""
        if not isinstance(data, dict):
            return
        kind, number = data.get("kind"), data.get("number")
        if kind == "offer" and isinstance(number, int) and isinstance(data.get("size"), int):
            self.stop()
            self._name, self._size = str(data.get("name") or "file")[:200], data["size"]
            if self._offered(self._name, self._size):
                self._number = number
                self._go_on()
        elif self.fetching and number == self._number:
            if kind == "piece":
                self._take(data)
            elif kind == "unreadable":
                self.stop()
                self._lost(self._name)

    def _take(self, data: dict[str, Any]) -> None:
        piece = data.get("data")
        if data.get("from") != len(self._content) or not isinstance(piece, (bytes, memoryview)):
            return
        if not len(piece) or len(self._content) + len(piece) > self._size:  # it has changed
            self.stop()
            self._lost(self._name)
            return
        self._content += piece
        self._came(len(self._content))
        self._go_on()

    def _go_on(self) -> None:
        """The next piece, or what there is to be done with all of them."""
        if len(self._content) >= self._size:
            content = bytes(self._content)
            self.stop()
            self._received(content, self._name)
        else:
            begin = len(self._content)
            asked = {"from": begin, "to": min(begin + PIECE, self._size)}
            self._send_msg({"number": self._number, **asked})
