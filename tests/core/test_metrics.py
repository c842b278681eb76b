"""Forecast times on hand-made errors; densities and spectra against closed forms and scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gaussian_kde

from rfm_core.checks import InvalidInput
from rfm_core.measure.metrics import (
    density,
    forecast_error,
    histogram_marginals,
    power_spectrum,
    tau_f,
    tau_f_times,
    valid_times,
    vpt,
)

rng = np.random.default_rng(7)
SAMPLES = rng.normal(2.0, 3.0, 500)


def with_errors(errors: Any, dimension: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """A forecast and a truth whose normalised errors, for std = 1, are exactly ``errors``."""
    errors = np.asarray(errors, dtype=float)
    truth = np.ones((*errors.shape, dimension))
    return truth + errors[..., None], truth


def times(errors: Any, **changes: Any) -> Any:
    forecast, truth = with_errors(errors)
    options: dict[str, Any] = {"std": np.ones(3), "dt": 0.5, "lyapunov": 2.0, "eps": 0.3}
    return valid_times(forecast, truth, **(options | changes))


# --- forecast error and VPT -----------------------------------------------------------------


def test_error_is_the_papers_formula() -> None:
    forecast, truth = rng.normal(size=(2, 4, 5, 3))
    std = np.array([0.5, 1.0, 4.0])
    expected = np.empty((4, 5))
    for k in range(4):
        for n in range(5):
            terms = [((forecast[k, n, i] - truth[k, n, i]) / std[i]) ** 2 for i in range(3)]
            expected[k, n] = np.sqrt(sum(terms) / 3)
    np.testing.assert_allclose(forecast_error(forecast, truth, std), expected, rtol=1e-13)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_error_of_a_diverged_forecast_is_infinite(bad: float) -> None:
    forecast, truth = with_errors([0.0, 0.1, 0.2])
    forecast[1, 0] = bad
    error = forecast_error(forecast, truth, 1.0)
    assert error[1] == np.inf
    np.testing.assert_allclose(error[[0, 2]], [0.0, 0.2])


def test_vpt_is_the_last_time_before_the_error_reaches_eps() -> None:
    assert times([0, 0.1, 0.2, 0.4, 0.5]).vpt == 2 * 0.5 * 2.0
    assert times([0, 0.1, 0.2, 0.4, 0.5], lyapunov=None).vpt == 2 * 0.5
    assert times([0, 0.1, 0.2, 0.4, 0.5], lyapunov=None).unit == "time units"


def test_an_error_that_equals_eps_has_failed() -> None:
    forecast, truth = np.array([[0.0], [0.25], [0.0]]), np.zeros((3, 1))
    result = valid_times(forecast, truth, std=1.0, dt=1.0, lyapunov=None, eps=0.25)
    assert result.vpt == 0.0
    assert not result.censored


def test_an_error_that_dips_again_does_not_count() -> None:
    result = times([0, 0.1, 0.4, 0.1, 0.1, 0.1])
    assert result.vpt == 1.0
    assert not result.censored


def test_failure_at_the_first_state_is_zero() -> None:
    assert times([0.4, 0.1, 0.1]).vpt == 0.0
    assert not times([0.4, 0.1, 0.1]).censored


def test_censored_time_is_the_window() -> None:
    result = times([[0, 0.1, 0.2], [0, 0.1, 0.3001]])
    np.testing.assert_array_equal(result.censored, [True, False])
    np.testing.assert_allclose(result.vpt, [2.0, 1.0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinity_fail_at_their_step(bad: float) -> None:
    forecast, truth = with_errors(np.zeros((3, 6)))
    forecast[0, 4, 1] = bad
    forecast[1] = bad  # the forecast that scores the maximum in the paper's evaluation
    result = valid_times(forecast, truth, std=np.ones(3), dt=1.0, lyapunov=None, eps=0.3)
    np.testing.assert_array_equal(result.vpt, [3.0, 0.0, 5.0])
    np.testing.assert_array_equal(result.diverged_at, [4, 0, -1])
    np.testing.assert_array_equal(result.censored, [False, False, True])


def test_leading_axes_are_kept_and_broadcast() -> None:
    forecast, truth = with_errors(np.linspace(0, 1, 24).reshape(2, 3, 4))
    options: dict[str, Any] = {"std": np.ones(3), "dt": 0.1, "lyapunov": 0.9, "eps": 0.5}
    together = vpt(forecast, truth, **options)
    assert together.shape == (2, 3)
    assert vpt(forecast[0, 0], truth[0, 0], **options).shape == ()
    for k in np.ndindex(2, 3):
        assert together[k] == vpt(forecast[k], truth[k], **options)
    np.testing.assert_array_equal(together, vpt(forecast, truth[0, 0], **options))
    one = valid_times(forecast[0, 0], truth, **options)
    assert one.vpt.shape == one.diverged_at.shape == (2, 3)


def test_torch_tensors_are_welcome() -> None:
    forecast, truth = with_errors([0, 0.1, 0.4])
    tensors = torch.tensor(forecast, requires_grad=True), torch.tensor(truth, dtype=torch.float32)
    assert vpt(*tensors, std=torch.ones(3), dt=1.0, lyapunov=None, eps=0.3) == 1.0


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_vpt_is_the_largest_n_with_all_errors_below(errors: list[float], eps: float) -> None:
    actual = forecast_error(*with_errors(errors), 1.0)  # rounding included
    below = [n for n in range(len(errors)) if (actual[: n + 1] < eps).all()]
    result = times(errors, eps=eps, dt=1.0, lyapunov=None)
    assert result.vpt == (max(below) if below else 0)
    assert result.censored == (len(below) == len(errors))


def test_summary_is_plain_numbers() -> None:
    result = times([[0, 0.1, 0.4], [0, 0.1, 0.2], [0, np.nan, 0], [0, 0.1, 0.9]])
    summary = result.summary()
    values = np.array([1.0, 2.0, 0.0, 1.0])
    assert summary["mean"] == values.mean()
    assert summary["std"] == pytest.approx(values.std(ddof=1))
    assert summary["sem"] == pytest.approx(values.std(ddof=1) / 2)
    assert (summary["median"], summary["min"], summary["max"]) == (1.0, 0.0, 2.0)
    assert (summary["n"], summary["censored"], summary["diverged"]) == (4, 1, 1)
    assert {type(v) for v in summary.values()} == {int, float}
    assert np.isnan(times([0, 0.1]).summary()["sem"])  # without a warning


# --- tau_f ----------------------------------------------------------------------------------


def test_tau_f_is_the_time_of_the_failure_itself() -> None:
    forecast, truth = np.zeros((2, 5, 2)), np.zeros((2, 5, 2))
    forecast[0, :, :] = np.outer(np.arange(5), [3.0, 4.0])  # norms 0, 5, 10, 15, 20
    options: dict[str, Any] = {"dt": 0.1, "mean_norm": 100.0, "gamma": 0.1}
    np.testing.assert_allclose(tau_f(forecast, truth, **options), [0.2, 0.4])
    result = tau_f_times(forecast, truth, **options)
    np.testing.assert_array_equal(result.censored, [False, True])
    forecast[1, 3, 0] = np.nan
    result = tau_f_times(forecast, truth, **options)
    np.testing.assert_allclose(result.times, [0.2, 0.3])
    np.testing.assert_array_equal(result.diverged_at, [-1, 3])
    assert not result.censored.any()


def test_tau_f_default_gamma_is_the_papers() -> None:
    forecast, truth = np.array([[0.0], [0.04], [0.06]]), np.zeros((3, 1))
    assert tau_f(forecast, truth, dt=1.0, mean_norm=1.0) == 2.0


# --- densities ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 50, 500, 20_000])
def test_density_agrees_with_scipy(n: int) -> None:
    samples = np.random.default_rng(n).normal(2.0, 3.0, n)
    grid, values = density(samples)
    expected = gaussian_kde(samples, "silverman")(grid)
    np.testing.assert_allclose(values, expected, atol=2e-4 * expected.max())
    assert np.trapezoid(values, grid) == pytest.approx(1.0, abs=1e-3)


def test_density_takes_grid_and_bandwidth() -> None:
    where = np.array([-1.0, 0.0, 5.0])
    grid, values = density([0.0, 1.0], bandwidth=0.5, grid=where)
    kernel = np.exp(-0.5 * ((where[:, None] - [0.0, 1.0]) / 0.5) ** 2).mean(axis=1)
    np.testing.assert_array_equal(grid, where)
    np.testing.assert_allclose(values, kernel / (0.5 * np.sqrt(2 * np.pi)), atol=1e-15)


def test_density_of_many_samples_is_that_of_the_normal() -> None:
    samples = np.random.default_rng(1).normal(size=200_000)
    grid, values = density(samples, points=100)
    assert grid.shape == values.shape == (100,)
    np.testing.assert_allclose(values, np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi), atol=0.01)


def test_reflection_keeps_the_mass_inside_the_bounds() -> None:
    samples = np.random.default_rng(2).exponential(size=50_000)
    grid, values = density(samples, low=0.0)
    assert grid[0] == 0.0
    assert np.trapezoid(values, grid) == pytest.approx(1.0, abs=1e-3)
    assert values[0] > 0.85  # the true density is 1; without reflection it is half of it
    leaking = density(samples, grid=grid)[1]
    assert leaking[0] < 0.55
    outside = density(samples, low=0.0, grid=[-0.1, 0.1])[1]
    assert outside[0] == 0.0 < outside[1]


@pytest.mark.parametrize("bandwidth", [None, 0.03, 0.3, 1.0])
def test_reflection_at_both_bounds(bandwidth: float | None) -> None:
    samples = np.random.default_rng(3).uniform(size=50_000)
    grid, values = density(samples, low=0.0, high=1.0, bandwidth=bandwidth)
    assert (grid[0], grid[-1]) == (0.0, 1.0)
    np.testing.assert_allclose(values, 1.0, atol=0.07)
    assert np.trapezoid(values, grid) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("value", [0.0, 3.0, -2e6, 1e-12, 1e-308])
@pytest.mark.parametrize("n", [1, 5, 5000])
def test_identical_samples_are_a_narrow_peak(value: float, n: int) -> None:
    grid, values = density(np.full(n, value))
    assert np.isfinite(values).all()
    assert abs(grid[values.argmax()] - value) < (1e-3 * abs(value) if abs(value) > 1e-100 else 1e-3)
    assert np.trapezoid(values, grid) == pytest.approx(1.0, abs=1e-3)
    assert np.trapezoid(*density(np.full(n, value), low=value)[::-1]) == pytest.approx(1, abs=1e-3)


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_density_always_integrates_to_one(samples: list[float]) -> None:
    for bound in (None, min(samples)):
        grid, values = density(samples, low=bound)
        assert (values >= 0).all()
        assert np.trapezoid(values, grid) == pytest.approx(1.0, abs=1e-3)


def test_density_survives_far_outliers_and_tiny_bandwidths() -> None:
    grid, values = density(np.append(np.random.default_rng(4).normal(size=10_000), 1e5))
    assert np.trapezoid(values, grid) == pytest.approx(1.0, abs=1e-3)
    assert np.isfinite(density([0.0, 1.0, 2.0], bandwidth=1e-200)[1]).all()


# --- histograms and spectra -----------------------------------------------------------------


def test_histograms_share_edges_and_integrate_to_one() -> None:
    truth, surrogate = rng.normal(size=(1000, 2)), rng.normal(0.2, 1.1, size=(700, 2))
    edges, of_truth, of_surrogate, outside = histogram_marginals(truth, surrogate, bins=30)
    assert edges.shape == (2, 31)
    assert of_truth.shape == of_surrogate.shape == (2, 30)
    widths = np.diff(edges)
    np.testing.assert_allclose((of_truth * widths).sum(axis=1), 1.0)
    np.testing.assert_allclose((of_surrogate * widths).sum(axis=1), 1.0)
    np.testing.assert_array_equal(outside, 0.0)
    expected = np.histogram(truth[:, 1], edges[1], density=True)[0]
    np.testing.assert_allclose(of_truth[1], expected)
    single = histogram_marginals(truth[:, 1], surrogate[:, 1], bins=30)
    np.testing.assert_array_equal(single.truth, of_truth[1])
    assert single.edges.shape == (31,)


def test_a_surrogate_far_off_does_not_squeeze_the_truth() -> None:
    truth = np.linspace(0.0, 1.0, 100)
    result = histogram_marginals(truth, np.append(truth[:75], np.full(25, 1e9)), bins=10)
    assert (result.edges[0], result.edges[-1]) == (0.0, 1.5)
    assert result.outside == pytest.approx(0.25)
    assert (result.surrogate * np.diff(result.edges)).sum() == pytest.approx(0.75)


@pytest.mark.parametrize("value", [0.0, 5.0, -1e8])
def test_constant_samples_have_a_histogram(value: float) -> None:
    result = histogram_marginals(np.full(10, value), np.full(5, value), bins=5)
    assert (np.diff(result.edges) > 0).all()
    assert (result.truth * np.diff(result.edges)).sum() == pytest.approx(1.0)


def test_a_sine_peaks_at_its_frequency() -> None:
    t = np.arange(0, 100, 0.01)
    series = np.stack([np.sin(2 * np.pi * 3.0 * t) + 1, np.sin(2 * np.pi * 3.0 * t) - 5], axis=-1)
    frequency, psd = power_spectrum(series, 0.01)
    assert frequency[psd.argmax()] == pytest.approx(3.0, abs=frequency[1])
    assert np.trapezoid(psd, frequency) == pytest.approx(0.5, rel=0.01)
    assert frequency[-1] == pytest.approx(50.0)


def test_spectrum_obeys_parseval_and_is_of_the_mean_state() -> None:
    noise = np.random.default_rng(5).normal(size=(4, 20_000, 2))
    frequency, psd = power_spectrum(noise, 0.25)
    assert psd.sum() * frequency[1] == pytest.approx(noise.mean(axis=-1).var(), rel=0.03)
    apart = [power_spectrum(one, 0.25)[1] for one in noise]
    np.testing.assert_allclose(psd, np.mean(apart, axis=0), rtol=1e-12)
    antisymmetric = np.stack([noise[0, :, 0], -noise[0, :, 0]], axis=-1)
    np.testing.assert_array_equal(power_spectrum(antisymmetric, 0.25)[1], 0.0)


# --- bad input ------------------------------------------------------------------------------

U = np.zeros((4, 10, 3))
OPTIONS: dict[str, Any] = {"std": np.ones(3), "dt": 0.1, "lyapunov": 0.9, "eps": 0.3}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"eps": 0.0}, "eps=0.0"),
        ({"eps": np.nan}, "eps=nan"),
        ({"dt": -0.1}, "dt=-0.1"),
        ({"lyapunov": 0.0}, "lyapunov=0.0"),
        ({"std": [1.0, 0.0, 1.0]}, r"std\[1\]=0.0"),
        ({"std": np.ones(2)}, r"std.shape=\(2,\)"),
        ({"std": [1.0, np.nan, 1.0]}, "std=nan"),
    ],
)
def test_vpt_refuses_bad_options(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{named} cannot be used: it must be .*\\. [A-Z]"):
        vpt(U, U, **(OPTIONS | changes))


@pytest.mark.parametrize(
    ("forecast", "truth", "named"),
    [
        (U[:, :9], U, r"forecast.shape=\(4, 9, 3\)"),
        (U[..., :1], U, r"forecast.shape=\(4, 10, 1\)"),
        (U[:3], U, r"forecast.shape=\(3, 10, 3\)"),
        (U[0, :, 0], U[0, :, 0], r"forecast.shape=\(10,\)"),
        (U[:0], U[:0], r"forecast.shape=\(0, 10, 3\)"),
        (U, U + np.nan, "truth=nan"),
        ("abc", U, "forecast='abc'"),
        ([[1, 2], [3]], U, "forecast="),
        (U * 1j, U, "forecast="),
    ],
)
def test_forecast_times_refuse_bad_arrays(forecast: Any, truth: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{named}"):
        vpt(forecast, truth, **OPTIONS)
    with pytest.raises(InvalidInput, match=f"^{named}"):
        tau_f(forecast, truth, dt=0.1, mean_norm=1.0)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: tau_f(U, U, dt=0.1, mean_norm=0.0), "mean_norm=0.0"),
        (lambda: tau_f(U, U, dt=0.1, mean_norm=1.0, gamma=-1), "gamma=-1"),
        (lambda: density([]), "samples.shape"),
        (lambda: density([1.0, np.inf]), "samples=inf"),
        (lambda: density(SAMPLES, bandwidth=0), "bandwidth=0"),
        (lambda: density(SAMPLES, points=3), "points=3"),
        (lambda: density([1.0, 2.0], low=1.5), "low=1.5"),
        (lambda: density([1.0, 2.0], high=1.5), "high=1.5"),
        (lambda: density([1.0], low=1.0, high=1.0), "high=1.0"),
        (lambda: density([0.5], low=0.0, high=1.0, bandwidth=2.0), "bandwidth=2.0"),
        (lambda: histogram_marginals(U[0], U[0, :, :2]), "surrogate.shape"),
        (lambda: histogram_marginals(U[0], U[0], bins=0), "bins=0"),
        (lambda: power_spectrum(U[:, :5], 0.1), "times in series=5"),
        (lambda: power_spectrum(U, 0.0), "dt=0.0"),
        (lambda: power_spectrum(U, 0.1, segment=11), "segment=11"),
        (lambda: power_spectrum(U[0, :, 0], 0.1), "series.shape"),
    ],
)
def test_others_refuse_bad_input(call: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{named}"):
        call()
