"""W2 against closed forms and brute-force assignment; Sinkhorn against W2, and its budget."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtri
from scipy.stats import wasserstein_distance

from rfm_core.checks import InvalidInput
from rfm_core.measure import wasserstein
from rfm_core.measure.wasserstein import sinkhorn2, wasserstein2

# Whole numbers of thousandths: differences of samples are then exact enough to compare with.
numbers = st.integers(-1_000_000, 1_000_000).map(lambda k: k / 1000)
samples = st.lists(numbers, min_size=1, max_size=12).map(np.array)


def brute_force(a: np.ndarray, b: np.ndarray) -> float:
    """W2 as the best of all assignments, after repeating both to lcm(n, m) samples."""
    common = math.lcm(len(a), len(b))
    cost = (np.repeat(a, common // len(a))[:, None] - np.repeat(b, common // len(b))) ** 2
    return float(np.sqrt(cost[linear_sum_assignment(cost)].mean()))


def test_two_gaussians_in_the_limit() -> None:
    # Quantiles instead of draws: the only error left is that of the quadrature.
    quantiles = [ndtri((np.arange(n) + 0.5) / n) for n in (100_000, 70_001)]
    for a, b in ((0, 0), (0, 1), (1, 0)):
        x, y = 1.0 + 2.0 * quantiles[a], -0.5 + 0.7 * quantiles[b]
        assert wasserstein2(x, y) == pytest.approx(np.hypot(1.5, 1.3), rel=1e-4)
    draws = np.random.default_rng(0).normal(size=200_000)
    assert wasserstein2(1.0 + 2.0 * draws, quantiles[0]) == pytest.approx(2**0.5, rel=0.01)


@settings(deadline=None)
@given(samples, samples)
def test_equals_brute_force_assignment(a: np.ndarray, b: np.ndarray) -> None:
    assert wasserstein2(a, b) == pytest.approx(brute_force(a, b), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 7), (6, 9), (7, 11), (12, 36), (13, 13)])
def test_unequal_numbers_of_samples(n: int, m: int) -> None:
    generator = np.random.default_rng(n * m)
    a, b = generator.normal(size=n), generator.normal(1.0, 2.0, size=m)
    assert wasserstein2(a, b) == pytest.approx(brute_force(a, b), rel=1e-12)


@settings(deadline=None)
@given(samples, samples, samples)
def test_is_a_metric(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    assert wasserstein2(a, b) == pytest.approx(wasserstein2(b, a), rel=1e-12)
    assert wasserstein2(a, a[::-1]) == 0.0
    assert wasserstein2(a, c) <= (wasserstein2(a, b) + wasserstein2(b, c)) * (1 + 1e-12)
    assert wasserstein2(a, np.repeat(a, 3)) == 0.0  # the same distribution


@settings(deadline=None)
@given(samples, numbers, st.integers(-50, 50))
def test_shifts_and_scales(a: np.ndarray, shift: float, factor: int) -> None:
    assert wasserstein2(a, a + shift) == pytest.approx(abs(shift), rel=1e-9, abs=1e-9)
    b = np.array([0.0, 1.0, 5.0])
    scaled = wasserstein2(factor * a, factor * b)
    assert scaled == pytest.approx(abs(factor) * wasserstein2(a, b), rel=1e-12)


@settings(deadline=None)
@given(samples, samples)
def test_is_at_least_the_difference_of_means_and_at_least_w1(a: np.ndarray, b: np.ndarray) -> None:
    w2 = wasserstein2(a, b)
    assert w2 >= abs(a.mean() - b.mean()) - 1e-9
    assert w2 >= wasserstein_distance(a, b) - 1e-9


def test_components_are_taken_one_by_one() -> None:
    generator = np.random.default_rng(1)
    a, b = generator.normal(size=(50, 4)), generator.normal(size=(33, 4))
    result = wasserstein2(a, b)
    assert isinstance(result, np.ndarray)
    assert result.tolist() == [wasserstein2(a[:, i], b[:, i]) for i in range(4)]
    assert isinstance(wasserstein2(a[:, 0], b[:, 0]), float)
    assert wasserstein2(torch.tensor(a[:, 0], requires_grad=True), b[:, 0]) == result[0]


def test_inputs_are_left_alone_and_extremes_do_not_overflow() -> None:
    a = np.array([3.0, 1.0, 2.0])
    a.flags.writeable = False
    assert wasserstein2(a, [1.0, 2.0, 4.0]) == pytest.approx(math.sqrt(1 / 3))
    assert a.tolist() == [3.0, 1.0, 2.0]
    assert wasserstein2([1e200, 0.0], [0.0, 0.0]) == pytest.approx(1e200 / math.sqrt(2))
    assert wasserstein2([1e-200, 0.0], [0.0, 0.0]) == pytest.approx(1e-200 / math.sqrt(2))
    assert wasserstein2([1e308], [-1e308]) == math.inf


def test_a_million_samples_are_merged_exactly() -> None:
    n = 1_000_000  # steps of 1/n and 1/(n + 1): two million of them, none lost to rounding
    ramp_a, ramp_b = (np.arange(n) + 0.5) / n, (np.arange(n + 1) + 0.5) / (n + 1)
    assert wasserstein2(ramp_a, ramp_b) < 1e-6
    assert wasserstein2(ramp_a, ramp_b + 2.0) == pytest.approx(2.0, rel=1e-12)


# --- Sinkhorn -------------------------------------------------------------------------------


def gaussians(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    return generator.normal(0.0, 8.0, n), generator.normal(0.0, 8.0, n)


@pytest.mark.parametrize(("shift", "factor"), [(0.0, 1.0), (0.5, 1.0), (5.0, 1.3), (20.0, 0.1)])
def test_sinkhorn_is_near_the_exact_value(shift: float, factor: float) -> None:
    # The hard case is the first: W2 small beside the spread, where geomloss's own annealing fails.
    a, b = gaussians()
    result = sinkhorn2(a, shift + factor * b, samples=150)
    assert result.samples == 150
    assert result.exact_same_samples == wasserstein2(a, shift + factor * b)
    assert result.exact_same_samples == result.exact_all_samples
    assert result.w2 == pytest.approx(result.exact_same_samples, rel=0.04)
    assert "All samples were used" in result.note


def test_sinkhorn_of_a_shift_is_the_shift_even_far_from_zero() -> None:
    a = 1e8 + gaussians()[0]
    assert sinkhorn2(a, a + 0.5, samples=150).w2 == pytest.approx(0.5, rel=1e-6)


def test_sinkhorn_is_reproducible_and_its_seed_matters() -> None:
    a, b = gaussians(1000)
    first, again, other = (sinkhorn2(a, b, samples=60, seed=seed) for seed in (0, 0, 1))
    assert first.w2 == again.w2
    assert first.exact_same_samples != other.exact_same_samples
    automatic = sinkhorn2(a, b, seconds=1e-9)  # the least a budget can buy
    assert automatic.samples == wasserstein.FEWEST
    assert automatic.w2 == sinkhorn2(a, b, samples=automatic.samples).w2


def test_sinkhorn_uses_all_of_few_samples_and_handles_unequal_ones() -> None:
    a, b = gaussians(40)
    result = sinkhorn2(a, b[:30])
    assert result.samples == 30
    assert result.exact_all_samples == wasserstein2(a, b[:30])


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_sinkhorn_of_identical_samples_is_zero(value: float) -> None:
    result = sinkhorn2(np.full(10, value), np.full(10, value))
    assert (result.w2, result.exact_same_samples) == (0.0, 0.0)


def test_blur_is_the_root_of_epsilon() -> None:
    # Two points, one on each side: a blur far beyond their distance hides the split.
    a, b = np.array([-1.0, 1.0]), np.array([0.0, 0.0])
    assert sinkhorn2(a, b, epsilon=1e-2).w2 == pytest.approx(1.0, rel=0.01)
    assert sinkhorn2(a, b, epsilon=1e4).w2 < 0.1
    assert "over 0.1 data units" in sinkhorn2(a, b, epsilon=1e-2).note


def test_note_names_live_numbers() -> None:
    a, b = gaussians(5000)
    result = sinkhorn2(a, b[:4000], samples=50)
    for figure in (result.w2, result.exact_same_samples, result.exact_all_samples):
        assert f"{figure:.4g}" in result.note
    for words in ("same 50 samples", "5,000", "4,000", "0.1 data units", "by chance"):
        assert words in result.note


@pytest.mark.parametrize("seconds", [0.5, 5.0, 60.0])
@pytest.mark.parametrize("overhead", [0.0, 0.05])
def test_budget_is_used_and_kept(
    monkeypatch: pytest.MonkeyPatch, seconds: float, overhead: float
) -> None:
    """With a pretended clock: cost overhead + c n^2, and four times c beyond the cliff."""
    clock = [0.0]
    monkeypatch.setattr("rfm_core.measure.wasserstein.time.perf_counter", lambda: clock[0])

    def run(n: int) -> float:
        clock[0] += overhead + 1.5e-6 * n * n * (4 if n > wasserstein.CLIFF else 1)
        return float(n)

    n, result = wasserstein._largest_within(seconds, 0.0, run, 10**6)
    assert result == n
    assert 0.3 * seconds < clock[0] < 1.1 * seconds
    assert wasserstein._largest_within(seconds, clock[0], run, 250)[0] == 250


def test_memory_bounds_the_samples() -> None:
    a, b = gaussians(1000)
    assert sinkhorn2(a, b, memory_gb=67e-9 * 100**2 * 1.001).samples == 100
    with pytest.raises(InvalidInput, match=r"samples=101 cannot.*at most 100.*raise memory_gb"):
        sinkhorn2(a, b, memory_gb=67e-9 * 100**2 * 1.001, samples=101)


def test_geomloss_leaks_no_warning_and_torch_is_left_alone() -> None:
    threads = torch.get_num_threads()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sinkhorn2([1.0, 1.0, 2.0], [1.0, 1.0, 1.0])
    assert torch.is_grad_enabled()
    assert torch.get_num_threads() == threads


def test_importing_is_light() -> None:
    code = "import sys, rfm_core.measure.wasserstein; print('geomloss' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: wasserstein2([], [1.0]), r"a.shape=\(0,\)"),
        (lambda: wasserstein2([1.0], [np.nan]), "b=nan"),
        (lambda: wasserstein2(1.0, [1.0]), "b.shape"),
        (lambda: wasserstein2(np.ones((3, 2)), np.ones((3, 4))), r"b.shape=\(3, 4\)"),
        (lambda: wasserstein2(np.ones((3, 2)), np.ones(3)), r"b.shape=\(3,\)"),
        (lambda: wasserstein2(np.ones((3, 2, 2)), np.ones((3, 2, 2))), "b.shape"),
        (lambda: wasserstein2("abc", [1.0]), "a='abc'"),
        (lambda: sinkhorn2(np.ones((3, 1)), np.ones(3)), "a.shape"),
        (lambda: sinkhorn2(np.ones(3), []), "b.shape"),
        (lambda: sinkhorn2(np.ones(3), np.ones(3), epsilon=0), "epsilon=0"),
        (lambda: sinkhorn2(np.ones(3), np.ones(3), seconds=-1), "seconds=-1"),
        (lambda: sinkhorn2(np.ones(3), np.ones(3), memory_gb=0), "memory_gb=0"),
        (lambda: sinkhorn2(np.ones(3), np.ones(3), samples=4), "samples=4"),
    ],
)
def test_bad_input_is_refused_in_words(call: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{named}.* cannot be used: it must be .*\\. [A-Z]"):
        call()


@settings(max_examples=15, deadline=None)
@given(st.lists(numbers, min_size=2, max_size=20).map(np.array))
def test_sinkhorn_never_fails_on_finite_samples(a: np.ndarray) -> None:
    result = sinkhorn2(a, a[::2], seconds=0.1)
    assert math.isfinite(result.w2)
    assert result.w2 >= 0.0


@pytest.mark.parametrize("huge", [10**400, [1.0, 10**400]])
def test_whole_numbers_beyond_floats_are_refused(huge: object) -> None:
    with pytest.raises(InvalidInput, match=r"b=.*an array of real numbers"):
        wasserstein2([1.0, 2.0], huge)  # type: ignore[arg-type]
