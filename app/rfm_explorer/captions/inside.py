"""Sentences that read the pictures of features, long runs and regressions, with their numbers."""

from __future__ import annotations

import numpy as np

from rfm_core import TanhRegions

from ..plots.climate import column_name
from ..plots.regression import BLIND, unit_of
from ..results.records import Climate, Features, Info, Regression, Solver

Array = np.ndarray

STATES = {"training": "training data", "test": "test data", "forecast": "the forecast"}
WHY_BAD = {
    "saturated": "a saturated feature is a constant",
    "linear": "a linear feature tells nothing that the state itself does not",
}
NAMES = {"qr": "QR", "normal": "normal equations"}


def regions_sentence(features: Features | None, unit: int, of: str) -> str:
    """Where the features lie on the tanh, and where naive ones would."""
    if features is None:
        return "Where the features lie on the tanh is shown once a model is trained."
    states = STATES.get(of, of)
    regions = features.units[unit].get(of) if 0 <= unit < len(features.units) else None
    if regions is None:
        return f"For unit {unit + 1} there is nothing to see on {states}."
    shares = regions.overall
    told = (
        f"On {states}, {percent(shares['good'])} of the pre-activations of unit {unit + 1} are in "
        f"the good zone, {percent(shares['linear'])} in the linear and "
        f"{percent(shares['saturated'])} in the saturated one."
    )
    naive = features.units[unit].get("naive")
    return f"{told} {_naive_words(naive, features.naive) if naive else _zone_words(shares)}"


def _zone_words(shares: dict[str, float]) -> str:
    if shares["good"] >= 0.9:
        return "In the good zone features bend, and only there do they add something new."
    worse = max(WHY_BAD, key=shares.__getitem__)
    return f"Mind that {WHY_BAD[worse]}."


def _naive_words(naive: TanhRegions, sampler: str) -> str:
    shares = naive.overall
    weights = f"naive {'Gaussian' if sampler == 'gaussian' else sampler} weights"
    if shares["good"] >= 0.9:
        return f"With {weights} it would be {percent(shares['good'])}: here they would do as well."
    worse = max(WHY_BAD, key=shares.__getitem__)
    return f"With {weights} {percent(shares[worse])} would be {worse}, and {WHY_BAD[worse]}."


def climate_sentence(info: Info, climate: Climate | None, column: int) -> str:
    """How far the surrogate's distribution is from the true one, and how far that need be."""
    if climate is None:
        return "Truth and surrogate have not been run for long yet."
    w2, level = (_entry(values, column) for values in (climate.w2, climate.w2_true))
    if w2 is None:
        return climate.reason or "There is no long run of the surrogate to compare with the truth."
    told = (
        f"Over {climate.times:.0f} {info.unit} in {_count(climate.runs, 'run')}, the surrogate's "
        f"distribution of {column_name(climate, column)} is {w2:.2g} away from the true one "
        "(Wasserstein distance W2)"
    )
    if level is not None:
        pair = "the halves of the true data" if info.own else "two true runs"
        told += f"; between {pair} it is {level:.2g}, {_verdict(w2, level)}"
    outside = _entry(climate.outside, column) or 0.0
    more = [f"{percent(outside)} of its values lie beyond the picture."] if outside > 0 else []
    return " ".join([f"{told}.", *more, *([climate.reason] if climate.reason else [])])


def _verdict(w2: float, level: float) -> str:
    if w2 <= 1.5 * level:
        return "so this measure cannot tell them apart"
    if w2 <= 5 * level:
        return "so the surrogate comes close but can be told apart"
    return "so the surrogate lives elsewhere than the truth"


def spectrum_sentence(info: Info, climate: Climate | None) -> str:
    """Whether truth and surrogate have the same rhythms."""
    if climate is None:
        return "Truth and surrogate have not been run for long yet."
    factor = _typical_factor(climate)
    if factor is None:
        return climate.reason or "There is no spectrum of the surrogate to compare with the truth."
    told = (
        f"Where the true system has power, the surrogate has the same within a factor of "
        f"{factor:.3g} at half of the frequencies: "
    )
    if factor <= 1.5:
        return told + "the same rhythms, though the forecasts themselves have long gone astray."
    if factor <= 4:
        return told + "similar rhythms."
    return told + "other rhythms."


def _typical_factor(climate: Climate) -> float | None:
    """Median ratio of the spectra, the larger over the smaller, where the truth has power."""
    truth, surrogate = climate.power_truth, climate.power_surrogate
    if not len(truth) or len(surrogate) != len(truth) or not np.isfinite(truth).any():
        return None
    known = (climate.frequency > 0) & (truth > 1e-6 * np.nanmax(truth)) & (surrogate > 0)
    if not known.any():
        return None
    return float(np.exp(np.median(np.abs(np.log(surrogate[known] / truth[known])))))


def singular_sentence(regression: Regression | None, unit: int) -> str:
    """What beta and rounding leave of the features."""
    report = unit_of(regression, unit)
    if report is None:
        return _no_regression(regression)
    values = np.asarray(report.singular_values, float)
    first = float(values.max(initial=0.0))
    if not first > 0:
        return "All features are zero on these rows: there is nothing to learn from."
    damped = int((values < report.beta**0.5).sum())
    lost = {key: int((values < share * first).sum()) for key, share in BLIND.items()}
    decades = np.log10(first / max(float(values.min()), 1e-20 * first))
    return (
        f"{_count(len(values), 'singular value')} of the features, falling over {decades:.0f} "
        f"powers of ten. β = {report.beta:.2g} damps {_some(damped, len(values))} of them; normal "
        f"equations would lose {_some(lost['normal'], len(values))} to rounding, QR "
        f"{_some(lost['qr'], len(values))}."
    )


def path_sentence(regression: Regression | None, unit: int) -> str:
    """Whether the beta in use is a good one for the next step."""
    report = unit_of(regression, unit)
    if report is None:
        return _no_regression(regression)
    known = np.flatnonzero(np.isfinite(report.heldout))
    if not len(known):
        return "No beta along the path gave a finite error on rows held out."
    best = known[int(np.argmin(report.heldout[known]))]
    used = known[_nearest(report.betas[known], report.beta)]
    least, error = float(report.heldout[best]), float(report.heldout[used])
    if used == best:
        return (
            f"The β in use, {report.beta:.2g}, predicts rows held out best: to {least:.2g} in one "
            f"step, and those learnt from to {float(report.training[used]):.2g}."
        )
    told = (
        f"Rows held out are predicted best near β = {report.betas[best]:.2g}, to {least:.2g} in "
        f"one step. β = {report.beta:.2g} is in use: {error:.2g} on them, "
        f"{float(report.training[used]):.2g} on the rows learnt from"
    )
    if error <= 1.5 * least:
        return f"{told}, which is about as good."
    way = "smaller" if report.betas[best] < report.beta else "larger"
    return f"{told}; a {way} β would be {error / least:.2g} times as accurate."


def solver_sentence(regression: Regression | None, info: Info) -> str:
    """Whether it matters how the regression is solved."""
    if regression is None:
        return _no_regression(regression)
    best = {s.solver: found for s in regression.solvers if (found := _best(s)) is not None}
    if not best:
        return regression.reason or "The solvers have not been compared."
    told = ", ".join(
        f"{_reach(time, error)} with {NAMES[key]} (β = {beta:.1g})"
        for key, (beta, time, error) in best.items()
    )
    told = (
        f"Forecasts of training data held out reach, in {info.unit} and mean ± standard error at "
        f"the best β: {told}."
    )
    more = regression.reason if len(best) < len(NAMES) else _difference(best["qr"], best["normal"])
    return f"{told} {more}".strip()


def _reach(time: float, error: float) -> str:
    """A forecast time; where all are the same, all lasted as long as the data did."""
    if _to_the_end(time, error):
        return f"at least {time:.1f}, to the end of the data,"
    return f"{time:.1f} ± {error:.2f}"


def _to_the_end(time: float, error: float) -> bool:
    return error < 1e-9 * time


def _difference(qr: tuple[float, float, float], normal: tuple[float, float, float]) -> str:
    gain, doubt = qr[1] - normal[1], float(np.hypot(qr[2], normal[2]))
    if _to_the_end(*qr[1:]) and gain > -2 * doubt:
        return "The data end before forecasts with QR do: more training data would tell more."
    if gain > 2 * doubt:
        return (
            "Normal equations square the features' condition number, and small singular values "
            "that QR still sees are lost."
        )
    if gain < -2 * doubt:
        return "Here normal equations reach further, which is chance or their rounding's damping."
    return "The difference is within the errors: here the solver does not matter."


def _best(solver: Solver) -> tuple[float, float, float] | None:
    """Beta, mean forecast time and its standard error where it is largest."""
    known = np.flatnonzero(np.isfinite(solver.forecast))
    if not len(known):
        return None
    top = known[int(np.argmax(solver.forecast[known]))]
    error = float(np.nan_to_num(solver.standard_error[top]))
    return float(solver.betas[top]), float(solver.forecast[top]), error


def _nearest(betas: Array, beta: float) -> int:
    """By ratio; zero counts as very small."""
    logs = np.log(np.maximum(betas, 1e-300))
    return int(np.argmin(np.abs(logs - np.log(max(beta, 1e-300)))))


def _no_regression(regression: Regression | None) -> str:
    if regression is None:
        return "The regression has not been looked into yet."
    return regression.reason or "There is nothing to see of this unit's regression."


def percent(share: float) -> str:
    """A share in words that never says 0 or 100 % of what is not quite so."""
    if 0 < share < 0.005:
        return "less than 1 %"
    if 0.995 <= share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"


def _entry(values: Array, column: int) -> float | None:
    """The column's value, or None where it is missing."""
    known = 0 <= column < len(values) and np.isfinite(values[column])
    return float(values[column]) if known else None


def _some(part: int, whole: int) -> str:
    return "none" if part == 0 else "all" if part == whole else f"{part:,}"


def _count(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"
