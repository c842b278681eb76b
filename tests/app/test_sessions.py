"""Sessions of a real server end without a trace, whatever was looked at."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest
from panel.io.server import get_server
from rfm_explorer.explorer import Explorer
from rfm_explorer.page import page
from rfm_explorer.queue.run_cache import RunCache
from rfm_explorer.serve import gc_policy as garbage
from tornado.httpclient import AsyncHTTPClient

QUERIES = ("tab=forecast", "tab=take-away", "view=features", "tab=statistics&hide=more")


def test_nothing_is_left_of_a_session(runs: RunCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rfm_explorer.explorer.get_run_cache", lambda: runs)
    monkeypatch.setattr(garbage, "collect_later", lambda: None)  # no loop is there that long
    seen: list[weakref.ref[Explorer]] = []

    class Seen(Explorer):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            seen.append(weakref.ref(self))

    monkeypatch.setattr(page, "Explorer", Seen)

    async def visits() -> None:
        quickly = {"unused_session_lifetime_milliseconds": 1}
        quickly["check_unused_sessions_milliseconds"] = 100
        server = get_server({"/": page.make_page}, port=0, show=False, start=False, **quickly)
        server.start()
        try:
            for query in QUERIES:
                address = f"http://localhost:{server.port}/?n_train=1000&width=40&n_test=2&{query}"
                await AsyncHTTPClient().fetch(address)
            [context] = server._tornado._applications.values()
            while context._sessions:
                await asyncio.sleep(0.1)
        finally:
            server.stop()

    asyncio.run(visits())
    assert len(seen) == len(QUERIES)
    garbage.collect()
    gc.unfreeze()
    left = [ref() for ref in seen if ref() is not None]
    assert not left
