"""The system, its data and tests, and the run as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import torch

from rfm_core import SYSTEMS
from rfm_core.checks import Real, Whole
from rfm_core.data.generate import LIMITS as DATA

from ..control import Control
from .conditions import OWN, generated, inexact

PAIRS = (
    500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
)  # fmt: skip


@cache
def devices() -> dict[str, str]:
    known = {"auto": "what is there", "cpu": "processor"}
    return known | ({"cuda": "graphics card"} if torch.cuda.is_available() else {})


class Systems(Mapping[str, str]):
    """Names and titles of all systems there are now: a script may add its own at any time."""

    def __getitem__(self, name: str) -> str:
        return "My own data" if name == OWN else SYSTEMS[name].title

    def __iter__(self) -> Iterator[str]:
        yield from SYSTEMS
        yield OWN

    def __len__(self) -> int:
        return len(SYSTEMS) + 1


SYSTEM_CONTROLS = (
    Control(
        name="system",
        label="System",
        help="The chaotic system whose trajectories are learnt; another one brings its own good "
        "values.",
        default="L63",
        kind="choice",
        choices=Systems(),
        group="system",
        sets=("data.system",),
    ),
)
DATA_CONTROLS = (
    Control(
        name="n_train",
        label="Training pairs N",
        help="Pairs of a state and the next one to learn from.",
        default=50_000,
        kind="whole",
        limits=DATA["n_train"],
        steps=PAIRS,
        group="data",
        sets=("data.n_train",),
        off=generated,
    ),
    Control(
        name="dt",
        label="Time step Δt",
        help="Time between two states; a longer one makes the map to be learnt more nonlinear.",
        default=0.01,
        kind="real",
        limits=DATA["dt"],
        unit="time units",
        group="data",
        sets=("data.dt",),
        off=generated,
    ),
    Control(
        name="eps",
        label="Threshold ε",
        help="Error, in standard deviations, at which a forecast counts as failed.",
        default=0.3,
        kind="real",
        limits=DATA["eps"],
        unit="standard deviations",
        group="data",
        sets=("data.eps", "series.eps"),
    ),
    Control(
        name="accuracy",
        label="Accuracy of the data",
        help="Exact to rounding, or integrated as the paper did, with errors of 1e-8 that cap "
        "every forecast.",
        default="fine",
        kind="choice",
        choices={"fine": "exact to rounding", "paper": "as the paper's"},
        group="data",
        sets=("data.accuracy",),
        off=inexact,
    ),
    Control(
        name="n_test",
        label="Test trajectories",
        help="Forecasts for each realization; chaos makes single ones vary, so look at many.",
        default=20,
        kind="whole",
        limits=Whole(1, 10_000, "20 is usual."),
        group="data",
        sets=("data.n_test", "series.n_test"),
    ),
    Control(
        name="realizations",
        label="Realizations",
        help="Times that everything is repeated with new training data, weights and tests.",
        default=1,
        kind="whole",
        limits=Whole(1, 10_000, "More take long; 500 are the paper's."),
        group="data",
        sets=("job.realizations",),
        off=generated,
    ),
)
RUN_CONTROLS = (
    Control(
        name="climate_times",
        label="Length of long runs",
        help="Lyapunov times over which the statistics of truth and surrogate are compared.",
        default=200.0,
        kind="real",
        limits=Real(20, 100_000, "200 is usual."),
        unit="Lyapunov times",
        group="run",
        sets=("job.climate_times",),
    ),
    Control(
        name="device",
        label="Computed on",
        help="The graphics card where there is one (auto), or the processor.",
        default="auto",
        kind="choice",
        choices=devices(),
        group="run",
        sets=("job.device",),
    ),
    Control(
        name="seed",
        label="Seed",
        help="Names all random numbers: the same seed gives the same run again.",
        default=0,
        kind="whole",
        limits=DATA["seed"],
        group="run",
        sets=("data.seed", "job.seed"),
    ),
    Control(
        name="test",
        label="Shown trajectory",
        help="Which of the test trajectories is drawn.",
        default=0,
        kind="whole",
        limits=Whole(0, 10_000, "0 is the first."),
    ),
)
