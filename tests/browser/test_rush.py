"""Several visitors at once: who has a page sees something in it before the last one is made."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from explorer import ROOT

sys.path.insert(0, str(ROOT / "tests" / "bench"))

from crowd import crowd

pytestmark = pytest.mark.slow


def test_pages_are_made_one_by_one(address: str) -> None:
    coming = crowd(address, "?n_train=2000&width=64&n_test=4", visitors=8, within=0)
    with ThreadPoolExecutor(1) as thread:  # Playwright has a loop in this one
        visits = thread.submit(asyncio.run, coming).result()
    assert min(visit.document for visit in visits) < max(visit.page for visit in visits)
    assert all(visit.result >= visit.document > visit.page for visit in visits)
