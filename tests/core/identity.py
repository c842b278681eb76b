"""Run in a process of its own: prints a digest of every bit of some trained models' forecasts.

Arguments: how far from the usual place in memory inputs lie, in bytes, and torch's threads. What
came before (other trainings, other arrays) and where arrays lie must not change a digest.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
from typing import Any

import numpy as np
import torch

import rfm_core as rfm
from rfm_core.model import fit as training

SPECS = {
    "skip": ("L63", rfm.ModelSpec("SkipRFM", width=120, refine=1)),
    "automatic": ("L63", rfm.ModelSpec("DeepSkip", width=60, depth=2, beta="auto")),
    "normal": ("L63", rfm.ModelSpec("RFM", width=300, solver="normal", centred=False)),
    "tight": ("L96", rfm.ModelSpec("RFM", width=700, sampler="tight", standardize=True)),
    "local": ("L96", rfm.ModelSpec("LocalDeepSkip", width=80, depth=2, G=2, I=2)),
}


def moved(array: np.ndarray, shift: int) -> np.ndarray:
    """A copy that begins ``shift`` bytes after a multiple of 64."""
    room = np.empty(array.nbytes + 128, np.uint8)
    begin = -room.ctypes.data % 64 + shift
    copy = room[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def digest(*arrays: Any) -> str:
    return hashlib.sha256(b"".join(np.asarray(a).tobytes() for a in arrays)).hexdigest()[:16]


def main(shift: int, threads: int) -> None:
    torch.set_num_threads(threads)
    if shift:
        misplace(shift)
    found = {}
    for name, (system, spec) in SPECS.items():
        parameters = {"D": 20} if system == "L96" else {}
        data = rfm.make_dataset(
            rfm.DataSpec(system, n_train=1500, n_test=3, test_steps=100, parameters=parameters,
                         lyapunov=1.0)
        )  # fmt: skip
        model = rfm.fit(spec, data, seed=3)
        tensors = [t.numpy() for unit in model.units for t in unit.features.tensors().values()]
        outer = [unit.weights.numpy() for unit in model.units]
        forecast = model.forecast(moved(data.test[:, 0], shift), 60)
        found[name] = {
            "data": digest(data.train, data.test),
            "inner": digest(*tensors),
            "outer": digest(*outer),
            "forecast": digest(forecast),
        }
    print(json.dumps(found))


def misplace(shift: int) -> None:
    """Another history of allocations, and every training's rows where torch would not put them."""
    usual, kept = training._snapshots, []

    def snapshots(*args: Any) -> tuple[np.ndarray, np.ndarray]:
        kept.extend(np.empty(size) for size in (3, 701, 12_345))
        u, truth = usual(*args)
        return moved(u, shift), moved(truth, shift)

    training._snapshots = snapshots
    data = rfm.make_dataset(rfm.DataSpec("L63", n_train=500, n_test=1, test_steps=50), cache=False)
    small = dataclasses.replace(data, train=moved(data.train, shift))
    kept.append(rfm.fit(rfm.ModelSpec(width=33), small).predict(data.test))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
