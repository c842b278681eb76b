"""The same numbers wherever they are computed: in any process, at any place in memory, with any
number of threads around them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rfm_core as rfm
from rfm_core.parallel import in_threads, steps_in_threads

SCRIPT = Path(__file__).with_name("identity.py")


def in_a_process(shift: int, threads: int, **environment: str) -> Any:
    command = [sys.executable, str(SCRIPT), str(shift), str(threads)]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_two_processes_agree_to_the_last_bit() -> None:
    """One with a single thread; one with three, and everything elsewhere in memory."""
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    one = in_a_process(0, 1, **dict.fromkeys(variables, "1"))
    other = in_a_process(24, 3, **dict.fromkeys(variables, "3"))
    assert one == other


@pytest.fixture
def two_threads() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_one_thread_unless_told() -> None:
    seen: list[int] = []

    @in_threads
    def look() -> None:
        seen.append(torch.get_num_threads())

    @steps_in_threads
    def steps() -> Any:
        for _ in range(2):
            seen.append(torch.get_num_threads())
            yield torch.get_num_threads()

    look()
    with rfm.threads(3):
        look()
        seen += list(steps())
    for inside in steps():
        seen.extend((inside, torch.get_num_threads()))
    assert seen == [1, 3, 3, 3, 3, 3, 1, 1, 2, 1, 1, 2]
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_threads_outside_change_nothing_and_those_asked_for_do(lorenz63: rfm.Dataset) -> None:
    spec = rfm.ModelSpec(width=200)
    model = rfm.fit(spec, lorenz63, seed=1)
    torch.set_num_threads(1)
    alone = rfm.fit(spec, lorenz63, seed=1)
    assert torch.equal(model.units[0].weights, alone.units[0].weights)
    with rfm.threads(2):
        shared = rfm.fit(spec, lorenz63, seed=1)
    # another division of the sums: equal within what rounding does to nearly dependent features
    start = lorenz63.test[:, 0]
    np.testing.assert_allclose(shared.predict(start), alone.predict(start), rtol=1e-9)


def test_a_wrong_number_is_refused() -> None:
    with pytest.raises(rfm.InvalidInput, match=r"threads=0.*at least 1"), rfm.threads(0):
        raise AssertionError("never")
