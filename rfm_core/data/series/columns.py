"""What a table of numbers is made of: its limits, its columns, and whether time is uniform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...checks import InvalidInput, refuse, whole

Array = np.ndarray

TIME_NAMES = frozenset(
    ["t", "time", "times", "zeit", "temps", "tiempo", "tempo", "timestamp", "time_s", "t_s"]
)
UNIFORM = 1e-6  # of the step: how far each step may be from the mean one
LARGEST = 1e100  # beyond it squares overflow: refused for times and components alike


@dataclass(frozen=True)
class SeriesLimits:
    """What a source may hold at most; files beyond it are refused before memory is taken."""

    max_bytes: int = 200_000_000
    max_rows: int = 5_000_000
    max_columns: int = 4096

    def __post_init__(self) -> None:
        for name in ("max_bytes", "max_rows", "max_columns"):
            value = whole(f"limits.{name}", getattr(self, name), 1, None, "Use the default.")
            object.__setattr__(self, name, value)

    def check(self, what: str, rows: int, columns: int) -> None:
        """Refuse a table of this size."""
        for count, most, unit in ((rows, "max_rows", "rows"), (columns, "max_columns", "columns")):
            limit = getattr(self, most)
            if count > limit:
                raise InvalidInput(
                    f"{what} has {count:,} {unit}; at most {limit:,} are read. Leave some out, or "
                    f"raise limits=SeriesLimits({most}={count})."
                )

    def check_bytes(self, what: str, count: int) -> None:
        """Refuse this many bytes."""
        if count > self.max_bytes:
            raise InvalidInput(
                f"{what} would take {count:,} bytes; at most {self.max_bytes:,} are read. Leave "
                f"out columns or rows, or raise limits=SeriesLimits(max_bytes={count})."
            )


@dataclass(frozen=True)
class Choice:
    """What the caller asked for: columns by name or index, None where it is left to us."""

    time: Any = None
    columns: tuple[Any, ...] | None = None
    trajectory: Any = None


@dataclass(frozen=True)
class Table:
    """What a source held: one (time, columns) array per trajectory, and what is known of them.

    ``times`` are times that came beside the numbers (NPZ); ``guess`` allows to look for a
    time column among unnamed ones (text, where people put one; an array has a shape on purpose).
    """

    parts: list[Array]
    names: tuple[str, ...] | None = None
    times: list[Array] | None = None
    dt: float | None = None
    guess: bool = False
    origin: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Roles:
    """Indices: ``components`` None means all the others; ``time`` None means not told."""

    components: tuple[int, ...] | None
    time: int | None
    trajectory: int | None

    def needed(self, width: int) -> list[int]:
        """Columns whose text must be numbers; the rest may hold anything."""
        if self.components is None:
            return [i for i in range(width) if i != self.trajectory]
        return sorted({*self.components, *([] if self.time is None else [self.time])})


def plain(text: str, most: int = 60) -> str:
    """One line of printable text, shortened: for names and for what an error quotes."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * most]).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def is_time_name(name: str) -> bool:
    """Names such as ``t``, ``Time [s]``, ``zeit/s``."""
    bare = name.casefold().replace("(", "[").replace("/", "[").split("[")[0]
    return bare.strip() in TIME_NAMES


def roles(choice: Choice, names: tuple[str, ...] | None, width: int) -> Roles:
    """Turn what was asked for into indices; refuse what is not there or contradicts itself."""
    time = None
    if choice.time is not None and choice.time is not False:
        time = _index("time", choice.time, names, width)
    trajectory = None
    if choice.trajectory is not None:
        trajectory = _index("trajectory", choice.trajectory, names, width)
    if time is not None and time == trajectory:
        raise refuse("trajectory", choice.trajectory, "another column than time", "Name two.")
    if choice.columns is None:
        return Roles(None, time, trajectory)
    chosen = tuple(_index("columns", c, names, width) for c in choice.columns)
    if not chosen or len(set(chosen)) < len(chosen):
        raise refuse("columns", choice.columns, "one or more different columns", "Name each once.")
    if {time, trajectory} & set(chosen):
        raise refuse(
            "columns", choice.columns, "without the time and trajectory columns", "Leave them out."
        )
    if time is None and choice.time is None and names is not None:
        named = [i for i, n in enumerate(names) if is_time_name(n) and i not in chosen]
        time = named[0] if len(named) == 1 else None
    return Roles(chosen, time, trajectory)


def _index(option: str, value: Any, names: tuple[str, ...] | None, width: int) -> int:
    """The column that ``value`` names, or counts from 0 (or from -1, the last one)."""
    if isinstance(value, str):
        if names is None:
            raise refuse(
                option, value, f"an index from 0 to {width - 1}: the columns have no names",
                "Count the columns from 0.",
            )  # fmt: skip
        if value.strip() not in names:
            known = plain(", ".join(repr(n) for n in names), 200)
            raise refuse(option, value, f"one of {known}", "Use a name of the header, or an index.")
        return names.index(value.strip())
    hint = "Columns count from 0" + ("." if names is None else ", or go by their names.")
    return whole(option, value, -width, width - 1, hint) % width


@dataclass(frozen=True)
class Step:
    """The step of a uniform time column, and how far off its printed digits may have put it."""

    dt: float
    slack: float


def uniform_step(t: Array) -> Step | None:
    """The step if ``t`` increases uniformly, else None.

    Either every step is within 1e-6 of the mean one (plus the rounding of doubles; this admits
    times that were summed up), or every time is within one unit of its last printed digit of a
    straight line, as long as that unit is less than a quarter of a step (this admits dt = 0.0125
    printed with three decimals, and single precision; a missing row is half a step off at least).
    """
    if t.size < 2 or not (np.abs(t) < LARGEST).all():  # which NaN is not either
        return None
    steps = np.diff(t)
    dt = float(t[-1] - t[0]) / (t.size - 1)
    if not (steps > 0).all() or not 0 < dt < np.inf:
        return None
    rounding = 4 * float(np.finfo(np.float64).eps) * float(np.abs(t).max())
    slack = rounding
    if float(np.abs(steps - dt).max()) > UNIFORM * dt + rounding:
        slack += min(_printed_unit(t), dt / 4)
        line = t[0] + dt * np.arange(t.size)
        if float(np.abs(t - line).max()) > UNIFORM * dt + slack:
            return None
    slack = slack / (t.size - 1) + 1e-12 * dt
    for digits in range(1, 16):  # 0.01, not 0.010000000000000002
        short = float(f"{dt:.{digits}g}")
        if abs(short - dt) <= slack:
            return Step(short, slack)
    return Step(dt, slack)


def _printed_unit(t: Array) -> float:
    """The unit of the last decimal of the coarsest-printed end of the column, 0 if it is exact."""
    unit = 0.0
    for end in (t[:1000], t[-1000:]):
        rounding = 4 * float(np.finfo(np.float64).eps) * float(np.abs(end).max())
        for decimals in range(-6, 13):
            if float(np.abs(np.round(end, decimals) - end).max()) <= rounding:
                unit = max(unit, 10.0**-decimals)
                break
    if np.abs(t).max() < 1e30 and np.array_equal(t.astype(np.float32), t):
        unit = max(unit, float(np.spacing(np.float32(np.abs(t).max()))))
    return unit


def common_step(times: Sequence[Array], label: str, given: float | None) -> float:
    """The one step of all trajectories; ``given`` must agree with it and is then used."""
    found: Step | None = None
    for number, t in sorted(enumerate(times), key=lambda pair: -pair[1].size):
        step = uniform_step(t)
        where = f"{label}" + (f" of trajectory {number + 1}" if len(times) > 1 else "")
        if step is None:
            raise InvalidInput(_not_uniform(t, where))
        if found is None:
            found = step  # of the longest, which knows it best
        elif abs(step.dt - found.dt) > UNIFORM * found.dt + step.slack + found.slack:
            raise InvalidInput(
                f"{where} steps by {step.dt:.9g}, the others by {found.dt:.9g}: all trajectories "
                "must have the same step. Resample them, or load them apart."
            )
    if found is None:
        raise InvalidInput("There is no row at all. Give a series with at least 20 rows.")
    if given is None:
        return found.dt
    if abs(given - found.dt) > UNIFORM * found.dt + found.slack:
        raise InvalidInput(
            f"dt={given:.9g} was given, but {label} steps by {found.dt:.9g}: they must agree "
            f"(to {UNIFORM:g}). Leave dt out, or pass time=False if that column is not the time."
        )
    return given


def _not_uniform(t: Array, label: str) -> str:
    if t.size < 2:
        return f"{label} has a single row; at least 2 are needed. Leave this trajectory out."
    steps = np.diff(t)
    usual = float(np.median(steps))
    worst = int(np.abs(steps - usual).argmax())
    return (
        f"{label} is not uniform: from row {worst + 1} to row {worst + 2} (counting from 1) it "
        f"steps by {steps[worst]:.9g}, mostly by {usual:.9g}; all steps must be positive and equal "
        f"to {UNIFORM:g} and the last printed digit. Resample to equal steps, cut the series at "
        "gaps into trajectories, or pass time=False if this column is not the time."
    )
