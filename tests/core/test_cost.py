"""Costs count what the engine does: the very blocks, rows and lengths, and more for more."""

from __future__ import annotations

import dataclasses

import pytest
import torch

import rfm_core as rfm
from rfm_core.choose.cost import Rows, Sizes
from rfm_core.measure import stability
from rfm_core.model.fit import Training

MODELS = (
    rfm.ModelSpec(width=40),
    rfm.ModelSpec(width=3000, rows=2000),
    rfm.ModelSpec("LocalSkip", width=300, G=2, I=2, rows=500),
    rfm.ModelSpec("LocalSkip", width=300, G=2, I=2, patches="one"),
)


@pytest.mark.parametrize("model", MODELS)
def test_rows_and_blocks_are_those_of_a_training(
    model: rfm.ModelSpec, lorenz96: rfm.Dataset
) -> None:
    spec = rfm.DataSpec.from_dict(lorenz96.origin)
    counted = Rows.of(Sizes.of(spec), model)
    real = Training(model, lorenz96, 0, 0, torch.device("cpu"), None)
    assert (counted.states, counted.block, counted.total) == (len(real.u), real.block, real.rows)


@pytest.mark.parametrize("model", [MODELS[0].replace(width=200), MODELS[2]])
def test_the_size_of_a_look_at_stability_is_known_before(
    model: rfm.ModelSpec, lorenz96: rfm.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stability, "WORK", 3e8)
    asked = []
    real = stability.size_of
    monkeypatch.setattr(stability, "size_of", lambda *a: asked.append(real(*a)) or real(*a))
    rfm.cost_of_stability(rfm.DataSpec.from_dict(lorenz96.origin), model)
    stability._size(rfm.fit(model, lorenz96), lorenz96)
    assert asked[0] == asked[1]


def test_more_costs_more() -> None:
    data, model = rfm.DataSpec("L63", n_train=10_000), rfm.ModelSpec(width=256)
    base = rfm.cost_of_run(data, model)
    assert base.seconds == base.data_seconds + base.fit_seconds + base.forecast_seconds
    larger = rfm.cost_of_run(data, model.replace(width=512))
    assert larger.fit_seconds > base.fit_seconds
    assert larger.memory_bytes > base.memory_bytes
    assert rfm.cost_of_run(data, model, 3).fit_seconds == pytest.approx(3 * base.fit_seconds)
    assert rfm.cost_of_run(data.replace(n_test=200), model).forecast_seconds > (
        base.forecast_seconds
    )
    short, long = (rfm.cost_of_climate(data, model, times) for times in (50.0, 500.0))
    assert long.seconds > short.seconds
    assert long.fit_seconds == 0
    assert rfm.cost_of_stability(data, model).seconds > 0


def test_a_series_of_ones_own_is_read_and_not_made() -> None:
    sizes = dataclasses.replace(
        Sizes.of(rfm.DataSpec("KS", n_train=1000, n_test=2)), system=None, true_step_seconds=0.0
    )
    model = rfm.ModelSpec("LocalSkip", width=100, G=8, I=1)
    own, made = rfm.cost_of_run(sizes, model), rfm.cost_of_run(rfm.DataSpec("KS"), model)
    assert own.data_seconds < made.data_seconds
    assert own.data_seconds == rfm.cost_of_climate(sizes, model, 50.0).data_seconds
