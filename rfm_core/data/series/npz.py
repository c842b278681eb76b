"""Arrays in NPY and NPZ files, read without believing what the file says of itself.

Sizes are compared with what is there and with the limits before memory is taken, and no pickle is
ever read: the header is parsed by pattern and the numbers are taken from the bytes as they are.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...checks import InvalidInput, real, refuse
from .columns import SeriesLimits, is_time_name, plain

Array = np.ndarray

DATA_NAMES = ("u", "x", "data", "series", "states", "trajectories", "train", "y")
STEP_NAMES = ("dt", "delta_t", "deltat")
SPEAKING = {"c": "complex numbers", "O": "Python objects", "b": "truth values", "U": "text",
            "S": "text", "M": "dates", "m": "time spans", "V": "named fields"}  # fmt: skip
HEADER = re.compile(
    rb"\s*\{\s*'descr':\s*'([^']{1,20})',\s*'fortran_order':\s*(True|False),"
    rb"\s*'shape':\s*\(([\d,L ]*)\),?\s*\}\s*"
)
MOST_MEMBERS = 4096
MOST_INFLATED = 200  # times its size in the file, for members beyond 10 MB: measured data are below


class NotReal(InvalidInput):
    """A well-formed array that does not hold real numbers."""


@dataclass(frozen=True)
class Found:
    """The series in a file, and what the file says of its time."""

    data: Any
    names: tuple[str, ...] | None
    times: list[Array] | None
    dt: float | None
    origin: dict[str, Any] = field(default_factory=dict)


def read_npy(raw: bytes, what: str, limits: SeriesLimits) -> Array:
    """The array in the bytes of an NPY file."""
    broken = f"{what} is no complete NPY file; it must be as numpy.save writes it. Save it again."
    if raw[:6] != b"\x93NUMPY" or len(raw) < 12:
        raise InvalidInput(broken)
    size = 2 if raw[6] == 1 else 4  # bytes that hold the length of the header, by version
    start = 8 + size + int.from_bytes(raw[8 : 8 + size], "little")
    if start > min(len(raw), 10_000):
        raise InvalidInput(broken)
    head = HEADER.fullmatch(raw[8 + size : start])
    if head is None:
        raise NotReal(
            f"{what} holds no plain array ({plain(raw[8 + size : start].decode('latin-1'), 80)}); "
            "named fields and nested types are not read. Save one array of float64."
        )
    descr, shape = head[1].decode("latin-1"), _shape(head[3], what)
    if not re.fullmatch(r"[<>|=]?[iuf]\d{1,2}", descr):
        kind = SPEAKING.get(descr.strip("<>|=")[:1], f"entries of type {plain(descr)!r}")
        raise NotReal(
            f"{what} holds {kind} (dtype {plain(descr)!r}); real numbers are needed, and Python "
            "objects are never unpacked. Save it with .astype(float)."
        )
    try:
        dtype = np.dtype(descr)
    except TypeError:
        raise InvalidInput(f"{what} has the unknown dtype {descr!r}. Use float64.") from None
    count = math.prod(shape)
    limits.check_bytes(f"{what}, of shape {shape},", count * max(8, dtype.itemsize))
    if count * dtype.itemsize > len(raw) - start:
        raise InvalidInput(
            f"{what} claims the shape {shape}, {count * dtype.itemsize:,} bytes, but holds "
            f"{len(raw) - start:,}: they must agree. It is damaged; save it again."
        )
    flat = np.frombuffer(raw, dtype=dtype, count=count, offset=start)
    return flat.reshape(shape, order="F" if head[2] == b"True" else "C")


def _shape(text: bytes, what: str) -> tuple[int, ...]:
    """The axes; numbers of absurd length are not even converted."""
    axes = [a.strip().rstrip(b"L") for a in text.split(b",") if a.strip()]
    if len(axes) > 3 or not all(re.fullmatch(rb"\d{1,15}", a) for a in axes):
        raise InvalidInput(
            f"{what} has the shape ({plain(text.decode('latin-1'), 40)}); (time,), (time, D) or "
            "(trajectories, time, D) is needed. Reshape it before saving."
        )
    return tuple(int(a) for a in axes)


def read_npz(raw: bytes, what: str, key: str | None, limits: SeriesLimits) -> Found:
    """The arrays of an NPZ file: all sizes are checked before any is unpacked."""
    if raw.count(b"PK\x01\x02") > MOST_MEMBERS:  # before the directory becomes objects
        raise InvalidInput(
            f"{what} holds more than {MOST_MEMBERS} arrays, the most that are read. Save them as "
            "one array of shape (trajectories, time, D)."
        )
    arrays: dict[str, Array] = {}
    other: dict[str, NotReal] = {}  # an array of words beside the numbers is no error
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            _check_members(members, what, limits)
            for member in members:
                name = member.filename.removesuffix(".npy")
                with archive.open(member) as stream:
                    content = stream.read(member.file_size)  # never more, whatever is packed
                try:
                    arrays[name] = read_npy(content, f"{plain(name)!r} in {what}", limits)
                except NotReal as error:
                    other[name] = error
    except InvalidInput:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError,
            RuntimeError, OSError, OverflowError, ValueError) as error:  # fmt: skip
        raise InvalidInput(
            f"{what} is damaged ({plain(str(error), 80)}); it must be as numpy.savez writes it. "
            "Save it again."
        ) from None
    if other and (key in other or not arrays):
        raise other[key] if key in other else next(iter(other.values()))
    return _choose(arrays, what, key)


def _check_members(members: list[zipfile.ZipInfo], what: str, limits: SeriesLimits) -> None:
    """Refuse what is no NPY, locked, packed in an unusual way, or much larger than it seems."""
    if not members:
        raise InvalidInput(f"{what} holds no arrays; one is needed. Save it with numpy.savez.")
    for member in members:
        name = plain(member.filename)
        if member.flag_bits & 0x1:
            raise InvalidInput(f"{name!r} in {what} is encrypted; it must be plain. Save it anew.")
        if not member.filename.endswith(".npy") or member.is_dir():
            raise InvalidInput(
                f"{what} holds {name!r}, which is no NPY array; only those are read. Save the "
                "arrays alone with numpy.savez."
            )
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InvalidInput(
                f"{name!r} in {what} is packed by method {member.compress_type}; stored or "
                "deflated is needed. Save it with numpy.savez_compressed."
            )
    total = sum(m.file_size for m in members)
    limits.check_bytes(f"{what} unpacked", total)
    for member in members:
        if member.file_size > max(10_000_000, MOST_INFLATED * member.compress_size):
            raise InvalidInput(
                f"{plain(member.filename)!r} in {what} would unpack from {member.compress_size:,} "
                f"to {member.file_size:,} bytes; at most {MOST_INFLATED} times is read, which no "
                "measured series needs. Save it uncompressed with numpy.savez."
            )


def _choose(arrays: dict[str, Array], what: str, key: str | None) -> Found:
    """Which array is the series, which its time, which its step."""
    listing = plain(", ".join(f"{n} {a.shape}" for n, a in arrays.items()), 200)
    if key is not None and key not in arrays:
        raise refuse("key", key, f"one of the arrays in {what}: {listing}", "Name one of them.")
    times = [n for n in arrays if is_time_name(n) and n != key]
    steps = [n for n in arrays if n.casefold() in STEP_NAMES and arrays[n].size == 1 and n != key]
    rest = [n for n in arrays if n not in (*times, *steps) and arrays[n].ndim]
    known = [n for n in rest if n.casefold() in DATA_NAMES]
    flat = len(rest) > 1 and {arrays[n].ndim for n in rest} == {1}
    names = None
    data: Any
    if key is not None or len(rest) == 1:
        used = [key] if key is not None else rest
        data = arrays[used[0]]
    elif flat and len({arrays[n].size for n in rest}) == 1:  # x, y, z: components
        used, names = rest, tuple(plain(n) for n in rest)
        data = np.stack([arrays[n] for n in rest], axis=1)
    elif len(known) == 1:
        used, data = known, arrays[known[0]]
    elif {arrays[n].ndim for n in rest} == {2} and len({arrays[n].shape[1] for n in rest}) == 1:
        used = sorted(rest, key=_natural)
        data = [arrays[n] for n in used]
    else:
        raise InvalidInput(
            f"{what} holds {listing or 'no series'}: it must be clear which array is the series. "
            "Name it with key=, or save it alone or as 'u'."
        )
    count = len(data) if isinstance(data, list) else data.shape[0] if data.ndim == 3 else 1
    origin: dict[str, Any] = {"arrays": [plain(n) for n in used]}
    ignored = [plain(n) for n in arrays if n not in (*used, *times, *steps)]
    if ignored:
        origin["arrays_ignored"] = ignored
    dt = real(f"{steps[0]} in {what}", arrays[steps[0]].item(), "Correct it.", 0.0, above=True) \
        if steps else None  # fmt: skip
    return Found(data, names, _times([arrays[n] for n in times], count, what), dt, origin)


def _times(found: list[Array], trajectories: int, what: str) -> list[Array] | None:
    """One array of times for each trajectory; one for all is enough."""
    if not found:
        return None
    with np.errstate(over="ignore"):  # Inf is refused where the times are used
        t = np.squeeze(found[0].astype(np.float64))
    if len(found) > 1 or t.ndim not in (1, 2) or (t.ndim == 2 and len(t) != trajectories):
        raise InvalidInput(
            f"{what} holds {len(found)} arrays of times, the first of shape {found[0].shape}; one "
            f"of shape (time,) or ({trajectories}, time) is needed. Leave the others out."
        )
    return [t] * trajectories if t.ndim == 1 else list(t)


def _natural(name: str) -> list[tuple[int, str]]:
    """run2 before run10."""
    return [(int(p[:15]) if p.isdecimal() else -1, p) for p in re.split(r"(\d+)", name)]
