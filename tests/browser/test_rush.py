"""Several visitors at once: every one of them gets page, content and result, in this order."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from explorer import ROOT

sys.path.insert(0, str(ROOT / "tests" / "bench"))

from crowd import crowd

pytestmark = pytest.mark.slow


def test_everybody_is_served(address: str) -> None:
    """That pages are made one by one is in tests/app/test_admission.py."""
    coming = crowd(address, "?n_train=2000&width=64&n_test=4", visitors=8, within=0)
    with ThreadPoolExecutor(1) as thread:  # Playwright has a loop in this one
        visits = thread.submit(asyncio.run, coming).result()
    assert len(visits) == 8
    assert all(visit.result >= visit.document > visit.page for visit in visits)
