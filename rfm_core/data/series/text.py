"""Tables of numbers in text: delimiter, decimal mark and header are found, errors name the line.

A clean file goes through numpy's C parser in one pass. Only when that fails is the text read line
by line: to say what is wrong and where, or to read what is unusual but clear.
"""

from __future__ import annotations

import io
import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from ...checks import InvalidInput
from .columns import Choice, Roles, SeriesLimits, Table, plain, roles
from .layout import NOT_FINITE, NUMBER, Layout, find_layout, split

Array = np.ndarray

CONTROL = bytes([*range(9), *range(14, 32)])  # characters that no text has
LONGEST_FIELD = 64  # characters a field has on average at most: guards against one endless line


def read_text(raw: bytes, what: str, choice: Choice, limits: SeriesLimits) -> Table:
    """The table in ``raw``; ``choice`` tells which columns must be numbers."""
    raw, encoding = _as_utf8(raw, what)
    breaks = np.flatnonzero(np.frombuffer(raw, dtype=np.uint8) == ord("\n"))
    longest = int(np.diff(breaks, prepend=-1, append=len(raw)).max()) - 1
    if longest > LONGEST_FIELD * limits.max_columns:
        raise InvalidInput(
            f"{what} has a line of {longest:,} characters; at most {limits.max_columns:,} columns "
            "are read. Write one row of numbers per line."
        )
    limits.check(what, int(breaks.size), 1)
    text = raw.decode()
    layout = find_layout(text, what)
    width = layout.width - layout.trailing
    limits.check(what, 0, width)
    limits.check_bytes(f"{what}, read as {breaks.size + 1:,} rows of {width:,} numbers,",
                       8 * int(breaks.size) * width)  # fmt: skip
    role = roles(choice, layout.names, width)
    body = raw[len(text[: layout.start].encode()) :]
    del text  # as large as the file
    values = np.empty((0, layout.width)) if layout.empty else _fast(body, layout, role)
    if values is None:
        values = _slow(_lines(body), layout, role, what)
    origin = {"encoding": encoding, **layout.origin, "columns_in_file": width}
    return Table([values[:, :width]], layout.names, guess=True, origin=origin)


def _as_utf8(raw: bytes, what: str) -> tuple[bytes, str]:
    """The bytes as UTF-8 with plain line feeds, and what they were."""
    encoding = "utf-8"
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):  # how Excel writes "Unicode text"
        encoding = "utf-16"
        raw = raw.decode("utf-16", errors="replace").encode()
    raw = raw.removeprefix(b"\xef\xbb\xbf").rstrip(b"\x1a")
    if len(raw.translate(None, CONTROL)) < len(raw):  # measured 6 times faster than to search
        at = next(i for i, byte in enumerate(raw) if byte in CONTROL)
        raise InvalidInput(
            f"{what} is not text: byte {at:,} is 0x{raw[at]:02x}. Save it as CSV (numbers "
            "separated by commas), NPY or NPZ."
        )
    if not raw.isascii():
        try:
            raw.decode()
        except UnicodeDecodeError:
            encoding = "latin-1"
            raw = raw.decode("latin-1").encode()
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not raw.strip():
        raise InvalidInput(
            f"{what} is empty: it must hold at least 20 rows of numbers. Was it saved completely?"
        )
    return raw, encoding


def _labels() -> Callable[[str], float]:
    """Numbers for labels of any kind, in order of appearance."""
    seen: dict[str, float] = {}
    return lambda text: seen.setdefault(text.strip().strip('"'), float(len(seen)))


def _or_nan(text: str) -> float:
    """For columns that nobody asked for: whatever they hold is no error."""
    return float(text) if NUMBER.fullmatch(text.strip()) else np.nan


def _readers(layout: Layout, role: Roles) -> dict[int, Callable[[str], float]]:
    """Columns that need not be numbers, and what makes numbers of them."""
    width = layout.width - layout.trailing
    free = set(range(layout.width)) - set(role.needed(width))
    readers: dict[int, Callable[[str], float]] = dict.fromkeys(free, _or_nan)
    if role.trajectory is not None:
        readers.pop(role.trajectory, None)
        if role.trajectory in layout.text:
            readers[role.trajectory] = _labels()
    return readers


def _lines(body: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(body), "utf-8", newline="\n")


def _fast(body: bytes, layout: Layout, role: Roles) -> Array | None:
    """All rows at once, or None where that cannot be done or the numbers are not all finite."""
    if layout.delimiter != "," and b"," in body:
        body = re.sub(rb"#[^\n]*", b"", body)
        if b"." in body:
            return None  # both marks: thousands, or a mistake
        body = body.replace(b",", b".")
    readers = _readers(layout, role)
    unusual = {*layout.text, layout.width - 1 if layout.trailing else -1}
    try:
        values = np.loadtxt(
            _lines(body),
            delimiter=layout.delimiter or None,
            quotechar='"' if b'"' in body else None,
            converters={i: r for i, r in readers.items() if i in unusual},
            ndmin=2,
        )
    except ValueError:
        return None
    if values.shape[1] != layout.width:
        return None
    must = [i for i in range(layout.width) if i not in readers]
    return values if np.isfinite(values[:, must]).all() else None


def _slow(lines: Iterable[str], layout: Layout, role: Roles, what: str) -> Array:
    """Line by line; the first thing that is wrong is said with its line and column."""
    readers = _readers(layout, role)
    numbers, marks = array("d"), set[str]()
    for line, text in enumerate(lines, layout.line):
        text = text.split("#", 1)[0].rstrip("\n")
        if not text.strip():
            continue
        fields = split(text, layout.delimiter)
        if len(fields) != layout.width:
            raise InvalidInput(
                f"Line {line} of {what} has {len(fields)} columns instead of {layout.width}: "
                f"{plain(text)!r}. All rows must have the same number. Complete or remove it."
            )
        if layout.delimiter != ",":
            marks |= {",", "."} & set(text)
        row = None if readers or len(marks) == 2 else _plain_row(text, fields)
        numbers.extend(row or _row(fields, line, layout, readers, marks, what))
    return np.frombuffer(numbers).reshape(-1, layout.width)


def _plain_row(text: str, fields: list[str]) -> list[float] | None:
    """The quick way for a row without anything that only Python takes for a number."""
    if "_" in text or not text.isascii():
        return None
    try:
        row = [float(f) for f in fields]
    except ValueError:
        return None
    return row if math.isfinite(sum(row)) else None


def _row(
    fields: list[str],
    line: int,
    layout: Layout,
    readers: dict[int, Callable[[str], float]],
    marks: set[str],
    what: str,
) -> Iterator[float]:
    """The entries of one row, each looked at."""
    for column, entry in enumerate(fields):
        reader = readers.get(column)
        if reader is not None:
            yield reader(entry)
            continue
        number = entry if layout.delimiter == "," else entry.replace(",", ".")
        mixed = len(marks) == 2 and not marks.isdisjoint(entry)
        if mixed or not NUMBER.fullmatch(number):
            raise InvalidInput(_no_number(entry, line, column, layout, what, mixed))
        if math.isinf(float(number)):
            raise InvalidInput(
                f"{_place(line, column, layout, what)} holds {plain(entry)!r}, which is beyond "
                "the largest number, 1.8e308. Correct or remove it."
            )
        yield float(number)


def _place(line: int, column: int, layout: Layout, what: str) -> str:
    name = "" if layout.names is None else f" ({layout.names[column]!r})"
    return f"Line {line}, column {column + 1}{name} of {what}"


def _no_number(entry: str, line: int, column: int, layout: Layout, what: str, mixed: bool) -> str:
    """What stands in the place of a number, and what to do about it."""
    place, shown = _place(line, column, layout, what), plain(entry, 40)
    if not entry:
        return f"{place} is empty; every entry must be a number. Fill it or remove the row."
    if entry.lower() in NOT_FINITE or entry.lower() in ("na", "n/a", "null", "none"):
        return (
            f"{place} holds {shown!r}; every entry must be a finite number. Fill it in, remove "
            "the row, or cut the series there into trajectories."
        )
    if mixed:
        return (
            f"{place} holds {shown!r}: the file uses both '.' and ',' in numbers, and only one may "
            "be the decimal mark. Write it as '.', and thousands without any mark."
        )
    if layout.delimiter == "":
        return (
            f"{place} holds {shown!r}, which is not a number, and no comma, semicolon, tab, pipe "
            "or white space separates columns. Use one of these."
        )
    return (
        f"{place} holds {shown!r}, which is not a number. Correct it, select other columns with "
        "columns=[...], or write dates as numbers."
    )
