"""Stability: closed forms, symmetry, and what is said where something cannot be known."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from scipy.linalg import expm

import rfm_core as rfm
from rfm_core.measure import stability as module
from rfm_core.measure.lyapunov import kaplan_yorke
from rfm_core.model.features.polynomial import Monomials
from rfm_core.model.model import Unit

Array = np.ndarray
MATRIX = np.array([[-0.1, 2.0, 0.3], [-2.0, -0.1, 0.0], [0.0, 0.0, -0.5]])
DT = 0.1


def linear(matrix: Array, limit: float = 1e6, dt: float = DT) -> rfm.Model:
    """u -> matrix u as a model: a polynomial of degree one."""
    n = len(matrix)
    zeros, ones = torch.zeros(n, dtype=torch.float64), torch.ones(n, dtype=torch.float64)
    weights = torch.from_numpy(np.vstack([np.zeros(n), matrix.T]))
    unit = Unit(Monomials(zeros, ones, 1), weights)
    spec = rfm.ModelSpec("RFM", features="polynomial", degree=1)
    return rfm.Model(spec, (unit,), n, dt, limit, torch.device("cpu"))


def series(
    matrix: Array, tests: int = 3, steps: int = 40, lyapunov: float | None = 1.0
) -> rfm.Dataset:
    """States that follow the map u -> matrix u exactly, as somebody's own series."""
    rng = np.random.default_rng(0)
    states = [rng.standard_normal((tests + 2, len(matrix)))]
    for _ in range(steps):
        states.append(states[-1] @ matrix.T)
    both = np.stack(states, axis=1)
    return rfm.Dataset(both[:2], both[2:], DT, 0.3, lyapunov, "mine")


def test_exponents_of_a_linear_map() -> None:
    """Real parts of the eigenvalues: -0.1 twice, from a rotation, and -0.5."""
    step = expm(DT * MATRIX)
    found = rfm.stability(linear(step), series(step))
    assert found.surrogate is not None
    expected = np.sort(np.linalg.eigvals(MATRIX).real)[::-1]
    np.testing.assert_allclose(found.surrogate.exponents, expected, atol=2e-3)
    assert found.surrogate.exponents.sum() == pytest.approx(np.trace(MATRIX), abs=1e-9)
    assert found.surrogate_dimension == 0.0  # all shrinks to a point
    assert found.truth is None
    assert found.truth_dimension is None
    assert "your own series" in found.truth_reason


def test_the_exact_map_never_fails() -> None:
    step = expm(DT * MATRIX)
    data = series(step)
    found = rfm.stability(linear(step), data)
    assert found.tau_f_censored.all()
    np.testing.assert_allclose(found.tau_f, 40 * DT)
    assert found.tau_f_standard_error == 0
    assert found.one_step.high < 1e-14
    assert found.one_step.by_site.max() < 1e-14


def test_a_known_error_is_found_where_it_is() -> None:
    """The model lets the second component alone; the truth halves it."""
    truth, wrong = np.diag([1.0, 0.5, 1.0]), np.eye(3)
    data = series(truth, tests=2, steps=20)
    found = rfm.one_step_errors(linear(wrong), data)
    expected = 0.5 * np.abs(found.states[:, 1]) / data.std[1] / math.sqrt(3)
    np.testing.assert_allclose(found.error, expected, rtol=1e-12)
    assert found.by_site[0] == found.by_site[2] == 0
    assert found.largest == int(np.argmax(np.abs(found.states[:, 1])))
    assert found.low <= found.median <= found.high
    assert found.median == pytest.approx(np.median(found.error))
    assert found.states.shape == (40, 3)  # every state that has a next one
    np.testing.assert_array_equal(found.states[21], data.test[1, 1])
    assert (found.test[21], found.time[21]) == (1, pytest.approx(DT))
    np.testing.assert_allclose(found.field[:, 1], 0.5 * np.abs(data.test[0, :-1, 1]) / data.std[1])


def test_tau_f_is_the_engines(lorenz63: rfm.Dataset) -> None:
    model = rfm.fit(rfm.ModelSpec(width=60), lorenz63)
    found = rfm.stability(model, lorenz63)
    whole = model.forecast(lorenz63.test[:, 0], lorenz63.test.shape[1] - 1)
    expected = rfm.tau_f(whole, lorenz63.test, dt=lorenz63.dt, mean_norm=lorenz63.mean_norm)
    np.testing.assert_array_equal(found.tau_f, expected)
    assert found.tau_f_mean == expected.mean()
    assert found.tau_f_standard_error == expected.std(ddof=1) / math.sqrt(len(expected))


def test_a_good_surrogate_has_the_systems_spectrum(lorenz63: rfm.Dataset) -> None:
    found = rfm.stability(rfm.fit(rfm.ModelSpec(width=300), lorenz63), lorenz63)
    truth, surrogate = found.truth, found.surrogate
    assert truth is not None
    assert surrogate is not None
    assert truth.exponents.sum() == pytest.approx(-(10 + 1 + 8 / 3), abs=1e-9)
    allowed = 5 * np.hypot(truth.standard_error, surrogate.standard_error)
    assert (np.abs(truth.exponents - surrogate.exponents) < allowed).all()
    assert found.truth_dimension == pytest.approx(2.06, abs=0.02)
    assert found.surrogate_dimension == pytest.approx(2.06, abs=0.02)
    assert truth.running.shape == (len(truth.running_time), 3)
    np.testing.assert_allclose(truth.running[-1], truth.exponents)
    assert truth.running_time[-1] == pytest.approx(truth.time)


def test_what_leaves_the_attractor_has_no_exponents() -> None:
    data = series(np.eye(3))
    found = rfm.stability(linear(1.5 * np.eye(3), limit=100.0), data)
    assert found.surrogate is None
    assert "left the attractor" in found.surrogate_reason
    assert found.surrogate_dimension is None
    assert np.isfinite(found.tau_f).all()


def test_a_ring_looks_the_same_from_every_patch(lorenz96: rfm.Dataset) -> None:
    """Turned by a patch, the states of a ring have errors that are turned with them."""
    model = rfm.fit(rfm.ModelSpec("LocalSkip", width=60, G=2, I=2), lorenz96)
    turned = dataclasses.replace(lorenz96, test=np.roll(lorenz96.test, 2, axis=-1))
    turned.__dict__["std"] = np.roll(lorenz96.std, 2)
    here, there = (rfm.one_step_errors(model, d) for d in (lorenz96, turned))
    np.testing.assert_allclose(np.roll(here.by_site, 2), there.by_site, rtol=1e-6)
    np.testing.assert_allclose(here.error, there.error, rtol=1e-6)


def test_a_large_model_is_looked_at_less(
    lorenz96: rfm.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = rfm.fit(rfm.ModelSpec("LocalSkip", width=60, G=2, I=2), lorenz96)
    usual = module._size(model, lorenz96)
    assert usual.count == 8
    least = math.ceil(module.SHORT / (2.2 * lorenz96.dt))
    sizes = []
    for work in (3e8, 1e8, 1e7, 1.0):
        monkeypatch.setattr(module, "WORK", work)
        sizes.append(module._size(model, lorenz96))
    totals = [s.count * s.trajectories * s.steps for s in (usual, *sizes)]
    assert totals == sorted(totals, reverse=True)
    assert all(s.steps >= least for s in sizes)
    assert (sizes[-1].count, sizes[-1].trajectories) == (1, 2)


@pytest.mark.parametrize(
    ("exponents", "dimension", "expected"),
    [
        ((0.9, 0.0, -14.5), 3, 2 + 0.9 / 14.5),
        ((-0.1, -0.2), 2, 0.0),
        ((0.5, 0.25, -0.25, -2.0), 9, 3.25),
        ((0.5, 0.25), 9, None),  # more would be needed
        ((0.5, 0.25), 2, 2.0),  # there are no more
        ((0.0, -1.0), 2, 1.0),
    ],
)
def test_kaplan_yorke(exponents: tuple[float, ...], dimension: int, expected: float | None) -> None:
    assert kaplan_yorke(np.array(exponents), dimension) == (
        None if expected is None else pytest.approx(expected)
    )


def test_without_tests_there_is_nothing_to_look_at() -> None:
    data = dataclasses.replace(series(np.eye(3)), test=np.empty((0, 5, 3)))
    with pytest.raises(rfm.InvalidInput, match="n_test=0"):
        rfm.stability(linear(np.eye(3)), data)


def test_a_component_that_stands_still_is_no_trouble() -> None:
    data = series(np.diag([1.0, 0.5, 0.0]))
    still = dataclasses.replace(data, train=np.where([True, True, False], data.train, 1.0))
    assert np.isfinite(rfm.one_step_errors(linear(np.eye(3)), still).error).all()
