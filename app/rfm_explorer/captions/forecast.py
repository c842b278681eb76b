"""Sentences that read the pictures of forecasts aloud, from the numbers of the moment.

Plain text. Names of a user's own data are in it as they are: show it through ``page.text``.
"""

from __future__ import annotations

import numpy as np

from rfm_core import ForecastTimes, PaperRow

from ..plots.parts import reach
from ..plots.style import plain
from ..results.records import Info, Times, Trained, Trajectory

_LINES = ("forecast (dashed)", "truth (solid)")


def forecast_sentence(info: Info, trajectory: Trajectory | None) -> str:
    """What the curves, images and the attractor show."""
    if trajectory is None:
        return "No forecast yet: once a model is trained, its forecast is drawn here."
    threshold = f"ε = {info.eps:.3g} standard deviations"
    # images have no lines to tell apart
    forecast, truth = ("forecast", "truth") if info.spatial else _LINES
    if trajectory.vpt is None:
        so_far = length(info, reach(trajectory) * info.per_step)
        return f"The {forecast} is under way: after {so_far} its error is still below {threshold}."
    if trajectory.censored:
        return (
            f"The {forecast} follows the {truth} for at least "
            f"{length(info, trajectory.vpt)}: its error stays below {threshold} to the end of "
            "this test." + _estimate(info)
        )
    if trajectory.vpt == 0:
        start = f"The {forecast} fails at once: its first step is wrong by at least {threshold}."
    else:
        start = (
            f"The {forecast} follows the {truth} for "
            f"{length(info, trajectory.vpt)}; then its error reaches {threshold}, and from there "
            "on the two go their own ways." + _estimate(info)
        )
    return start + _blow_up(info, trajectory)


def _blow_up(info: Info, trajectory: Trajectory) -> str:
    if trajectory.diverged_at < 0:
        return ""
    at = length(info, trajectory.diverged_at * info.per_step)
    return f" At {at} the model blows up: its state leaves every bound."


def error_sentence(info: Info, trajectory: Trajectory | None) -> str:
    """What the growth of the error shows."""
    if trajectory is None:
        return "No forecast yet, so there is no error to show."
    if info.lyapunov:
        rate = (
            "Chaos multiplies a small error by e ≈ 2.7 in each Lyapunov time, which is a straight "
            "line on this scale (dotted)"
        )
    else:
        rate = (
            "Chaos multiplies a small error by the same factor in each time unit, which is a "
            "straight line on this scale (not drawn, because the Lyapunov exponent is not known)"
        )
    first = float(trajectory.error[1]) if len(trajectory.error) > 1 else float("nan")
    one_step = ""
    if np.isfinite(first):
        one_step = f"After one step the error is {tiny(first)} standard deviations. "
    return f"{one_step}{rate}. {_crossing(info, trajectory)}"


def _crossing(info: Info, trajectory: Trajectory) -> str:
    threshold = f"the threshold ε = {info.eps:.3g}"
    if trajectory.vpt is None:
        return f"The forecast is under way and has not reached {threshold}."
    at = length(info, trajectory.vpt)
    if trajectory.censored:
        return f"In this test, {at} long, it does not reach {threshold}."
    if trajectory.vpt == 0:
        return f"Here it is above {threshold} at once."
    return f"After {at} it reaches {threshold}: so long the forecast is called valid."


def density_sentence(info: Info, times: Times | None, paper: PaperRow | None) -> str:
    """What the distribution of valid prediction times shows."""
    if times is None or not len(times):
        return "No forecast yet: every one will be a mark below the curve." + _paper(info, paper)
    if len(times) == 1:
        bound = "at least " if times.censored[0] else ""
        start = (
            f"One test so far: its forecast is valid for {bound}{length(info, times.vpt[0])} "
            f"(ε = {info.eps:.3g}); a mean needs more."
        )
        return start + _paper(info, paper)
    realizations = len(np.unique(times.realization))
    models = f", {realizations} models with weights of their own," if realizations > 1 else ""
    numbers = _summary(info, times)
    if times.censored.all():
        return f"{_all_good(info, times, models)}{_exceptions(times)}{_paper(info, paper)}"
    start = (
        f"Over {_count(len(times), 'test', 'tests')}{models} a forecast is valid for "
        f"{_mean(info, times)} on average, median {amount(numbers['median'])} (dotted), from "
        f"{amount(numbers['min'])} to {amount(numbers['max'])}."
    )
    return start + _exceptions(times) + _paper(info, paper)


def _all_good(info: Info, times: Times, models: str = "") -> str:
    """Where no forecast failed there is no mean to give, only how long the data were."""
    numbers = _summary(info, times)
    return (
        f"All {_count(len(times), 'forecast', 'forecasts')}{models} were still good (ε = "
        f"{info.eps:.3g}) at the end of the data, at {length(info, float(numbers['min']))}: a "
        "lower bound."
    )


def _exceptions(times: Times) -> str:
    n, good, lost = len(times), int(times.censored.sum()), int(times.diverged.sum())
    text = ""
    if 0 < good < n:
        verb = "was" if good == 1 else "were"
        text += (
            f" {good} of {n} {verb} still good at the end of the test: the mean is a lower bound."
        )
    if lost:
        text += f" In {lost} of {n} the model blew up after that."
    return text


def first_sight(
    info: Info, trained: Trained | None, times: Times | None, paper: PaperRow | None
) -> str:
    """One sentence for those who have touched nothing yet."""
    system = plain(info.title, 60)
    pairs = _count(info.pairs, "pair of states", "pairs of states")
    if trained is None:
        return f"A model is learning {system} from {pairs}, each with the one that follows it."
    spec = trained.spec
    word = "random feature" if "width" in spec.kind.settings else spec.kind.word
    features = _count(spec.unit_widths(info.dimension)[-1], word, f"{word}s")
    units = f" in each of {trained.spec.depth} units" if trained.spec.depth > 1 else ""
    start = (
        f"With {features}{units}, a model learned {system} from {pairs} in "
        f"{_seconds(trained.fit_seconds)}"
    )
    if times is None or not len(times):
        return f"{start}; now it forecasts what it has never seen."
    if len(times) == 1:
        bound = "at least " if times.censored[0] else ""
        return (
            f"{start}, and forecasts a trajectory it has never seen for {bound}"
            f"{length(info, times.vpt[0])} (n = 1, ε = {info.eps:.3g})."
        )
    if times.censored.all():
        return f"{start}. {_all_good(info, times)}"
    return (
        f"{start}, and forecasts trajectories it has never seen for {_mean(info, times)} on "
        f"average{_beside(info, paper)}."
    )


def _beside(info: Info, paper: PaperRow | None) -> str:
    """The paper's figure, where it measures the same."""
    if paper is None or not info.lyapunov or not np.isclose(paper.eps, info.eps):
        return ""
    return f"; the paper reports {paper.vpt_mean:.1f} for this model"


def _paper(info: Info, paper: PaperRow | None) -> str:
    if paper is None or not info.lyapunov:
        return ""
    text = (
        f" The paper reports {paper.vpt_mean:.1f} for this model (grey; standard deviation "
        f"{paper.vpt_std:.1f} over n = 500, so standard error {paper.vpt_std / 500**0.5:.2f})"
    )
    other = []
    if not np.isclose(paper.eps, info.eps):
        other.append(f"ε = {paper.eps:.3g}")
    if paper.n_train != info.pairs:
        other.append(_count(paper.n_train, "pair of states", "pairs of states"))
    if not np.isclose(paper.dt, info.dt):
        other.append(f"a time step of {paper.dt:g}")
    return text + (f", there with {_and(other)}." if other else ".")


def _summary(info: Info, times: Times) -> dict[str, float | int]:
    """The engine's own summary, so that the page and the library say the same."""
    diverged_at = np.where(times.diverged, 0, -1)
    return ForecastTimes(times.vpt, times.censored, diverged_at, info.unit).summary()


def _mean(info: Info, times: Times) -> str:
    numbers = _summary(info, times)
    bound = "at least " if times.censored.any() else ""
    error = numbers["sem"]
    digits = 1 if error >= 0.1 or error == 0 else 2
    return (
        f"{bound}{numbers['mean']:.{digits}f} ± {error:.{digits}f} {info.unit} (mean ± standard "
        f"error, n = {numbers['n']}, ε = {info.eps:.3g})"
    )


def length(info: Info, value: float) -> str:
    """A time with its unit; Lyapunov times with what they are in the system's own."""
    text = f"{amount(value)} {info.unit}"
    return f"{text} ({amount(value / info.lyapunov)} time units)" if info.lyapunov else text


def _estimate(info: Info) -> str:
    if not (info.lyapunov and info.lyapunov_is_estimate):
        return ""
    return f" The Lyapunov exponent, {info.lyapunov:.2g}, is an estimate from the data."


def amount(value: float) -> str:
    """A time: one decimal, or two digits where it is below one."""
    return f"{value:.1f}" if value >= 1 or value == 0 else f"{value:.2g}"


def tiny(value: float) -> str:
    """A small number in words that need no programming: 2·10⁻¹¹."""
    if value == 0 or 1e-3 <= value < 1e4:
        return f"{value:.2g}"
    digit, power = f"{value:.0e}".split("e")
    return f"{digit}·10{str(int(power)).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _count(n: int, one: str, many: str) -> str:
    """50 000 with a space that never breaks."""
    return f"{n:,} {one if n == 1 else many}".replace(",", "\u202f")


def _seconds(seconds: float) -> str:
    if seconds < 0.1:
        return "less than 0.1 seconds"
    if seconds < 10:
        return f"{seconds:.1f} seconds"
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
