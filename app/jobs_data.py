"""The data of a job: a system's, or a user's own series; and a first look at an uploaded file."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from rfm_core import (
    Dataset,
    DataSpec,
    InvalidInput,
    Reporter,
    SeriesLimits,
    load_series,
)
from rfm_core import make_dataset as make
from rfm_core.checks import refuse
from rfm_core.series.arrange import arrange
from rfm_core.series.columns import Choice, Table, plain
from rfm_core.series.files import read_source
from rfm_core.tasks import plain as plain_number

Array = np.ndarray
CACHED_BYTES = 100_000_000  # larger sets of further realizations would drive all others out
PREVIEW_ROWS, PREVIEW_COLUMNS = 6, 12
POSITION = re.compile(r"column ([1-9]\d{0,5})")  # how a column without a name is called
SERIES = ("columns", "time", "dt", "key", "lyapunov", "estimate", "eps", "homogeneous", "n_test")


def data_spec(arguments: dict[str, Any], realization: int = 0) -> DataSpec | None:
    """Of a realization, one seed for everything as in studies; None for a user's own series."""
    if "series" in arguments["data"]:
        return None
    spec = DataSpec.from_dict(arguments["data"])
    return spec.replace(realization=realization, seed=int(arguments["seed"]))


def make_data(arguments: dict[str, Any], report: Reporter, realization: int = 0) -> Dataset:
    """The data of a realization; an own series has only one, so realizations differ in weights."""
    spec = data_spec(arguments, realization)
    if spec is None:
        data = _own_series(arguments["data"]["series"])
        report("data", 1, 1)
    else:
        cache = realization == 0 or spec.bytes <= CACHED_BYTES
        data = make(spec, cache=cache, report=report)
    if not len(data.test):
        raise refuse("n_test", 0, "at least 1", "Forecasts are compared with test trajectories.")
    return data


def evenly(states: Array, most: int) -> Array:
    """At most so many of (..., D) as (n, D), in their order."""
    flat = states.reshape(-1, states.shape[-1])
    return flat[np.linspace(0, len(flat) - 1, min(len(flat), most)).round().astype(int)]


def _own_series(given: dict[str, Any]) -> Dataset:
    """Columns go by their names, or by position: "column 2" is the second where none has a name."""
    source = _source(given)
    options = {name: given[name] for name in SERIES if given.get(name) is not None}
    try:
        return load_series(source, **options)
    except InvalidInput:
        by_position = _by_position(options)
        if by_position == options:
            raise
        return load_series(source, **by_position)


def _by_position(options: dict[str, Any]) -> dict[str, Any]:
    def place(column: Any) -> Any:
        match = POSITION.fullmatch(column) if isinstance(column, str) else None
        return int(match[1]) - 1 if match else column

    found = {k: place(v) for k, v in options.items() if k == "time"}
    found |= {k: [place(c) for c in v] for k, v in options.items() if k == "columns"}
    return options | found


def _source(given: dict[str, Any]) -> tuple[bytes, str]:
    """The bytes of a file that the server named, and the name that the user gave it."""
    path, name = Path(given["file"]), str(given["name"])
    try:
        SeriesLimits().check_bytes(plain(name), path.stat().st_size)
        return path.read_bytes(), name
    except OSError:
        raise InvalidInput(
            f"{plain(name)} is no longer on the server: files are kept while the page is open. "
            "Upload it again."
        ) from None


def inspect_file(arguments: dict[str, Any]) -> dict[str, Any]:
    """What an uploaded file holds, in plain values; a bad file is refused in words.

    ``message`` says it in a sentence, and what is still to be told. Names are a stranger's text.
    """
    source, key = _source(arguments), arguments.get("key")
    arrays = _array_names(source)
    try:
        table = read_source(source, Choice(), key, SeriesLimits())
    except InvalidInput as error:
        if key is None and _some_array_is_sound(source, arrays):
            empty: dict[str, Any] = {"columns": [], "sample": [], "time_guess": None}
            counts = {"rows": 0, "columns_count": 0, "components": 0, "dt_guess": None}
            return {"arrays": arrays, **empty, **counts, "message": str(error)}
        raise
    return {"arrays": arrays, **_described(table)}


def _described(table: Table) -> dict[str, Any]:
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
    return {
        "columns": names,
        "rows": rows,
        "columns_count": width,
        "components": components,
        "time_guess": time,
        "dt_guess": step,
        "sample": [[plain_number(number) for number in row] for row in preview],
        "message": message,
    }


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


def _array_names(source: tuple[bytes, str]) -> list[str]:
    """Of an NPZ file, as they are; empty for any other, and for what cannot be opened."""
    raw, name = source
    if not name.lower().endswith(".npz"):
        return []
    read_limits = 4096  # arrays; a directory of more is refused when the file is read
    try:
        if raw.count(b"PK\x01\x02") > read_limits:
            return []
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return [member.removesuffix(".npy") for member in archive.namelist()]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError):
        return []


def _some_array_is_sound(source: tuple[bytes, str], arrays: list[str]) -> bool:
    """Is the file good, and it was only unclear which of its arrays is the series?"""
    for key in arrays[:8] if len(arrays) > 1 else []:
        try:
            read_source(source, Choice(), key, SeriesLimits())
        except InvalidInput:
            continue
        return True
    return False
