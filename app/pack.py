"""Results (``app.scene``) as files and back: arrays exactly, everything else as JSON, no pickle."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np

from rfm_core import ModelSpec, TanhRegions
from rfm_core.spec import Spec
from rfm_core.tensorfile import read_tensors, write_tensors

from . import scene

Array = np.ndarray
KNOWN: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        scene.Info, scene.UnitReport, scene.Trained, scene.Trajectory, scene.Times, scene.Features,
        scene.Climate, scene.UnitRegression, scene.Solver, scene.Regression, TanhRegions,
    )
}  # fmt: skip


def write_result(path: Path, result: Any) -> None:
    """Write all or nothing."""
    arrays: dict[str, Array] = {}
    tree = _pack(result, "result", arrays)
    # a text within the header, because scalars may be NaN or infinite, which headers must not
    write_tensors(path, arrays, {"kind": "result", "tree": json.dumps(tree)})


def read_result(path: Path) -> Any:
    """What ``write_result`` wrote; ValueError, KeyError or TypeError for anything else."""
    arrays, header = read_tensors(path)
    return _unpack(json.loads(header["tree"]), arrays)


def _pack(value: Any, name: str, arrays: dict[str, Array]) -> Any:
    """Plain values; every container is a dictionary with one key that tells its kind."""
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Spec):
        return {"spec": value.to_dict()}
    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {type(value).__name__: _pack(fields, name, arrays)["dict"]}
    if isinstance(value, dict):
        return {"dict": {k: _pack(v, f"{name}.{k}", arrays) for k, v in value.items()}}
    if isinstance(value, (tuple, list)):
        return {"tuple": [_pack(v, f"{name}.{i}", arrays) for i, v in enumerate(value)]}
    return value


def _unpack(tree: Any, arrays: dict[str, Array]) -> Any:
    if not isinstance(tree, dict):
        return tree
    [(kind, body)] = tree.items()
    if kind == "array":
        return arrays[body]
    if kind == "spec":
        return ModelSpec.from_dict(body)
    if kind == "tuple":
        return tuple(_unpack(part, arrays) for part in body)
    fields = {name: _unpack(part, arrays) for name, part in body.items()}
    return fields if kind == "dict" else KNOWN[kind](**fields)
