"""Shared by the tests of the app."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rfm_explorer.queue.run_cache import RunCache
from rfm_explorer.queue.shared import make_scheduler


@pytest.fixture(scope="module")
def runs() -> Iterator[RunCache]:
    """Runs and their processes, of one module's own."""
    scheduler = make_scheduler(running=1, nice=0)
    yield RunCache(scheduler)
    scheduler.close()
