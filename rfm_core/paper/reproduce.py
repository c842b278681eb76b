"""The paper's tables again: its figures beside ours, with standard errors and a z-score."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..checks import InvalidInput, one_of, whole
from ..study.results import ResultStore, StudyRecord, statistics
from ..study.study import StudySpec
from .tables import TABLES, PaperRow, paper_rows

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
same architecture and size with accurate data, QR, centred features, two refinements (global
models), the tight sampler, all patches, independent weights, automatic beta.

In these tables beta is about 1e-16 of the largest eigenvalue of the normal equations, so
rounding decides what the regression finds, and how they are solved matters as much as the
model: on L63 with 512 features LU gives 8.2 Lyapunov times (as the paper's own code does on a
CPU), eigenvalues 10.3 (published, on an A100: 10.1). Settings *paper* solve by eigenvalues.
What is left of the gap is largest where beta is smallest beside rounding, in L63_0_s: with
everything else as published, QR instead of normal equations gives 10.1 ± 0.3 on its row 1
(published 10.1) and 9.3 ± 0.4 on row 7 (published 9.7), 24 realizations each, so it is the
rounding of the sums that differs, not the model. Settings *ours* do not depend on any of this.
Seconds (*fit s*) were taken while the machine was busy with other work.

*The same models at other widths* are rows repeated by `--at-width`, narrower where the published
width is more than the machine at hand can repeat often enough. Everything but the width is the
row's, beta included (settings *paper*), so beta was not tuned for that width. *D_r*, *size* and
all that was measured belong to the width used here, *paper mean* and *paper std* to the published
one, *paper D_r*. These are two different models: the figures stand beside each other for
orientation, and there is no z.
"""
# what would be the same, or nothing, in every line
AS_PUBLISHED = ("paper D_r",)
OTHER_WIDTHS = ("median", "min", "max", "z", "peak MB")


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
    row: PaperRow,
    settings: str = "paper",
    *,
    realizations: int = 500,
    seed: int = 0,
    width: int | None = None,
) -> StudySpec:
    """The study that repeats a row, at its own width or another.

    "paper": as published (odeint data, normal equations, one patch, shared weights, its beta).
    "ours": the same architecture and size with this engine's accurate data, QR, centred features,
    two refinements (global models), the tight sampler, all patches, independent weights, automatic
    beta, and noise on the inputs alone.
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
            centred=True,
            refine=0 if model.choices.local else 2,  # local ones are not limited by rounding
        )
    if width is not None:
        model = model.replace(width=width)
    return StudySpec(data, model, realizations=realizations, seed=seed)


@dataclass(frozen=True)
class Comparison:
    """One row: published, and measured here, at its own width or at ``at_width``."""

    number: int
    row: PaperRow
    settings: str
    statistics: dict[str, Any]
    at_width: int | None = None

    @property
    def width(self) -> int:
        """Of the model that was measured."""
        return self.row.width if self.at_width is None else self.at_width

    @property
    def as_published(self) -> bool:
        return self.width == self.row.width

    @property
    def z(self) -> float | None:
        """Difference of the means in units of its standard error.

        None below two realizations, and at another width, since that is another model.
        """
        ours = self.statistics
        sem = ours.get("sem")
        if not self.as_published or not sem or not math.isfinite(sem):
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
            "row": f"{self.number}" if self.as_published else f"{self.number} at {self.width}",
            "model": f"{row.architecture}{local}",
            "D_r": str(self.width),
            "B": str(row.depth),
            "size": f"{row.model_size // row.width * self.width}",  # proportional to the width
            "paper D_r": str(row.width),
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
    """A Markdown table, and a second one of what was measured at other widths."""
    published = [c for c in comparisons if c.as_published]
    others = [c for c in comparisons if not c.as_published]
    parts = [_table(published, AS_PUBLISHED)] if published else []
    if others:
        parts.append("The same models at other widths:\n\n" + _table(others, OTHER_WIDTHS))
    return "\n".join(parts)


def _table(comparisons: Sequence[Comparison], without: Sequence[str]) -> str:
    names = [name for name in comparisons[0].cells() if name not in without]
    lines = [names, ["---"] * len(names)]
    for c in comparisons:
        cells = c.cells()
        lines.append([cells[name] for name in names])
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


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


MEASURED = {
    "mean": "mean",
    "error": "sem",
    "std": "std",
    "median": "median",
    "min": "min",
    "max": "max",
    "n": "n",
    "censored": "censored",
    "diverged": "diverged",
    "failed": "failed",
    "fit s": "fit_seconds",
    "peak MB": "peak_mb",
}


def from_csv(text: str) -> list[Comparison]:
    """What :func:`as_csv` wrote: of another machine, or of a store that is gone."""
    found = []
    for line in csv.DictReader(text.splitlines()):
        try:
            table, settings = line["table"], line["settings"]
            number, width = int(line["row"].split()[0]), int(line["D_r"])
            measured = {key: float(line[name]) for name, key in MEASURED.items() if line[name]}
        except (KeyError, ValueError, TypeError, IndexError):
            raise InvalidInput(
                f"The line {str(dict(line))[:80]!r} is not one of a table this command wrote. "
                "Give a file made with --csv."
            ) from None
        one_of("settings", settings, SETTINGS)
        ((_, row),) = select(table, numbers=str(number))
        found.append(Comparison(number, row, settings, measured, width))
    return found


def joined(*parts: Sequence[Comparison]) -> list[Comparison]:
    """All of them in the page's order; of the same model the one with most realizations."""
    best: dict[tuple[int, ...], Comparison] = {}
    for c in (c for part in parts for c in part):
        known = best.get(_place(c))
        if known is None or c.statistics["n"] > known.statistics["n"]:
            best[_place(c)] = c
    return [best[place] for place in sorted(best)]


def found_in(store: ResultStore, *, seed: int = 0) -> list[Comparison]:
    """What the store holds of the tables, at any width, in both settings and the page's order."""
    found = [_recognised(store, study, seed) for study in store.studies() if study.done]
    return sorted((c for c in found if c is not None), key=_place)


def _recognised(store: ResultStore, study: StudyRecord, seed: int) -> Comparison | None:
    """A study beside the row it repeats: the one of its own width, or else the first that fits."""
    try:
        spec = StudySpec.from_dict(study.spec)
    except InvalidInput:  # a store may hold anything
        return None
    width = spec.model.width
    rows = [(n, row) for table in TABLES for n, row in enumerate(rows_of(table), start=1)]
    for number, row in sorted(rows, key=lambda pair: pair[1].width != width):
        if (row.system, row.depth) != (spec.data.system, spec.model.depth):
            continue
        for settings in SETTINGS:
            if study_of(row, settings, seed=seed, width=width).key == study.digest:
                told = statistics(store.rows(study.digest))
                return Comparison(number, row, settings, told, width)
    return None


def _place(c: Comparison) -> tuple[int, ...]:
    table, settings = list(TABLES).index(c.row.table), SETTINGS.index(c.settings)
    return table, settings, not c.as_published, c.number, c.width


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
        "included; none at another width than published, which is another model)."
    )
