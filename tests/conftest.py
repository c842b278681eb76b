"""Shared by all tests: a cache of their own, and small data sets made once."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator

import pytest

# before anything can read it; worker processes inherit it
os.environ["RFM_CACHE"] = tempfile.mkdtemp(prefix="rfm-test-cache-")
# beside other programs niced jobs get a twentieth of a core: no test shall wait for that
os.environ["RFM_NICE"] = "0"

import rfm_core as rfm


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow modules at the beginning of every process's part, so that none is left for the end.

    Each of so many processes begins with an equal part of the list and then takes over what others
    have left, from the end.
    """
    parts = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    slow = [item for item in items if item.get_closest_marker("slow")]
    quick = [item for item in items if not item.get_closest_marker("slow")]
    modules = list(dict.fromkeys(item.path for item in slow))
    size = -(-len(items) // parts)
    found: list[pytest.Item] = []
    for part in range(parts):
        mine = [item for item in slow if modules.index(item.path) % parts == part]
        room = max(0, size - len(mine))
        found += [*mine, *quick[:room]]
        quick = quick[room:]
    items[:] = [*found, *quick]


@pytest.fixture(autouse=True)
def no_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Playwright leaves its event loop running between browser tests; others begin without one."""
    if request.node.get_closest_marker("browser"):
        yield
        return
    running = asyncio.events._get_running_loop()
    asyncio.events._set_running_loop(None)
    yield
    asyncio.events._set_running_loop(running)


@pytest.fixture(scope="session")
def lorenz63() -> rfm.Dataset:
    return rfm.make_dataset(rfm.DataSpec("L63", n_train=5000, n_test=8, test_steps=1500))


@pytest.fixture(scope="session")
def lorenz96() -> rfm.Dataset:
    spec = rfm.DataSpec("L96", n_train=3000, n_test=4, test_steps=300, parameters={"D": 12})
    return rfm.make_dataset(spec.replace(lyapunov=2.2))
