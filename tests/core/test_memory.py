"""Training takes the same memory however long the series is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
import numpy as np
import rfm_core as rfm
from rfm_core.run.tasks import PeakMemory

def resident():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024

pairs = int(sys.argv[1])
states = np.random.default_rng(0).random((1, pairs + 1, 3))
data = rfm.Dataset(states, states[:, :2], 0.01, 0.3, None, "noise")
rfm.fit(rfm.ModelSpec(width=32, beta=1e-8), data)  # what torch needs once
before = resident()
peak = PeakMemory()
rfm.fit(rfm.ModelSpec(width=400, beta=1e-8), data)
print(peak.megabytes - before)
"""


def megabytes(pairs: int) -> float:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(pairs)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc")
def test_memory_does_not_grow_with_the_rows() -> None:
    short, long = megabytes(10_000), megabytes(80_000)
    # the features alone would be 32 MB and 256 MB; the states are 0.2 MB and 2 MB, kept three times
    assert long < short + 80  # an allocator keeps some on one day and not on the other
    assert long < 120
