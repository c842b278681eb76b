"""A class at the door: one page is made at a time, in the order of coming."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import panel as pn
import pytest
from bokeh.server import urls
from panel.io.server import get_server
from rfm_explorer.serve import admission
from tornado.httpclient import AsyncHTTPClient


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], None]]:
    """Ends of turns, to be called by the test instead of by the clock."""
    waiting: list[Callable[[], None]] = []
    monkeypatch.setattr(admission, "soon", waiting.append)
    monkeypatch.setattr(admission.OneByOne, "_turn", asyncio.Lock())
    before = list(urls.per_app_patterns)
    admission.make_pages_one_by_one()
    yield waiting
    urls.per_app_patterns[:] = before


def test_one_page_at_a_time_in_the_order_of_coming(turns: list[Callable[[], None]]) -> None:
    made: list[str] = []

    def page() -> pn.pane.HTML:
        made.append(str(pn.state.location.search))
        return pn.pane.HTML("")

    async def visits() -> None:
        server = get_server({"/": page}, port=0, show=False, start=False, liveness=True)
        server.start()
        home, client = f"http://localhost:{server.port}", AsyncHTTPClient()
        try:
            coming = []
            for number in range(3):
                coming.append(asyncio.ensure_future(client.fetch(f"{home}/?n={number}")))
                await client.fetch(f"{home}/liveness")  # which is after it at the same door
            await coming[0]
            for number in range(3):
                assert made == [f"?n={k}" for k in range(number + 1)]
                await client.fetch(f"{home}/liveness")  # everything else goes on
                assert [visit.done() for visit in coming].count(True) == number + 1
                turns.pop()()
                if number < 2:
                    await coming[number + 1]
            assert not turns
        finally:
            server.stop()

    asyncio.run(visits())
