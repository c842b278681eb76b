"""Choosing beta: automatic and searched, from training data alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rfm_core as rfm
from rfm_core.choose.beta import held_out, search_beta
from rfm_core.model.fit import Fitted, fit_events


def last(events) -> Fitted:
    *_, event = events
    assert isinstance(event, Fitted)
    return event


def test_automatic_beta_follows_the_data_and_the_solver(lorenz63: rfm.Dataset) -> None:
    def chosen(spec: rfm.ModelSpec, data: rfm.Dataset = lorenz63) -> float:
        (unit,) = last(fit_events(spec, data)).units
        return unit.beta

    accurate = chosen(rfm.ModelSpec("SkipRFM", width=200))
    # normal equations cannot use directions below 1e-8 of the largest, and the choice knows it
    assert accurate < 1e-18
    assert chosen(rfm.ModelSpec("SkipRFM", width=200, solver="normal")) > 1e-13
    noisy = replace(
        lorenz63,
        train=lorenz63.train + 0.1 * np.random.default_rng(0).standard_normal(lorenz63.train.shape),
    )
    assert chosen(rfm.ModelSpec("SkipRFM", width=200), noisy) > 1e6 * accurate


def test_automatic_beta_is_recorded_and_reproducible(lorenz63: rfm.Dataset) -> None:
    spec = rfm.ModelSpec("DeepSkip", width=60, depth=2)
    assert spec.beta == "auto"
    model = rfm.fit(spec, lorenz63)
    betas = model.origin["betas"]
    assert len(betas) == 2
    assert rfm.fit(spec, lorenz63).origin["betas"] == betas
    single = rfm.fit(rfm.ModelSpec("SkipRFM", width=60), lorenz63)
    fixed = rfm.fit(rfm.ModelSpec("SkipRFM", width=60, beta=single.origin["betas"][0]), lorenz63)
    start = lorenz63.test[:, 0]
    assert np.allclose(single.predict(start), fixed.predict(start), rtol=1e-9)


def test_automatic_beta_never_sees_the_test_data(lorenz63: rfm.Dataset) -> None:
    other = replace(lorenz63, test=np.zeros_like(lorenz63.test))
    spec = rfm.ModelSpec("SkipRFM", width=60)
    start = lorenz63.test[:, 0]
    same = rfm.fit(spec, other).predict(start) == rfm.fit(spec, lorenz63).predict(start)
    assert same.all()
    found = search_beta(spec, lorenz63, [1e-12, 1e-4], windows=4)
    again = search_beta(spec, other, [1e-12, 1e-4], windows=4)
    assert np.array_equal(found.forecast, again.forecast)


@pytest.mark.parametrize("architecture", ["SkipRFM", "DeepSkip"])
def test_search_prefers_what_forecasts_further(architecture: str, lorenz63: rfm.Dataset) -> None:
    spec = rfm.ModelSpec(architecture, width=120)
    # from 1e-8 on down all forecast to the end of the windows, and the largest beta would be best
    found = search_beta(spec, lorenz63, [1.0, 1e-20, 1e-2], windows=6)
    assert list(found.betas) == [1e-20, 1e-2, 1.0]
    assert found.best == found.best_one_step == 1e-20
    assert found.forecast[0] > found.forecast[2] + 2
    assert found.factorizations == (1 if architecture == "SkipRFM" else 3)
    assert found.windows == 6


def test_one_factorization_gives_what_refitting_gives(lorenz63: rfm.Dataset) -> None:
    spec = rfm.ModelSpec("SkipRFM", width=80)
    found = search_beta(spec, lorenz63, [1e-10, 1e-5], windows=5)
    inner = held_out(lorenz63, 5)
    for beta, forecast in zip(found.betas, found.forecast, strict=True):
        model = rfm.fit(spec.replace(beta=float(beta)), inner)
        assert rfm.evaluate(model, inner).summary()["mean"] == pytest.approx(forecast, abs=0.05)


def test_held_out_parts_do_not_overlap(lorenz63: rfm.Dataset) -> None:
    inner = held_out(lorenz63, 7)
    known = {row.tobytes() for row in inner.train.reshape(-1, 3)}
    assert not any(row.tobytes() in known for row in inner.test.reshape(-1, 3))
    assert len(inner.test) == 7
    many = replace(lorenz63, train=np.random.default_rng(0).random((10, 50, 3)))
    inner = held_out(many, 4)
    assert inner.train.shape == (8, 50, 3)
    known = {row.tobytes() for row in inner.train.reshape(-1, 3)}
    assert not any(row.tobytes() in known for row in inner.test.reshape(-1, 3))


def test_refusals(lorenz63: rfm.Dataset) -> None:
    with pytest.raises(rfm.InvalidInput, match="betas is empty"):
        search_beta(rfm.ModelSpec(), lorenz63, [])
    with pytest.raises(rfm.InvalidInput, match="betas=-1"):
        search_beta(rfm.ModelSpec(), lorenz63, [-1.0])
    short = replace(lorenz63, train=lorenz63.train[:, :6])
    with pytest.raises(rfm.InvalidInput, match="too short to hold a fifth out"):
        search_beta(rfm.ModelSpec(), short, [1e-8])
    token = rfm.CancelToken()
    token.cancel()
    with pytest.raises(rfm.Cancelled):
        search_beta(rfm.ModelSpec(width=30), lorenz63, report=rfm.Reporter(cancel=token))
