"""Files of every kind, good and bad: what is read, and the words with which the rest is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rfm_core.checks import InvalidInput
from rfm_core.data.series import SeriesLimits, load_series

ROWS = 40
N = range(ROWS)
X = np.round(np.sin(0.7 * np.arange(ROWS)), 6)
Y = np.round(np.cos(0.9 * np.arange(ROWS)), 6)


def text(*columns: Any, delimiter: str = ",", head: str = "", fmt: str = "{}") -> str:
    rows = [delimiter.join(fmt.format(v) for v in row) for row in zip(*columns, strict=True)]
    return head + "\n".join(rows) + "\n"


def load(content: str | bytes, name: str = "a.csv", **options: Any) -> Any:
    raw = content.encode() if isinstance(content, str) else content
    return load_series((raw, name), **options)


def times(dt: float, decimals: int | None = None) -> list[str]:
    return [repr(k * dt) if decimals is None else f"{k * dt:.{decimals}f}" for k in range(ROWS)]


def line(number: int, new: str) -> str:
    """A good file with line ``number`` (of 41, the first is the header) replaced."""
    lines = text(times(0.1, 1), X, Y, head="t,x,y\n").split("\n")
    lines[number - 1] = new
    return "\n".join(lines)


# ---- the time column, found


@pytest.mark.parametrize(
    ("content", "options", "dt", "columns", "words"),
    [
        (text(times(0.1), X, Y, head="Zeit [s],x,y\n"), {}, 0.1, ("x", "y"), "by its name"),
        (text(X, times(0.1), Y, head="x,t/s,y\n"), {}, 0.1, ("x", "y"), "by its name"),
        (text(X, times(0.1), Y), {"time": 1}, 0.1, ("x1", "x2"), "as told"),
        (text(X, times(0.1), head="x,hour\n"), {"time": "hour"}, 0.1, ("x",), "as told"),
        (text(times(0.1), X, head="hour,x\n"), {}, 0.1, ("x",), "first and uniform"),
        (text(times(0.1), X, Y), {}, 0.1, ("x1", "x2"), "first and uniform"),
        (text(times(0.1), X, Y), {"time": False, "dt": 2}, 2, ("x1", "x2", "x3"), "time=False"),
        (text(times(0.1), X, Y), {"columns": [2]}, 0.1, ("x1",), "first and uniform"),
        (text(times(0.1), X, Y), {"columns": [0, 2], "dt": 3}, 3, ("x1", "x2"), "no column"),
        (text(N, X, Y, head=",x,y\n"), {"dt": 0.5}, 0.5, ("x", "y"), "no column"),
        (text(N, times(0.1), X, head=",t,x\n"), {}, 0.1, ("x",), "by its name"),
        (text(N, times(0.1), X), {}, 0.1, ("x1",), "after a row number"),
        (text(N, X, Y), {"dt": 0.5}, 0.5, ("x1", "x2"), "counts rows and is left out"),
        (text(N, X, Y), {"dt": 1}, 1, ("x1", "x2"), "first and uniform"),
        (text(N, X, Y), {"time": 0}, 1, ("x1", "x2"), "as told"),
        (text(X, Y, head="0,1\n"), {"dt": 1}, 1, ("0", "1"), "no column"),  # pandas
        (text(times(0.01, 2), X).replace("0.00,0.0", "0,1", 1), {}, 0.01, ("x1",), "uniform"),
        (text(times(0.1), X, Y, head="t,1,2\n"), {}, 0.1, ("1", "2"), "by its name"),
        (text(times(0.1), X, Y, X + Y, head="t,0.0,0.5,1.0\n"), {}, 0.1, ("0.0", "0.5", "1.0"),
         "by its name"),
        (text(times(0.1), X, Y, head="# made by us\n# t, x, y\n"), {}, 0.1, ("x", "y"), "by its"),
    ],
)  # fmt: skip
def test_time_is_found_or_told(
    content: str, options: dict[str, Any], dt: float, columns: tuple[str, ...], words: str
) -> None:
    data = load(content, **options)
    assert data.dt == dt
    assert data.columns == columns
    assert words in data.origin["time"]
    rows = ROWS - ROWS // 5
    if columns in (("x", "y"), ("x1", "x2")) and data.dimension == 2 and "columns" not in options:
        assert np.array_equal(data.train[0], np.column_stack([X, Y])[:rows])


@pytest.mark.parametrize(
    ("stamps", "dt"),
    [
        (times(0.0125, 3), 0.0125),  # 0.013, 0.025, 0.037, ...
        (times(1 / 3, 6), pytest.approx(1 / 3, rel=1e-6)),
        ([f"{1e6 + 0.01 * k:.2f}" for k in range(ROWS)], 0.01),
        ([f"{1.7e9 + 0.01 * k!r}" for k in range(ROWS)], 0.01),
        ([f"{0.1 * k:.3e}" for k in range(ROWS)], 0.1),
        ([str(np.float32(0.1) * np.float32(k)) for k in range(ROWS)], pytest.approx(0.1, rel=1e-6)),
        ([str(v) for v in np.cumsum(np.full(ROWS, 0.1))], 0.1),
        ([str(-5 + k) for k in range(ROWS)], 1.0),
    ],
)
def test_rounded_times_are_uniform(stamps: list[str], dt: float) -> None:
    assert load(text(stamps, X, head="t,x\n")).dt == dt


@pytest.mark.parametrize(
    ("stamps", "words"),
    [
        (times(0.1)[:20] + [repr(0.1 * k) for k in range(21, ROWS + 1)],
         "from row 20 to row 21 .* steps by 0.2, mostly by 0.1"),  # one row is missing
        ([repr(0.1 * k * (1 + 1e-4 * k)) for k in range(ROWS)], "not uniform"),
        ([repr(0.1 * k + 0.003 * (k % 2)) for k in range(ROWS)], "not uniform"),
        ([repr(0.1 * (k - k % 2)) for k in range(ROWS)], "not uniform"),
        ([str(v) for v in X], "not uniform"),
        (["5.0"] * ROWS, "not uniform"),
        ([*times(0.1)[:-1], "1e101"], "finite"),
    ],
)  # fmt: skip
def test_other_times_are_not(stamps: list[str], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        load(text(stamps, X, head="t,x\n"))


def test_a_long_clean_column_with_one_late_gap_is_noticed() -> None:
    stamps = 0.01 * np.arange(100_000)
    stamps[70_000:] += 0.01
    table = np.column_stack([stamps, np.sin(stamps)])
    with pytest.raises(InvalidInput, match="from row 70000 to row 70001"):
        load_series(table, time=0)


# ---- trajectories in a table


def test_labels_and_restarting_times_make_trajectories() -> None:
    t = [f"{0.1 * k:.1f}" for k in range(20)] * 2
    labels = ["run b"] * 20 + ["run a"] * 20
    for content, options in [
        (text(labels, t, X, head="who,t,x\n"), {"trajectory": "who"}),
        (text(labels, t, X), {"trajectory": 0}),
        (text([3] * 20 + [1] * 20, t, X, head="id,t,x\n"), {"trajectory": "id"}),
        (text(t, X, head="t,x\n"), {}),
    ]:
        data = load(content, **options)
        assert data.train.shape == (2, 16, 1)
        assert np.array_equal(data.train[:, :, 0], X.reshape(2, 20)[:, :16])
        assert "trajectories_by" in data.origin
    mixed = [row for k in range(20) for row in ((0, t[k], X[k]), (1, t[k], X[20 + k]))]
    data = load(text(*zip(*mixed, strict=True), head="id,t,x\n"), trajectory="id")
    assert np.array_equal(data.train[:, :, 0], X.reshape(2, 20)[:, :16])


def test_words_in_columns_that_nobody_asked_for_are_no_error() -> None:
    place = ["Zürich"] * 39 + ["n/a"]
    data = load(text(place, X, Y, head="place,x,y\n").encode("latin-1"), columns=["x"], dt=1)
    assert np.array_equal(data.train[0, :, 0], X[:32])
    assert data.origin["encoding"] == "latin-1"
    late = [*map(str, Y[:-1]), "late word"]
    assert load(text(X, late), columns=[0], dt=1).dimension == 1


def test_unusual_but_clear_text_is_read() -> None:
    want = np.column_stack([X, Y])[:32]
    for content in (
        text(X, Y, delimiter=",").replace("\n", ",\n"),  # a delimiter at the end of each line
        text(X, Y, head="x,y\n").replace("\n", ",\n"),
        text(X, Y, fmt='"{}"', head='"x","y"\n'),
        text(X, Y, delimiter="   ").replace("\n", "  # why\n\n   \n"),
        text(X, Y, delimiter=";").replace(".", ",") + "# 1.5 in a comment\n",
        text(X, Y, delimiter=" \t "),
    ):
        assert np.array_equal(load(content, dt=1).train[0], want), content[:60]


def test_names_are_plain_text() -> None:
    data = load(text(X, Y, head="<b>x</b>\x85,\u202ey" + "z" * 200 + "\n"), dt=1)
    assert data.columns[0] == "<b>x</b>"
    assert data.columns[1].startswith("y" + "z" * 50)
    assert len(data.columns[1]) == 60


# ---- text, refused


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (line(5, "0.3,nan,1.0"), r"Line 5, column 2 \('x'\) of a.csv holds 'nan'.*finite"),
        (line(5, "0.3,1.0,-Inf"), r"Line 5, column 3 \('y'\) .*'-Inf'"),
        (line(9, "0.7,1e400,1.0"), r"Line 9, column 2 .*'1e400', .* beyond the largest number"),
        (line(6, "0.4,1.0"), "Line 6 of a.csv has 2 columns instead of 3: '0.4,1.0'"),
        (line(40, "3.8,1,2,3"), "Line 40 of a.csv has 4 columns instead of 3"),
        (line(7, "0.5,hello" + "o" * 99 + ",1"), "Line 7, column 2 .*'hellooo.*…'.*not a number"),
        (line(7, "0.5,,1"), r"Line 7, column 2 \('x'\) of a.csv is empty"),
        (line(7, "0.5,NA,1"), "holds 'NA'.*finite"),
        (line(7, "0.5,1_0,1"), "'1_0', which is not a number"),
        (line(7, "0.5,0x10,1"), "'0x10', which is not a number"),
        (line(7, "0.5,\uff11,1"), "which is not a number"),
        (line(1, "t,x"), "Line 1 has 2 names, the rows have 3 columns"),
        (line(1, "t,x,x"), "Line 1 names columns 2 and 3 both 'x'.*Rename"),
        (line(1, "1.0,oops,3.0"), "mixes names and numbers .*'oops' beside '1.0'"),
        (line(1, "t,time,x"), "both named like a time.*time="),
        (text(["2024-01-01"] * ROWS, X, head="day,x\n"), "'2024-01-01'.*dates as numbers"),
        (text(X, Y, delimiter=":"), "no comma, semicolon, tab, pipe or white space"),
        ("a b c\n" * 30, "Line 2.*'a', which is not a number"),
        (text(X, Y, delimiter=";") + "1.234,5;2.0\n", "Line 41, .*'1.234,5'.*thousands without"),
        (text(X, Y, delimiter=";").replace(".", ",", 5), "both '.' and ','"),
        ("", "a.csv is empty"),
        ("\ufeff \n\n", "a.csv is empty"),
        ("# only\n# words\n", "comments only"),
        ("x,y\n", "0 rows; at least 20"),
        ("x,y\n1,2\n", "1 rows; at least 20"),
        (text(X[:19], Y[:19]), "19 rows; at least 20"),
        (text(X, Y), "dt=None.*Pass dt=0.01 .* dt=1.0"),
        (text(X, times(0.1)), "Column 1 increases by 0.1: is it time=1"),
        (text(N, X), "may be a row number or the time.*time=0.*dt="),
        (text(times(0.1), head="t\n"), "none is left"),
        (text(times(0.1), X, [5] * ROWS, head="t,x,five\n"), "Constant.*'five'.*columns="),
        (text(times(0.1), X, 1e9 + 1e-6 * Y, head="t,x,z\n"), "Constant.*'z'"),
        (text(times(0.1), X, 1e150 * Y, head="t,x,z\n"), "'z' holds .* beyond 1e\\+100.*rescale"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is not text: byte"),
        (bytes(range(256)) * 9, "is not text: byte 0 is 0x00"),
        (b"PK\x03\x04\x14\x00\x00", "is not text"),
        (b"\xff\xfe\x00\xd8" + bytes(9), "is not text|not a number"),
        (bytes(range(128, 256)) * 20, "names columns 3 and 5 both"),
    ],
)  # fmt: skip
def test_bad_text_is_refused_with_words(content: str | bytes, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as caught:
        load(content)
    assert len(str(caught.value)) < 600


def test_given_and_found_step_must_agree() -> None:
    content = text(times(0.1), X, head="t,x\n")
    assert load(content, dt=0.1).dt == 0.1
    with pytest.raises(InvalidInput, match=r"dt=0.2 was given, but Time column 't' .* by 0.1"):
        load(content, dt=0.2)


def test_limits_of_text() -> None:
    content = text(X, Y)
    for limits, words in (
        (SeriesLimits(max_bytes=100), "a.csv would take .* bytes; at most 100"),
        (SeriesLimits(max_rows=39), "40 rows; at most 39"),
        (SeriesLimits(max_columns=1), "2 columns; at most 1"),
    ):
        with pytest.raises(InvalidInput, match=words):
            load(content, dt=1, limits=limits)
    with pytest.raises(InvalidInput, match="a line of 1,000,000 characters"):
        load("1," * 500_000)
    with pytest.raises(InvalidInput, match=r"limits.max_rows=0"):
        SeriesLimits(max_rows=0)


# ---- sources


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    for source, words in (
        (tmp_path, "is a directory"),
        (tmp_path / "none.csv", "cannot be read .No such file"),
        ("a\0b.csv", "cannot be read"),
        ("x" * 5000, "cannot be read"),
        ("/dev/null", "no regular file"),
        (tmp_path / "a.xlsx", "extension '.xlsx'; one of .csv, .tsv, .txt"),
    ):
        with pytest.raises(InvalidInput, match=words):
            load_series(source, dt=1)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (b"1,2", "pair"),
        (("text", "a.csv"), "source.0."),
        ((b"", "a.npy"), "a.npy is empty"),
        ((b"1,2", "noname"), "extension ''"),
        ((b"1,2", "../../etc/a.pkl"), "^a.pkl has the extension '.pkl'"),
        (np.float64(3), r"shape \(\)"),
        (np.zeros((2, 3, 4, 5)), r"shape \(2, 3, 4, 5\)"),
        (np.zeros((0, 3)), r"shape \(0, 3\)"),
        (np.zeros((50, 0)), r"shape \(50, 0\)"),
        (np.ones((50, 2), dtype=complex), "complex numbers"),
        (np.array([[1, None]] * 30), "Python objects"),
        (np.array([["a", "b"]] * 30), "text"),
        (np.ones((50, 2), dtype=bool), "truth values"),
        (np.zeros(50, dtype="M8[s]"), "dates"),
        (np.zeros(50, dtype=[("a", float)]), "named fields"),
        (np.ma.masked_less(np.arange(50.0), 3), "3 masked entries"),
        ([[1.0, 2.0], [3.0]], "cannot become an array.*same length"),
        ([np.ones((30, 2)), np.ones((30, 3))], "2 and 3 columns"),
        ([np.ones((1, 2))] * 30, "All 30 trajectories have a single row"),
        (None, "Python objects"),
        ({"a": 1}, "Python objects"),
        (np.column_stack([X, np.where(np.isclose(Y, Y[7]), np.nan, Y)]), "'x2' holds nan in row 7"),
        (np.column_stack([X, np.full(ROWS, np.inf)]), "'x2' holds inf in row 0"),
        (np.stack([np.column_stack([X, Y]), np.full((ROWS, 2), np.nan)]), "row 0 of trajectory 1"),
        (np.ones((50, 2)), "Constant.*'x1', 'x2'.*1 throughout"),
        (np.full((50, 1), np.longdouble("1e4000")), "holds inf"),
    ],
)  # fmt: skip
def test_bad_sources_are_refused_with_words(source: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        load_series(source, dt=1)
