"""Named random streams: the same name and seed give the same numbers anywhere, in any order."""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, *name: str | int) -> np.random.Generator:
    """The generator of one stream, for example ``stream(0, "weights", realization, unit)``.

    Drawn on the CPU whatever device computes later, so that a seed means the same on all of them.
    """
    text = "/".join(str(part) for part in (seed, *name))
    key = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "little")
    return np.random.Generator(np.random.Philox(key=key))
