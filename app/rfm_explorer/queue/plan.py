"""From settings to a plan: checked, estimated, refused where it cannot fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rfm_core import InvalidInput
from rfm_core.run import Scheduler

from ..state.controls import OWN
from ..state.settings import Settings
from .estimate import Estimate, Sizes, estimate, refusal
from .extras import Extra

if TYPE_CHECKING:
    from ..page.upload import Upload


@dataclass(frozen=True)
class StagePlan:
    """One stage of a run: the job ``explorer.<name>``."""

    title: str  # in progress, with the run's name in its place
    estimate: Estimate
    arguments: dict[str, Any] = field(default_factory=dict)  # beyond what determines the run
    key: str = ""  # names it among all that sessions may ask of the same run; empty: its name


@dataclass(frozen=True)
class Plan:
    """What is to be run, in plain values."""

    identity: dict[str, Any]  # what determines the first realization
    settings: Settings  # as they were when it began
    realizations: int
    stages: dict[str, StagePlan]

    def key(self, stage: str) -> str:
        return self.stages[stage].key or stage


def sizes_of(settings: Settings, upload: Upload) -> Sizes:
    """Of the data that would be used."""
    if settings.system == OWN:
        return upload.sizes()
    return Sizes.of(settings.data_spec())


def estimate_of(settings: Settings, upload: Upload) -> Estimate:
    """Time and memory of the first realization."""
    return estimate(sizes_of(settings, upload), settings.model_spec())


def make_plan(
    settings: Settings, upload: Upload, scheduler: Scheduler, extras: Iterable[Extra] = ()
) -> Plan:
    """Refuses with the first problem, or with what would fit; ``extras`` may be asked for later."""
    if problems := settings.problems():
        raise InvalidInput(next(iter(problems.values())))
    model = settings.model_spec()
    sizes = sizes_of(settings, upload)
    limits = {"memory_gb": scheduler.memory_gb, "seconds": scheduler.job_seconds}
    if words := refusal(sizes, model, **limits):
        raise InvalidInput(words)
    own = settings.system == OWN
    data = upload.data(settings) if own else settings.data_spec().to_dict()
    identity: dict[str, Any] = {"data": data, "model": model.to_dict()}
    identity |= {"seed": settings.seed, "device": settings.device}
    realizations = 1 if own else settings.realizations
    first = estimate(sizes, model)
    shown = min(settings.test, settings.n_test - 1)
    stages = {
        "train": StagePlan("Training {}", first, {"shown": shown}),
        "realizations": StagePlan(
            "More realizations of {}",
            first.scaled(realizations - 1),
            key=f"realizations-{realizations}",
        ),
    }
    for extra in extras:
        options, cost = extra.options(settings), extra.cost(first, settings)
        key = "-".join([extra.name, *map(str, options.values())])
        stages[extra.name] = StagePlan(f"{extra.title} of {{}}", cost, options, key)
    return Plan(identity, settings.copy(), realizations, stages)
