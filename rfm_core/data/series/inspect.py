"""A first look at a file before it is loaded: what it holds, and what is still to be told."""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import dataclass

import numpy as np

from ...checks import InvalidInput
from .arrange import arrange
from .columns import Choice, SeriesLimits, Table, plain
from .files import read_source

PREVIEW_ROWS, PREVIEW_COLUMNS = 6, 12


@dataclass(frozen=True)
class SeriesPreview:
    """What a file holds, in plain values. Names are a stranger's text.

    Where it is unclear which of several ``arrays`` is the series, there is nothing but their names.
    """

    arrays: tuple[str, ...]  # of an NPZ file
    columns: tuple[str, ...]
    rows: int
    columns_count: int
    components: int  # of the state, without columns of time
    time_guess: str | None  # a column
    dt_guess: float | None
    sample: tuple[tuple[float | None, ...], ...]  # the first rows; None: not finite
    message: str  # all this in a sentence, and what is still to be told


def inspect_series(
    source: tuple[bytes, str], *, key: str | None = None, limits: SeriesLimits | None = None
) -> SeriesPreview:
    """Look into (the bytes of a file, its name); a bad file is refused in words."""
    limits = limits or SeriesLimits()
    arrays = _array_names(source)
    try:
        table = read_source(source, Choice(), key, limits)
    except InvalidInput as error:
        if key is None and _some_array_is_sound(source, arrays, limits):
            return SeriesPreview(arrays, (), 0, 0, 0, None, None, (), str(error))
        raise
    return _described(table, arrays)


def _described(table: Table, arrays: tuple[str, ...]) -> SeriesPreview:
    first = table.parts[0]
    rows, width = sum(len(part) for part in table.parts), first.shape[1]
    names = [f"column {i + 1}" for i in range(width)] if table.names is None else [*table.names]
    time, step, components = None, table.dt, width
    message = f"{rows:,} rows of {width} columns"
    if len(table.parts) > 1:
        message += f" in {len(table.parts)} trajectories"
    try:
        found = arrange(table, Choice(), None)
    except InvalidInput as error:
        message += f". {error}"
    else:
        step, components = found.dt, len(found.names)
        others = set(range(width)) - set(found.origin["column_indices"])
        if others and found.origin["time"].startswith("column"):
            time = names[max(others)]  # a column that only counts rows stands before the time
        message += f", {step:.9g} apart in time."
    if strange := _not_finite(table, names):
        message += f" {strange}"
    preview = first[:PREVIEW_ROWS, :PREVIEW_COLUMNS].tolist()
    return SeriesPreview(
        arrays=arrays,
        columns=tuple(names),
        rows=rows,
        columns_count=width,
        components=components,
        time_guess=time,
        dt_guess=step,
        sample=tuple(tuple(x if math.isfinite(x) else None for x in row) for row in preview),
        message=message,
    )


def _not_finite(table: Table, names: list[str]) -> str:
    bad = sum((~np.isfinite(part)).sum(axis=0) for part in table.parts)
    columns = np.flatnonzero(bad)
    if not len(columns):
        return ""
    which = plain(", ".join(repr(names[i]) for i in columns), 200)
    return (
        f"{int(np.sum(bad)):,} entries are not finite, in {which}: fill them in, or leave these "
        "columns out."
    )


def _array_names(source: tuple[bytes, str]) -> tuple[str, ...]:
    """Of an NPZ file, as they are; empty for any other, and for what cannot be opened."""
    raw, name = source
    if not name.lower().endswith(".npz"):
        return ()
    read_limits = 4096  # arrays; a directory of more is refused when the file is read
    try:
        if raw.count(b"PK\x01\x02") > read_limits:
            return ()
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return tuple(member.removesuffix(".npy") for member in archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError):
        return ()


def _some_array_is_sound(
    source: tuple[bytes, str], arrays: tuple[str, ...], limits: SeriesLimits
) -> bool:
    """Is the file good, and it was only unclear which of its arrays is the series?"""
    for key in arrays[:8] if len(arrays) > 1 else ():
        try:
            read_source(source, Choice(), key, limits)
        except InvalidInput:
            continue
        return True
    return False
