"""How a table is written as text: delimiter, decimal mark, header, found from its first rows."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ...checks import InvalidInput
from .columns import plain

# In order of preference where several would do. White space is None as in numpy, "" is one column.
DELIMITERS: dict[str | None, str] = {
    ";": "semicolon", "\t": "tab", "|": "pipe", ",": "comma", None: "white space", "": "none",
}  # fmt: skip
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
NOT_FINITE = frozenset(s + w for s in ("", "+", "-") for w in ("nan", "inf", "infinity"))
SAMPLE = 100  # rows from which the layout is found


@dataclass(frozen=True)
class Layout:
    """How the text is to be read; ``start`` and ``line`` are where the rows begin."""

    delimiter: str | None
    width: int
    names: tuple[str, ...] | None
    start: int
    line: int
    empty: bool = False  # a header and nothing else
    trailing: bool = False  # every row ends with a delimiter: an empty last column
    text: frozenset[int] = frozenset()  # columns that hold words: labels, dates
    origin: dict[str, Any] = field(default_factory=dict)


def split(line: str, delimiter: str | None) -> list[str]:
    """The fields of one line, without quotes and surrounding white space."""
    if delimiter == "":
        return [line.strip().strip('"')]
    if '"' in line and delimiter is not None:
        try:
            fields = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
        except (csv.Error, StopIteration):
            fields = line.split(delimiter)
    elif '"' in line:
        fields = [f.strip('"') for f in re.findall(r'"[^"]*"|\S+', line)]
    else:
        fields = line.split(delimiter)
    return [f.strip() for f in fields]


def is_number(text: str, delimiter: str | None) -> bool:
    """Also ``nan`` and ``inf``: no names, they get an error of their own later."""
    if delimiter != ",":
        text = text.replace(",", ".")
    return NUMBER.fullmatch(text) is not None or text.lower() in NOT_FINITE


def find_layout(text: str, what: str) -> Layout:
    """Look at the first rows: delimiter, number of columns, header, where the numbers begin."""
    sample: list[tuple[int, int, str]] = []  # line number, offset of the next line, line
    comment, number, offset = "", 0, 0
    while len(sample) <= SAMPLE and offset < len(text):
        end = text.find("\n", offset)
        end = len(text) if end < 0 else end
        line, number, offset = text[offset:end], number + 1, end + 1
        bare = line.split("#", 1)[0]
        if bare.strip():
            sample.append((number, offset, bare))
        elif line.strip() and not sample:
            comment = line.strip().lstrip("#").strip()
    if not sample:
        raise InvalidInput(f"{what} holds comments only: it must hold rows of numbers. Add some.")
    lines = [line for _, _, line in sample]
    delimiter = find_delimiter(lines[1:] or lines)
    rows = [split(line, delimiter) for line in lines]
    width = Counter(len(r) for r in rows[1:] or rows).most_common(1)[0][0]
    usual = [r for r in rows[1:] if len(r) == width]
    trailing = width > 1 and bool(usual) and all(r[-1] == "" for r in usual)
    words = {i for r in usual for i, f in enumerate(r) if f and not is_number(f, delimiter)}
    header = is_header(rows[0], usual, delimiter, f"Line {sample[0][0]} of {what}")
    first_line, first_offset = 1, 0
    if header:
        names: tuple[str, ...] | None = clean_names(rows[0], width, trailing, sample[0][0])
        first_line, first_offset = sample[0][0] + 1, sample[0][1]
        how = f"line {sample[0][0]}"
    else:
        names = _names_in_comment(comment, delimiter, width - trailing)
        how = "none" if names is None else "the comment before the numbers"
    return Layout(
        delimiter, width, names, first_offset, first_line, header and len(rows) == 1, trailing,
        frozenset(words), {"delimiter": DELIMITERS[delimiter], "header": how},
    )  # fmt: skip


def find_delimiter(lines: list[str]) -> str | None:
    """The delimiter that makes most lines rows of numbers, of equal length and at least two."""
    best: tuple[tuple[float, float], str | None] = ((-1.0, -1.0), "")
    for delimiter in DELIMITERS:
        rows = [split(line, delimiter) for line in lines]
        width, count = Counter(len(r) for r in rows).most_common(1)[0]
        if width < 2:
            continue
        good = [[is_number(f, delimiter) for f in r] for r in rows if len(r) == width]
        full = sum(all(g) for g in good) / len(rows)
        share = sum(sum(g) for g in good) / (count * width)
        if (full, share) > best[0]:
            best = ((full, share), delimiter)
    return best[1]


def is_header(first: list[str], rows: list[list[str]], delimiter: str | None, where: str) -> bool:
    """Whether the first row holds names. Numbers may be names only if they plainly count columns.

    ``0,1,2,...`` is what pandas writes above unnamed columns: taken as names if the rows hold
    decimals throughout and the first column does not continue from 0 as a time would.
    """
    text = [i for i, f in enumerate(first) if f and not is_number(f, delimiter)]
    numbers = [f for f in first if f and is_number(f, delimiter)]
    counting = numbers in ([str(k) for k in range(len(numbers))],
                           [str(k + 1) for k in range(len(numbers))])  # fmt: skip
    if not text:
        if not counting or len(numbers) < 2 or not rows:
            return False
        if first[0] == "":
            return all(r[0] for r in rows)
        whole = any(f.lstrip("+-").isdigit() for r in rows for f in r)
        return not whole and not _continues([r[0] for r in rows], delimiter)
    if not numbers:
        return True
    if all(i < len(r) and r[i] and not is_number(r[i], delimiter) for r in rows for i in text):
        return not rows  # the same columns hold text further down: no header, but labels
    if counting or (len(numbers) > 2 and text == [0] and _increase(numbers, delimiter)):
        return True
    raise InvalidInput(
        f"{where} mixes names and numbers ({plain(first[text[0]])!r} beside "
        f"{numbers[0]!r}): it must be a header or a row. Repair it, or put # before it."
    )


def _floats(fields: list[str], delimiter: str | None) -> list[float]:
    return [float(f if delimiter == "," else f.replace(",", ".")) for f in fields]


def _increase(fields: list[str], delimiter: str | None) -> bool:
    """Names that are places, such as grid points: strictly increasing."""
    values = _floats(fields, delimiter)
    return all(a < b for a, b in pairwise(values))


def _continues(column: list[str], delimiter: str | None) -> bool:
    """Whether a column goes on from 0 in equal steps."""
    if not all(NUMBER.fullmatch(f.replace(",", ".")) for f in column):
        return False
    values = _floats(column, delimiter)
    return all(abs(v - (k + 1) * values[0]) <= 0.25 * abs(values[0]) for k, v in enumerate(values))


def clean_names(fields: list[str], width: int, trailing: bool, line: int) -> tuple[str, ...]:
    """The names as plain text, one for each column, all different."""
    if trailing and len(fields) == width and not fields[-1]:
        fields = fields[:-1]
    if len(fields) != width - trailing:
        raise InvalidInput(
            f"Line {line} has {len(fields)} names, the rows have {width - trailing} columns: they "
            "must agree. Complete the header, or put # before it to do without."
        )
    names = [plain(f) for f in fields]
    names = [n if n or i == 0 else f"column {i + 1}" for i, n in enumerate(names)]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InvalidInput(
                f"Line {line} names columns {names.index(name) + 1} and {i + 1} both {name!r}: "
                "every column needs a name of its own. Rename one."
            )
    return tuple(names)


def _names_in_comment(comment: str, delimiter: str | None, width: int) -> tuple[str, ...] | None:
    """numpy.savetxt puts its header into a comment; taken if it has one word for each column."""
    for way in (delimiter, ",", None):
        names = [plain(f) for f in split(comment, way)] if comment and way != "" else []
        fits = len(names) == width > 1 and len(set(names)) == width
        if fits and not any(not n or is_number(n, way) for n in names):
            return tuple(names)
    return None
