"""Presets that each teach one point: two runs, a question before and a reading after.

Measured by ``tests/bench/stories.py``: mean VPT in Lyapunov times of the pinned run and of the new
one for seeds 0, 1, 2, 3 (taper: 0, 1, 2), the usual standard error of these means, and processor
seconds of both runs together on one thread, data included.

| story               | pinned                 | new                    | error      | seconds |
|---------------------|------------------------|------------------------|------------|---------|
| saturated           | 21.9, 21.4, 21.9, 22.0 | 0.22, 0.24, 0.24, 0.27 | 0.25, 0.03 | 2       |
| linear              | 21.9, 21.4, 21.9, 22.0 | 0.05, 0.05, 0.06, 0.06 | 0.25, 0.01 | 2       |
| hit-and-run         | 0.30, 0.45, 0.45, 0.36 | 21.7, 21.0, 21.5, 21.8 | 0.04, 0.26 | 2       |
| skip                | 5.74, 6.16, 5.84, 4.96 | 6.95, 7.21, 6.72, 6.96 | 0.15, 0.15 | 3       |
| depth-at-fixed-size | 24.4, 23.4, 24.7, 24.8 | 27.8, 27.3, 28.6, 27.8 | 0.26, 0.25 | 4       |
| depth-at-large-step | 13.8, 12.7, 13.3, 12.2 | 17.8, 17.7, 17.6, 17.4 | 0.20, 0.25 | 6       |
| localization        | 0.23, 0.24, 0.26, 0.24 | 5.44, 5.20, 4.99, 5.26 | 0.01, 0.26 | 4       |
| exchange            | 6.85, 6.79, 6.09, 7.01 | 8.55, 8.19, 8.06, 8.47 | 0.30, 0.33 | 12      |
| noise               | 0.09, 0.09, 0.09, 0.09 | 4.88, 4.65, 4.77, 5.40 | 0.00, 0.29 | 28      |
| taper               | 2.41, 0.23, 0.19       | 6.35, 6.15, 6.32       | 0.07, 0.40 | 33      |
| solver              | 9.74, 9.96, 8.78, 9.89 | 25.4, 27.3, 26.1, 26.3 | 0.22, 0.22 | 3       |
| accuracy            | 14.5, 14.4, 14.2, 14.4 | 25.4, 27.3, 26.1, 26.3 | 0.27, 0.22 | 4       |
| ridge               | 24.3, 23.8, 23.9, 24.6 | 5.27, 5.27, 5.59, 4.94 | 0.26, 0.20 | 3       |

Without a penalty to speak of (automatic beta) skip and no skip are alike: 25.9, 27.3, 26.2 and
25.9, 25.2, 26.7 with 512 features.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from ..results.records import Features, Info, Times, Trained

Effect = Literal["further", "shorter"]


@dataclass(frozen=True)
class Numbers:
    """What a reading needs of a run."""

    n: int
    mean: float
    sem: float  # NaN for a single forecast
    unit: str
    diverged: int = 0
    size: int = 0
    linear: float = math.nan  # shares of pre-activations on the training data
    good: float = math.nan
    saturated: float = math.nan

    @classmethod
    def of(
        cls, info: Info, times: Times, trained: Trained | None, features: Features | None = None
    ) -> Numbers:
        """From the results of a run that has at least one forecast."""
        n = len(times)
        shares = {} if features is None else features.units[0]["training"].overall
        return cls(
            n=n,
            mean=float(times.vpt.mean()),
            sem=float(times.vpt.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan,
            unit=info.unit,
            diverged=int(times.diverged.sum()),
            size=trained.size if trained else 0,
            **shares,
        )

    @property
    def words(self) -> str:
        """For example "21.92 ± 0.21 Lyapunov times (n = 50)"."""
        error = f" ± {self.sem:.2f}" if math.isfinite(self.sem) else ""
        return f"{self.mean:.2f}{error} {self.unit} (n = {self.n})"


@dataclass(frozen=True)
class Story:
    """``against`` runs first and is pinned, then ``settings``; ``after`` may use both's numbers."""

    key: str
    title: str
    before: str
    after: str  # a template of ``run`` and ``against``
    settings: dict[str, Any]
    against: dict[str, Any]
    effect: Effect  # of the second run compared with the pinned one
    view: str = "density"

    def shows(self, run: Numbers, against: Numbers) -> bool:
        """Do these runs differ as the story says, by more than two standard errors?"""
        error = math.hypot(run.sem, against.sem)
        gain = run.mean - against.mean
        return (gain if self.effect == "further" else -gain) > 2 * error

    def told(self, run: Numbers, against: Numbers, named: tuple[str, str] = ("", "")) -> str:
        """What to see, with the numbers of these two runs; honest where they do not show it.

        ``named``: what the pinned one and the new one are called.
        """
        pinned, now = (f", {name}" if name else "" for name in named)
        read = f"Pinned{pinned}: {against.words}; now{now}: {run.words}. "
        if self.shows(run, against):
            return read + self.after.format(run=run, against=against)
        return read + (
            "This time the difference is not clear beyond two standard errors: repeat it with "
            "another seed or more test trajectories."
        )


def _pair(common: dict[str, Any], against: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    # as the paper's, with which they were measured
    common = {"centred": False, "refine": 0, **common}
    return {"against": {**common, **against}, "settings": {**common, **new}}


_SMALL = {"system": "L63", "n_train": 10_000, "n_test": 50, "width": 200}
_MEDIUM = {"system": "L63", "n_train": 20_000, "n_test": 50}
# Local units as in the paper: halos that are even, directions and range that are not special.
_PLAIN = {
    "architecture": "LocalSkip", "width": 512, "sides": "equal", "standardize": False, "taper": 0.0,
    "L1": 3.5,
}  # fmt: skip
_L96 = {
    **_PLAIN, "system": "L96", "n_train": 20_000, "n_test": 20, "rows": 20_000, "G": 2, "I": 2,
}  # fmt: skip
_EXCHANGE = {
    **_L96, "width": 400, "depth": 2, "G": 1, "sides": "separate", "left": 4, "right": 2,
    "exchange_left": 2, "exchange_right": 1,
}  # fmt: skip
_KS = {
    **_PLAIN, "system": "KS", "n_train": 8000, "n_test": 10, "G": 8, "I": 1, "rows": 60_000,
    "beta_auto": False, "beta": 1e-12,
}  # fmt: skip

STORIES = (
    Story(
        "saturated",
        "Features that are all saturated",
        "What if the random weights are so large that every tanh is at its flat end?",
        "{run.saturated:.0%} of the pre-activations are saturated: such features are constants "
        "with jumps, and no regression can make a smooth map of them.",
        **_pair(_SMALL, {}, {"sampler": "gaussian", "w": 10.0, "b": 10.0}),
        effect="shorter",
        view="features",
    ),
    Story(
        "linear",
        "Features that are all linear",
        "What if the random weights are so small that every tanh is a straight line?",
        "{run.linear:.0%} of the pre-activations are in the linear zone: sums of straight lines "
        "are straight lines, and no linear map is chaotic.",
        **_pair(_SMALL, {}, {"sampler": "gaussian", "w": 1e-8, "b": 1e-8}),
        effect="shorter",
        view="features",
    ),
    Story(
        "hit-and-run",
        "Hit-and-run puts the features where they bend",
        "Weights of size one look harmless; does it matter that they ignore the data?",
        "Of the naive weights' pre-activations {against.saturated:.0%} were saturated; "
        "hit-and-run has {run.good:.0%} in the zone where tanh bends, with as many features and "
        "no training of the internal weights.",
        **_pair(_SMALL, {"sampler": "gaussian"}, {"sampler": "hit-and-run"}),
        effect="further",
        view="features",
    ),
    Story(
        "skip",
        "Learning the change instead of the state",
        "The next state is nearly this one: is it better to learn only the difference?",
        "With the same penalty on the outer weights the skip connection has the identity for "
        "nothing, and the regression spends its weights on the change; with next to no penalty the "
        "two are alike.",
        **_pair(
            {**_SMALL, "n_test": 100, "width": 300, "beta_auto": False, "beta": 1e-6},
            {"architecture": "RFM"},
            {"architecture": "SkipRFM"},
        ),
        effect="further",
    ),
    Story(
        "depth-at-fixed-size",
        "One wide unit or two narrow ones",
        "With 5,000 parameters and a small time step, does depth beat width?",
        "{against.size:,} parameters in two units against {run.size:,} in one: over a short step "
        "the map is nearly linear, there is little to compose, and width wins.",
        **_pair(
            _MEDIUM,
            {"architecture": "DeepSkip", "width": 250, "depth": 2},
            {"architecture": "SkipRFM", "width": 716},
        ),
        effect="further",
    ),
    Story(
        "depth-at-large-step",
        "Depth pays off over long steps",
        "Ten times the time step, as many parameters: what do two units do that one cannot?",
        "{against.size:,} parameters in one unit against {run.size:,} in two: the second unit "
        "sees the first one's prediction, and what is left to learn from there is far simpler.",
        **_pair(
            {**_MEDIUM, "dt": 0.1},
            {"architecture": "SkipRFM", "width": 1024},
            {"architecture": "DeepSkip", "width": 358, "depth": 2},
        ),
        effect="further",
    ),
    Story(
        "localization",
        "Small local units rescue Lorenz 96",
        "Forty components are too many for 512 features that see them all; what if each unit "
        "looks only at its neighbourhood?",
        "Patches of two components that see two patches on either side need {run.size:,} "
        "parameters instead of {against.size:,}, because distant components do not matter within "
        "a step and one unit serves all places.",
        **_pair(_L96, {"architecture": "SkipRFM"}, {"architecture": "LocalSkip"}),
        effect="further",
        view="forecast",
    ),
    Story(
        "exchange",
        "Units that talk to their neighbours",
        "A local unit cannot see past its halo; what if the second one is told what the "
        "neighbours' first ones think?",
        "With the same halo and width the view widens from unit to unit, and what enters the "
        "halo during a step is no longer a surprise.",
        **_pair(_EXCHANGE, {"architecture": "LocalDeepSkip"}, {"architecture": "LocalDeepSkipX"}),
        effect="further",
    ),
    Story(
        "noise",
        "Kuramoto-Sivashinsky needs a little noise",
        "The one-step errors are tiny, yet the forecast blows up at once: what is missing?",
        "The seams between patches feed short waves that the data never contain; inputs with a "
        "little noise teach the model to damp them. It costs accuracy, and buys stability.",
        **_pair(_KS, {"noise": 0.0}, {"noise": 1e-3}),
        effect="further",
        view="forecast",
    ),
    Story(
        "taper",
        "A wide view that stays sharp",
        "Short waves can only be damped by a unit that sees far around; but with so many inputs, "
        "what do its few features look at?",
        "Both see 16 points beyond their patch. Features that take less of what is far spend "
        "themselves on what decides the next state, and the same {run.size:,} parameters make a "
        "tenth of the error.",
        **_pair(
            {**_KS, "G": 4, "I": 4, "noise": 1e-4, "beta_auto": True, "centred": True},
            {"taper": 0.0},
            {"taper": 0.3},
        ),
        effect="further",
        view="forecast",
    ),
    Story(
        "solver",
        "The same regression, solved with all digits",
        "Normal equations square the feature matrix before they solve: what does that cost?",
        "Squaring loses every singular value below 1e-8 of the largest; QR keeps them, with the "
        "same features and the same data.",
        **_pair({**_MEDIUM, "width": 512}, {"solver": "normal"}, {"solver": "qr"}),
        effect="further",
        view="regression",
    ),
    Story(
        "accuracy",
        "The data cap the forecast",
        "Can a model forecast further than its test data are accurate?",
        "Data with errors of 1e-8 stop being Lorenz's trajectory after some 14 Lyapunov times, "
        "so not even the exact equations could score more against them.",
        **_pair({**_MEDIUM, "width": 512}, {"accuracy": "paper"}, {"accuracy": "fine"}),
        effect="further",
    ),
    Story(
        "ridge",
        "A penalty that is too heavy",
        "A large ridge parameter is the usual advice against overfitting; is it good here?",
        "There are far more data than weights, nothing is overfitted, and the penalty only blurs "
        "the map: let β be chosen on rows kept aside.",
        **_pair({**_SMALL, "width": 300}, {"beta_auto": True}, {"beta_auto": False, "beta": 1e-4}),
        effect="shorter",
        view="regression",
    ),
)
BY_KEY = {story.key: story for story in STORIES}
