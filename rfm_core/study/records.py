"""What is kept of a study: its records, their statistics, and what can go wrong with their file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..checks import InvalidInput, refuse

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
        "censored": sum(censored_in(r) for r in results),
        "diverged": sum(diverged_in(r) for r in results),
        "fit_seconds": sum(seconds) / len(seconds) if seconds else float("nan"),
        "peak_mb": max((r.get("peak_mb") or 0.0 for r in results), default=float("nan")),
    }


def censored_in(result: Mapping[str, Any]) -> int:
    return sum(map(bool, result.get("censored") or ()))


def diverged_in(result: Mapping[str, Any]) -> int:
    return sum(at >= 0 for at in result.get("diverged_at") or ())


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
