"""Results as CSV and Parquet files, one line per realization."""

from __future__ import annotations

import csv
import importlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import InvalidInput, refuse
from ..files import write_atomically
from .records import ResultRow, StoreError, StudyRecord, censored_in, diverged_in

# One line per realization: what was asked, field by field, then what came out. Keys of a result
# that are not named here follow. Lists stay lists in Parquet and are JSON in CSV; numbers are exact
# in both.
RENAMED = {"trajectories": "train_trajectories"}  # a result counts its tests under this name
BEFORE = "study label realization status reason attempts finished"
AFTER = (
    "seed unit trajectories vpt_mean vpt_median vpt_min vpt_max censored_count diverged_count"
    " vpt censored diverged_at error size device dtype threads"
    " version_rfm_core version_torch version_python"
    " data_seconds fit_seconds forecast_seconds peak_mb spec"
)
WHOLE = (
    "realization attempts n_train n_test test_steps train_trajectories width depth G I left right"
    " rows degree refine seed trajectories censored_count diverged_count size threads"
)
REAL = (
    "dt burn_in lyapunov eps beta noise L0 L1 w b taper vpt_mean vpt_median vpt_min vpt_max error"
    " data_seconds fit_seconds forecast_seconds peak_mb"
)
TRUE_OR_FALSE = "standardize centred"


@cache
def asked() -> dict[str, list[str]]:
    """Fields of the specs; seed and realization of the data are those of the study."""
    from ..data.generate import DataSpec  # here: who only keeps results does without torch
    from ..model.spec import ModelSpec

    data = [f.name for f in fields(DataSpec) if f.name not in ("seed", "realization")]
    return {"data": data, "model": [f.name for f in fields(ModelSpec)]}


@cache
def column_names() -> tuple[str, ...]:
    """Those that every file has, in their order."""
    specs = [RENAMED.get(name, name) for names in asked().values() for name in names]
    return (*BEFORE.split(), *specs, *AFTER.split())


def line(study: StudyRecord, row: ResultRow) -> dict[str, Any]:
    """One row as columns; what was computed (a beta that was searched) wins over what was asked."""
    line: dict[str, Any] = {"seed": study.spec["seed"]} if "seed" in study.spec else {}
    for part, names in asked().items():
        given = study.spec.get(part) or {}
        line |= {RENAMED.get(name, name): given[name] for name in names if name in given}
    found = dict(row.result)
    found.update({f"version_{k}": v for k, v in (found.pop("versions", None) or {}).items()})
    line |= found
    times = found.get("vpt") or []
    if row.status == "ok":
        line["trajectories"] = len(times)
        line["censored_count"], line["diverged_count"] = censored_in(found), diverged_in(found)
    if times:
        line["vpt_mean"], line["vpt_median"] = float(np.mean(times)), float(np.median(times))
        line["vpt_min"], line["vpt_max"] = min(times), max(times)
    line |= {"study": study.digest, "label": study.label, "spec": json.dumps(study.spec)}
    line |= {"realization": row.realization, "status": row.status, "reason": row.reason}
    return line | {"attempts": row.attempts, "finished": row.finished}


def write_csv(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """UTF-8, one header line; lists as JSON, what is absent as nothing at all."""

    def write(temporary: Path) -> None:
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows([_cell(line.get(name)) for name in columns] for line in lines)

    columns = _columns(lines)
    _in_place(path, write)


def write_parquet(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Typed columns, lists as lists."""
    try:
        arrow, parquet = (importlib.import_module(m) for m in ("pyarrow", "pyarrow.parquet"))
    except ImportError:
        raise InvalidInput(
            'Parquet files need pyarrow: pip install "rfm-explorer[parquet]". Or export to CSV.'
        ) from None
    columns = {name: _array(arrow, name, [x.get(name) for x in lines]) for name in _columns(lines)}
    table = arrow.table(columns)
    _in_place(path, lambda temporary: parquet.write_table(table, temporary))


def target(path: str | os.PathLike[str], make_folder: bool = False) -> Path:
    """``path`` as an absolute one that names a file."""
    if not isinstance(path, (str, os.PathLike)) or "\0" in os.fsdecode(path):
        raise refuse("path", path, "the name of a file", "For example 'results.sqlite'.")
    place = Path(os.fsdecode(path)).expanduser().absolute()
    if place.exists() and not place.is_file():
        kind = "a folder. Name a file in it." if place.is_dir() else "no file. Name another."
        raise StoreError(f"{str(place)!r} is {kind}")
    try:
        if make_folder:
            place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"There can be no folder {str(place.parent)!r}: {error.strerror}. Choose another."
        ) from error
    return place


def _in_place(path: Path, write: Callable[[Path], None]) -> None:
    try:
        write_atomically(path, write)
    except OSError as error:
        raise StoreError(
            f"{str(path)!r} could not be written: {error.strerror or error}. If there was such a"
            " file it is unchanged. Choose a folder that may be written and has room."
        ) from error


def _columns(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys([*column_names(), *(name for line in lines for name in line)]))


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict, bool)) else value


def _array(arrow: Any, name: str, values: list[Any]) -> Any:
    """Of the column's type, otherwise of the values' own, otherwise (mixed, nested) of JSON."""
    kinds = {
        "vpt": arrow.list_(arrow.float64()),
        "censored": arrow.list_(arrow.bool_()),
        "diverged_at": arrow.list_(arrow.int64()),
        **dict.fromkeys(WHOLE.split(), arrow.int64()),
        **dict.fromkeys(REAL.split(), arrow.float64()),
        **dict.fromkeys(TRUE_OR_FALSE.split(), arrow.bool_()),
    }
    kind = kinds.get(name, arrow.string() if name in column_names() else None)
    if not any(isinstance(value, dict) for value in values):
        for attempt in (kind, None):
            with suppress(arrow.ArrowException, OverflowError):
                return arrow.array(values, attempt)
    texts = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return arrow.array(texts, arrow.string())
