"""Estimates against real runs, and what is said where something does not fit."""

from __future__ import annotations

from typing import Any

import pytest
from rfm_explorer.queue import estimate as module
from rfm_explorer.queue.estimate import Estimate, Sizes, estimate, learn, nearest_fitting, refusal

from rfm_core import DataSpec, ModelSpec

LORENZ = DataSpec("L63", n_test=20)
LOCAL = ModelSpec("LocalSkip", width=512, G=8, I=1)


@pytest.fixture(autouse=True)
def unlearnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_factor", 1.0)


@pytest.mark.parametrize(
    ("data", "model", "measured_gb"),
    [  # the largest share of all memory that a worker had to itself, or as in rfm_core.choose.cost
        (DataSpec("L63"), ModelSpec(width=2048), 0.340),
        (DataSpec("L63"), ModelSpec(width=4096, rows=20_000), 1.304),
        (DataSpec("L63"), ModelSpec("DeepSkip", width=512, depth=4), 0.233),
        (DataSpec("L96", n_train=20_000, n_test=10), LOCAL.replace(G=2, I=2), 0.089),
        (DataSpec("KS", n_train=4000, n_test=5), LOCAL.replace(beta=1e-12), 0.135),
    ],
)
def test_memory_is_as_measured(data: DataSpec, model: ModelSpec, measured_gb: float) -> None:
    assert 0.8 * measured_gb < estimate(data, model).memory_gb < 1.5 * measured_gb


def test_more_of_anything_takes_more() -> None:
    model = ModelSpec("DeepSkip", width=256, depth=2)
    base = estimate(LORENZ, model)
    assert base.seconds == pytest.approx(
        base.data_seconds + base.fit_seconds + base.forecast_seconds
    )
    for changed in ({"width": 512}, {"depth": 4}, {"architecture": "DeepRFM", "depth": 3}):
        more = estimate(LORENZ, model.replace(**changed))
        assert more.fit_seconds > 1.3 * base.fit_seconds
        assert more.forecast_seconds > 1.3 * base.forecast_seconds
    assert estimate(LORENZ, model.replace(rows=5000)).fit_seconds < 0.5 * base.fit_seconds
    assert estimate(LORENZ, model.replace(solver="normal")).fit_seconds < base.fit_seconds
    assert estimate(LORENZ, model, n_test=200).forecast_seconds > 3 * base.forecast_seconds
    assert 2.5 < estimate(LORENZ, model, realizations=3).seconds / base.seconds <= 3
    assert base.scaled(3).seconds == pytest.approx(3 * base.seconds)
    assert base.scaled(3).memory_gb == base.memory_gb
    assert base.with_forecast(2000).seconds > base.with_forecast(20).seconds > 0
    assert base.with_forecast(20).fit_seconds == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"n_train": 200_000},
        {"dt": 0.002, "test_steps": 40_000},
        {"parameters": {"rho": 30}},
        {"accuracy": "paper"},
        {"burn_in": 4000},
    ],
)
def test_data_that_take_longer(changes: dict[str, Any]) -> None:
    more, base = Sizes.of(LORENZ.replace(lyapunov=None, **changes)), Sizes.of(LORENZ)
    assert more.making_seconds > 1.3 * base.making_seconds


def test_sizes() -> None:
    sizes = Sizes.of(DataSpec("KS", n_train=20_000, n_test=10))
    assert (sizes.system, sizes.dimension, sizes.trajectories) == ("KS", 512, 40)
    assert (sizes.pairs, sizes.n_test, sizes.steps) == (20_000, 10, 852)
    own = Sizes(system=None, dimension=3, pairs=8000, trajectories=1, n_test=20, steps=500)
    told = estimate(own, ModelSpec(width=256))
    assert 0.3 < told.data_seconds < 3
    assert told.with_forecast(100).seconds > 0


# --- learning ---


def learnt(told: Estimate, seconds: float, times: int = 30) -> float:
    for _ in range(times):
        learn(told, seconds)
    return module._factor


def test_learning_finds_the_pace_of_the_machine() -> None:
    told = estimate(LORENZ, ModelSpec(width=2048))
    assert learnt(told, 3 * told.seconds, 1) < 2  # one run alone may have been unlucky
    assert learnt(told, 3 * told.seconds) == pytest.approx(3, rel=0.02)
    assert estimate(LORENZ, ModelSpec(width=2048)).seconds == pytest.approx(
        3 * told.seconds, rel=0.02
    )
    assert learnt(told, 0.5 * told.seconds) == pytest.approx(0.5, rel=0.1)
    assert learnt(told, 1e6 * told.seconds, 100) == 10
    assert learnt(told, 1e-6 * told.seconds, 100) == 0.25


def test_cached_data_and_short_runs_teach_nothing() -> None:
    told = estimate(DataSpec("KS", n_train=20_000, n_test=20), ModelSpec(width=64))
    assert told.data_seconds > 0.5 * told.seconds
    assert learnt(told, told.seconds - told.data_seconds) == 1
    assert learnt(told, float("nan")) == 1
    short = estimate(DataSpec("L63", n_train=1000, n_test=1), ModelSpec(width=16))
    assert learnt(short, 30) == 1


# --- what would fit ---


def test_what_fits_is_not_refused() -> None:
    sizes = Sizes.of(LORENZ)
    assert refusal(sizes, ModelSpec(width=512), memory_gb=1, seconds=60) is None


@pytest.mark.parametrize(
    ("model", "memory_gb", "seconds", "words"),
    [
        (ModelSpec(width=20_000), 2, 1e9, ("20000 would need about", "GB are there", "D_r = 4096")),
        (ModelSpec(width=4096), 1e3, 60, ("minutes, and a run may take 60 seconds", "D_r = 2048")),
        (ModelSpec("DeepSkip", width=64, depth=900), 1, 20, ("64x900", "B = ", "would fit")),
        (ModelSpec(width=16_384), 0.01, 1e9, ("fewer training pairs",)),
    ],
)
def test_a_refusal_names_what_fits(
    model: ModelSpec, memory_gb: float, seconds: float, words: tuple[str, ...]
) -> None:
    sizes = Sizes.of(LORENZ)
    told = refusal(sizes, model, memory_gb=memory_gb, seconds=seconds)
    assert told is not None
    for word in words:
        assert word in told
    smaller = nearest_fitting(sizes, model, memory_gb=memory_gb, seconds=seconds)
    assert (smaller is None) == ("fewer training pairs" in told)
    if smaller is not None:
        assert refusal(sizes, smaller, memory_gb=memory_gb, seconds=seconds) is None
        assert smaller.architecture == model.architecture


def test_fewer_rows_where_width_is_not_enough() -> None:
    sizes = Sizes.of(DataSpec("L63", n_train=10**7, n_test=1))
    spare = estimate(sizes, ModelSpec(width=64)).data_seconds + 2
    smaller = nearest_fitting(sizes, ModelSpec(width=512), memory_gb=50, seconds=spare)
    assert smaller is not None
    assert smaller.rows is not None
    assert smaller.rows < 10**7
    told = refusal(sizes, ModelSpec(width=512), memory_gb=50, seconds=spare)
    assert told is not None
    assert f"{smaller.rows} rows" in told


def test_a_polynomial_gets_a_lower_degree() -> None:
    model = ModelSpec("RFM", features="polynomial", degree=20)
    smaller = nearest_fitting(Sizes.of(LORENZ), model, memory_gb=1e3, seconds=10)
    assert smaller is not None
    assert 1 <= smaller.degree < 20
