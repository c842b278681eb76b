"""Does the surrogate have the system's climate? Long runs of both, and how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..checks import real
from ..data.dataset import Dataset, evenly
from ..data.generate import DataSpec, make_dataset, spec_of
from ..events import Reporter
from ..model.model import Model
from ..systems import get_system
from .metrics import histogram_marginals, power_spectrum
from .wasserstein import sinkhorn2, wasserstein2

Array = np.ndarray
Advance = Callable[
    [Array, int], Array
]  # (runs, D), steps -> the states that follow, (runs, steps, D)
RUNS = 10
TRANSIENT = 5.0  # Lyapunov times until a run has forgotten where it began
KEPT = 2_000_000  # numbers of each long run
MOST_COLUMNS, MOST_SITES = 12, 16
OTHER_REALIZATIONS = (1_000_001, 1_000_002)  # starts that no study uses
SINKHORN_SAMPLES = 500
LEAST_TIMES = 8  # that a spectrum can be made of
OWN_TRUTH = (
    "This is your own series: the truth is its test part, and the level to reach is the distance "
    "between the two halves of that part."
)


@dataclass(frozen=True, eq=False)
class Climate:
    """Long runs of truth and surrogate, after transients; C columns, or one pooled over space."""

    columns: tuple[str, ...]
    pooled: bool
    edges: Array  # (C, bins + 1)
    truth: Array  # (C, bins) densities
    surrogate: Array  # (C, bins)
    outside: Array  # (C,) share of the surrogate beyond the edges
    w2: Array  # (C,) exact, of the marginals, surrogate against truth
    w2_true: Array  # (C,) the same between two independent true runs: the level to reach
    sinkhorn: Array  # (C,) the same by Sinkhorn's algorithm, as the paper computes it
    frequency: Array  # (F,) cycles a time unit
    power_truth: Array  # (F,)
    power_surrogate: Array  # (F,)
    times: float  # length of all runs together in Dataset.unit
    runs: int
    diverged: int  # runs of the surrogate that left every bound
    reason: str = ""  # why something is missing


@dataclass(frozen=True)
class Size:
    """How much is run and kept."""

    steps: int  # of each run, after the transient
    transient: int
    columns: Array  # which components are kept; where pooled these are sites in space


def climate(
    model: Model, data: Dataset, times: float, *, report: Reporter | None = None
) -> Climate:
    """Long runs of truth and surrogate; ``times`` of all together, in ``data.unit``.

    The spectrum is that of the mean over columns; where columns are sites in a homogeneous space,
    it is that of one site, averaged over sites (a mean over space may be conserved).
    """
    report, spec = report or Reporter(), spec_of(data)
    size = _size(data, times)
    starts = evenly(data.test, RUNS)
    surrogate = _run(lambda u, n: model.run(u, n).states[:, 1:], starts, size, report, "surrogate")
    pair: tuple[Array, Array]
    if spec is None:
        truth, reason = data.test[..., size.columns], OWN_TRUTH
        pair = _halves(truth)
    else:
        pair = _true_run(spec, data, size, report, 0), _true_run(spec, data, size, report, 1)
        truth, reason = pair[0], ""
    names = ("u",) if data.homogeneous else tuple(data.names[i] for i in size.columns)
    return _compared(truth, pair, surrogate, data, names, size, reason, report)


def _size(data: Dataset, times: float) -> Size:
    length = RUNS * data.per_step
    remedy = f"It is the length of all {RUNS} runs together in {data.unit}."
    count = min(data.dimension, 1 if data.homogeneous else MOST_COLUMNS)
    times = real("times", times, remedy, LEAST_TIMES * length, KEPT // count * data.per_step)
    steps = math.ceil(times / length)
    if data.homogeneous:  # as many sites as there is room for
        count = max(1, min(data.dimension, MOST_SITES, KEPT // (RUNS * steps)))
    columns = np.linspace(0, data.dimension, count, endpoint=False).astype(int)
    transient = math.ceil(TRANSIENT / data.per_step)
    if data.lyapunov is None:  # nobody knows how long it takes; a test is long in any case
        transient = min(transient, data.test.shape[1] - 1)
    return Size(steps, transient, columns)


def _run(advance: Advance, starts: Array, size: Size, report: Reporter, stage: str) -> Array:
    """(runs, steps, columns) after the transient, NaN from where a run left every bound."""
    kept = np.full((len(starts), size.steps, len(size.columns)), np.nan)
    going, state = np.arange(len(starts)), starts
    piece = max(16, min(2000, 1_000_000 // starts.size))  # so that little is held at once
    total = size.transient + size.steps
    for low in range(0, total, piece):
        states = advance(state, min(piece, total - low))
        before = max(0, size.transient - low)
        if before < states.shape[1]:
            at = max(0, low - size.transient)
            some = states[:, before:][..., size.columns]
            kept[going, at : at + some.shape[1]] = some
        fine = np.isfinite(states[:, -1]).all(axis=-1)
        going, state = going[fine], states[fine, -1]
        report(stage, low + states.shape[1], total)
        if not len(going):
            break
    return kept


def _true_run(spec: DataSpec, data: Dataset, size: Size, report: Reporter, number: int) -> Array:
    """The system itself, from starts of its own, already on the attractor."""
    apart = {"realization": OTHER_REALIZATIONS[number], "n_test": 0}
    few = {"n_train": max(10, RUNS), "trajectories": RUNS, "lyapunov": data.lyapunov or 1.0}
    starts = make_dataset(spec.replace(**apart, **few), cache=False, report=report).train[:, -1]
    stepper = get_system(spec.system).stepper(spec.parameter_values, data.dt, spec.accuracy)

    def advance(state: Array, steps: int) -> Array:
        return stepper.rollout(state, steps, Reporter(), "")[:, 1:]

    no_transient = Size(size.steps, 0, size.columns)
    return _run(advance, starts, no_transient, report, f"truth {number + 1} of 2")


def _halves(tests: Array) -> tuple[Array, Array]:
    """Earlier and later tests; of a single one the earlier and the later part."""
    if len(tests) == 1:
        middle = tests.shape[1] // 2
        return tests[:, :middle], tests[:, middle:]
    middle = len(tests) // 2
    return tests[:middle], tests[middle:]


def _compared(
    truth: Array,
    pair: tuple[Array, Array],
    surrogate: Array,
    data: Dataset,
    names: tuple[str, ...],
    size: Size,
    reason: str,
    report: Reporter,
) -> Climate:
    pooled = data.homogeneous
    a, other_a, other_b, b = (_samples(x, pooled) for x in (truth, *pair, surrogate))
    b = b[np.isfinite(b).all(axis=1)]
    whole_runs = surrogate[np.isfinite(surrogate).all(axis=(1, 2))]
    reasons = [reason] if reason else []
    diverged = len(surrogate) - len(whole_runs)
    if diverged:
        reasons.append(
            f"{diverged} of {len(surrogate)} runs of the surrogate left every bound; what they did "
            "until then counts, except in the spectrum."
        )
    if not len(b):
        reasons.append("None of them lasted beyond the transient, so there is nothing to compare.")
    marginals = histogram_marginals(a, b if len(b) else a)
    nothing = np.full(len(names), np.nan)
    frequency, power_truth, power = _spectra(truth, whole_runs, data.dt, pooled)
    return Climate(
        columns=names,
        pooled=pooled,
        edges=marginals.edges,
        truth=marginals.truth,
        surrogate=marginals.surrogate if len(b) else np.zeros_like(marginals.truth),
        outside=marginals.outside if len(b) else nothing,
        w2=np.asarray(wasserstein2(a, b)) if len(b) else nothing,
        w2_true=np.asarray(wasserstein2(other_a, other_b)),
        sinkhorn=_sinkhorn(a, b, report) if len(b) else nothing,
        frequency=frequency,
        power_truth=power_truth,
        power_surrogate=power,
        times=size.steps * len(surrogate) * data.per_step,
        runs=len(surrogate),
        diverged=diverged,
        reason=" ".join(reasons),
    )


def _samples(states: Array, pooled: bool) -> Array:
    """(n, columns), or (n, 1) of all sites together."""
    return states.reshape(-1, 1 if pooled else states.shape[-1])


def _sinkhorn(a: Array, b: Array, report: Reporter) -> Array:
    """On as many evenly spaced quantiles of each: random samples so few would differ by chance."""
    number = min(SINKHORN_SAMPLES, len(a), len(b))
    at = (np.arange(number) + 0.5) / number
    found = []
    for column in range(a.shape[1]):
        x, y = np.quantile(a[:, column], at), np.quantile(b[:, column], at)
        found.append(sinkhorn2(x, y, samples=number).w2)
        report("distances", column + 1, a.shape[1])
    return np.array(found)


def _spectra(truth: Array, surrogate: Array, dt: float, pooled: bool) -> tuple[Array, Array, Array]:
    """Frequencies and both spectra, on windows of the same length; NaN where there is no run."""
    both = [np.moveaxis(x, -1, 1)[..., None] if pooled else x for x in (truth, surrogate)]
    shorter = min(x.shape[-2] for x in both)
    if shorter < LEAST_TIMES:
        return (np.zeros(0),) * 3
    segment = min(shorter, max(256, shorter // 8))
    frequency, of_truth = power_spectrum(both[0], dt, segment)
    if not len(surrogate):
        return frequency, of_truth, np.full_like(frequency, np.nan)
    return frequency, of_truth, power_spectrum(both[1], dt, segment)[1]
