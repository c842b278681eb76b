"""Sentences about forecasts: right in number, unit and certainty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rfm_explorer.captions import forecast as words
from rfm_explorer.results.records import Info, Times, Trained, Trajectory

from rfm_core import ModelSpec, paper_rows

INFO = Info(
    name="L63",
    title="Lorenz 1963",
    dt=0.01,
    eps=0.3,
    lyapunov=0.91,
    lyapunov_is_estimate=False,
    columns=("x", "y", "z"),
    dimension=3,
    homogeneous=False,
    length=3.0,
    pairs=50_000,
    n_test=4,
    steps=1000,
    std=np.ones(3),
    mean=np.zeros(3),
    backdrop=np.zeros((0, 3)),
)
UNKNOWN = replace(INFO, lyapunov=None)
PAPER = next(row for row in paper_rows() if row.system == "L63" and row.eps == 0.3)
TRAINED = Trained(ModelSpec("SkipRFM", width=512), 0, 3584, (), 0.1, 0.52)


def trajectory(**changes):
    steps = np.arange(1001)
    truth = np.stack([np.sin(steps / 20 + k) for k in range(3)], axis=1)
    error = np.minimum(2e-11 * np.exp(steps * 0.03), 1.5)
    shown = Trajectory(0, 0, truth, truth + error[:, None], error, 7.5, False, -1)
    return replace(shown, **changes)


def times(*vpt, censored=0, diverged=0, realizations=1):
    n = len(vpt)
    flags = [np.arange(n) < k for k in (censored, diverged)]
    return Times(np.array(vpt, float), *flags, np.arange(n) % realizations, np.arange(n))


def test_a_forecast_that_fails():
    text = words.forecast_sentence(INFO, trajectory())
    assert "for 7.5 Lyapunov times (8.2 time units)" in text
    assert "ε = 0.3 standard deviations" in text
    assert "(dashed)" in text
    assert "at least" not in text


def test_images_have_no_dashes():
    text = words.forecast_sentence(replace(INFO, dimension=40), trajectory())
    assert "dashed" not in text


def test_a_forecast_that_never_fails_is_a_lower_bound():
    text = words.forecast_sentence(INFO, trajectory(censored=True))
    assert "for at least 7.5 Lyapunov times" in text
    assert "end of this test" in text


def test_a_forecast_under_way():
    states = trajectory().forecast.copy()
    states[501:] = np.nan
    text = words.forecast_sentence(INFO, trajectory(forecast=states, vpt=None, done=False))
    assert "under way: after 4.5 Lyapunov times" in text  # 500 steps of 0.0091


def test_a_model_that_blows_up_or_fails_at_once():
    text = words.forecast_sentence(INFO, trajectory(diverged_at=900))
    assert "At 8.2 Lyapunov times (9.0 time units) the model blows up" in text
    assert "fails at once" in words.forecast_sentence(INFO, trajectory(vpt=0.0))


def test_times_without_a_known_exponent_are_in_time_units():
    text = words.forecast_sentence(UNKNOWN, trajectory())
    assert "for 7.5 time units;" in text
    assert "Lyapunov" not in text
    assert "not known" in words.error_sentence(UNKNOWN, trajectory())
    assert "Lyapunov" not in words.density_sentence(UNKNOWN, times(1, 2), PAPER)


def test_an_estimated_exponent_is_called_one():
    text = words.forecast_sentence(replace(INFO, lyapunov_is_estimate=True), trajectory())
    assert "0.91, is an estimate" in text


def test_error_of_one_step_and_crossing():
    text = words.error_sentence(INFO, trajectory())
    assert "2·10⁻¹¹ standard deviations" in text
    assert "After 7.5 Lyapunov times (8.2 time units) it reaches the threshold ε = 0.3" in text
    assert "does not reach" in words.error_sentence(INFO, trajectory(censored=True))
    assert "has not reached" in words.error_sentence(INFO, trajectory(vpt=None))
    assert "at once" in words.error_sentence(INFO, trajectory(vpt=0.0))
    unknown = trajectory(error=np.full(1001, np.nan), vpt=None)
    assert "nan" not in words.error_sentence(INFO, unknown)


def test_nothing_yet():
    for text in (
        words.forecast_sentence(INFO, None),
        words.error_sentence(INFO, None),
        words.density_sentence(INFO, None, None),
        words.density_sentence(INFO, times(), None),
    ):
        assert text.startswith("No forecast yet")


def test_a_mean_comes_with_its_error_number_and_threshold():
    text = words.density_sentence(INFO, times(8, 10, 12, 10), None)
    assert "Over 4 tests a forecast is valid for 10.0 ± 0.8 Lyapunov times" in text
    assert "(mean ± standard error, n = 4, ε = 0.3)" in text
    assert "median 10.0 (dotted), from 8.0 to 12.0" in text


def test_one_test_has_no_mean():
    text = words.density_sentence(INFO, times(8), None)
    assert text.startswith("One test so far")
    assert "±" not in text
    assert "at least 8.0" in words.density_sentence(INFO, times(8, censored=1), None)


def test_several_models_are_counted():
    text = words.density_sentence(INFO, times(8, 10, 12, 10, realizations=2), None)
    assert "4 tests, 2 models with weights of their own," in text


@pytest.mark.parametrize(
    ("censored", "said"),
    [(1, "1 of 3 was still good"), (2, "2 of 3 were still good")],
)
def test_lower_bounds_are_called_so(censored, said):
    text = words.density_sentence(INFO, times(9, 9, 8, censored=censored), None)
    assert said in text
    assert "at least 8.7 ±" in text


def test_where_none_failed_there_is_no_mean():
    """A mean of 50.0 ± 0.0 would tell of the data, not of the model."""
    good = times(50, 50, 50, censored=3)
    sight = words.first_sight(INFO, TRAINED, good, PAPER)
    for text in (words.density_sentence(INFO, good, None), sight):
        assert "All 3 forecasts were still good" in text
        assert "at the end of the data, at 50.0 Lyapunov times" in text
        assert "a lower bound" in text
        assert "±" not in text


def test_blow_ups_are_counted():
    text = words.density_sentence(INFO, times(9, 9, 8, diverged=2), None)
    assert "In 2 of 3 the model blew up" in text


def test_the_paper_is_quoted_with_what_differs():
    same = words.density_sentence(INFO, times(9, 8), PAPER)
    assert "The paper reports 9.8 for this model (grey; standard deviation 1.8 over n = 500" in same
    assert "there with" not in same
    other = replace(INFO, eps=0.5, pairs=1000, dt=0.02)
    text = words.density_sentence(other, times(9, 8), PAPER)
    assert "there with ε = 0.3, 50\u202f000 pairs of states and a time step of 0.01." in text


def test_first_sight():
    text = words.first_sight(INFO, TRAINED, times(8, 10, 12, 10), PAPER)
    assert text.startswith("With 512 random features, a model learned Lorenz 1963 from 50\u202f000")
    assert "in 0.5 seconds" in text
    assert "10.0 ± 0.8 Lyapunov times (mean ± standard error, n = 4, ε = 0.3)" in text
    assert text.endswith("the paper reports 9.8 for this model.")
    assert text.count(". ") == 0  # one sentence
    other = words.first_sight(replace(INFO, eps=0.5), TRAINED, times(8, 9), PAPER)
    assert "paper" not in other  # measured with another threshold


def test_first_sight_before_the_end():
    assert "is learning Lorenz 1963" in words.first_sight(INFO, None, None, None)
    assert "now it forecasts" in words.first_sight(INFO, TRAINED, times(), None)
    assert "(n = 1, ε = 0.3)" in words.first_sight(INFO, TRAINED, times(8), None)
    deep = replace(
        TRAINED, spec=ModelSpec("DeepSkip", width=1, depth=3, centred=False), fit_seconds=200
    )
    text = words.first_sight(replace(INFO, pairs=1), deep, times(8), None)
    assert "1 random feature in each of 3 units" in text
    assert "from 1 pair of states in 3 minutes" in text


def test_a_strangers_name_stays_short():
    text = words.first_sight(replace(INFO, title="n" * 500), TRAINED, times(8), None)
    assert "n" * 60 not in text
