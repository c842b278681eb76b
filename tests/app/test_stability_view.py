"""The tab Stability: the engine's numbers in its pictures, and words that say what they mean."""

from __future__ import annotations

from dataclasses import replace

import holoviews as hv
import numpy as np
import pytest
from rfm_explorer.compute import results as scenes
from rfm_explorer.plots.attractor import planes
from rfm_explorer.plots.still import still
from rfm_explorer.views import stability as tab

import rfm_core as rfm

hv.extension("bokeh")


def looked_at(data: rfm.DataSpec, model: rfm.ModelSpec):
    made = rfm.make_dataset(data)
    return scenes.info(made), rfm.stability(rfm.fit(model, made, seed=0), made)


@pytest.fixture(scope="module")
def l63():
    data = rfm.DataSpec("L63", n_train=2000, n_test=4, test_steps=1500)
    return looked_at(data, rfm.ModelSpec("SkipRFM", width=100))


@pytest.fixture(scope="module")
def l96():
    data = rfm.DataSpec("L96", n_train=600, n_test=2, test_steps=300, parameters={"D": 8})
    return looked_at(data, rfm.ModelSpec("LocalSkip", width=40, G=2, I=1, beta=1e-9))


def columns(picture: hv.Overlay, label: str) -> list[np.ndarray]:
    part = next(part for part in picture if part.label == label)
    return [np.asarray(part.dimension_values(d)) for d in part.dimensions()]


def test_exponents_stand_side_by_side(l63) -> None:
    info, found = l63
    picture = tab.exponents(info, found)
    for name, spectrum in (("truth", found.truth), ("surrogate", found.surrogate)):
        np.testing.assert_array_equal(columns(picture, f"{name} value")[1], spectrum.exponents)
        _, low, _, high = columns(picture, f"{name} error")
        np.testing.assert_allclose((high - low) / 4, spectrum.standard_error)
    assert set(columns(picture, "zero")[1]) == {0.0}
    own = replace(found, truth=None, truth_reason="No equation.")
    alone = tab.exponents(info, own)
    assert [p.label for p in alone] == [p.label for p in picture]
    assert not len(columns(alone, "truth value")[0])


def test_every_state_is_in_the_class_of_its_error(l63) -> None:
    info, found = l63
    step = found.one_step
    for plane in planes(info):
        picture = tab.one_step(info, found, plane)
        shares = [len(columns(picture, f"error {k}")[0]) / len(step.error) for k in range(6)]
        np.testing.assert_allclose(shares, [0.1, 0.2, 0.2, 0.2, 0.2, 0.1], atol=0.01)
    x, z = columns(tab.one_step(info, found, "x-z"), "error 5")
    worst = step.states[step.largest]
    assert np.min(np.abs(x - worst[0]) + np.abs(z - worst[2])) < 1e-9
    assert "<svg" in still(picture, 400)


def test_a_wide_state_is_shown_by_site(l96) -> None:
    info, found = l96
    picture = tab.one_step(info, found, None)
    x, y = columns(picture, "one step")
    assert x[-1] == info.length
    np.testing.assert_allclose(y[::2] / y[0], found.one_step.by_site / found.one_step.by_site[0])


def test_words_read_the_numbers(l63) -> None:
    _, found = l63
    text = tab.exponents_sentence(found)
    assert f"{found.truth_dimension:.2f} for the system" in text
    assert "of the surrogate" in text
    twice = replace(found.surrogate, exponents=2 * found.surrogate.exponents)
    assert "faster than they should" in tab.exponents_sentence(replace(found, surrogate=twice))
    weak = found.surrogate.exponents.copy()
    weak[:2], weak[2] = found.truth.exponents[:2], found.truth.exponents[2] / 3
    loose = replace(found.surrogate, exponents=weak)
    text = tab.exponents_sentence(replace(found, surrogate=loose))
    assert "Number 3 does not" in text
    assert "comes back more slowly" in text
    lost = replace(found, surrogate=None, surrogate_reason="It left the attractor.")
    assert tab.exponents_sentence(lost) == "It left the attractor."
    own = replace(found, truth=None, truth_reason="Your own series.", truth_dimension=None)
    assert tab.exponents_sentence(own).startswith("Your own series. The surrogate's largest")


def test_words_for_times_and_places(l63) -> None:
    info, found = l63
    assert f"{found.tau_f_mean * info.lyapunov:.1f} Lyapunov times" in tab.tau_sentence(info, found)
    good = replace(found, tau_f_censored=np.ones(len(found.tau_f), bool))
    assert "a lower bound" in tab.tau_sentence(info, good)
    assert "±" not in tab.tau_sentence(info, good)
    place = tab.places_sentence(info, found)
    state = found.one_step.states[found.one_step.largest]
    assert f"x = {state[0]:.3g}, y = {state[1]:.3g}, z = {state[2]:.3g}" in place
