"""A user's source, whatever it is, as a table: an array, a path, or the bytes of a file."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np

from ...checks import InvalidInput, refuse
from .columns import Choice, SeriesLimits, Table, plain
from .npz import SPEAKING, read_npy, read_npz
from .text import read_text

Array = np.ndarray

TEXT = (".csv", ".tsv", ".txt", ".dat")


def read_source(source: Any, choice: Choice, key: str | None, limits: SeriesLimits) -> Table:
    """The table that ``source`` is or names."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return read_file(_bytes_of(path, limits), path.name, choice, key, limits)
    if isinstance(source, tuple) and len(source) == 2 and isinstance(source[1], str):
        if not isinstance(source[0], (bytes, bytearray, memoryview)):
            raise refuse("source[0]", source[0], "the bytes of the file", "Pass (bytes, name).")
        return read_file(bytes(source[0]), source[1], choice, key, limits)
    if isinstance(source, (bytes, bytearray, memoryview)):
        raise refuse("source", "bytes", "a pair (bytes, file name)", "Add the name of the file.")
    if key is not None:
        raise refuse("key", key, "left out for arrays", "It names an array within an NPZ file.")
    parts = from_array(source)
    for part in parts:
        limits.check("The array", sum(len(p) for p in parts), part.shape[1])
    return Table(parts, origin={"source": "array", "format": "array"})


def _bytes_of(path: Path, limits: SeriesLimits) -> bytes:
    """The bytes of a regular file of permitted size."""
    shown = plain(str(path), 200)
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            kind = "a directory" if stat.S_ISDIR(found.st_mode) else "no regular file"
            raise InvalidInput(f"{shown} is {kind}; one file is needed. Name the file itself.")
        limits.check_bytes(shown, found.st_size)
        with open(path, "rb") as stream:
            raw = stream.read(limits.max_bytes + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidInput(
            f"{shown} cannot be read ({reason}): it must be an existing, readable file. Check the "
            "path."
        ) from None
    return raw


def read_file(
    raw: bytes, name: str, choice: Choice, key: str | None, limits: SeriesLimits
) -> Table:
    """Read by the extension of ``name``; only the name without folders is remembered."""
    what = plain(re.split(r"[/\\]", name)[-1], 80) or "The file"
    extension = os.path.splitext(what)[1].lower()
    limits.check_bytes(what, len(raw))
    if extension not in (*TEXT, ".npy", ".npz"):
        raise InvalidInput(
            f"{what} has the extension {extension!r}; one of {', '.join(TEXT)}, .npy, .npz is "
            "needed. Export the table as CSV, or the array with numpy.save."
        )
    if key is not None and extension != ".npz":
        raise refuse("key", key, "left out for this file", "It names an array within an NPZ file.")
    if not raw:
        raise InvalidInput(
            f"{what} is empty: it must hold at least 20 rows of numbers. Was it saved completely?"
        )
    if extension == ".npz":
        found = read_npz(raw, what, key, limits)
        table = Table(from_array(found.data, what), found.names, found.times, found.dt,
                      origin=found.origin)  # fmt: skip
    elif extension == ".npy":
        table = Table(from_array(read_npy(raw, what, limits), what))
    else:
        table = read_text(raw, what, choice, limits)
    shape = [int(sum(len(p) for p in table.parts)), table.parts[0].shape[1]]
    limits.check(what, *shape)
    origin = {"source": what, "format": extension[1:], **table.origin}
    return Table(table.parts, table.names, table.times, table.dt, table.guess, origin)


def from_array(source: Any, what: str = "The array") -> list[Array]:
    """One float64 (time, D) array per trajectory. A single axis is the time of one component."""
    several = isinstance(source, (list, tuple)) and len(source) > 0
    if several and all(getattr(s, "ndim", 0) == 2 and s.shape[1] for s in source):
        parts = [_as_float(s, f"{what} {i + 1}") for i, s in enumerate(source)]
        if len({p.shape[1] for p in parts}) > 1:
            widths = sorted({p.shape[1] for p in parts})
            raise InvalidInput(
                f"The trajectories have {widths[0]} and {widths[1]} columns: all must have the "
                "same. Load them apart, or leave columns out."
            )
        return parts
    array = _as_float(source, what)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim not in (2, 3) or not array.shape[-1] or not array.shape[0]:
        raise InvalidInput(
            f"{what} has the shape {array.shape}; (time,), (time, D) or (trajectories, time, D) "
            "is needed, without empty axes. Reshape it, or select a part."
        )
    return [array] if array.ndim == 2 else list(array)


def _as_float(source: Any, what: str) -> Array:
    """As float64; every other kind of entry is refused by its name."""
    if np.ma.isMaskedArray(source):
        hidden = int(np.ma.getmaskarray(source).sum())
        if hidden:
            raise InvalidInput(
                f"{what} has {hidden} masked entries; every entry must be a number. Fill them in, "
                "or cut the series there into trajectories."
            )
    try:
        array = np.asarray(source)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InvalidInput(
            f"{what} cannot become an array ({plain(str(error), 120)}): all rows must have the "
            "same length. Trajectories of different length go into a list of (time, D) arrays."
        ) from None
    if array.dtype.kind not in "iuf":
        kind = SPEAKING.get(array.dtype.kind, str(array.dtype))
        raise InvalidInput(
            f"{what} holds {kind} (dtype {array.dtype}); real numbers are needed. Convert it with "
            ".astype(float), or take real and imaginary part as two columns."
        )
    with np.errstate(over="ignore"):  # what overflows becomes Inf, which is refused further on
        return np.asarray(array, dtype=np.float64)
