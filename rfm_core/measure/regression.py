"""Inside the regressions of a trained model: singular values, paths of beta, two solvers."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch

from ..checks import InvalidInput
from ..choose.beta import WIDE, search_beta
from ..data.dataset import Dataset, evenly
from ..events import Progress, Reporter
from ..model.features import Features
from ..model.fit import AUTO_BETAS, HELD_OUT, Fitted, Training
from ..model.model import Model
from ..model.ridge import BetaPath, beta_path
from ..parallel import in_threads
from .diagnostics import condition_numbers

Outcome = TypeVar("Outcome")
Array = np.ndarray
DEEP_WIDTH = 256  # depth times width up to which a deep model is trained anew for every beta
SOLVERS = ("qr", "normal")


@dataclass(frozen=True, eq=False)
class UnitRegression:
    """Inside one unit's regression."""

    singular_values: Array  # (features,) descending, of the features over all rows
    beta: float
    betas: Array  # (n,) the path
    training: Array  # (n,) one-step errors along it
    heldout: Array  # (n,)
    norm: Array  # (n,) of the outer weights
    effective: Array  # (n,) degrees of freedom
    condition_features: float
    condition_weights: float


@dataclass(frozen=True, eq=False)
class Solver:
    """Forecasts from held-out training data along beta with one solver (of a shallow model)."""

    solver: str  # "qr" or "normal"
    betas: Array
    one_step: Array
    forecast: Array  # mean VPT in Dataset.unit
    standard_error: Array


@dataclass(frozen=True, eq=False)
class Regression:
    """Everything about the regressions of a run."""

    units: tuple[UnitRegression, ...]
    solvers: tuple[Solver, ...]
    condition_data: float
    rows: int
    reason: str = ""  # why something is missing


@in_threads
def regression_of_fit(fitted: Fitted, data: Dataset) -> Regression | None:
    """What ``beta="auto"`` has found on its way; None for a given beta.

    A given beta gets it from ``regression`` alone: to hold rows out while training would
    change the order of sums, and so the last bits of the model.
    """
    units = []
    for unit in fitted.units:
        if unit.path is None:
            return None
        values = unit.path.singular_values
        chosen = int(np.abs(unit.path.betas - unit.beta).argmin())
        conditions = _ratio(values), float(unit.path.condition[chosen])
        units.append(_unit(unit.path, unit.beta, values, conditions))
    some = np.linalg.svd(evenly(data.train, 2000), compute_uv=False)
    reason = (
        "Found while beta was chosen, on the first nine tenths of the training rows. The two "
        "solvers are not compared yet."
    )
    return Regression(tuple(units), (), _ratio(some), fitted.units[0].rows, reason)


@in_threads
def regression(model: Model, data: Dataset, *, report: Reporter | None = None) -> Regression:
    """Inside the regressions of a trained model: singular values, paths of beta, both solvers.

    Each unit's regression sees the very estimates it was trained on.
    """
    report, seed = report or Reporter(), int(model.origin["seed"])
    realization = int(model.origin["realization"])
    training = Training(model.spec, data, seed, realization, model.device, None)
    found = []
    for number, beta in enumerate(model.origin["betas"]):
        path, values = _path(training, number, model.units[number].features, report)
        found.append((path, float(beta), values))
        if number + 1 < model.spec.depth:
            training.y = _estimates(training, model, number)
    report("condition numbers", 0, 1)
    conditions = condition_numbers(model, data)
    pairs = zip(conditions.features, conditions.weights, strict=True)
    units = tuple(_unit(*it, pair) for it, pair in zip(found, pairs, strict=True))
    solvers, reason = _solvers(model, data, seed, report)
    return Regression(units, solvers, conditions.data, training.rows, reason)


def _path(
    training: Training, number: int, features: Features, report: Reporter
) -> tuple[BetaPath, Array]:
    """The path of one unit, and the singular values of its features over all rows."""
    _, fitted, heldout = _drained(training.regression(number, HELD_OUT, features), report)
    path = beta_path(fitted, heldout, AUTO_BETAS)
    fitted.merge(heldout)  # type: ignore[arg-type]  # both are of the same kind
    return path, fitted.singular_values().cpu().numpy()


def _drained(work: Generator[Progress, None, Outcome], report: Reporter) -> Outcome:
    while True:
        try:
            event = next(work)
        except StopIteration as end:
            found: Outcome = end.value
            return found
        report(event.stage, event.done, event.total)


def _estimates(training: Training, model: Model, number: int) -> torch.Tensor:
    """Of the next states, after one more unit."""
    size = model.block_of_states()
    blocks = zip(torch.split(training.u, size), torch.split(training.y, size), strict=True)
    with torch.inference_mode():
        return torch.cat([model.wiring.apply(number, model.units[number], u, y) for u, y in blocks])


def _unit(
    path: BetaPath, beta: float, values: Array, conditions: tuple[float, float]
) -> UnitRegression:
    return UnitRegression(
        singular_values=values,
        beta=beta,
        betas=path.betas,
        training=path.training,
        heldout=path.heldout,
        norm=path.norm,
        effective=path.effective,
        condition_features=conditions[0],
        condition_weights=conditions[1],
    )


def _ratio(values: Array) -> float:
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")


def _solvers(
    model: Model, data: Dataset, seed: int, report: Reporter
) -> tuple[tuple[Solver, ...], str]:
    """Forecasts along beta with either solver, or why there are none."""
    spec = model.spec
    features = sum(spec.unit_widths(model.dimension))
    if spec.choices.deep and features > DEEP_WIDTH:
        return (), (
            f"The solvers are not compared: a deep model is trained anew for each of {len(WIDE)} "
            f"betas, which takes too long beyond {DEEP_WIDTH} features in all units together, and "
            f"this one has {features}. Choose a shallow or a smaller model for it."
        )
    found: list[Solver] = []
    for solver in SOLVERS:
        told = _named(report, f"solver {solver}")
        try:
            tried = search_beta(
                spec.replace(solver=solver),
                data,
                seed=seed,
                realization=int(model.origin["realization"]),
                device=model.device,
                report=told,
            )
        except InvalidInput as error:
            return tuple(found), f"The solver {solver!r} could not be tried: {error}"
        curves = tried.betas, tried.one_step, tried.forecast, tried.standard_error
        found.append(Solver(solver, *curves))
    return tuple(found), ""


def _named(report: Reporter, name: str) -> Reporter:
    """Puts a name before the stages of a part."""
    return Reporter(lambda it: report(f"{name}: {it.stage}", it.done, it.total))
