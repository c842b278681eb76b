"""Arrays and a JSON header in one safetensors file, with a checksum: exact, checked, no pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from .checks import InvalidInput
from .files import write_atomically

Array = np.ndarray
HEADER, CHECKSUM = "rfm_core", "sha256"
KINDS = {"<f8": "F64", "<f4": "F32", "<i8": "I64", "<i4": "I32", "|u1": "U8", "|b1": "BOOL"}


class DamagedFile(InvalidInput):
    """The file is not what was written."""


def write_tensors(path: Path, arrays: Mapping[str, Array], header: Mapping[str, Any]) -> None:
    """Write all or nothing."""
    whole = {name: _little_endian(array) for name, array in arrays.items()}
    text = json.dumps(header, sort_keys=True, allow_nan=False)
    metadata = {HEADER: text, CHECKSUM: _checksum(whole, text)}
    write_atomically(path, lambda temporary: _write(temporary, whole, metadata))


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


def _write(path: Path, arrays: Mapping[str, Array], metadata: dict[str, str]) -> None:
    """The safetensors format: length of the JSON, the JSON, the arrays one after another.

    Not by safetensors' own writer, which fills a second temporary file that a kill leaves behind,
    and whose error for a full disk is no OSError.
    """
    table: dict[str, Any] = {"__metadata__": metadata}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        kind = KINDS[array.dtype.str]
        table[name] = {"dtype": kind, "shape": array.shape, "data_offsets": (begin, end)}
    text = json.dumps(table).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(_bytes(array))


def _little_endian(array: Array) -> Array:
    return np.asarray(array, order="C", dtype=array.dtype.newbyteorder("<"))


def _bytes(array: Array) -> memoryview:
    return array.data.cast("B") if array.size else memoryview(b"")


def _checksum(arrays: Mapping[str, Array], text: str) -> str:
    total = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(_bytes(array))
    return total.hexdigest()
