"""A user's own series: what is accepted, how it is split, what the result is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rfm_core.checks import InvalidInput
from rfm_core.data.series import SeriesLimits, load_series
from rfm_core.data.series.load import equal_windows, split_series


def wave(rows: int = 200, columns: int = 3, start: float = 0.0) -> np.ndarray:
    t = start + 0.1 * np.arange(rows)[:, None]
    return np.sin(t * (1 + np.arange(columns))) + np.arange(columns)


def as_text(table: np.ndarray, delimiter: str = ",", header: str = "", mark: str = ".") -> bytes:
    lines = [delimiter.join(repr(float(v)).replace(".", mark) for v in row) for row in table]
    return "\n".join([*([header] if header else []), *lines, ""]).encode()


def timed(table: np.ndarray, dt: float = 0.05) -> np.ndarray:
    return np.column_stack([dt * np.arange(len(table)), table])


def whole_of(data: Any) -> np.ndarray:
    """Training part and the test part that follows it, where one window covers the latter."""
    return np.concatenate([data.train[0], data.test[0]])


# ---- arrays


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float16, np.int64, np.uint8, ">f8", np.longdouble]
)
def test_numbers_of_any_width_become_float64(dtype: Any) -> None:
    source = (10 * wave() + 50).astype(dtype)
    data = load_series(source, dt=0.1)
    assert data.train.dtype == np.float64
    assert np.array_equal(data.train[0], source[:160].astype(float))
    assert data.columns == ("x1", "x2", "x3")
    assert (data.dt, data.lyapunov, data.eps) == (0.1, None, 0.5)


def test_one_axis_is_the_time_of_one_component() -> None:
    data = load_series(wave()[:, 0].tolist(), dt=1)
    assert data.train.shape == (1, 160, 1)
    assert np.array_equal(data.train[0], load_series(wave()[:, :1], dt=1).train[0])


def test_three_axes_are_trajectories() -> None:
    source = np.stack([wave(start=s) for s in (0, 1, 2)])
    data = load_series(source, dt=0.1, n_test=6)
    assert data.train.shape == (3, 160, 3)
    assert np.array_equal(data.train, source[:, :160])


def test_a_mask_that_hides_nothing_is_fine() -> None:
    source = np.ma.masked_array(wave(), mask=False)
    assert np.array_equal(load_series(source, dt=1).train[0], wave()[:160])


def test_result_does_not_follow_the_callers_array() -> None:
    source = wave()
    data = load_series(source, dt=0.1)
    before = data.train.copy(), data.test.copy()
    source[:] = 7.0
    assert np.array_equal(data.train, before[0])
    assert np.array_equal(data.test, before[1])
    assert not data.train.flags.writeable


def test_columns_of_an_array_by_index_and_order() -> None:
    data = load_series(timed(wave()), time=0, columns=[-1, 1])
    assert data.dt == 0.05
    assert np.array_equal(data.train[0], wave()[:160, [2, 0]])
    assert data.origin["column_indices"] == [3, 1]


def test_lists_of_any_lengths_are_cut_into_equal_windows() -> None:
    parts = [wave(rows, start=s) for s, rows in enumerate((1000, 2000, 333))]
    data = load_series(parts, dt=0.1)
    windows, rows = data.train.shape[:2]
    train = [parts[0][:800], parts[1][:1600], parts[2]]  # the last has no room for a test window
    assert data.test.shape[1] == 101
    assert data.origin["split"]["training_rows_left_out"] == 800 + 1600 + 333 - windows * rows
    for window in data.train:  # each is a piece of one training part, in order
        assert any(
            np.array_equal(window, t[i : i + rows])
            for t in train
            for i in range(len(t) - rows + 1)
            if t[i, 0] == window[0, 0]
        )
    assert (windows, rows) == (17, 160)  # 2703 steps; three windows of 800 would keep 2397


@given(st.lists(st.integers(2, 60), min_size=1, max_size=5))
def test_no_other_window_length_keeps_more_steps(lengths: list[int]) -> None:
    best = max((w - 1) * sum(n // w for n in lengths) for w in range(2, 61))
    parts = [np.arange(n, dtype=float)[:, None] for n in lengths]
    if best < 10:
        with pytest.raises(InvalidInput, match=f"holds {best} steps .* at least 10"):
            equal_windows(parts)
        return
    windows, left_out = equal_windows(parts)
    assert windows.shape[0] * (windows.shape[1] - 1) == best
    assert left_out == sum(lengths) - windows.shape[0] * windows.shape[1]


# ---- splitting


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(20, 150), min_size=1, max_size=4),
    n_test=st.integers(1, 40),
    fraction=st.floats(0.1, 0.7),
    steps=st.none() | st.integers(1, 20),
)
def test_test_windows_never_share_rows_with_training(
    lengths: list[int], n_test: int, fraction: float, steps: int | None
) -> None:
    ends = np.cumsum(lengths)
    ids = [np.arange(e - n, e, dtype=float)[:, None] for n, e in zip(lengths, ends, strict=True)]
    try:
        train, test, said = split_series(ids, n_test, steps, fraction)
    except InvalidInput:  # too short for this; what is said then is tested below
        return
    assert not set(train.ravel()) & set(test.ravel())
    assert len(test) == said["test_windows"] <= n_test
    assert len({w[0, 0] for w in test}) == len(test)  # no window twice
    for window in (*train, *test):  # consecutive rows of one trajectory
        assert (np.diff(window[:, 0]) == 1).all()
        assert len(set(np.searchsorted(ends, window[:, 0], side="right"))) == 1
    overlap = len(set(test.ravel())) < test.size
    assert said["test_windows_overlap"] == overlap
    if steps is not None:
        assert test.shape[1] == steps + 1
    for row in test.ravel():  # later than all training rows of its trajectory
        own = np.searchsorted(ends, row, side="right")
        before = train[np.searchsorted(ends, train, side="right") == own]
        assert before.size == 0 or before.max() < row


def test_windows_are_spread_over_the_whole_test_part() -> None:
    data = load_series(wave(1000), dt=0.1, n_test=5, test_steps=39)
    firsts = [int(np.flatnonzero((wave(1000) == w[0]).all(axis=1))[0]) for w in data.test]
    assert firsts == [800, 840, 880, 920, 960]
    assert not data.origin["split"]["test_windows_overlap"]
    assert "overlap" not in data.origin["split"]["words"]


def test_too_many_windows_are_reduced_and_said() -> None:
    data = load_series(wave(100), dt=0.1, n_test=50, test_steps=17)
    assert len(data.test) == 3
    assert "fewer than the 50 asked for" in data.origin["split"]["words"]
    assert "overlap" in data.origin["split"]["words"]


# ---- text and back


@st.composite
def tables(draw: st.DrawFn) -> np.ndarray:
    shape = (draw(st.integers(20, 40)), draw(st.integers(1, 4)))
    number = st.floats(-1e90, 1e90, allow_subnormal=False)
    table = draw(arrays(np.float64, shape, elements=number))
    table[0], table[1] = -1.5, 2.25  # so that no column is constant
    return table


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    table=tables(),
    delimiter=st.sampled_from([",", ";", "\t", " ", "|", " ; ", ", "]),
    header=st.booleans(),
    with_time=st.booleans(),
    comma=st.booleans(),
    ending=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16"]),
    dt=st.sampled_from([0.01, 0.25, 1 / 3, 5e-5]),
)
def test_text_comes_back_bit_for_bit(
    table: np.ndarray, delimiter: str, header: bool, with_time: bool, comma: bool,
    ending: str, encoding: str, dt: float,
) -> None:  # fmt: skip
    full = timed(table, dt) if with_time else table
    names = ["t"] * with_time + [f"größe_{i}" for i in range(table.shape[1])]
    mark = "," if comma and "," not in delimiter else "."
    if mark == "," and full.shape[1] == 1:
        mark = "."  # one column of 1,5 is two columns to anybody
    text = as_text(full, delimiter, delimiter.join(names) if header else "", mark).decode()
    raw = text.replace("\n", ending).encode(encoding)
    data = load_series(
        (raw, "x.txt"), dt=None if with_time else dt, n_test=1, test_steps=len(table) // 5 - 1
    )
    assert np.array_equal(whole_of(data), table)
    assert data.dt == pytest.approx(dt, rel=1e-12)
    assert data.columns == tuple(
        names[with_time:] if header else [f"x{i + 1}" for i in range(table.shape[1])]
    )
    json.dumps(data.origin, allow_nan=False)


def test_paths_and_all_formats_give_the_same_set(tmp_path: Path) -> None:
    table, names = wave(), "t,a,b,c"
    (tmp_path / "s.csv").write_bytes(as_text(timed(table), header=names))
    np.savetxt(tmp_path / "s.txt", timed(table), fmt="%.17g", header="t a b c")
    np.save(tmp_path / "s.npy", table)
    np.save(tmp_path / "f.npy", np.asfortranarray(table))
    np.savez(tmp_path / "s.npz", u=table, time=0.05 * np.arange(200))
    np.savez_compressed(tmp_path / "d.npz", data=table[None], dt=0.05, note="words", other=[1, 2])
    np.savez(tmp_path / "c.npz", a=table[:, 0], b=table[:, 1], c=table[:, 2], dt=0.05)
    before = sorted(p.name for p in tmp_path.iterdir())
    sets = [load_series(tmp_path / f) for f in ("s.csv", "s.txt", "s.npz", "d.npz", "c.npz")]
    sets += [load_series(str(tmp_path / f), dt=0.05) for f in ("s.npy", "f.npy")]
    assert len({s.digest for s in sets}) == 1
    assert {s.columns for s in sets} == {("a", "b", "c"), ("x1", "x2", "x3")}
    assert sets[0].name == "s"
    assert sets[0].origin["source"] == "s.csv"  # and not where it lay
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_several_arrays_are_trajectories_in_natural_order(tmp_path: Path) -> None:
    runs = {f"run{k}": wave(100, start=k) for k in (10, 2, 1)}
    np.savez(tmp_path / "r.npz", **runs)
    data = load_series(tmp_path / "r.npz", dt=0.1)
    assert [w[0, 0] for w in data.train] == [runs[f"run{k}"][0, 0] for k in (1, 2, 10)]
    assert load_series(tmp_path / "r.npz", dt=0.1, key="run2").train.shape[0] == 1


# ---- digest


def test_digest_names_the_content() -> None:
    exact = 0.25 * (np.arange(600) % 7).reshape(200, 3)  # the same bits on every machine
    assert load_series(exact, dt=0.1).digest == "2822d5f3313c7fc3cea86c2d0eba5ba1"
    base = load_series(wave(), dt=0.1)
    assert base.digest == load_series(wave().tolist(), dt=0.1, name="other", seed=3).digest
    changed = wave()
    changed[-1, 0] += 1e-12
    others = [
        load_series(changed, dt=0.1),
        load_series(wave(), dt=0.2),
        load_series(wave(), dt=0.1, eps=0.3),
        load_series(wave(), dt=0.1, lyapunov=0.9),
        load_series(wave(), dt=0.1, homogeneous=True),
        load_series(wave(), dt=0.1, n_test=3),
        load_series(wave(), dt=0.1, test_fraction=0.3),
        load_series(wave(), dt=0.1, columns=[0, 2, 1]),
    ]
    assert len({base.digest, *(o.digest for o in others)}) == 1 + len(others)


# ---- options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dt": 0}, "dt=0 cannot be used: it must be a finite number above 0"),
        ({"dt": "fast"}, "dt='fast'"),
        ({"eps": -1}, "eps=-1"),
        ({"lyapunov": 0}, "lyapunov=0 .* Leave it out"),
        ({"n_test": 0}, "n_test=0 .* at least 1"),
        ({"test_steps": 1.5}, "test_steps=1.5"),
        ({"test_steps": 40}, "needs 41 rows in the test part, the longest has 40. Give at most 39"),
        ({"test_fraction": 0}, "test_fraction=0"),
        ({"test_fraction": 0.95}, "test_fraction=0.95 .* at most 0.9"),
        ({"seed": -1}, "seed=-1"),
        ({"columns": [0, 0]}, "columns.* different"),
        ({"columns": [3]}, "columns=3 .* at most 2"),
        ({"columns": ["a"]}, "columns='a' .* no names"),
        ({"columns": []}, "one or more"),
        ({"columns": 1.5}, "columns=1.5"),
        ({"columns": [0], "time": 0}, "without the time"),
        ({"time": True}, "time=True"),
        ({"time": 1}, "not uniform: from row .* Resample"),
        ({"trajectory": 7}, "trajectory=7"),
        ({"trajectory": 0}, "single row; each needs at least 2"),
        ({"trajectory": 0, "time": 0}, "another column"),
        ({"name": 3}, "name=3"),
        ({"key": "u"}, "key='u' .* NPZ"),
        ({"limits": 5}, "limits=5"),
        ({"limits": SeriesLimits(max_rows=199)}, r"200 rows; at most 199 .*max_rows=200"),
        ({"limits": SeriesLimits(max_columns=2)}, "3 columns; at most 2"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        load_series(wave() + np.linspace(0, 1e-9, 200)[:, None], **{"dt": 0.1, **options})


def test_columns_may_be_series_of_their_own() -> None:
    rng = np.random.default_rng(5)
    table = rng.normal(size=(100, 3))
    apart = load_series(table, dt=0.5, separate=True, n_test=3)
    same = load_series([table[:, [k]] for k in range(3)], dt=0.5, n_test=3)
    assert apart.train.shape[0] == 3
    assert apart.dimension == 1
    np.testing.assert_array_equal(apart.train, same.train)
    np.testing.assert_array_equal(apart.test, same.test)
    assert apart.origin["separate"] == ["x1", "x2", "x3"]
