"""The paper's tables again: its figures beside ours, with standard errors and a z-score."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .checks import InvalidInput, one_of, whole
from .paper import TABLES, PaperRow, paper_rows
from .results import ResultStore, statistics
from .study import StudySpec

SETTINGS = ("paper", "ours")
PAPER_REALIZATIONS = 500
REPORT = """\
# The paper's tables, repeated

Made by `python -m rfm_core reproduce --report`. Valid prediction times in Lyapunov times;
*paper* is the published mean and standard deviation over 500 realizations, *mean* and *error*
were measured here with their standard error over n realizations, each with training data,
weights and one test trajectory of its own; *z* is the difference of the means over its standard
error, the paper's rounding included.

Settings *paper*: odeint at its default tolerance (KS: ETDRK4 with a step of 0.025), normal
equations, one patch, units that share their weights, the paper's beta. Settings *ours*: the
same architecture and size with accurate data, QR, the tight sampler, all patches, independent
weights, automatic beta.

In these tables beta is about 1e-16 of the largest eigenvalue of the normal equations, so
rounding decides what the regression finds, and how they are solved matters as much as the
model: on L63 with 512 features LU gives 8.2 Lyapunov times (as the paper's own code does on a
CPU), eigenvalues 10.3 (published, on an A100: 10.1). Settings *paper* solve by eigenvalues.
What is left of the gap is largest where beta is smallest, in L63_0_s. Settings *ours* do not
depend on any of this.
"""


def rows_of(table: str) -> list[PaperRow]:
    """The rows of one table, in the paper's order."""
    one_of("table", table, TABLES, "`python -m rfm_core reproduce` lists them.")
    return [row for row in paper_rows() if row.table == table]


def select(
    table: str,
    *,
    numbers: str = "",
    architecture: str = "",
    width: int | None = None,
    depth: int | None = None,
) -> list[tuple[int, PaperRow]]:
    """Rows with their numbers (from 1): by number ("1,3-5"), architecture, width, depth."""
    rows = list(enumerate(rows_of(table), start=1))
    if numbers:
        wanted = _numbers(numbers, len(rows))
        rows = [(n, row) for n, row in rows if n in wanted]
    if architecture:
        known = sorted({row.architecture for row in rows_of(table)})
        one_of("architecture", architecture, known, f"These are the ones in {table}.")
        rows = [(n, row) for n, row in rows if row.architecture == architecture]
    if width is not None:
        rows = [(n, row) for n, row in rows if row.width == width]
    if depth is not None:
        rows = [(n, row) for n, row in rows if row.depth == depth]
    if not rows:
        raise InvalidInput(
            f"No row of {table} fits that choice. "
            f"`python -m rfm_core reproduce {table} --list` shows all."
        )
    return rows


def _numbers(text: str, most: int) -> set[int]:
    """ "1,3-5" as {1, 3, 4, 5}."""
    wanted: set[int] = set()
    for part in text.split(","):
        low, _, high = part.strip().partition("-")
        try:
            first = int(low)
            end = int(high) if high else first
        except ValueError:
            raise InvalidInput(
                f"rows={text!r} cannot be read. Give numbers and ranges such as 1,3-5."
            ) from None
        for number in (first, end):
            whole("rows", number, 1, most, "--list shows the numbers.")
        wanted.update(range(first, end + 1))
    return wanted


def study_of(
    row: PaperRow, settings: str = "paper", *, realizations: int = 500, seed: int = 0
) -> StudySpec:
    """The study that repeats a row.

    "paper": as published (odeint data, normal equations, one patch, shared weights, its beta).
    "ours": the same architecture and size with this engine's accurate data, QR, the tight sampler,
    all patches, independent weights, automatic beta, and noise on the inputs alone.
    """
    one_of("settings", settings, SETTINGS)
    data, model = row.data_spec(), row.model_spec()
    if settings == "ours":
        data = data.replace(accuracy="fine")
        model = model.replace(
            beta="auto",
            solver="qr",
            sampler="tight",
            unit_weights="independent",
            patches=None,
            noise_on="input",
        )
    return StudySpec(data, model, realizations=realizations, seed=seed)


@dataclass(frozen=True)
class Comparison:
    """One row: published, and measured here."""

    number: int
    row: PaperRow
    settings: str
    statistics: dict[str, Any]

    @property
    def z(self) -> float | None:
        """Difference of the means in units of its standard error; None below two realizations."""
        ours = self.statistics
        sem = ours.get("sem")
        if not sem or not math.isfinite(sem):
            return None
        error = math.hypot(sem, self.row.vpt_std / math.sqrt(PAPER_REALIZATIONS), 0.05 / 3**0.5)
        return float((ours["mean"] - self.row.vpt_mean) / error)

    def cells(self) -> dict[str, str]:
        """What a line of the table shows."""
        row, ours = self.row, self.statistics
        local = "" if row.G is None else f"({row.G},{row.I})"

        def number(name: str, form: str = ".2f") -> str:
            value = ours.get(name)
            return "" if value is None or not math.isfinite(value) else format(value, form)

        return {
            "row": str(self.number),
            "model": f"{row.architecture}{local}",
            "D_r": str(row.width),
            "B": str(row.depth),
            "size": f"{row.model_size}",
            "paper mean": f"{row.vpt_mean}",
            "paper std": f"{row.vpt_std}",
            "mean": number("mean"),
            "error": number("sem"),
            "std": number("std"),
            "median": number("median"),
            "min": number("min"),
            "max": number("max"),
            "n": number("n", ".0f"),
            "censored": number("censored", ".0f"),
            "diverged": number("diverged", ".0f"),
            "failed": number("failed", ".0f"),
            "z": "" if self.z is None else f"{self.z:+.1f}",
            "fit s": number("fit_seconds"),
            "peak MB": number("peak_mb", ".0f"),
        }


def markdown(comparisons: Sequence[Comparison]) -> str:
    """A Markdown table."""
    if not comparisons:
        return ""
    names = list(comparisons[0].cells())
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(c.cells().values()) + " |" for c in comparisons]
    return "\n".join(lines) + "\n"


def as_csv(comparisons: Sequence[Comparison]) -> str:
    """The same as CSV, with table and settings in front."""
    out = io.StringIO()
    if comparisons:
        names = ["table", "settings", *comparisons[0].cells()]
        writer = csv.DictWriter(out, names, lineterminator="\n")
        writer.writeheader()
        for c in comparisons:
            writer.writerow({"table": c.row.table, "settings": c.settings, **c.cells()})
    return out.getvalue()


def found_in(store: ResultStore, *, seed: int = 0) -> list[Comparison]:
    """Every row of every table of which the store holds realizations, in both settings."""
    known = {study.digest for study in store.studies() if study.done}
    comparisons = []
    for table in TABLES:
        for settings in SETTINGS:
            for number, row in enumerate(rows_of(table), start=1):
                key = study_of(row, settings, seed=seed).key
                if key in known:
                    told = statistics(store.rows(key))
                    comparisons.append(Comparison(number, row, settings, told))
    return comparisons


def report(comparisons: Sequence[Comparison]) -> str:
    """A page of all of them, table by table."""
    parts = [REPORT]
    for table in TABLES:
        for settings in SETTINGS:
            mine = [c for c in comparisons if (c.row.table, c.settings) == (table, settings)]
            if mine:
                parts += [f"## {table}, settings {settings}: {TABLES[table]}", "", markdown(mine)]
    return "\n".join(parts)


def describe(table: str) -> str:
    """In words: what the numbers beside each other mean."""
    return (
        f"{table}: {TABLES[table]}. Valid prediction time in Lyapunov times. paper: published mean "
        "and standard deviation over 500 realizations; mean, error: measured here, with its "
        "standard error; z: difference of the means over its standard error (the paper's rounding "
        "included)."
    )
