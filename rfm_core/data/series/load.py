"""A user's own series as a Dataset: read, checked, split into training and test parts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from ...checks import InvalidInput, real, refuse, whole
from ...spec import digest_of
from ..dataset import Dataset
from .arrange import Arranged, arrange
from .columns import LARGEST, Choice, SeriesLimits, plain
from .exponent import estimate_lyapunov
from .files import read_source

Array = np.ndarray

LEAST_ROWS = 20
LEAST_STEPS = 10  # in the training part
LEAST_VARIATION = 1e-12  # of its size: a column that varies less varies by rounding
USUAL_STEPS = 3000  # of a test window where the series is long enough

Source = str | PathLike[str] | tuple[bytes, str] | Sequence[Any] | Array


def load_series(
    source: Source,
    *,
    dt: float | None = None,
    time: str | int | bool | None = None,
    columns: Sequence[str | int] | str | int | None = None,
    trajectory: str | int | None = None,
    key: str | None = None,
    lyapunov: float | None = None,
    eps: float = 0.5,
    name: str | None = None,
    homogeneous: bool = False,
    n_test: int = 20,
    test_steps: int | None = None,
    test_fraction: float = 0.2,
    seed: int = 0,
    estimate: bool = False,
    separate: bool = False,
    limits: SeriesLimits = SeriesLimits(),  # noqa: B008 (frozen)
) -> Dataset:
    """Load measured or simulated states, sampled at equal steps of time.

    ``source`` is an array of shape (time,), (time, D) or (trajectories, time, D), a list of
    (time, D) arrays of any lengths, the path of a CSV, TSV, TXT, DAT, NPY or NPZ file, or a pair
    (bytes, file name). Nothing is written anywhere.

    Columns go by name or by index from 0: ``time`` (False: there is none), ``columns`` (the
    components, in this order; None: all others) and ``trajectory`` (labels; rows with the same
    label belong together). ``key`` names the array within an NPZ file. In text a time column is
    found by its name, or by being first and increasing uniformly; where that leaves a doubt, the
    question is put in the error. ``dt`` is needed where there is no time.

    The last ``test_fraction`` of every trajectory is for testing: ``n_test`` windows of
    ``test_steps`` steps, spread evenly (half of that part long by default). They share no row with
    the training part. Training parts of different length are cut into windows of one length. What
    was decided, left out or reduced is in ``origin`` of the result.

    With ``separate=True`` every column is a trajectory of its own, of a system with one component;
    otherwise columns are the components of one state.

    ``lyapunov`` is used if given, estimated from the training part with ``estimate=True``
    (``seed`` draws the reference states), else left unknown. ``eps`` is the VPT threshold.
    """
    choice = Choice(time, _as_tuple(columns), trajectory)
    step, eps, seed, lyapunov = _checked(dt, eps, seed, lyapunov)
    for option, value, kind in (
        ("name", name, str), ("key", key, str), ("limits", limits, SeriesLimits),
    ):  # fmt: skip
        if value is not None and not isinstance(value, kind):
            raise refuse(option, value, f"of type {kind.__name__}", "Leave it out.")
    if time is True:
        raise refuse("time", time, "a column, False or None", "Name the column, or give its index.")
    table = read_source(source, choice, key, limits)
    rows = sum(len(p) for p in table.parts)
    if rows < LEAST_ROWS:
        raise InvalidInput(
            f"The series has {rows} rows; at least {LEAST_ROWS} are needed. Give a longer one."
        )
    found = arrange(table, choice, step)
    _check_numbers(found)
    if separate:
        found = _apart(found)
    train, test, split = split_series(found.parts, n_test, test_steps, test_fraction)
    _check_varying(train, found.names)
    origin = {"kind": "series", **found.origin, "rows": rows, "split": split}
    origin["trajectories"] = len(found.parts)
    estimated = lyapunov is None and estimate
    if estimated:
        guess = estimate_lyapunov(train, found.dt, seed=seed)
        lyapunov, origin["lyapunov"] = guess.value, guess.words
    else:
        origin["lyapunov"] = "unknown" if lyapunov is None else "given"
    return Dataset(
        train=train,
        test=test,
        dt=found.dt,
        eps=eps,
        lyapunov=lyapunov,
        name=plain(name) if name else _name_of(origin["source"]),
        homogeneous=bool(homogeneous),
        lyapunov_is_estimate=estimated and lyapunov is not None,
        columns=found.names,
        origin=origin,
        digest=_digest(train, test, found.dt, eps, lyapunov, bool(homogeneous)),
    )


def _checked(
    dt: Any, eps: Any, seed: Any, lyapunov: Any
) -> tuple[float | None, float, int, float | None]:
    """The plain numbers among the options."""
    if dt is not None:
        dt = real("dt", dt, "Give the time between rows.", 0.0, above=True)
    if lyapunov is not None:
        lyapunov = real("lyapunov", lyapunov, "Leave it out if unknown.", 0.0, above=True)
    eps = real("eps", eps, "Try 0.5.", 0.0, above=True)
    return dt, eps, whole("seed", seed, 0, None, "Try 0."), lyapunov


def _as_tuple(columns: Any) -> tuple[Any, ...] | None:
    if columns is None or isinstance(columns, tuple):
        return columns
    if isinstance(columns, (str, int)):
        return (columns,)
    try:
        return tuple(columns)
    except TypeError:
        raise refuse("columns", columns, "names or indices", "Try columns=[0, 1].") from None


def _name_of(source: str) -> str:
    return source.rsplit(".", 1)[0] or "series"


def _check_numbers(found: Arranged) -> None:
    """Every entry finite and of a size whose square is finite too."""
    for number, part in enumerate(found.parts):
        good = np.abs(part) < LARGEST  # False for NaN, without a warning
        if good.all():
            continue
        row, column = (int(i) for i in np.argwhere(~good)[0])
        where = f"row {row}" + (f" of trajectory {number}" if len(found.parts) > 1 else "")
        raise InvalidInput(
            f"Component {found.names[column]!r} holds {part[row, column]} in {where} (counted from "
            f"0); {int((~good).sum())} entries in all are not finite or beyond {LARGEST:g}. "
            "Fill them in, rescale, or cut the series there into trajectories."
        )


def _apart(found: Arranged) -> Arranged:
    """Every column as a trajectory."""
    parts = [part[:, [column]] for part in found.parts for column in range(len(found.names))]
    return Arranged(parts, ("x1",), found.dt, {**found.origin, "separate": list(found.names)})


def _check_varying(train: Array, names: tuple[str, ...]) -> None:
    """A component that never changes has no deviation to measure an error by."""
    low, high = train.min(axis=(0, 1)), train.max(axis=(0, 1))
    size = np.maximum(np.abs(low), np.abs(high))
    constant = np.flatnonzero(high - low <= LEAST_VARIATION * size + 1e-100)
    if constant.size:
        shown = plain(", ".join(repr(names[i]) for i in constant), 200)
        raise InvalidInput(
            f"Constant in the training part: {shown} (the first is {low[constant[0]]:g} "
            f"throughout); every component must vary by more than {LEAST_VARIATION:g} of its size. "
            "Leave it out with columns=[...]."
        )


def split_series(
    parts: list[Array], n_test: int, test_steps: int | None, test_fraction: float
) -> tuple[Array, Array, dict[str, Any]]:
    """Training windows of one length, test windows, and plain words on both.

    The last ``test_fraction`` of each trajectory is held out. Where that is too short for a test
    window while others have room, the trajectory is left to training as a whole.
    """
    n_test = whole("n_test", n_test, 1, 1_000_000, "Try 20.")
    share = real("test_fraction", test_fraction, "Try 0.2.", 0.0, 0.9, above=True)
    held = np.array([int(share * len(p)) for p in parts])
    usual = int(np.sort(held)[len(held) // 2])
    if test_steps is None:
        steps = min(USUAL_STEPS, max(1, usual // 2))
    else:
        steps = whole("test_steps", test_steps, 1, None, "Leave it out to have it chosen.")
    if held.max() < steps + 1:
        raise InvalidInput(
            f"test_steps={steps} needs {steps + 1} rows in the test part, the longest has "
            f"{held.max()}. Give at most {max(int(held.max()) - 1, 0)} steps, a larger "
            f"test_fraction than {share:g}, or longer trajectories."
        )
    held[held < steps + 1] = 0
    starts = spread_starts(held, steps, n_test)
    test = np.stack(
        [parts[i][len(parts[i]) - held[i] + s :][: steps + 1] for i, s in starts.tolist()]
    )
    train, left_out = equal_windows([p[: len(p) - h] for p, h in zip(parts, held, strict=True)])
    same = starts[1:, 0] == starts[:-1, 0]
    gaps = (starts[1:, 1] - starts[:-1, 1])[same]
    split: dict[str, Any] = {
        "test_fraction": share,
        "test_windows": len(test),
        "test_windows_asked": n_test,
        "test_steps": steps,
        "test_windows_overlap": bool((gaps <= steps).any()),
        "training_windows": train.shape[0],
        "training_rows": train.shape[1],
        "training_rows_left_out": left_out,
    }
    return train, test, split | {"words": _split_words(split)}


def spread_starts(held: Array, steps: int, n_test: int) -> Array:
    """(trajectory, first row within its test part) of each test window, evenly among all."""
    room = np.maximum(held - steps, 0)  # how many starts each test part has
    ends = np.cumsum(room)
    count = min(n_test, int(ends[-1]))
    flat = np.round(np.linspace(0, ends[-1] - 1, count)).astype(np.int64)
    which = np.searchsorted(ends, flat, side="right")
    return np.stack([which, flat - (ends - room)[which]], axis=1)


def equal_windows(parts: list[Array]) -> tuple[Array, int]:
    """Cut into windows of the one length that keeps most steps; also the rows that were left out.

    A window of w rows holds w - 1 steps, so of all lengths the one with the largest sum of
    (w - 1) * floor(rows / w) is best. What does not fit is left out at the start of a trajectory,
    where a transient may be.
    """
    lengths, counts = np.unique([len(p) for p in parts], return_counts=True)
    most = max(1, 20_000 // lengths.size)  # pieces per trajectory; few are ever best
    tried = np.unique(lengths[:, None] // np.arange(1, most + 1))
    tried = tried[tried > 1]
    kept = np.zeros(tried.size, dtype=np.int64)
    for length, count in zip(lengths, counts, strict=True):
        kept += count * (length // tried) * (tried - 1)
    if kept.max(initial=0) < LEAST_STEPS:
        raise InvalidInput(
            f"The training part holds {kept.max(initial=0)} steps in windows of one length; at "
            f"least {LEAST_STEPS} are needed. Give more rows, or a smaller test_fraction."
        )
    rows = int(tried[::-1][kept[::-1].argmax()])  # the longest of the best
    cut = [p[len(p) % rows :].reshape(-1, rows, p.shape[1]) for p in parts]
    windows = np.concatenate(cut)  # a copy: the caller's array may change later
    return windows, sum(len(p) for p in parts) - windows.shape[0] * rows


def _split_words(split: dict[str, Any]) -> str:
    words = [f"{split['test_windows']} test windows of {split['test_steps']} steps"]
    if split["test_windows"] < split["test_windows_asked"]:
        words.append(f"fewer than the {split['test_windows_asked']} asked for, for want of rows")
    if split["test_windows_overlap"]:
        words.append("they overlap one another")
    words.append(
        f"{split['training_windows']} training windows of {split['training_rows']} rows, "
        f"{split['training_rows_left_out']} rows left out to make them equal"
    )
    return "; ".join(words)


def _digest(
    train: Array, test: Array, dt: float, eps: float, lyapunov: float | None, homogeneous: bool
) -> str:
    """A name for what a study computes with: not for labels, nor for where it came from."""
    content = {
        part: [list(a.shape), hashlib.sha256(np.ascontiguousarray(a, dtype="<f8").data).hexdigest()]
        for part, a in (("train", train), ("test", test))
    }
    options = {"dt": dt, "eps": eps, "lyapunov": lyapunov, "homogeneous": homogeneous}
    return digest_of({"kind": "series", "schema": 1, **content, **options})
