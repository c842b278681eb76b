"""Sentences about features, long runs and regressions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from inside_scenes import some_climate, some_info, some_regions, some_regression
from rfm_explorer.captions import inside as words
from rfm_explorer.results.records import Features, Regression

INFO = some_info()


def test_regions_in_words() -> None:
    mine, naive = some_regions(0, 1, 0), some_regions(0.02, 0.12, 0.86)
    features = Features(({"training": mine, "naive": naive},), "gaussian")
    assert words.regions_sentence(features, 0, "training") == (
        "On training data, 100 % of the pre-activations of unit 1 are in the good zone, 0 % in the "
        "linear and 0 % in the saturated one. With naive Gaussian weights 86 % would be saturated, "
        "and a saturated feature is a constant."
    )
    assert "nothing to see on the forecast" in words.regions_sentence(features, 0, "forecast")
    assert "unit 4" in words.regions_sentence(features, 3, "training")
    assert "once a model is trained" in words.regions_sentence(None, 0, "training")
    alone = Features(({"training": naive},), "gaussian")
    assert words.regions_sentence(alone, 0, "training").endswith(
        "Mind that a saturated feature is a constant."
    )
    linear = Features(({"test": mine, "naive": some_regions(0.6, 0.3, 0.1)},), "uniform")
    told = words.regions_sentence(linear, 0, "test")
    assert "With naive uniform weights 60 % would be linear, and a linear feature tells" in told
    as_good = Features(({"test": naive, "naive": mine},), "gaussian")
    assert "they would do as well" in words.regions_sentence(as_good, 0, "test")


def test_climate_in_words() -> None:
    climate = some_climate()
    told = [words.climate_sentence(INFO, climate, column) for column in range(3)]
    assert "Over 100 Lyapunov times in 8 runs" in told[0]
    assert "distribution of x is 0.5 away" in told[0]
    assert "between two true runs it is 0.2, so the surrogate comes close" in told[0]
    assert "cannot tell them apart" in told[1]
    assert "lives elsewhere" in told[2]
    own = words.climate_sentence(replace(INFO, own=True), replace(climate, runs=1), 0)
    assert "in 1 run," in own
    assert "the halves of the true data" in own
    nothing = np.full(3, np.nan)
    lost = replace(climate, w2=nothing, w2_true=nothing, reason="All runs left every bound.")
    assert words.climate_sentence(INFO, lost, 0) == "All runs left every bound."
    assert "no long run" in words.climate_sentence(INFO, replace(lost, reason=""), 0)
    wide = replace(climate, outside=np.array([0.25, 0, 0]), reason="2 of 8 runs left every bound.")
    assert words.climate_sentence(INFO, wide, 0).endswith(
        "25 % of its values lie beyond the picture. 2 of 8 runs left every bound."
    )
    assert "W2).." not in words.climate_sentence(INFO, replace(climate, w2_true=nothing), 0)
    assert "not been run" in words.climate_sentence(INFO, None, 0)


def test_spectra_in_words() -> None:
    climate = some_climate()

    def told(factor: float) -> str:
        scaled = replace(climate, power_surrogate=factor * climate.power_truth)
        return words.spectrum_sentence(INFO, scaled)

    assert "within a factor of 1.2 at" in told(1.2)
    assert "the same rhythms" in told(1 / 1.2)
    assert told(3.0).endswith("similar rhythms.")
    assert told(20.0).endswith("other rhythms.")
    lost = replace(climate, power_surrogate=climate.power_truth * np.nan, reason="None lasted.")
    assert words.spectrum_sentence(INFO, lost) == "None lasted."
    empty = replace(
        climate, frequency=np.zeros(0), power_truth=np.zeros(0), power_surrogate=np.zeros(0)
    )
    assert "no spectrum" in words.spectrum_sentence(INFO, empty)
    assert "not been run" in words.spectrum_sentence(INFO, None)


def unit_with(regression: Regression, **changes: Any) -> Regression:
    return replace(regression, units=(replace(regression.units[0], **changes),))


def test_singular_values_in_words() -> None:
    regression = some_regression()
    s = np.array([1e3, 1.0, 1e-6, 1e-14])
    told = words.singular_sentence(unit_with(regression, singular_values=s, beta=1e-4), 0)
    assert told == (
        "4 singular values of the features, falling over 17 powers of ten. β = 0.0001 damps 2 of "
        "them; normal equations would lose 2 to rounding, QR 1."
    )
    none = words.singular_sentence(unit_with(regression, singular_values=s, beta=0.0), 0)
    assert "β = 0 damps none of them" in none
    zero = words.singular_sentence(unit_with(regression, singular_values=np.zeros(3)), 0)
    assert "nothing to learn from" in zero
    assert "not been looked into" in words.singular_sentence(None, 0)
    assert words.singular_sentence(replace(regression, units=(), reason="Why."), 0) == "Why."


def test_path_in_words() -> None:
    held = some_regression()
    assert words.path_sentence(held, 0) == (
        "The β in use, 1e-06, predicts rows held out best: to 0.25 in one step, and those learnt "
        "from to 0.2."
    )
    assert words.path_sentence(unit_with(held, beta=1e-9), 0).endswith("which is about as good.")
    assert words.path_sentence(unit_with(held, beta=2e-3), 0).endswith(
        "a smaller β would be 4 times as accurate."
    )
    assert "a larger β" in words.path_sentence(
        unit_with(held, beta=0.0, heldout=np.array([9, 0.25, 1])), 0
    )
    lost = unit_with(held, heldout=np.full(3, np.inf))
    assert "finite" in words.path_sentence(lost, 0)
    assert "nothing to see" in words.path_sentence(held, 7)


def test_solvers_in_words() -> None:
    regression = some_regression()
    told = words.solver_sentence(regression, INFO)
    assert "12.0 ± 0.30 with QR (β = 1e-24), 9.0 ± 0.20 with normal equations (β = 1e-12)" in told
    assert "Lyapunov times" in told
    assert "are lost" in told
    qr, normal = regression.solvers
    twins = replace(regression, solvers=(qr, replace(normal, forecast=qr.forecast - 0.1)))
    assert "does not matter" in words.solver_sentence(twins, INFO)
    above = replace(regression, solvers=(qr, replace(normal, forecast=qr.forecast + 5)))
    assert "reach further" in words.solver_sentence(above, INFO)
    whole = replace(qr, forecast=np.array([12.0, 12, 1]), standard_error=np.zeros(3))
    assert "at least 12.0" in words.solver_sentence(
        replace(regression, solvers=(whole, normal)), INFO
    )
    half = replace(regression, solvers=(qr,), reason="The other could not be tried.")
    assert words.solver_sentence(half, INFO).endswith("The other could not be tried.")
    none = replace(regression, solvers=(), reason="Deep models take too long.")
    assert words.solver_sentence(none, INFO) == "Deep models take too long."
    assert "not been looked into" in words.solver_sentence(None, INFO)


def test_percent_never_rounds_to_all_or_nothing() -> None:
    assert [words.percent(x) for x in (0, 0.001, 0.5, 0.999, 1)] == [
        "0 %", "less than 1 %", "50 %", "more than 99 %", "100 %",
    ]  # fmt: skip
