"""The sampler: every row good, exactly and in floating point, and rightly distributed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rfm_core.model.sampler import Inputs, sample
from rfm_core.streams import stream

Array = np.ndarray
UNLIKELY = 1e-3  # seeds are fixed: a smaller p-value is a wrong distribution, not bad luck


def blocks_of(data: Array, size: int = 7) -> Callable[[], Iterator[torch.Tensor]]:
    return lambda: iter(torch.from_numpy(data).split(size))


def draw(kind: str, data: Array, width: int, seed: int = 0, **options: Any) -> tuple[Array, Array]:
    rows = blocks_of(data, options.pop("block", 7))
    return sample(kind, np.random.default_rng(seed), width, Inputs.scan(rows), rows, **options)


def box_corners(data: Array) -> Array:
    return np.array(list(itertools.product(*zip(data.min(0), data.max(0), strict=True))))


def assert_good_exactly(W: Array, b: Array, states: Array, L0: float, L1: float) -> None:
    low, high = Fraction(L0), Fraction(L1)
    exact = [[Fraction(float(v)) for v in state] for state in states]
    for row, bias in zip(W, b, strict=True):
        weights, shift = [Fraction(float(v)) for v in row], Fraction(float(bias))
        values = [sum(w * z for w, z in zip(weights, s, strict=True)) + shift for s in exact]
        least, largest = min(values), max(values)
        assert low < least <= largest < high or -high < least <= largest < -low


def assert_good_in_floats(W: Array, b: Array, states: Array, L0: float, L1: float) -> None:
    linear = torch.nn.functional.linear
    by_torch = linear(*(torch.from_numpy(a) for a in (states, W, b))).numpy()
    one_by_one = np.array([[math.fsum(w * s) for w in W] for s in states]) + b
    for values in (states @ W.T + b, by_torch, one_by_one):
        assert np.isfinite(values).all()
        assert ((np.abs(values) > L0) & (np.abs(values) < L1)).all()
        assert (np.sign(values) == np.sign(values[0])).all()


@st.composite
def series(draw: st.DrawFn, most_columns: int = 5) -> Array:
    """Columns of any scale and offset, some of them constant or zero, one row or many."""
    n = draw(st.integers(1, most_columns))
    count = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = []
    for _ in range(n):
        scale = draw(st.sampled_from([0.0, 1e-300, 1e-12, 1e-6, 1e-3, 1.0, 30.0, 1e4, 1e8, 1e100]))
        offset = draw(st.sampled_from([0.0, 0.0, 1.0, -25.0, 1e8, -1e8, 1e-9]))
        columns.append(offset + scale * rng.uniform(-1, 1, count))
    return np.stack(columns, axis=1)


good_range = st.tuples(
    st.sampled_from([0.0, 0.4, 1.0, 5.0, 99.0]), st.sampled_from([1e-3, 0.01, 1.0, 3.1])
).map(lambda pair: (pair[0], pair[0] + pair[1]))
anything = settings(deadline=None, max_examples=120, derandomize=True)


@anything
@given(series(), st.integers(1, 12), good_range, st.booleans(), st.integers(0, 2**32))
def test_hit_and_run_is_good_on_the_whole_box(
    data: Array, width: int, limits: tuple[float, float], standardize: bool, seed: int
) -> None:
    L0, L1 = limits
    W, b = draw("hit-and-run", data, width, seed, L0=L0, L1=L1, standardize=standardize)
    assert W.shape == (width, data.shape[1])
    assert b.shape == (width,)
    assert (np.abs(W).max(axis=1) > 0).all()
    corners = box_corners(data)
    assert_good_exactly(W, b, corners, L0, L1)
    assert_good_in_floats(W, b, corners, L0, L1)
    assert_good_in_floats(W, b, data, L0, L1)


@anything
@given(series(), st.integers(1, 12), good_range, st.booleans(), st.integers(0, 2**32))
def test_tight_is_good_on_the_data(
    data: Array, width: int, limits: tuple[float, float], standardize: bool, seed: int
) -> None:
    L0, L1 = limits
    W, b = draw("tight", data, width, seed, L0=L0, L1=L1, standardize=standardize)
    assert (np.abs(W).max(axis=1) > 0).all()
    assert_good_exactly(W, b, data, L0, L1)
    assert_good_in_floats(W, b, data, L0, L1)


@anything
@given(series(), st.booleans(), st.integers(0, 2**32))
def test_tight_is_never_shorter_than_the_box(data: Array, standardize: bool, seed: int) -> None:
    inside, box = (
        np.abs(draw(kind, data, 12, seed, standardize=standardize)[0]).max(axis=1)
        for kind in ("tight", "hit-and-run")
    )
    assert (inside >= box * (1 - 1e-6)).all()


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.integers(1, 120), st.booleans(), st.integers(0, 2**32))
def test_many_inputs_worst_corner_of_every_row(n: int, standardize: bool, seed: int) -> None:
    """Corners are too many here, but each row is least at one of them and largest at another."""
    rng = np.random.default_rng(seed)
    data = rng.normal(0, 10.0 ** rng.integers(-3, 4, n), (50, n)) + 10.0 ** rng.integers(0, 9, n)
    W, b = draw("hit-and-run", data, 40, seed, standardize=standardize)
    low, high = data.min(0), data.max(0)
    for row, bias in zip(W, b, strict=True):
        ends = np.stack([np.where(row > 0, low, high), np.where(row > 0, high, low)])
        assert_good_exactly(row[None], bias[None], ends, 0.4, 3.5)
        assert_good_in_floats(row[None], bias[None], ends, 0.4, 3.5)


class AtTheEdge(np.random.Generator):
    """Uniform numbers at the two ends of [0, 1) only, where rounding decides."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))

    def random(self, size: Any = None, *_: Any, **__: Any) -> Any:
        return np.where(super().random(size) < 0.5, 0.0, 1 - 2.0**-53)


@anything
@given(series(), good_range, st.booleans(), st.integers(0, 2**32))
def test_good_at_the_ends_of_every_interval(
    data: Array, limits: tuple[float, float], standardize: bool, seed: int
) -> None:
    rows = blocks_of(data)
    inputs = Inputs.scan(rows)
    for kind, states in (("hit-and-run", box_corners(data)), ("tight", data)):
        options: dict[str, Any] = dict(zip(("L0", "L1"), limits, strict=True))
        W, b = sample(kind, AtTheEdge(seed), 24, inputs, rows, standardize=standardize, **options)
        assert (np.abs(W).max(axis=1) > 0).all()
        assert_good_exactly(W, b, states, *limits)
        assert_good_in_floats(W, b, states, *limits)


def test_data_that_are_all_zero_make_c1_infinite() -> None:
    for kind in ("hit-and-run", "tight"):
        for standardize in (False, True):
            W, b = draw(kind, np.zeros((9, 3)), 2000, standardize=standardize)
            lengths = np.linalg.norm(W, axis=1)
            assert ((lengths > 0) & (lengths < 1)).all()
            assert stats.kstest(lengths, "uniform").pvalue > UNLIKELY
            assert ((np.abs(b) > 0.4) & (np.abs(b) < 3.5)).all()


def test_standardized_constants_give_moderate_weights() -> None:
    """Centred they are zero, so only rounding ends the segment: that is no reason to go so far."""
    W, b = draw("tight", np.full((5, 2), 7.25), 100, standardize=True)
    assert np.abs(W).max() < 1
    assert np.abs(b).max() < 20


def test_constant_column_does_not_spoil_the_others() -> None:
    rng = np.random.default_rng(0)
    varied = rng.normal(size=(500, 2))
    constant = np.full((500, 1), 0.1)
    with_it = draw("tight", np.hstack([varied, constant]), 500, standardize=True)[0]
    without = draw("tight", varied, 500, standardize=True)[0]
    ratio = np.median(np.abs(with_it[:, :2])) / np.median(np.abs(without))
    assert 0.5 < ratio < 1.5


# ---- Algorithm 1, followed line by line


def c1_of_algorithm_1(d: Array, b: float, states: Array, L0: float, L1: float) -> float:
    D = len(d)
    s = [1 if d[i] >= 0 else -1 for i in range(D)]
    minus, plus = [0.0] * D, [0.0] * D
    for i in range(D):
        smallest, greatest = min(states[:, i]), max(states[:, i])
        minus[i], plus[i] = (smallest, greatest) if s[i] == 1 else (greatest, smallest)
    down = sum(d[i] * minus[i] for i in range(D))
    up = sum(d[i] * plus[i] for i in range(D))
    candidates = [(L0 - b) / down] if down else []
    candidates += [(L1 - b) / up] if up else []
    return min((c for c in candidates if c > 0), default=math.inf)


def undone(W: Array, b: Array) -> tuple[Array, Array, Array, Array]:
    """Sign, bias, direction and length of rows drawn without standardization."""
    sign = np.sign(b)
    length = np.linalg.norm(W, axis=1)
    return sign, sign * b, sign[:, None] * W / length[:, None], length


@pytest.fixture(scope="module")
def cloud() -> Array:
    """Skewed, off the origin in one component, correlated."""
    rng = np.random.default_rng(5)
    mix = np.array([[3.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.5]])
    return rng.normal(size=(300, 3)) @ mix.T + [0.0, 0.0, 25.0]


@pytest.mark.parametrize("limits", [(0.4, 3.5), (0.0, 2.0), (1.0, 1.5)])
def test_c_is_uniform_up_to_the_c1_of_algorithm_1(cloud: Array, limits: tuple) -> None:
    L0, L1 = limits
    W, b = draw("hit-and-run", cloud, 3000, seed=1, L0=L0, L1=L1)
    _, bias, direction, c = undone(W, b)
    c_1 = np.array(
        [c1_of_algorithm_1(d, v, cloud, L0, L1) for d, v in zip(direction, bias, strict=True)]
    )
    share = c / c_1
    assert ((share > 0) & (share < 1)).all()
    assert stats.kstest(share, "uniform").pvalue > UNLIKELY
    assert share.max() > 0.998  # the segment is cut by rounding alone
    assert abs(np.corrcoef(share, bias)[0, 1]) < 0.08


def test_tight_cuts_where_the_data_leave(cloud: Array) -> None:
    W, b = draw("tight", cloud, 3000, seed=1)
    _, bias, direction, c = undone(W, b)
    projections = direction @ cloud.T
    ends = []
    for v, p in zip(bias, projections, strict=True):
        reach = [(0.4 - v) / x for x in p if x < 0] + [(3.5 - v) / x for x in p if x > 0]
        ends.append(min(reach))
    share = c / np.array(ends)
    assert ((share > 0) & (share < 1)).all()
    assert stats.kstest(share, "uniform").pvalue > UNLIKELY
    assert share.max() > 0.998
    boxed = np.linalg.norm(draw("hit-and-run", cloud, 3000, seed=1)[0], axis=1)
    assert np.median(c / boxed) > 1.02


def test_standardized_segment_is_cut_where_the_data_leave(cloud: Array) -> None:
    """Seen in standardised inputs, the row is one of Algorithm 1 on the centred, scaled data."""
    W, b = draw("tight", cloud, 3000, seed=2, standardize=True)
    mean, std = cloud.mean(0), cloud.std(0)
    scaled, at_mean = W * std, b + W @ mean
    sign, bias, direction, c = undone(scaled, at_mean)
    projections = direction @ ((cloud - mean) / std).T
    end = np.minimum((bias - 0.4) / -projections.min(1), (3.5 - bias) / projections.max(1))
    assert stats.kstest(c / end, "uniform").pvalue > UNLIKELY
    assert (c < end * (1 + 1e-9)).all()
    assert stats.kstest(bias, stats.uniform(0.4, 3.1).cdf).pvalue > UNLIKELY
    for column in direction.T:  # a component of a uniform direction in 3-D is uniform
        assert stats.kstest(column, stats.uniform(-1, 2).cdf).pvalue > UNLIKELY
    assert abs(sign.mean()) < 4 / math.sqrt(len(sign))


@pytest.mark.parametrize("kind", ["hit-and-run", "tight"])
def test_biases_are_uniform_and_signs_balanced(cloud: Array, kind: str) -> None:
    for L0, L1 in ((0.4, 3.5), (0.0, 1.0)):
        W, b = draw(kind, cloud, 4000, seed=3, L0=L0, L1=L1)
        sign, bias, direction, _ = undone(W, b)
        assert stats.kstest(bias, stats.uniform(L0, L1 - L0).cdf).pvalue > UNLIKELY
        assert L0 < bias.min() < L0 + 0.003 * (L1 - L0)
        assert L1 - 0.003 * (L1 - L0) < bias.max() < L1
        positive = int((sign > 0).sum())
        assert stats.binomtest(positive, len(sign)).pvalue > UNLIKELY
        for other in (bias, *direction.T):
            assert abs(np.corrcoef(sign, other)[0, 1]) < 4 / math.sqrt(len(sign))


def test_directions_in_the_plane_are_uniform() -> None:
    data = np.random.default_rng(0).uniform(-1, 1, (100, 2)) * [1.0, 50.0]  # scale has no say
    _, _, direction, _ = undone(*draw("hit-and-run", data, 4000, seed=4))
    angle = np.arctan2(direction[:, 1], direction[:, 0])
    assert stats.kstest(angle, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > UNLIKELY
    orthants = np.bincount(2 * (direction[:, 0] > 0) + (direction[:, 1] > 0), minlength=4)
    assert stats.chisquare(orthants).pvalue > UNLIKELY


def test_directions_in_space_are_uniform(cloud: Array) -> None:
    _, _, direction, _ = undone(*draw("hit-and-run", cloud, 4000, seed=5))
    for column in direction.T:
        assert stats.kstest(column, stats.uniform(-1, 2).cdf).pvalue > UNLIKELY
    assert np.abs(direction.mean(0)).max() < 4 / math.sqrt(3 * 4000)
    np.testing.assert_allclose(direction.T @ direction / 4000, np.eye(3) / 3, atol=0.025)


# ---- emphasis: directions that take less of some inputs

KINDS = pytest.mark.parametrize("kind", ["hit-and-run", "tight", "uniform", "gaussian"])


@KINDS
@pytest.mark.parametrize("standardize", [False, True])
def test_no_emphasis_is_an_emphasis_of_ones(cloud: Array, kind: str, standardize: bool) -> None:
    """Bit for bit, so that what was drawn before there was any emphasis is drawn still."""
    none = draw(kind, cloud, 200, standardize=standardize)
    ones = draw(kind, cloud, 200, standardize=standardize, emphasis=np.ones(3))
    for without, with_it in zip(none, ones, strict=True):
        np.testing.assert_array_equal(without, with_it)


@KINDS
@pytest.mark.parametrize("standardize", [False, True])
def test_weights_are_small_in_proportion_to_the_emphasis(kind: str, standardize: bool) -> None:
    """In every row, whose length alone may differ, and so in the root mean square over rows."""
    data = np.random.default_rng(0).normal(0, 2, (300, 40))
    emphasis = np.tile([1.0, 0.5, 0.1, 1e-3], 10)
    full = draw(kind, data, 2000, seed=6, standardize=standardize)[0]
    W = draw(kind, data, 2000, seed=6, standardize=standardize, emphasis=emphasis)[0]
    lengths = W / (emphasis * full)
    np.testing.assert_allclose(lengths, np.tile(lengths[:, :1], 40), rtol=1e-9)
    if kind in ("uniform", "gaussian"):
        np.testing.assert_allclose(lengths, 1, rtol=1e-15)
    else:
        assert np.median(lengths) > 1.2  # what the others leave free, the emphasised ones take
    size = np.sqrt((W**2).mean(axis=0)).reshape(10, 4).mean(axis=0)
    # rows that happen to take more of the emphasised inputs are cut a little shorter
    np.testing.assert_allclose(size / size[0], emphasis[:4], rtol=0.15)


@KINDS
def test_emphasis_scales_directions_and_nothing_else(cloud: Array, kind: str) -> None:
    """The ratio of two inputs' weights, each over its emphasis, is that of two equal draws."""
    emphasis = np.array([1.0, 0.2, 0.03])
    W, b = draw(kind, cloud, 3000, seed=7, emphasis=emphasis)
    first, second, third = (W / emphasis).T
    drawn = {"uniform": np.random.default_rng(8).uniform(-1, 1, (2, 30_000))}
    for ratio in (first / second, second / third):
        if kind in drawn:
            equal = drawn[kind][0] / drawn[kind][1]
            assert stats.ks_2samp(ratio, equal).pvalue > UNLIKELY
        else:
            assert stats.kstest(ratio, "cauchy").pvalue > UNLIKELY
    plain = draw(kind, cloud, 3000, seed=7)[1]
    np.testing.assert_array_equal(b, plain)  # biases are drawn as without it


@KINDS
@pytest.mark.parametrize("standardize", [False, True])
def test_inputs_without_emphasis_get_no_weight(cloud: Array, kind: str, standardize: bool) -> None:
    emphasis = np.array([0.7, 0.0, 1.0])
    W, b = draw(kind, cloud, 100, standardize=standardize, emphasis=emphasis)
    assert (W[:, 1] == 0).all()
    assert (W[:, [0, 2]] != 0).all()
    W, b = draw(kind, cloud, 100, standardize=standardize, emphasis=np.zeros(3))
    assert (W == 0).all()
    assert np.isfinite(b).all()


emphases = st.sampled_from([0.0, 1e-300, 1e-12, 0.01, 0.3, 1.0, 7.0])


@anything
@given(series(), st.data(), good_range, st.booleans(), st.integers(0, 2**32))
def test_good_with_any_emphasis(
    data: Array, drawn: st.DataObject, limits: tuple[float, float], standardize: bool, seed: int
) -> None:
    n = data.shape[1]
    emphasis = np.array(drawn.draw(st.lists(emphases, min_size=n, max_size=n)))
    options: dict[str, Any] = dict(zip(("L0", "L1"), limits, strict=True))
    for kind, states in (("hit-and-run", box_corners(data)), ("tight", data)):
        W, b = draw(kind, data, 12, seed, standardize=standardize, emphasis=emphasis, **options)
        assert_good_exactly(W, b, states, *limits)
        assert_good_in_floats(W, b, states, *limits)


# ---- the naive ones, streams, scanning


def test_uniform_fills_its_intervals(cloud: Array) -> None:
    W, b = draw("uniform", cloud, 2000, w=0.05, b=4.0)
    assert W.shape == (2000, 3)
    assert stats.kstest(W.ravel(), stats.uniform(-0.05, 0.1).cdf).pvalue > UNLIKELY
    assert stats.kstest(b, stats.uniform(-4, 8).cdf).pvalue > UNLIKELY


def test_gaussian_has_its_scales(cloud: Array) -> None:
    W, b = draw("gaussian", cloud, 2000, w=0.05, b=4.0)
    assert W.shape == (2000, 3)
    assert stats.kstest(W.ravel() / 0.05, "norm").pvalue > UNLIKELY
    assert stats.kstest(b / 4.0, "norm").pvalue > UNLIKELY
    assert not draw("gaussian", cloud, 5, b=0.0)[1].any()


@pytest.mark.parametrize("kind", ["hit-and-run", "tight", "uniform", "gaussian"])
def test_a_stream_fixes_the_weights(cloud: Array, kind: str) -> None:
    rows = blocks_of(cloud)
    inputs = Inputs.scan(rows)

    def drawn(*name: str | int) -> tuple[Array, Array]:
        return sample(kind, stream(*name), 20, inputs, rows)

    first, again, other = drawn(0, "weights", 1), drawn(0, "weights", 1), drawn(0, "weights", 2)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert (first[0] != other[0]).all()
    assert (first[1] != other[1]).all()


@pytest.mark.parametrize("standardize", [False, True])
def test_blocks_do_not_matter(cloud: Array, standardize: bool) -> None:
    whole = draw("tight", cloud, 50, block=len(cloud), standardize=standardize)
    for size in (1, 11, 299):
        split = draw("tight", cloud, 50, block=size, standardize=standardize)
        for a, b in zip(whole, split, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(series(), st.integers(1, 30))
def test_scan_agrees_with_numpy_on_all_rows(data: Array, block: int) -> None:
    found = Inputs.scan(blocks_of(data, block))
    np.testing.assert_array_equal(found.low, data.min(0))
    np.testing.assert_array_equal(found.high, data.max(0))
    precise = data.astype(np.longdouble)
    rounding = 4e-16 * np.abs(data).max(0)
    assert (np.abs(found.mean - precise.mean(0)) <= 4 * rounding).all()
    # squares of differences below 1e-154 are zero, and so is the deviation then
    spread = np.where(np.ptp(data, axis=0) < 1e-150, 0.0, precise.std(0).astype(float))
    assert (np.abs(found.std - spread) <= 1e-9 * spread + 4 * rounding).all()


def test_scan_keeps_the_deviation_of_far_away_data() -> None:
    data = np.random.default_rng(0).normal(1e8, 1.0, (5000, 1))
    found = Inputs.scan(blocks_of(data, 100))
    np.testing.assert_allclose(found.std, data.std(0), rtol=1e-7)
