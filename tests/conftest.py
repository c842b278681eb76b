"""Shared by all tests: a cache of their own, and small data sets made once."""

from __future__ import annotations

import os
import tempfile

import pytest

# before anything can read it; worker processes inherit it
os.environ["RFM_CACHE"] = tempfile.mkdtemp(prefix="rfm-test-cache-")

import rfm_core as rfm


@pytest.fixture(scope="session")
def lorenz63() -> rfm.Dataset:
    return rfm.make_dataset(rfm.DataSpec("L63", n_train=5000, n_test=8, test_steps=1500))


@pytest.fixture(scope="session")
def lorenz96() -> rfm.Dataset:
    spec = rfm.DataSpec("L96", n_train=3000, n_test=4, test_steps=300, parameters={"D": 12})
    return rfm.make_dataset(spec.replace(lyapunov=2.2))
