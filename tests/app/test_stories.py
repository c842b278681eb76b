"""Stories: all of them valid, the cheapest ones run for real."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from rfm_explorer.results.records import Features, Info, Times
from rfm_explorer.state.controls import CONTROLS, difference
from rfm_explorer.state.settings import Settings
from rfm_explorer.state.stories import BY_KEY, STORIES, Numbers, Story

import rfm_core as rfm

VIEWS = {"forecast", "density", "features", "statistics", "regression", "model"}
CLEAR = {"further": (5.0, 9.0), "shorter": (9.0, 5.0)}  # pinned, then now


def numbers(mean: float, sem: float = 0.2) -> Numbers:
    return Numbers(50, mean, sem, "Lyapunov times", 0, 1400, 0.1, 0.2, 0.7)


def test_there_are_enough_and_each_has_a_name_of_its_own() -> None:
    assert len(STORIES) >= 11
    assert len(BY_KEY) == len({story.title for story in STORIES}) == len(STORIES)


@pytest.mark.parametrize("story", STORIES, ids=lambda s: s.key)
def test_both_runs_are_valid_and_differ_in_little(story: Story) -> None:
    found = []
    for values in (story.against, story.settings):
        s = Settings()
        s.apply(values)
        assert s.problems() == {}
        assert s.data_spec().n_test >= 10
        assert s.model_spec().size(s.dimension()) > 0
        link = Settings()
        assert link.read(s.query()) == []
        assert link.effective() == s.effective()
        found.append(s.effective())
    changed = difference(*found)
    assert changed
    applies_with = {"depth", "unit_weights", "G", "I", "sides", "patches", "w", "b", "standardize"}
    applies_with |= {"noise_on", "exchange_left", "exchange_right", "left", "right"}
    assert len(set(changed) - applies_with) <= 2  # one point each: a choice and perhaps its size
    assert set(changed) <= set(CONTROLS)
    assert story.view in VIEWS


@pytest.mark.parametrize("story", STORIES, ids=lambda s: s.key)
def test_the_reading_is_honest(story: Story) -> None:
    low, high = CLEAR[story.effect]
    told = story.told(numbers(high), numbers(low))
    assert f"{low:.2f} ± 0.20 Lyapunov times (n = 50); now: {high:.2f}" in told
    assert "not clear" not in told
    assert "{" not in told
    for run, against in ((low, high), (6.0, 6.0), (6.3, 6.0), (6.0, 6.3)):
        assert "not clear" in story.told(numbers(run), numbers(against))
    lonely = story.told(numbers(high, math.nan), numbers(low, math.nan))
    assert "not clear" in lonely
    assert "nan" not in lonely


@pytest.mark.parametrize("key", ["saturated", "linear", "hit-and-run"])
def test_the_cheapest_ones_show_what_they_claim(key: str) -> None:
    story = BY_KEY[key]
    against, run = (numbers_of(values, seed=11) for values in (story.against, story.settings))
    assert story.shows(run, against)
    assert not story.shows(against, run)
    naive = against if key == "hit-and-run" else run
    assert (naive.linear if key == "linear" else naive.saturated) > 0.8
    assert (run if key == "hit-and-run" else against).good > 0.999


def numbers_of(values: dict[str, Any], seed: int) -> Numbers:
    """As the app's job makes them."""
    s = Settings()
    s.apply({**values, "seed": seed, "device": "cpu"})
    data = rfm.make_dataset(s.data_spec())
    model = rfm.fit(s.model_spec(), data, seed=seed, device="cpu")
    found = rfm.evaluate(model, data)
    n = np.arange(len(found.vpt))
    times = Times(found.vpt, found.censored, found.diverged_at >= 0, 0 * n, n)
    regions = rfm.tanh_regions(model, data.train[:, ::10])
    features = Features(tuple({"training": unit} for unit in regions), "gaussian")
    info = Info(
        name=data.name, title="", dt=data.dt, eps=data.eps, lyapunov=data.lyapunov,
        lyapunov_is_estimate=False, columns=data.columns, dimension=3, homogeneous=False,
        length=3.0, pairs=data.pairs, n_test=len(n), steps=data.test.shape[1] - 1, std=data.std,
        mean=data.mean, backdrop=data.train[0, :0],
    )  # fmt: skip
    read = Numbers.of(info, times, None, features)
    told = found.summary()
    assert (read.n, read.mean, read.sem) == pytest.approx((told["n"], told["mean"], told["sem"]))
    return read
