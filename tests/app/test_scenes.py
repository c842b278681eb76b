"""Scenes made from the engine's objects, as notebooks make them."""

from __future__ import annotations

import numpy as np
import pytest
from rfm_explorer.compute import results as scenes

import rfm_core as rfm


@pytest.fixture(scope="module")
def model(lorenz63: rfm.Dataset) -> rfm.Model:
    return rfm.fit(rfm.ModelSpec("SkipRFM", width=50, beta=1e-10), lorenz63, device="cpu")


def test_a_trajectory_has_the_valid_time_of_the_engine(
    lorenz63: rfm.Dataset, model: rfm.Model
) -> None:
    expected = rfm.evaluate(model, lorenz63)
    for test in (0, 7):
        assert scenes.trajectory(lorenz63, model, test).vpt == expected.vpt[test]
    found = scenes.times(lorenz63, model)
    assert np.array_equal(found.vpt, expected.vpt)
    with pytest.raises(rfm.InvalidInput, match="test=8"):
        scenes.trajectory(lorenz63, model, 8)


def test_a_trajectory_of_so_many_steps(lorenz63: rfm.Dataset, model: rfm.Model) -> None:
    found = scenes.trajectory(lorenz63, model, 2, steps=1400)
    assert found.truth.shape == found.forecast.shape == (1401, 3)
    assert np.isfinite(found.forecast).all()  # also long after it has failed
    assert np.isfinite(found.error).all()
    short = scenes.trajectory(lorenz63, model, 2, steps=5)
    assert short.censored
    assert short.vpt == pytest.approx(5 * scenes.info(lorenz63).per_step)
    with pytest.raises(rfm.InvalidInput, match="steps=1501"):
        scenes.trajectory(lorenz63, model, 2, steps=1501)


def test_several_models_are_realizations(lorenz63: rfm.Dataset, model: rfm.Model) -> None:
    found = rfm.evaluate(model, lorenz63)
    both = scenes.times([found, found])
    assert both.realization.tolist() == [0] * 8 + [1] * 8
    assert both.test.tolist() == [*range(8), *range(8)]
    assert np.array_equal(both.vpt, np.tile(found.vpt, 2))
    with pytest.raises(TypeError, match="model is missing"):
        scenes.times(lorenz63)


def test_an_own_series_has_no_system(lorenz63: rfm.Dataset, model: rfm.Model) -> None:
    own = rfm.load_series(lorenz63.train[0], dt=0.01, n_test=2)
    found = scenes.info(own)
    assert (found.own, found.title, found.unit) == (True, own.name, "time units")
    assert scenes.info(lorenz63).title == "Lorenz 1963"
    assert not scenes.info(lorenz63).own
    looked_at = scenes.features(model, lorenz63).units[0]
    assert set(looked_at) == {"training", "test", "forecast", "naive"}
