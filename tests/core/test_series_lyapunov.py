"""Lyapunov exponents from data alone: known ones are met, and none is claimed without chaos."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from rfm_core.checks import InvalidInput
from rfm_core.data.series import estimate_lyapunov, load_series


@cache
def l63() -> np.ndarray:
    """15,000 rows at dt = 0.02."""

    def rhs(_: float, u: np.ndarray) -> list[float]:
        return [10 * (u[1] - u[0]), u[0] * (28 - u[2]) - u[1], u[0] * u[1] - 8 / 3 * u[2]]

    times = 20 + 0.02 * np.arange(15_000)
    found = solve_ivp(rhs, (0, times[-1]), [1.0, 1.5, 20.0], "DOP853", times, rtol=1e-8, atol=1e-8)
    return found.y.T


def logistic(rows: int) -> np.ndarray:
    x = np.empty(rows)
    x[0] = 0.3123
    for k in range(rows - 1):
        x[k + 1] = 4 * x[k] * (1 - x[k])
    return x


T = 0.01 * np.arange(5000)
RNG = np.random.default_rng(1)


@pytest.mark.parametrize(
    ("series", "dt", "truth", "within"),
    [
        (lambda: l63(), 0.02, 0.91, 0.15),
        (lambda: l63()[:5000], 0.02, 0.91, 0.15),
        (lambda: l63() * [1, 1e-6, 1e6] + [5, 0, 1e7], 0.02, 0.91, 0.15),  # whatever the units
        (lambda: l63().reshape(10, 1500, 3), 0.02, 0.91, 0.15),
        (lambda: l63()[:, 0], 0.02, 0.91, 0.15),  # one component, unfolded by delays
        (lambda: l63()[::5], 0.1, 0.91, 0.15),
        (lambda: l63() + 0.05 * RNG.standard_normal((15_000, 3)), 0.02, 0.91, 0.15),
        (lambda: l63(), 20.0, 0.91e-3, 0.15),
        (lambda: logistic(5000), 1.0, np.log(2), 0.1),
        (lambda: logistic(1000), 0.5, 2 * np.log(2), 0.1),
    ],
)
def test_known_exponents(
    series: Callable[[], np.ndarray], dt: float, truth: float, within: float
) -> None:
    found = estimate_lyapunov(series(), dt)
    assert found.value == pytest.approx(truth, rel=within)
    assert found.span is not None
    assert "Estimated" in found.words
    assert found.times.shape == found.log_distance.shape


@pytest.mark.parametrize(
    ("series", "reason"),
    [
        (np.sin(T), "regular"),
        (np.column_stack([np.cos(T), np.sin(T)]), "regular"),
        (np.column_stack([np.cos(T), np.sin(T)]).round(2), "regular"),
        (
            np.column_stack([np.cos(T), np.sin(T)]) + 0.01 * RNG.standard_normal((5000, 2)),
            "regular",
        ),
        (np.tile(np.sin(np.arange(60.0)), 40), "regular|repeats itself|closer"),
        (RNG.standard_normal((5000, 3)), "noisy|closer"),
        (RNG.standard_normal((5000, 2)).cumsum(axis=0), "not grow exponentially"),
        (RNG.standard_normal((2000, 40)).cumsum(axis=0), "closer|exponentially"),
        (np.exp(-T / 10)[:, None] * np.column_stack([np.cos(T), np.sin(T)]), "closer|regular"),
        (np.sin(T[:40]), "rows and 50 are needed"),
        (np.repeat([0.0, 1.0], 100), "closer|pairs"),
    ],
)
def test_no_chaos_is_claimed_where_there_is_none(series: np.ndarray, reason: str) -> None:
    found = estimate_lyapunov(series, 0.01)
    assert found.value is None
    assert found.words.startswith("No Lyapunov exponent")
    assert any(word in found.words for word in reason.split("|")), found.words


def test_same_seed_same_number() -> None:
    first, again, other = (estimate_lyapunov(l63(), 0.02, seed=s).value for s in (1, 1, 2))
    assert first == again
    assert first != other


def test_bad_input() -> None:
    for series, words in (
        (np.zeros((100, 2)), "constant"),
        (np.full((100, 2), np.nan), "finite"),
        (np.zeros((2, 2, 2, 2)), "series.shape"),
    ):
        with pytest.raises(InvalidInput, match=words):
            estimate_lyapunov(series, 0.1)
    with pytest.raises(InvalidInput, match="references=3"):
        estimate_lyapunov(l63(), 0.1, references=3)


def test_a_dataset_says_that_it_is_an_estimate() -> None:
    data = load_series(l63(), dt=0.02, estimate=True)
    assert data.lyapunov == pytest.approx(0.91, rel=0.15)
    assert data.lyapunov_is_estimate
    assert "Estimated from the series" in data.origin["lyapunov"]
    given = load_series(l63(), dt=0.02, lyapunov=0.9, estimate=True)
    assert (given.lyapunov, given.lyapunov_is_estimate) == (0.9, False)
    none = load_series(np.column_stack([np.cos(T), np.sin(T)]), dt=0.01, estimate=True)
    assert (none.lyapunov, none.lyapunov_is_estimate, none.lyapunov_time) == (None, False, 1.0)
    assert "regular" in none.origin["lyapunov"]
    assert load_series(l63(), dt=0.02).origin["lyapunov"] == "unknown"
