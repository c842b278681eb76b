"""tanh regions and condition numbers against direct computation."""

from __future__ import annotations

import numpy as np
import pytest

import rfm_core as rfm


@pytest.mark.parametrize("sampler", ["hit-and-run", "tight"])
def test_hit_and_run_features_are_good_on_the_training_data(
    sampler: str, lorenz63: rfm.Dataset
) -> None:
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=200, sampler=sampler), lorenz63)
    (regions,) = rfm.tanh_regions(model, lorenz63.train[:, :-1])
    assert regions.overall == {"linear": 0.0, "good": 1.0, "saturated": 0.0}
    assert (regions.good == 1).all()


def test_the_constant_of_centred_features_is_not_counted(lorenz63: rfm.Dataset) -> None:
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=50), lorenz63)
    (regions,) = rfm.tanh_regions(model, lorenz63.train[:, :-1])
    assert regions.good.shape == (49,)
    assert (regions.good == 1).all()


def test_naive_features_are_mostly_saturated_or_linear(lorenz63: rfm.Dataset) -> None:
    wide = rfm.fit(rfm.ModelSpec("SkipRFM", width=100, sampler="uniform", w=1.0), lorenz63)
    narrow = rfm.fit(
        rfm.ModelSpec("SkipRFM", width=100, sampler="gaussian", w=1e-3, b=0.1), lorenz63
    )
    assert rfm.tanh_regions(wide, lorenz63.test)[0].overall["saturated"] > 0.5
    assert rfm.tanh_regions(narrow, lorenz63.test)[0].overall["linear"] > 0.9


def test_shares_and_density_against_numpy(lorenz96: rfm.Dataset) -> None:
    spec = rfm.ModelSpec("LocalDeepSkip", width=30, depth=2, G=2, I=1, sampler="gaussian", w=0.2)
    model = rfm.fit(spec, lorenz96)
    states = lorenz96.test[:, :50]
    first, second = rfm.tanh_regions(model, states, L0=0.5, L1=2.0)
    features = model.units[0].features
    flat = states.reshape(-1, 12)
    scheme = spec.scheme(12)
    z = np.concatenate([flat[:, scheme.halo], flat[:, scheme.own]], axis=-1).reshape(-1, 8)
    x = z @ features.weights.numpy().T + features.bias.numpy()
    assert np.allclose(first.linear, (np.abs(x) <= 0.5).mean(axis=0))
    assert np.allclose(first.saturated, (np.abs(x) >= 2.0).mean(axis=0))
    assert np.allclose(first.linear + first.good + first.saturated, 1)
    expected, _ = np.histogram(np.clip(x, -3.999999, 3.999999), bins=first.edges)
    assert np.allclose(first.density, expected / expected.sum() / np.diff(first.edges))
    assert not np.allclose(first.good, second.good)


def test_states_that_are_not_finite_are_left_out(lorenz63: rfm.Dataset) -> None:
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=20), lorenz63)
    states = lorenz63.test[0, :10].copy()
    clean = rfm.tanh_regions(model, states[:5])[0]
    states[5:] = np.nan
    assert np.array_equal(rfm.tanh_regions(model, states)[0].good, clean.good)
    with pytest.raises(rfm.InvalidInput, match="no finite states"):
        rfm.tanh_regions(model, states[5:])
    polynomial = rfm.fit(rfm.ModelSpec("SkipRFM", features="polynomial"), lorenz63)
    with pytest.raises(rfm.InvalidInput, match="polynomial"):
        rfm.tanh_regions(polynomial, states)


def test_condition_numbers(lorenz63: rfm.Dataset) -> None:
    model = rfm.fit(rfm.ModelSpec("DeepSkip", width=20, depth=2), lorenz63)
    found = rfm.condition_numbers(model, lorenz63)
    assert found.data == pytest.approx(np.linalg.cond(lorenz63.train[0]), rel=1e-9)
    for unit, condition in zip(model.units, found.weights, strict=True):
        assert condition == pytest.approx(np.linalg.cond(unit.weights.numpy()), rel=1e-6)
    assert min(found.features) > 1e3
