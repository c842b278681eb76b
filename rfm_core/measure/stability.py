"""Is the surrogate as stable as the system? Validity times, Lyapunov exponents of both, and where
on the attractor a single step goes wrong.

    one-step error of a state u_n:  sqrt(mean_d ((model(u_n) - u_{n+1})_d / std_d)^2)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..checks import InvalidInput, refuse
from ..data.dataset import Dataset
from ..data.generate import spec_of
from ..events import Reporter
from ..model.model import Model
from ..systems import get_system
from .lyapunov import HasTangent, LyapunovSpectrum, kaplan_yorke, lyapunov_exponents
from .metrics import ForecastTimes, tau_f_times

Array = np.ndarray
GAMMA = 0.05  # the paper's: tau_f ends where the error is this share of the mean norm
MOST_EXPONENTS = 8
TRAJECTORIES = 8  # along which exponents are averaged
LONG, SHORT = 40.0, 10.0  # Lyapunov times of each: enough for two digits, and the least
UNKNOWN_STEPS = 2000  # of each where nobody knows the Lyapunov time
WORK = 2.5e10  # numbers a surrogate's tangent may cost in all: some seconds
POINTS = 4000  # states whose next one is compared, and patches of them
FIELD = 300  # times of the picture of errors over space and time
OWN_TRUTH = "This is your own series: there is no equation whose exponents could be computed."


@dataclass(frozen=True, eq=False)
class OneStep:
    """Errors of a single step from states along the test trajectories; n states of D components."""

    states: Array  # (n, D) where the step starts
    error: Array  # (n,) normalised
    test: Array  # (n,) which test trajectory
    time: Array  # (n,) time units since its start
    by_site: Array  # (D,) root mean square over states, of each component in its std
    field: Array  # (times, D) sizes of the errors along the first test, in std
    field_time: Array  # (times,) time units
    median: float
    low: float  # 5 %
    high: float  # 95 %
    largest: int  # index into states


@dataclass(frozen=True, eq=False)
class Stability:
    """How a surrogate holds beside its system. Times are in time units, exponents per time unit."""

    gamma: float
    tau_f: Array  # (tests,)
    tau_f_censored: Array  # (tests,) bool: no failure within the test, so a lower bound
    tau_f_mean: float
    tau_f_standard_error: float  # NaN of a single test
    lyapunov: float | None  # with which the page turns times into Lyapunov times
    truth: LyapunovSpectrum | None
    truth_reason: str  # why there is none, or what to know about it
    surrogate: LyapunovSpectrum | None
    surrogate_reason: str
    truth_dimension: float | None  # Kaplan and Yorke's, where the known exponents reach it
    surrogate_dimension: float | None
    one_step: OneStep


def stability(model: Model, data: Dataset, *, report: Reporter | None = None) -> Stability:
    """Everything about a surrogate's stability, in some seconds.

    A large model gets fewer exponents, along fewer and shorter trajectories; how many, how long
    and with which standard error stands in the spectra.
    """
    if not len(data.test):
        raise refuse("n_test", 0, "at least 1", "Stability is looked at along test trajectories.")
    report = report or Reporter()
    tau = _tau_f(model, data, report)
    size = _size(model, data)
    truth, truth_reason = _of_truth(data, size, report)
    surrogate, surrogate_reason = _spectrum(model, data, size, report)
    n = len(tau.times)
    found = one_step_errors(model, data)
    report("one-step errors", 1, 1)
    return Stability(
        gamma=GAMMA,
        tau_f=tau.times,
        tau_f_censored=tau.censored,
        tau_f_mean=float(tau.times.mean()),
        tau_f_standard_error=float(tau.times.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan,
        lyapunov=data.lyapunov,
        truth=truth,
        truth_reason=truth_reason,
        surrogate=surrogate,
        surrogate_reason=surrogate_reason,
        truth_dimension=_dimension(truth, data),
        surrogate_dimension=_dimension(surrogate, data),
        one_step=found,
    )


def one_step_errors(model: Model, data: Dataset, *, points: int | None = None) -> OneStep:
    """From ``points`` states evenly along the test trajectories, or as many as take a second."""
    tests, length, _ = data.test.shape
    if points is None:
        points = max(200, POINTS // model.wiring.scheme.patches)
    at = np.linspace(0, tests * (length - 1) - 1, min(points, tests * (length - 1))).round()
    test, step = np.divmod(at.astype(int), length - 1)
    states = data.test[test, step]
    left = np.abs(model.predict(states) - data.test[test, step + 1]) / _std(data)
    error = np.sqrt(np.mean(left**2, axis=1))
    some = np.unique(np.linspace(0, length - 2, min(FIELD, length - 1)).round().astype(int))
    along = data.test[0, some]
    field = np.abs(model.predict(along) - data.test[0, some + 1]) / _std(data)
    low, median, high = np.quantile(error, (0.05, 0.5, 0.95))
    return OneStep(
        states=states,
        error=error,
        test=test,
        time=step * data.dt,
        by_site=np.sqrt(np.mean(left**2, axis=0)),
        field=field,
        field_time=some * data.dt,
        median=float(median),
        low=float(low),
        high=float(high),
        largest=int(np.argmax(error)),
    )


def _std(data: Dataset) -> Array:
    return np.where(data.std > 0, data.std, 1.0)


def _tau_f(model: Model, data: Dataset, report: Reporter) -> ForecastTimes:
    """One batch, until the last of them has failed."""
    limit = GAMMA * data.mean_norm
    failed = np.zeros(len(data.test), dtype=bool)

    def enough(first: int, piece: Array) -> bool:
        truth = data.test[:, first : first + piece.shape[1]]
        apart = np.sqrt(np.sum((piece - truth) ** 2, axis=-1))
        failed[:] |= ~(apart < limit).all(axis=1)
        return bool(failed.all())

    run = model.run(data.test[:, 0], data.test.shape[1] - 1, report=report, enough=enough)
    seen = slice(0, run.steps + 1)
    return tau_f_times(
        run.states[:, seen], data.test[:, seen], dt=data.dt, mean_norm=data.mean_norm, gamma=GAMMA
    )


@dataclass(frozen=True)
class Size:
    """How many exponents, along how many trajectories, for how many steps of each."""

    count: int
    trajectories: int
    steps: int


def work_of_a_vector(
    patches: int, outputs: int, inputs: Sequence[int], widths: Sequence[int]
) -> float:
    """Numbers that one step of one tangent vector goes through.

    A feature costs its products and, with its function, about thirty numbers more.
    """
    units = zip(inputs, widths, strict=True)
    return float(patches * sum(width * (read + outputs + 30) for read, width in units))


def size_of(vector: float, per_step: float | None, dimension: int, states: int) -> Size:
    """As many exponents along as long trajectories as WORK allows; fewer exponents come first.

    ``per_step`` is a step in Lyapunov times, None where nobody knows; ``states`` are at hand.
    """
    wanted = math.ceil(LONG / per_step) if per_step else UNKNOWN_STEPS
    least = math.ceil(SHORT / per_step) if per_step else UNKNOWN_STEPS // 8
    count, trajectories = min(dimension, MOST_EXPONENTS), min(TRAJECTORIES, states)
    while True:
        steps = int(WORK / (vector * trajectories * (count + 1)))
        if steps >= least or (count == 1 and trajectories <= 2):
            return Size(count, trajectories, max(least, min(steps, wanted), 10))
        if trajectories > 4 or count == 1:
            trajectories -= 1
        else:
            count -= 1


def _size(model: Model, data: Dataset) -> Size:
    scheme = model.wiring.scheme
    inputs = [unit.features.inputs for unit in model.units]
    widths = [unit.features.width for unit in model.units]
    vector = work_of_a_vector(scheme.patches, scheme.G, inputs, widths)
    per_step = data.per_step if data.lyapunov else None
    return size_of(vector, per_step, data.dimension, len(data.test) * data.test.shape[1])


def _of_truth(data: Dataset, size: Size, report: Reporter) -> tuple[LyapunovSpectrum | None, str]:
    spec = spec_of(data)
    if spec is None:
        return None, OWN_TRUTH
    stepper = get_system(spec.system).stepper(spec.parameter_values, data.dt)
    return _spectrum(stepper, data, size, report)


def _spectrum(
    dynamics: HasTangent, data: Dataset, size: Size, report: Reporter
) -> tuple[LyapunovSpectrum | None, str]:
    flat = data.test.reshape(-1, data.dimension)
    starts = flat[np.linspace(0, len(flat) - 1, size.trajectories).round().astype(int)]
    try:
        found = lyapunov_exponents(
            dynamics, starts, count=size.count, steps=size.steps, report=report
        )
    except InvalidInput as error:  # it left the attractor
        return None, str(error)
    return found, ""


def _dimension(spectrum: LyapunovSpectrum | None, data: Dataset) -> float | None:
    return None if spectrum is None else kaplan_yorke(spectrum.exponents, data.dimension)
