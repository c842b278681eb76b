"""Long runs, insides of regressions, watched forecasts, counted features, a look into a file."""

from __future__ import annotations

import dataclasses
import io
import math

import numpy as np
import pytest

import rfm_core as rfm
from rfm_core.measure.climate import OTHER_REALIZATIONS, RUNS
from rfm_core.measure.forecasts import Watch
from rfm_core.measure.regions import NAIVE

Array = np.ndarray


@pytest.fixture(scope="module")
def model(lorenz63: rfm.Dataset) -> rfm.Model:
    return rfm.fit(rfm.ModelSpec("DeepSkip", width=60, depth=2, beta=1e-12), lorenz63, seed=2)


class Truth:
    """The system itself in the place of a model."""

    def __init__(self, data: rfm.Dataset) -> None:
        system = rfm.get_system(data.name)
        self.stepper = system.stepper(system.resolve({}), data.dt)

    def run(self, start: Array, steps: int) -> rfm.Forecast:
        states = self.stepper.rollout(start, steps, rfm.Reporter(), "")
        return rfm.Forecast(states, np.full(len(states), -1), steps)


def test_the_system_has_its_own_climate(lorenz63: rfm.Dataset) -> None:
    found = rfm.climate(Truth(lorenz63), lorenz63, 600.0)  # type: ignore[arg-type]
    assert found.columns == ("x", "y", "z")
    assert (found.runs, found.diverged, found.reason) == (RUNS, 0, "")
    assert found.times == pytest.approx(600, rel=0.01)
    # as near as runs so short can be: how long each stays on either wing is chance
    assert (found.w2 < 0.15 * lorenz63.std).all()
    assert (found.w2_true < 0.15 * lorenz63.std).all()
    area = (found.truth * np.diff(found.edges)).sum(axis=1)
    np.testing.assert_allclose(area, 1)
    middle = found.frequency < 5
    ratio = found.power_surrogate[middle] / found.power_truth[middle]
    assert 0.5 < np.median(ratio) < 2


def test_another_system_has_another_climate(lorenz63: rfm.Dataset) -> None:
    class Shifted(Truth):
        def run(self, start: Array, steps: int) -> rfm.Forecast:
            real = super().run(start, steps)
            states = real.states + np.array([0.0, 0.0, 5.0])
            return dataclasses.replace(real, states=np.where(states > 1e3, np.nan, states))

    once = dataclasses.replace(lorenz63)
    found = rfm.climate(Shifted(once), once, 20.0)  # type: ignore[arg-type]
    assert found.w2[2] > 3  # pieces of a run follow from shifted ends, so it is not 5 exactly


def test_runs_that_leave_are_said(lorenz63: rfm.Dataset, model: rfm.Model) -> None:
    lost = dataclasses.replace(model, limit=1e-3)
    found = rfm.climate(lost, lorenz63, 20.0)
    assert found.diverged == RUNS
    assert np.isnan(found.w2).all()
    assert "nothing to compare" in found.reason


def test_true_runs_start_where_no_study_starts() -> None:
    assert min(OTHER_REALIZATIONS) > 10**6


def test_a_wrong_length_is_refused(lorenz63: rfm.Dataset, model: rfm.Model) -> None:
    with pytest.raises(rfm.InvalidInput, match=r"times=0.*all 10 runs together"):
        rfm.climate(model, lorenz63, 0)


def test_regressions_of_a_fit_and_of_the_model_agree(lorenz63: rfm.Dataset) -> None:
    """The path found while training is the one found again from the trained model."""
    spec = rfm.ModelSpec("DeepSkip", width=60, depth=2, beta="auto")
    *_, fitted = rfm.fit_events(spec, lorenz63, seed=2)
    assert isinstance(fitted, rfm.Fitted)
    first = rfm.regression_of_fit(fitted, lorenz63)
    again = rfm.regression(fitted.model, lorenz63)
    assert first is not None
    assert len(first.units) == len(again.units) == 2
    for one, other in zip(first.units, again.units, strict=True):
        assert one.beta == other.beta
        np.testing.assert_array_equal(one.betas, other.betas)
        np.testing.assert_allclose(one.heldout, other.heldout, rtol=1e-3)
    assert [s.solver for s in again.solvers] == ["qr", "normal"]
    assert "not compared yet" in first.reason
    assert again.reason == ""


def test_a_given_beta_has_no_path_of_its_own(lorenz63: rfm.Dataset) -> None:
    *_, fitted = rfm.fit_events(rfm.ModelSpec(width=30, beta=1e-10), lorenz63)
    assert isinstance(fitted, rfm.Fitted)
    assert rfm.regression_of_fit(fitted, lorenz63) is None


def test_a_large_deep_model_says_why_solvers_are_not_compared(lorenz63: rfm.Dataset) -> None:
    large = rfm.fit(rfm.ModelSpec("DeepSkip", width=150, depth=2, beta=1e-12), lorenz63)
    found = rfm.regression(large, lorenz63)
    assert found.solvers == ()
    assert "this one has 300" in found.reason


def test_watched_forecasts_are_those_of_evaluate(lorenz63: rfm.Dataset, model: rfm.Model) -> None:
    pieces: list[tuple[int, int]] = []
    watches: list[Watch] = []

    def grow(watch: Watch, first: int, piece: Array) -> None:
        watches.append(watch)
        pieces.append((first, piece.shape[1]))

    trajectories, times = rfm.forecasts(
        model,
        lorenz63,
        realization=4,
        grow=grow,
    )
    expected = rfm.evaluate(model, lorenz63)
    np.testing.assert_array_equal(times.vpt, expected.vpt)
    np.testing.assert_array_equal(times.censored, expected.censored)
    assert set(times.realization) == {4}
    assert pieces[0][0] == 1
    assert [first + n for first, n in pieces[:-1]] == [first for first, _ in pieces[1:]]
    fails = np.round(expected.vpt / lorenz63.per_step).astype(int) + 1
    assert not expected.censored.all()
    np.testing.assert_array_equal(watches[-1].failed_at, np.where(expected.censored, -1, fails))
    for test, it in enumerate(trajectories):
        assert (it.test, it.realization, it.vpt) == (test, 4, expected.vpt[test])
        beyond = round(it.vpt / lorenz63.per_step) + 1
        assert it.censored or it.error[beyond] >= lorenz63.eps
        assert (it.error[:beyond] < lorenz63.eps).all()


def test_one_trajectory_of_a_given_length(lorenz63: rfm.Dataset, model: rfm.Model) -> None:
    found = rfm.trajectory(model, lorenz63, 3, 50)
    assert found.forecast.shape == (51, 3)
    np.testing.assert_array_equal(found.truth, lorenz63.test[3, :51])
    with pytest.raises(rfm.InvalidInput, match="test=8"):
        rfm.trajectory(model, lorenz63, 8)


def test_times_of_several_realizations(lorenz63: rfm.Dataset, model: rfm.Model) -> None:
    one = rfm.evaluate(model, lorenz63)
    both = rfm.joined_times([one, one])
    assert len(both) == 16
    assert both.realization.tolist() == [0] * 8 + [1] * 8
    assert both.test.tolist() == [*range(8)] * 2


def test_counted_features(lorenz63: rfm.Dataset, model: rfm.Model) -> None:
    found = rfm.feature_regions(model, lorenz63)
    assert [set(unit) for unit in found.units] == [
        {"training", "test", "forecast", "naive"},
        {"training", "test", "forecast"},
    ]
    assert found.naive == NAIVE
    # hit-and-run keeps training states off the ends; a sampler that ignores the data does not
    assert found.units[0]["training"].overall["good"] == 1
    assert found.units[0]["naive"].overall["saturated"] > 0.5
    polynomial = rfm.fit(rfm.ModelSpec("RFM", features="polynomial", degree=2), lorenz63)
    assert rfm.feature_regions(polynomial, lorenz63).units == ()


def test_a_look_into_a_file() -> None:
    text = "t,a,b\n" + "\n".join(f"{i / 4},{math.sin(i)},{i % 3}" for i in range(40))
    found = rfm.inspect_series((text.encode(), "mine.csv"))
    assert found.columns == ("t", "a", "b")
    assert (found.rows, found.columns_count, found.components) == (40, 3, 2)
    assert (found.time_guess, found.dt_guess) == ("t", 0.25)
    assert len(found.sample) == 6
    assert found.sample[1][0] == 0.25
    assert "40 rows of 3 columns" in found.message


def test_a_look_into_several_arrays() -> None:
    rng, file = np.random.default_rng(0), io.BytesIO()
    np.savez(file, one=rng.standard_normal((50, 3)), two=rng.standard_normal((60, 2)))
    source = file.getvalue(), "two.npz"
    unclear = rfm.inspect_series(source)
    assert unclear.arrays == ("one", "two")
    assert unclear.rows == 0
    assert "one" in unclear.message
    assert rfm.inspect_series(source, key="two").rows == 60


def test_what_is_no_series_is_refused() -> None:
    with pytest.raises(rfm.InvalidInput):
        rfm.inspect_series((b"\x00\x01\x02", "mine.csv"))
    tight = rfm.SeriesLimits(max_bytes=10)
    with pytest.raises(rfm.InvalidInput, match="at most 10 are read"):
        rfm.inspect_series((b"1,2\n" * 500, "mine.csv"), limits=tight)
