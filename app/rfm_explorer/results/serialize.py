"""Results as files and back: arrays exactly, everything else as JSON, no pickle.

Any dataclass of ours can be a result: it is kept under the name by which Python imports it.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from rfm_core import ModelSpec
from rfm_core.spec import Spec
from rfm_core.tensorfile import read_tensors, write_tensors

Array = np.ndarray
OURS = ("rfm_core", "rfm_explorer")  # packages whose dataclasses files may hold


def write_result(path: Path, result: object) -> None:
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
        return {
            f"{type(value).__module__}:{type(value).__name__}": _pack(fields, name, arrays)["dict"]
        }
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
    return fields if kind == "dict" else _class(kind)(**fields)


def _class(name: str) -> Any:
    """The dataclass that ``_pack`` called so."""
    module, _, kind = name.partition(":")
    if module.split(".")[0] in OURS:
        with suppress(ImportError):
            found = getattr(importlib.import_module(module), kind, None)
            if isinstance(found, type) and dataclasses.is_dataclass(found):
                return found
    raise ValueError(f"{name!r} is no kind of result")
