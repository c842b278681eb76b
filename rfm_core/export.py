"""Rows of results as values: their records, their statistics, and CSV and Parquet files of them."""

from __future__ import annotations

import csv
import importlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from .checks import InvalidInput, refuse
from .files import write_atomically

# One line per realization: what was asked, then what came out. Keys of a result that are not named
# here follow. Lists stay lists in Parquet and are JSON in CSV; numbers are exact in both.
NAMES = (
    "study label realization status reason attempts finished"
    " system n_train dt accuracy architecture width depth G I beta noise solver sampler"
    " unit_weights patches seed"
    " unit trajectories vpt_mean vpt_median vpt_min vpt_max censored_count diverged_count"
    " vpt censored diverged_at error size device dtype threads"
    " version_rfm_core version_torch version_python"
    " data_seconds fit_seconds forecast_seconds peak_mb spec"
)
WHOLE = (
    "realization attempts n_train width depth G I seed trajectories censored_count diverged_count"
    " size threads"
)
REAL = (
    "dt beta noise vpt_mean vpt_median vpt_min vpt_max error"
    " data_seconds fit_seconds forecast_seconds peak_mb"
)
COLUMNS = tuple(NAMES.split())

BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, None}
UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
SAFE = "All rows saved before are safe, what was being written was not saved."


class StoreError(InvalidInput):
    """A file of results cannot be used; the message says what is safe and what to do."""

    @classmethod
    def of(cls, error: sqlite3.Error, name: str, waited: float) -> Self:
        """What SQLite says, in words."""
        kind = code(error)
        if kind in BUSY:
            why = f"is in use by another program and stayed locked for {waited:g} s. {SAFE}"
            remedy = "Close the other program, or wait; a study then resumes where it stopped."
        elif kind in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            why = f"could not be written: the disk is full, a limit is reached, or it fails. {SAFE}"
            remedy = "Make room on its disk; a study then resumes where it stopped."
        elif kind in UNWRITABLE:
            why = "cannot be opened for writing; nothing in it was changed."
            remedy = "Choose a folder that may be written, on a local disk, or copy the file there."
        elif kind == sqlite3.SQLITE_CONSTRAINT:
            why, remedy = "does not know this study; no row was saved.", "Call add_study first."
        elif kind in DAMAGED:
            why = "is damaged or no file of results; it was left as it is."
            remedy = "Take a backup, or another file name; `sqlite3 FILE .recover` may save rows."
        else:
            why, remedy = f"could not be used. {SAFE}", "Try again with another file."
        return cls(f"{name} {why} {remedy} (SQLite: {error})")


def code(error: sqlite3.Error) -> int | None:
    """SQLite's primary result code; None for what Python itself could not read."""
    extended = getattr(error, "sqlite_errorcode", None)
    return None if extended is None else int(extended) & 0xFF


@dataclass(frozen=True)
class ResultRow:
    """One realization. ``result`` is what the job returned (empty where status is "failed")."""

    realization: int
    status: str
    result: dict[str, Any]
    reason: str
    finished: str
    details: str = ""
    attempts: int = 1


@dataclass(frozen=True)
class StudyRecord:
    """One study, and how many of its realizations have a result or have failed."""

    digest: str
    label: str
    spec: dict[str, Any]
    created: str
    done: int
    failed: int


def statistics(rows: Iterable[ResultRow]) -> dict[str, Any]:
    """Over all test trajectories of all rows; NaN where there are too few.

    ``sem``: the trajectories of one realization share its model, so they are no independent
    samples. Realizations are: the standard error is the cluster-robust one,
    sqrt(R/(R-1) sum_r (n_r (mean_r - mean))^2) / n, which for equally many trajectories each is
    the deviation of the R means over sqrt(R), and for one each the usual std/sqrt(n). It needs two
    realizations. ``std`` is that of single trajectories. Censored times are lower bounds, and so
    is a mean over them.
    """
    everything = list(rows)
    results = [row.result for row in everything if row.status == "ok"]
    groups = [np.asarray(r["vpt"], dtype=float) for r in results if r.get("vpt")]
    times = np.concatenate(groups) if groups else np.empty(0)
    n, some = times.size, bool(times.size)
    mean = float(times.mean()) if some else float("nan")
    sem = float("nan")
    if len(groups) > 1:
        squares = sum(float((g - mean).sum()) ** 2 for g in groups)
        sem = (len(groups) / (len(groups) - 1) * squares) ** 0.5 / n
    units = {r["unit"] for r in results if r.get("unit")}
    seconds = [r["fit_seconds"] for r in results if r.get("fit_seconds") is not None]
    return {
        "mean": mean,
        "std": float(times.std(ddof=1)) if n > 1 else float("nan"),
        "sem": sem,
        "median": float(np.median(times)) if some else float("nan"),
        "min": float(times.min()) if some else float("nan"),
        "max": float(times.max()) if some else float("nan"),
        "n": int(n),
        "unit": " and ".join(sorted(units)),
        "realizations": len(results),
        "failed": len(everything) - len(results),
        "censored": sum(_censored(r) for r in results),
        "diverged": sum(_diverged(r) for r in results),
        "fit_seconds": sum(seconds) / len(seconds) if seconds else float("nan"),
        "peak_mb": max((r.get("peak_mb") or 0.0 for r in results), default=float("nan")),
    }


def _censored(result: Mapping[str, Any]) -> int:
    return sum(map(bool, result.get("censored") or ()))


def _diverged(result: Mapping[str, Any]) -> int:
    return sum(at >= 0 for at in result.get("diverged_at") or ())


def line(study: StudyRecord, row: ResultRow) -> dict[str, Any]:
    """One row as columns; what was computed (a beta that was searched) wins over what was asked."""
    parts = [study.spec.get("data"), study.spec.get("model"), study.spec]
    asked = {k: v for part in parts if isinstance(part, dict) for k, v in part.items()}
    found = dict(row.result)
    found.update({f"version_{k}": v for k, v in (found.pop("versions", None) or {}).items()})
    line = {name: asked[name] for name in COLUMNS if name in asked} | found
    times = found.get("vpt") or []
    if row.status == "ok":
        line["trajectories"] = len(times)
        line["censored_count"], line["diverged_count"] = _censored(found), _diverged(found)
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
    return list(dict.fromkeys([*COLUMNS, *(name for line in lines for name in line)]))


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
    }
    kind = kinds.get(name, arrow.string() if name in COLUMNS else None)
    if not any(isinstance(value, dict) for value in values):
        for attempt in (kind, None):
            with suppress(arrow.ArrowException, OverflowError):
                return arrow.array(values, attempt)
    texts = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return arrow.array(texts, arrow.string())


def checked_digest(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise refuse("digest", value, "a text", "Use the digest() of the study's spec.")
    return value


def checked_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise refuse(name, value, "a text", "'' is allowed.")
    return value.encode("utf-8", "replace").decode()  # file names may hold what is no text


def checked_json(name: str, value: Any) -> str:
    """Floats come back bit for bit: Python writes the shortest text that does."""
    try:
        return json.dumps({**value}, allow_nan=False)
    except (TypeError, ValueError) as error:
        remedy = f"Use plain numbers, texts, lists; None for what is no number ({error})."
        raise refuse(name, value, "a dictionary of plain values", remedy) from None
