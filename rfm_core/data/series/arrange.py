"""From a table to trajectories of components: which column is the time is found here, or asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import InvalidInput
from .columns import (
    LARGEST,
    UNIFORM,
    Choice,
    Roles,
    Table,
    common_step,
    is_time_name,
    roles,
    uniform_step,
)

Array = np.ndarray

ROW_NAMES = frozenset(["", "index", "row", "rows", "nr", "no", "no.", "unnamed: 0", "#"])


@dataclass(frozen=True)
class Arranged:
    """The components alone, one (time, D) array per trajectory, and their step."""

    parts: list[Array]
    names: tuple[str, ...]
    dt: float
    origin: dict[str, Any]


@dataclass(frozen=True)
class Found:
    """The time column if there is one, a column that only counts rows, and how that was found."""

    time: int | None
    counter: int | None
    words: str


def arrange(table: Table, choice: Choice, dt: float | None) -> Arranged:
    """Take the table apart: trajectories, time, components in the order asked for."""
    width = table.parts[0].shape[1]
    role = roles(choice, table.names, width)
    parts, origin = table.parts, dict(table.origin)
    if role.trajectory is not None:
        parts = _without_single_rows(_group(table, role.trajectory), origin)
        origin["trajectories_by"] = f"column {_label(table.names, role.trajectory)}"
    elif table.times is None:
        parts = _without_single_rows(parts, origin)
    found = _find_time(table, parts, role, choice, dt)
    if found.time is not None and len(parts) == 1:
        parts = _without_single_rows(_cut_at_restarts(parts[0], found.time), origin)
        if len(parts) > 1:
            origin["trajectories_by"] = "the time column starting anew"
    times = None if choice.time is False else table.times
    if found.time is not None:
        times = [p[:, found.time] for p in parts]
    label = "The time" if found.time is None else f"Time column {_label(table.names, found.time)}"
    step = _step(table, parts, times, label, dt)
    components = role.components
    if components is None:
        out = {found.time, found.counter, role.trajectory}
        components = tuple(i for i in range(width) if i not in out)
    if not components:
        raise InvalidInput(
            f"Of {width} columns none is left as a component (time: {found.words}). Give at least "
            "one column beside time and trajectory, or pass time=False."
        )
    origin |= {"time": found.words, "dt": step, "column_indices": list(components)}
    names = tuple(
        f"x{n + 1}" if table.names is None else table.names[i] for n, i in enumerate(components)
    )
    if components != tuple(range(width)):
        parts = [p[:, list(components)] for p in parts]
    return Arranged(parts, names, step, origin)


def _group(table: Table, column: int) -> list[Array]:
    """Rows with the same label, in their order; labels in the order of first appearance."""
    if len(table.parts) > 1 or table.times is not None:
        raise InvalidInput(
            f"trajectory={column} was given, but the source holds {len(table.parts)} trajectories "
            "or its own times; it must be one plain table. Leave trajectory out."
        )
    rows = table.parts[0]
    _, first, inverse = np.unique(rows[:, column], return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    order = np.argsort(rank[inverse], kind="stable")
    return np.split(rows[order], np.cumsum(np.bincount(rank[inverse]))[:-1])


def _cut_at_restarts(part: Array, time: int) -> list[Array]:
    return np.split(part, np.flatnonzero(np.diff(part[:, time]) < 0) + 1)


def _without_single_rows(parts: list[Array], origin: dict[str, Any]) -> list[Array]:
    """A trajectory of one row shows no step, so nothing can be learned from it."""
    longer = [p for p in parts if len(p) > 1]
    if not longer:
        raise InvalidInput(
            f"All {len(parts)} trajectories have a single row; each needs at least 2. Name another "
            "trajectory or time column."
        )
    if len(longer) < len(parts):
        dropped = len(parts) - len(longer)
        origin["single_rows_dropped"] = origin.get("single_rows_dropped", 0) + dropped
    return longer


def _label(names: tuple[str, ...] | None, column: int) -> str:
    return f"{column}" if names is None else f"{names[column]!r} (index {column})"


def _find_time(
    table: Table, parts: list[Array], role: Roles, choice: Choice, dt: float | None
) -> Found:
    """By being told, by name, by values, in this order. Doubt is an error, not a guess."""
    names = table.names
    if choice.time is False:
        return Found(None, None, "no column, as told by time=False")
    taken = {role.trajectory, *(role.components or ())}
    free = [i for i in range(parts[0].shape[1]) if i not in taken]
    counter = _row_counter(names, parts, free)
    if role.time is not None:
        how = "as told" if choice.time is not None else "by its name"
        counter = None if counter == role.time else counter
        return Found(role.time, counter, f"column {_label(names, role.time)}, {how}")
    if table.times is not None or not table.guess:
        return Found(None, None, "no column" if table.times is None else "beside the numbers")
    named = [i for i in free if names is not None and is_time_name(names[i])]
    if len(named) > 1:
        raise InvalidInput(
            f"Columns {_label(names, named[0])} and {_label(names, named[1])} are both named like "
            "a time; only one can be it. Name it with time=."
        )
    if named:
        return Found(named[0], counter, f"column {_label(names, named[0])}, by its name")
    return _guess_time(names, parts, [i for i in free if i != counter], counter, role, dt)


def _row_counter(names: tuple[str, ...] | None, parts: list[Array], free: list[int]) -> int | None:
    """A first column such as pandas writes: without a name (or ``index``), counting the rows."""
    if names is None or 0 not in free or len(free) < 2 or len(parts) > 1:
        return None
    return 0 if names[0].casefold() in ROW_NAMES and _counts(parts, 0) else None


def _counts(parts: list[Array], column: int) -> bool:
    """0, 1, 2, ... or 1, 2, 3, ...: the number of the row, or the time of a map."""
    return all(
        p[0, column] in (0, 1) and np.array_equal(p[:, column], p[0, column] + np.arange(len(p)))
        for p in parts
    )


def _guess_time(
    names: tuple[str, ...] | None,
    parts: list[Array],
    free: list[int],
    counter: int | None,
    role: Roles,
    dt: float | None,
) -> Found:
    """The first column, if it increases uniformly and nothing else could be meant.

    No state of a dynamical system does that, so the only doubt is a column that counts rows: with
    a given ``dt`` it is left out, before a second uniform column it is left out, else we ask.
    """

    def uniform(column: int) -> bool:
        return all(uniform_step(p[:, column]) is not None for p in parts)

    first = next(i for i in range(3) if i not in (counter, role.trajectory))
    if parts[0].shape[1] == 1 or first not in free or not uniform(first):
        return Found(None, counter, "no column")
    if not _counts(parts, first) or dt == 1:
        return Found(first, counter, f"column {_label(names, first)}: first and uniform")
    if first + 1 in free and uniform(first + 1):
        words = f"column {_label(names, first + 1)}: uniform, after a row number"
        return Found(first + 1, first, words)
    if dt is not None:
        words = f"no column; column {_label(names, first)} counts rows and is left out"
        return Found(None, first, words)
    start = parts[0][0, first]
    raise InvalidInput(
        f"Column {_label(names, first)} counts {start:g}, {start + 1:g}, ...: it may be a row "
        f"number or the time, and it must be clear which. Pass time={first} if it is the time "
        "(step 1), or dt=<time between rows> if it is a row number."
    )


def _step(
    table: Table, parts: list[Array], times: list[Array] | None, label: str, dt: float | None
) -> float:
    """The step from a time column, from times beside the numbers, from the source, or as given."""
    said = table.dt
    if dt is not None and said is not None and abs(dt - said) > UNIFORM * said:
        raise InvalidInput(
            f"dt={dt:.9g} was given, but the file says dt={said:.9g}: they must agree. "
            "Leave dt out."
        )
    dt = said if dt is None else dt
    if times is None and dt is None:
        raise InvalidInput(
            "dt=None cannot be used: no time column was found and no step was given. Pass dt=0.01 "
            "(the time between two rows), dt=1.0 to count time in rows, or time=<name or index of "
            f"the time column>.{_hint(table)}"
        )
    if times is None:
        return float(dt or 0.0)
    for t, part in zip(times, parts, strict=True):
        if t.size != len(part):
            raise InvalidInput(
                f"{label} has {t.size} entries, the series {len(part)} rows: they must agree. "
                "Give one time per row, or pass time=False and dt=... to ignore it."
            )
        if not (np.abs(t) < LARGEST).all():  # which NaN is not either
            raise InvalidInput(
                f"{label} holds NaN, Inf or a number beyond {LARGEST:g}: times must be finite. "
                "Repair those rows, or pass time=False and dt=... to do without."
            )
    return common_step(times, label, dt)


def _hint(table: Table) -> str:
    """The column that was perhaps meant."""
    for i, values in enumerate(table.parts[0].T[:64]):
        step = uniform_step(values)
        if step is not None:
            return f" Column {_label(table.names, i)} increases by {step.dt:.9g}: is it time={i}?"
    return ""
