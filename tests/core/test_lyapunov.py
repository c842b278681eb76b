"""Lyapunov exponents: exact sums, figures of the literature, refusals, cancelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rfm_core as rfm
from rfm_core.measure.lyapunov import LyapunovSpectrum
from rfm_core.streams import stream

Array = np.ndarray


def measured(
    name: str,
    *,
    n: int,
    dt: float,
    steps: int,
    count: int = 1,
    burn_in: float | None = None,
    inner: float | None = None,
    every: int = 4,
    **parameters: float,
) -> LyapunovSpectrum:
    system = rfm.get_system(name)
    values = system.resolve(parameters)
    stepper = system.stepper(values, dt, inner=inner)
    burn = system.burn_in if burn_in is None else burn_in
    states = stepper.advance(system.start(stream(3, "lyapunov"), n, values), round(burn / dt))
    return rfm.lyapunov_exponents(stepper, states, count=count, steps=steps, every=every)


class Linear:
    """u -> A u: its exponents are the logarithms of the moduli of the eigenvalues."""

    def __init__(self, matrix: Array, dt: float) -> None:
        self.matrix, self.dt = matrix, dt

    def tangent(self, states: Array, vectors: Array) -> tuple[Array, Array]:
        return states, vectors @ self.matrix.T


def test_linear_map() -> None:
    rates = np.array([0.7, 0.1, -0.4, -2.0])
    basis = stream(0, "basis").standard_normal((4, 4))
    matrix = basis @ np.diag(np.exp(0.5 * rates)) @ np.linalg.inv(basis)
    found = rfm.lyapunov_exponents(Linear(matrix, 0.5), np.ones((3, 4)), count=4, steps=600)
    np.testing.assert_allclose(found.exponents, rates, atol=1e-9)
    np.testing.assert_allclose(found.standard_error, 0, atol=1e-9)
    assert found.trajectories == 3
    assert found.time == pytest.approx(0.8 * 600 * 0.5)


@pytest.mark.parametrize(
    ("steps", "every", "discard"), [(10, 1, 0.0), (11, 4, 0.2), (23, 7, 0.5), (40, 100, 0.9)]
)
def test_every_counted_step_counts_once(steps: int, every: int, discard: float) -> None:
    """A map that stretches all vectors alike gives its rate exactly, however steps are grouped."""
    found = rfm.lyapunov_exponents(
        Linear(np.exp(0.25) * np.eye(3), 0.5),
        np.ones(3),
        count=2,
        steps=steps,
        every=every,
        discard=discard,
    )
    np.testing.assert_allclose(found.exponents, 0.5, rtol=1e-12)
    assert found.time == pytest.approx(0.5 * (steps - int(discard * steps)))
    assert np.isnan(found.standard_error).all(), "one trajectory has no spread"


def test_l63_spectrum() -> None:
    found = measured("L63", n=32, dt=0.1, steps=1000, count=3)
    assert found.exponents[0] == pytest.approx(0.91, abs=0.02)
    assert found.exponents[1] == pytest.approx(0, abs=0.01)
    assert found.exponents.sum() == pytest.approx(-(10 + 1 + 8 / 3), abs=1e-9)  # the trace
    assert found.standard_error[0] < 0.01
    assert (np.diff(found.exponents) < 0).all()


def test_l96_leading_exponent() -> None:
    found = measured("L96", n=32, dt=0.05, steps=800)
    assert found.exponents[0] == pytest.approx(2.27, abs=0.1)
    assert found.standard_error[0] < 0.03


@pytest.mark.parametrize(("dimension", "forcing"), [(40, 10.0), (5, 8.0), (4, 12.0)])
def test_l96_exponents_sum_to_the_trace(dimension: int, forcing: float) -> None:
    found = measured(
        "L96", n=2, dt=0.05, steps=100, count=dimension, burn_in=10, D=dimension, F=forcing
    )
    assert found.exponents.sum() == pytest.approx(-dimension, abs=1e-9)


def test_ks_leading_exponent() -> None:
    """L=100: extensive systems have nearly the exponent of the paper's L=200."""
    found = measured(
        "KS", n=8, dt=1.0, steps=600, burn_in=200, inner=0.25, every=2, L=100.0, grid=128
    )
    assert found.exponents[0] == pytest.approx(0.094, rel=0.2)
    assert found.standard_error[0] < 0.01


@pytest.mark.parametrize(
    ("name", "dt", "steps", "trace"),
    [("Roessler", 0.5, 1500, None), ("Halvorsen", 0.1, 1200, -4.2)],
)
def test_the_other_entries(name: str, dt: float, steps: int, trace: float | None) -> None:
    found = measured(name, n=16, dt=dt, steps=steps, count=3, burn_in=100.0)
    assert found.exponents[0] == pytest.approx(rfm.get_system(name).lyapunov, rel=0.1)
    assert found.exponents[1] == pytest.approx(0, abs=0.02)
    assert trace is None or found.exponents.sum() == pytest.approx(trace, abs=1e-9)


def test_deterministic_and_the_seed_matters_little() -> None:
    system = rfm.get_system("L63")
    stepper = system.stepper(system.resolve({}), 0.1)
    states = stepper.advance(system.start(stream(0, "a"), 4, system.resolve({})), 200)
    one, same, other = (
        rfm.lyapunov_exponents(stepper, states, steps=1000, seed=seed).exponents
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert one != other
    np.testing.assert_allclose(one, other, atol=1e-6)  # any vector turns to the leading one


def test_dataset_of_other_parameters_measures_its_exponent() -> None:
    spec = rfm.DataSpec("L96", parameters={"F": 8}, n_train=1000, n_test=0)
    assert spec.lyapunov is None
    data = rfm.make_dataset(spec, cache=False)
    assert data.lyapunov_is_estimate
    assert data.lyapunov == pytest.approx(1.68, rel=0.1)
    usual = rfm.make_dataset(rfm.DataSpec("L96", n_train=10, n_test=0, burn_in=1), cache=False)
    assert (usual.lyapunov, usual.lyapunov_is_estimate) == (2.27, False)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("L63", {"rho": 0.5}), ("L96", {"F": 0.5, "D": 8}), ("KS", {"L": 5.0, "grid": 16})],
)
def test_no_chaos_no_lyapunov_time(name: str, parameters: dict[str, float]) -> None:
    """A fixed point: the exponent is negative or zero, and all times are in model units."""
    spec = rfm.DataSpec(name, parameters=parameters, n_train=20, n_test=0, burn_in=50.0, dt=0.5)
    data = rfm.make_dataset(spec, cache=False)
    assert data.lyapunov is None
    assert not data.lyapunov_is_estimate
    assert data.lyapunov_time == 1.0


# --- cancelling, refusals ----------------------------------------------------------------------


def test_cancelled_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a pretended clock of 0.03 s a step: it looks after every second step."""
    token, steps, heard = rfm.CancelToken(), [0], []

    class Slow(Linear):
        def tangent(self, states: Array, vectors: Array) -> tuple[Array, Array]:
            steps[0] += 1
            return super().tangent(states, vectors)

    monkeypatch.setattr("rfm_core.measure.lyapunov.time.monotonic", lambda: 0.03 * steps[0])

    def listen(event: rfm.Progress) -> None:
        heard.append(steps[0])
        if len(heard) == 3:
            token.cancel()

    with pytest.raises(rfm.Cancelled, match="Lyapunov exponents"):
        rfm.lyapunov_exponents(
            Slow(np.eye(3), 0.1), np.ones(3), steps=10**6, report=rfm.Reporter(listen, token)
        )
    assert heard == [0, 2, 4]
    assert steps[0] == 6


def test_a_trajectory_that_leaves_is_said_so() -> None:
    class Leaving(Linear):
        def tangent(self, states: Array, vectors: Array) -> tuple[Array, Array]:
            with np.errstate(over="ignore"):
                return states * 1e100, vectors

    class Steep(Linear):
        def tangent(self, states: Array, vectors: Array) -> tuple[Array, Array]:
            with np.errstate(over="ignore", invalid="ignore"):
                return states, vectors * 1e200

    for dynamics in (Leaving(np.eye(2), 1.0), Steep(np.eye(2), 1.0)):
        with pytest.raises(
            rfm.InvalidInput, match=r"left the attractor after 4 steps.*fewer steps"
        ):
            rfm.lyapunov_exponents(dynamics, np.ones((1, 2)), steps=10, discard=0)


STEPPER = rfm.get_system("L63").stepper(rfm.get_system("L63").resolve({}), 0.01)


def exponents(states: Any = ((1.0, 2.0, 20.0),), dynamics: Any = STEPPER, **changes: Any) -> Any:
    return rfm.lyapunov_exponents(dynamics, states, **changes)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: exponents(count=0), ["count=0", "at least 1 and at most 3", "components"]),
        (lambda: exponents(count=4), ["count=4", "at most 3", "as many exponents as components"]),
        (lambda: exponents(count=1.5), ["count=1.5", "whole number"]),
        (lambda: exponents(steps=5), ["steps=5", "at least 10", "thousand steps"]),
        (lambda: exponents(steps="many"), ["steps='many'", "whole number", "thousand steps"]),
        (lambda: exponents(every=0), ["every=0", "at least 1", "4 is usual"]),
        (lambda: exponents(discard=1.0), ["discard=1.0", "at most 0.9", "0.2"]),
        (lambda: exponents(discard=-0.1), ["discard=-0.1", "at least 0", "0.2"]),
        (lambda: exponents(discard=np.nan), ["discard=nan", "finite", "0.2"]),
        (lambda: exponents(seed=-1), ["seed=-1", "at least 0", "0 will do"]),
        (lambda: exponents([[1, np.nan, 2]]), ["nan", "finite number", "on the attractor"]),
        (lambda: exponents([[1, "a", 2]]), ["'a'", "array of numbers (n, D)", "on the attractor"]),
        (lambda: exponents(None), ["nan", "finite", "on the attractor"]),
        (lambda: exponents(np.ones((2, 2, 3))), ["(2, 2, 3)", "(n, D)", "on the attractor"]),
        (lambda: exponents(np.ones((0, 3))), ["(0, 3)", "n of at least 1", "on the attractor"]),
        (lambda: exponents(np.ones((2, 5))), ["(2, 5)", "(n, 3)", "One row is one state"]),
        (lambda: exponents(dynamics="L63"), ["dynamics='L63'", "tangent", "Give a model"]),
        (lambda: exponents(dynamics=rfm.get_system("L63")), ["System", "tangent", "stepper"]),
    ],
)
def test_bad_input(call: Callable[[], Any], says: list[str]) -> None:
    with pytest.raises(rfm.InvalidInput) as caught:
        call()
    for part in says:
        assert part in str(caught.value)
