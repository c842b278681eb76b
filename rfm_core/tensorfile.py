"""Arrays and a JSON header in one safetensors file, with a checksum: exact, checked, no pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from .checks import InvalidInput
from .files import write_atomically

Array = np.ndarray
HEADER, CHECKSUM = "rfm_core", "sha256"


class DamagedFile(InvalidInput):
    """The file is not what was written."""


def write_tensors(path: Path, arrays: Mapping[str, Array], header: Mapping[str, Any]) -> None:
    """Write all or nothing."""
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(header, sort_keys=True, allow_nan=False)
    metadata = {HEADER: text, CHECKSUM: _checksum(whole, text)}
    write_atomically(path, lambda temporary: save_file(whole, temporary, metadata=metadata))


def read_tensors(path: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    """What ``write_tensors`` wrote, or ``DamagedFile`` with the reason."""
    if not path.is_file():
        raise InvalidInput(f"There is no file {path.name!r} in {str(path.parent)!r}.")
    again = "Save it again with this version of rfm_core, or choose another file."
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise DamagedFile(
            f"{path.name!r} is not a readable safetensors file ({error}). {again}"
        ) from None
    if HEADER not in metadata or CHECKSUM not in metadata:
        raise DamagedFile(f"{path.name!r} was not written by rfm_core. {again}")
    if _checksum(arrays, metadata[HEADER]) != metadata[CHECKSUM]:
        raise DamagedFile(f"{path.name!r} is damaged: its checksum does not match. {again}")
    header = json.loads(metadata[HEADER])
    return arrays, header


def _checksum(arrays: Mapping[str, Array], text: str) -> str:
    total = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(memoryview(np.ascontiguousarray(array)).cast("B") if array.size else b"")
    return total.hexdigest()
