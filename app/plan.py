"""From settings to a plan: checked, estimated, refused where it cannot fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfm_core import InvalidInput, ModelSpec

from .broker import Broker
from .estimate import Estimate, Sizes, estimate, refusal
from .runner import Plan
from .settings import OWN, Settings

if TYPE_CHECKING:
    from .upload import Upload


def sizes_of(settings: Settings, upload: Upload) -> Sizes:
    """Of the data that would be used."""
    if settings.system == OWN:
        return upload.sizes()
    return Sizes.of(settings.data_spec())


def estimate_of(settings: Settings, upload: Upload) -> Estimate:
    """Time and memory of the first realization."""
    return estimate(sizes_of(settings, upload), settings.model_spec())


def make_plan(settings: Settings, upload: Upload, broker: Broker) -> Plan:
    """Refuses with the first problem, or with what would fit."""
    if problems := settings.problems():
        raise InvalidInput(next(iter(problems.values())))
    model = settings.model_spec()
    sizes = sizes_of(settings, upload)
    limits = {"memory_gb": broker.memory_gb, "seconds": broker.job_seconds}
    if words := refusal(sizes, model, **limits):
        raise InvalidInput(words)
    data: dict[str, Any] = (
        upload.data(settings) if settings.system == OWN else settings.data_spec().to_dict()
    )
    return Plan(
        data=data,
        model=model.to_dict(),
        seed=settings.seed,
        realizations=1 if settings.system == OWN else settings.realizations,
        device=settings.device,
        climate_times=settings.climate_times,
        shown=min(settings.test, settings.n_test - 1),
        estimate=estimate(sizes, model),
        extra_estimates=_extras(sizes, model, settings),
    )


def _extras(sizes: Sizes, model: ModelSpec, settings: Settings) -> dict[str, Estimate]:
    """What the stages after training take."""
    first = estimate(sizes, model)
    more = max(0, settings.realizations - 1)
    return {
        "realizations": first.scaled(more),
        "climate": first.with_forecast(settings.climate_times),
        "regression": first.scaled(2.5),
    }
