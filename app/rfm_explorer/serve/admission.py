"""When a whole class opens its link at once: one page is made at a time.

Making a page takes a second or two of the event loop. Bokeh would make all that were asked for in
one go, and whoever has a page already would wait for the last of them to see anything in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..compat.pages import PageHandler, make_pages_by

BREATH = 0.25  # seconds between two pages: a browser answers several times until it has drawn one


def soon(then: Callable[[], None]) -> None:
    """When a browser has had time to answer."""
    asyncio.get_running_loop().call_later(BREATH, then)


class OneByOne(PageHandler):
    """Between two pages everything else has its turn: connections, drawings, clicks."""

    _turn = asyncio.Lock()  # first come, first served
    _has_turn = _gone = False

    async def get(self, *args: str, **kwargs: str) -> None:
        await self._turn.acquire()
        if self._gone:
            self._turn.release()
            return
        self._has_turn = True
        await super().get(*args, **kwargs)

    def on_connection_close(self) -> None:
        self._gone = True
        super().on_connection_close()

    def on_finish(self) -> None:
        if self._has_turn:
            self._has_turn = False
            soon(self._turn.release)
        super().on_finish()


def make_pages_one_by_one() -> None:
    """For servers made from now on."""
    make_pages_by(OneByOne)
