"""A trained model: shapes, batches, symmetry, divergence, cancelling, tangents."""

from __future__ import annotations

import importlib.metadata
from dataclasses import replace

import numpy as np
import pytest
import torch

import rfm_core as rfm
from rfm_core.model.model import Unit


@pytest.fixture(scope="module")
def skip(lorenz63: rfm.Dataset) -> rfm.Model:
    return rfm.fit(rfm.ModelSpec("SkipRFM", width=128, beta=1e-16), lorenz63)


@pytest.fixture(scope="module", params=["paper", "exchange"])
def local(request: pytest.FixtureRequest, lorenz96: rfm.Dataset) -> rfm.Model:
    spec = rfm.ModelSpec("LocalDeepSkip", width=64, depth=2, G=2, I=1, beta=1e-10)
    changes = {"exchange": 1} if request.param == "exchange" else {"centred": False}
    return rfm.fit(spec.replace(**changes), lorenz96)


def exploding(model: rfm.Model) -> rfm.Model:
    """Outer weights a thousand times too large."""
    (unit,) = model.units
    return replace(model, units=(Unit(unit.features, 1e3 * unit.weights),))


def test_forecast_shapes_and_start(skip: rfm.Model, lorenz63: rfm.Dataset) -> None:
    starts = lorenz63.test[:6, 0].reshape(2, 3, 3)
    states = skip.forecast(starts, 10)
    assert states.shape == (2, 3, 11, 3)
    assert np.array_equal(states[..., 0, :], starts)
    assert skip.forecast(starts[0, 0], 0).shape == (1, 3)
    assert np.allclose(states[1, 2], skip.forecast(starts[1, 2], 10), rtol=1e-9)
    assert np.allclose(states[0, 0, 1], skip.predict(starts[0, 0]), rtol=1e-12)


def test_many_states_go_through_in_blocks(skip: rfm.Model, lorenz63: rfm.Dataset) -> None:
    states = lorenz63.train[0, :5000]
    whole = skip.predict(states)
    assert skip.block_of_states(values=1000 * 128) == 1000
    assert np.allclose(whole[4321], skip.predict(states[4321]), rtol=1e-12)
    error = np.sqrt(np.mean((whole - lorenz63.train[0, 1:5001]) ** 2))
    assert error < 1e-6


def test_shift_equivariance_of_local_models(local: rfm.Model, lorenz96: rfm.Dataset) -> None:
    state = lorenz96.test[0, 0]
    for patches in (1, 3):
        shift = patches * local.spec.G
        moved = local.predict(np.roll(state, shift))
        assert np.allclose(moved, np.roll(local.predict(state), shift), atol=1e-12)
    assert not np.allclose(
        local.predict(np.roll(state, 1)), np.roll(local.predict(state), 1), atol=1e-9
    )


def test_receptive_field(local: rfm.Model, lorenz96: rfm.Dataset) -> None:
    """One patch on each side; an exchanging second unit reaches one patch further."""
    state = lorenz96.test[0, 0]
    base = local.predict(state)
    reach = 2 if local.spec.exchanging else 1
    for patch in range(6):
        touched = state.copy()
        touched[2 * patch] += 0.1
        changed = np.abs(local.predict(touched) - base).reshape(6, 2).max(axis=1) > 0
        distance = np.minimum((np.arange(6) - patch) % 6, (patch - np.arange(6)) % 6)
        assert np.array_equal(changed, distance <= reach)


def test_divergence_is_recorded_and_stays_with_its_trajectory(
    skip: rfm.Model, lorenz63: rfm.Dataset
) -> None:
    far = replace(skip, limit=25.0)  # the attractor itself crosses this bound in z
    low = lorenz63.test[0, np.argmin(lorenz63.test[0, :500, 2])]
    starts = np.stack([low, np.zeros(3)])  # the origin is a fixed point, almost
    run = far.run(starts, 400)
    step = run.diverged_at[0]
    assert 0 < step < 400
    assert np.isfinite(run.states[0, :step]).all()
    assert np.isnan(run.states[0, step:]).all()
    assert np.abs(run.states[0, :step]).max() <= 25
    lonely = far.run(starts[1], 400)
    assert run.diverged_at[1] == lonely.diverged_at


def test_explosion_neither_raises_nor_warns(skip: rfm.Model, lorenz63: rfm.Dataset) -> None:
    run = exploding(skip).run(lorenz63.test[:3, 0], 5000)
    assert (run.diverged_at > 0).all()
    times = rfm.evaluate(exploding(skip), lorenz63)
    assert times.summary()["diverged"] == len(lorenz63.test)
    assert times.vpt.max() < 0.5


def test_evaluate_equals_the_whole_forecast(lorenz63: rfm.Dataset) -> None:
    # a model bad enough to fail in all of the test windows: only then does evaluate stop early
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=128, beta=1e-4), lorenz63)
    whole = model.forecast(lorenz63.test[:, 0], lorenz63.test.shape[1] - 1)
    expected = rfm.vpt(
        whole, lorenz63.test, std=lorenz63.std, dt=0.01, lyapunov=0.91, eps=lorenz63.eps
    )
    times = rfm.evaluate(model, lorenz63)
    assert np.array_equal(times.vpt, expected)
    assert times.summary()["censored"] == 0
    assert times.summary()["diverged"] == 0  # stopping early is not diverging
    stricter = rfm.evaluate(model, lorenz63, eps=0.01).vpt
    assert (stricter < expected).all()


def test_forecast_reports_and_can_be_cancelled(skip: rfm.Model, lorenz63: rfm.Dataset) -> None:
    seen: list[rfm.Progress] = []
    skip.forecast(lorenz63.test[0, 0], 200, report=rfm.Reporter(seen.append))
    assert [e.done for e in seen] == [64, 128, 192, 200]
    token = rfm.CancelToken()
    token.cancel()
    with pytest.raises(rfm.Cancelled, match="forecast"):
        skip.forecast(lorenz63.test[0, 0], 200, report=rfm.Reporter(cancel=token))


def test_tangent_against_differences(local: rfm.Model, lorenz96: rfm.Dataset) -> None:
    states = lorenz96.test[:2, 0]
    vectors = np.random.default_rng(0).standard_normal((2, 3, 12))
    moved, tangents = local.tangent(states, vectors)
    assert np.allclose(moved, local.predict(states), atol=1e-12)
    small = 1e-6
    for k in range(3):
        ahead = local.predict(states + small * vectors[:, k])
        behind = local.predict(states - small * vectors[:, k])
        # differences of 1e-6 leave six digits, fewer where outer weights are large
        assert np.abs(tangents[:, k] - (ahead - behind) / (2 * small)).max() < 1e-5


def test_tangent_of_polynomials(lorenz63: rfm.Dataset) -> None:
    model = rfm.fit(rfm.ModelSpec("DeepSkip", features="polynomial", depth=2, beta=1e-6), lorenz63)
    state, vector = lorenz63.test[:1, 0], np.array([[[1.0, -2.0, 0.5]]])
    _, tangent = model.tangent(state, vector)
    ahead, behind = (model.predict(state + s * 1e-6 * vector[0]) for s in (1, -1))
    assert np.allclose(tangent[0], (ahead - behind) / 2e-6, atol=1e-6)


def test_lyapunov_exponent_of_a_surrogate(skip: rfm.Model, lorenz63: rfm.Dataset) -> None:
    found = rfm.lyapunov_exponents(skip, lorenz63.test[:, 0], count=2, steps=2500)
    assert found.exponents[0] == pytest.approx(0.91, abs=0.12)
    assert found.exponents[1] == pytest.approx(0.0, abs=0.12)
    with pytest.raises(rfm.InvalidInput, match="left the attractor"):
        rfm.lyapunov_exponents(exploding(skip), lorenz63.test[:1, 0], steps=4000)


def test_bad_states_are_refused(skip: rfm.Model) -> None:
    with pytest.raises(rfm.InvalidInput, match=r"shape \(2,\).* 3 components"):
        skip.forecast([1.0, 2.0], 5)
    with pytest.raises(rfm.InvalidInput, match="NaN"):
        skip.forecast([1.0, 2.0, np.nan], 5)
    with pytest.raises(rfm.InvalidInput, match="steps=-1"):
        skip.forecast([1.0, 2.0, 3.0], -1)


def test_no_global_state_is_changed(lorenz63: rfm.Dataset) -> None:
    before = torch.get_default_dtype(), torch.get_num_threads(), torch.random.get_rng_state()
    errors, numbers = np.geterr(), np.random.get_state()[1].copy()  # noqa: NPY002
    rfm.evaluate(rfm.fit(rfm.ModelSpec(width=16), lorenz63), lorenz63)
    assert torch.get_default_dtype() == before[0]
    assert torch.get_num_threads() == before[1]
    assert torch.equal(torch.random.get_rng_state(), before[2])
    assert np.geterr() == errors
    assert np.array_equal(np.random.get_state()[1], numbers)  # noqa: NPY002


def test_what_is_displayed_is_a_line(lorenz63: rfm.Dataset) -> None:
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=16, beta=1e-8), lorenz63)
    assert repr(model) == (
        "Model SkipRFM 16: 112 parameters, 3 components of L63, dt=0.01, beta 1e-08"
    )
    assert repr(model.units) == "(Unit(16 tanh features of 3 inputs),)"
    assert repr(lorenz63) == (
        "Dataset L63: 3 components, dt=0.01, Lyapunov exponent 0.91; 5,001 states to learn from, "
        "8 x 1,501 to test on"
    )
    assert model._repr_html_().startswith("<p><b>Model SkipRFM 16</b>: 112 parameters")
    named = replace(lorenz63, name="<script>")
    assert "<script>" not in named._repr_html_()


def test_the_version_is_the_packages() -> None:
    assert rfm.__version__ == importlib.metadata.version("rfm-explorer")
