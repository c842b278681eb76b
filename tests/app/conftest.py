"""Shared by the tests of the app."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.broker import Broker
from app.shelf import Shelf


@pytest.fixture(scope="module")
def shelf() -> Iterator[Shelf]:
    """Runs and their processes, of one module's own."""
    broker = Broker(running=1, nice=0)
    yield Shelf(broker)
    broker.close()
