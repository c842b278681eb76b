"""Operation counts and array sizes of data, training and forecasts, with measured rates.

Seconds are of one thread of the machine on which the rates were measured; whoever knows another
machine's pace has to scale them. What the engine decides itself (blocks, rows, lengths of runs) is
asked from where it is decided. Measured against estimated, CPU seconds of data + training +
forecasts and megabytes beyond a fresh worker's, without looks at the features (100 tests,
beta "auto", the systems' own n_train, unless told otherwise):

    setting                                 measured                  estimated
    L63 SkipRFM 512                   0.8 +  2.1 +  1.9    98   0.8 +   1.8 +  2.2   128
    L63 SkipRFM 2048                  0.9 + 36.9 +  9.1   340   0.8 +  36.3 +  8.2   401
    L63 SkipRFM 4096, 20,000 rows     1.1 + 97.9 + 16.5  1304   0.8 + 125.8 + 16.1  1407
    L63 SkipRFM 1024, normal          0.8 +  5.1 +  1.6   129   0.8 +   5.8 +  4.2   149
    L63 SkipRFM 1024, beta=1e-16      0.9 +  7.4 +  3.3   225   0.8 +   6.9 +  4.2   216
    L63 DeepSkip 512x4                0.8 +  8.9 +  9.2   233   0.8 +   8.3 +  9.2   227
    L96 SkipRFM 1024                  2.4 + 18.0 +  0.2   255   1.8 +  17.1 +  1.7   363
    L96 LocalSkip(2,2) 1024           1.6 + 14.8 + 11.0   232   1.8 +  15.0 + 17.4   296
    L96 LocalDeepSkip(2,2) 512x4,
        exchanging 1                  1.9 + 17.9 + 23.4   240   1.8 +  16.4 + 37.0   307
    KS LocalSkip(8,1) 512, N=20,000  63.5 +  1.4 +  7.1   880  72.1 +   0.9 + 34.0  1285
        with 20 tests                32.0 +  1.8 +  1.1   418  29.1 +   0.9 +  6.8   362
    Roessler SkipRFM 512              1.9 +  2.5 +  1.6   111   1.8 +   1.8 +  1.4   124

Forecasts end when the last one has failed, which no count can know: a bad model is quicker.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..data.generate import ALONG, APART, FINE_PART, MEASURED, DataSpec
from ..measure import climate, regions, stability
from ..model.fit import block_states, snapshot_count
from ..model.model import AT_ONCE, KEPT_STEPS
from ..model.spec import ModelSpec
from ..systems import System, get_system
from ..systems.integrate import ETDRK4, Odeint

FLOPS = 23e9  # of dense factorizations, a second
SVD_FLOPS, EIGEN_FLOPS = 22.0, 12.0  # times n^3, at that pace
PRODUCT_SECONDS = 0.15e-9  # of one weight with one number
CALL_SECONDS = 60e-6  # of a unit's step, however many states
FAILED_BY = 0.85  # share of the test steps after which the last forecast has usually failed
BETAS_SECONDS = 0.03  # of a path of betas, beside its SVD
OWN_SECONDS, OWN_VALUE_SECONDS = 0.5, 1e-6  # to read a user's file
LOOK_SECONDS = 50e-9  # at one feature of one patch
HEAP_BYTES = 32e6  # arrays below it come from the heap, in which they leave holes as large again
DISTANCE_SECONDS = 0.3  # between two samples of one column, by Sinkhorn's algorithm
LONG_BYTES = 0.15e9  # of long runs, whatever their length
TANGENT_CALL_SECONDS = 400e-6  # of a step of tangent vectors, however many, truth and model
WORK_SECONDS = 0.2e-9  # of a unit of ``stability.work_of_a_vector``
BASE_BYTES = 0.05e9  # what a worker takes whatever it does


@dataclass(frozen=True)
class Sizes:
    """What matters of the data; ``system`` is None for a user's own series."""

    system: str | None
    dimension: int
    pairs: int
    trajectories: int
    n_test: int
    steps: int
    per_step: float = 0.01  # length of a step in Lyapunov times, or in time units
    making_seconds: float = 0.0  # of all data
    true_step_seconds: float = 0.0  # of one trajectory of the true system

    @staticmethod
    def of(spec: DataSpec) -> Sizes:
        """Of generated data."""
        trajectories, window, dimension = spec.shapes["train"]
        system = get_system(spec.system)
        assert spec.dt
        assert spec.test_steps
        return Sizes(
            system=spec.system,
            dimension=dimension,
            pairs=trajectories * (window - 1),
            trajectories=trajectories,
            n_test=spec.n_test,
            steps=spec.test_steps,
            per_step=(spec.lyapunov or system.lyapunov) * spec.dt,
            making_seconds=_making_seconds(spec, system, dimension),
            true_step_seconds=_step_seconds(spec, system, dimension, 10) / 10,
        )

    @property
    def train_bytes(self) -> int:
        return 8 * (self.pairs + self.trajectories) * self.dimension

    @property
    def test_bytes(self) -> int:
        return 8 * self.n_test * (self.steps + 1) * self.dimension


@dataclass(frozen=True)
class Cost:
    """What something takes: seconds of one thread, and bytes at the worst moment."""

    data_seconds: float
    fit_seconds: float
    forecast_seconds: float
    memory_bytes: float

    @property
    def seconds(self) -> float:
        return self.data_seconds + self.fit_seconds + self.forecast_seconds


def cost_of_run(data: DataSpec | Sizes, model: ModelSpec, realizations: int = 1) -> Cost:
    """Of data, training and forecasts of all tests; of the first also a look at the features."""
    sizes = Sizes.of(data) if isinstance(data, DataSpec) else data
    forecast = forecast_seconds(sizes, model, sizes.n_test, FAILED_BY * sizes.steps)
    return Cost(
        data_seconds=realizations * data_seconds(sizes),
        fit_seconds=realizations * fit_seconds(sizes, model),
        forecast_seconds=realizations * forecast + look_seconds(sizes, model),
        memory_bytes=BASE_BYTES + memory_bytes(sizes, model),
    )


def cost_of_climate(data: DataSpec | Sizes, model: ModelSpec, times: float) -> Cost:
    """Of long runs of a trained model and of the true system, ``times`` long together."""
    sizes = Sizes.of(data) if isinstance(data, DataSpec) else data
    steps = (times / climate.RUNS + climate.TRANSIENT) / sizes.per_step
    truth = 2 * climate.RUNS * steps * sizes.true_step_seconds
    pooled = sizes.system is not None and get_system(sizes.system).homogeneous
    columns = 1 if pooled else min(climate.MOST_COLUMNS, sizes.dimension)
    runs = forecast_seconds(sizes, model, climate.RUNS, steps)
    arrays = sizes.train_bytes + sizes.test_bytes
    return Cost(
        data_seconds=data_seconds(sizes) + truth,
        fit_seconds=0.0,
        forecast_seconds=runs + DISTANCE_SECONDS * columns,
        memory_bytes=BASE_BYTES + arrays + LONG_BYTES,
    )


def cost_of_stability(data: DataSpec | Sizes, model: ModelSpec) -> Cost:
    """Of ``stability``: data, one batch of forecasts, and exponents within their share of work."""
    sizes = Sizes.of(data) if isinstance(data, DataSpec) else data
    forecast = forecast_seconds(sizes, model, sizes.n_test, FAILED_BY * sizes.steps)
    inputs, widths = model.unit_inputs(sizes.dimension), model.unit_widths(sizes.dimension)
    scheme = model.scheme(sizes.dimension)
    vector = stability.work_of_a_vector(scheme.patches, scheme.G, inputs, widths)
    size = stability.size_of(vector, sizes.per_step, sizes.dimension, sizes.n_test * sizes.steps)
    calls = size.steps * (len(widths) * CALL_SECONDS + TANGENT_CALL_SECONDS)
    work = vector * size.trajectories * (size.count + 1) * size.steps * WORK_SECONDS
    truth = size.steps * size.trajectories * (2 * size.count + 1) * sizes.true_step_seconds
    return Cost(
        data_seconds=data_seconds(sizes),
        fit_seconds=0.0,
        forecast_seconds=forecast + calls + work + truth,
        memory_bytes=BASE_BYTES + memory_bytes(sizes, model),
    )


# --- data ------------------------------------------------------------------------------------


def data_seconds(sizes: Sizes) -> float:
    if sizes.system is None:
        return OWN_SECONDS + OWN_VALUE_SECONDS * (sizes.train_bytes + sizes.test_bytes) / 8
    return sizes.making_seconds


def _step_seconds(
    spec: DataSpec, system: System, dimension: int, n: int, inner: float | None = None
) -> float:
    """One sampling time of n trajectories side by side; ``inner`` as in burn-in."""
    assert spec.dt
    if system.rhs is not None:
        if spec.accuracy == "paper" and inner is None:
            return n * (5.4e-6 + 0.04e-6 * dimension)
        return n * math.ceil(spec.dt / system.inner_step) * (0.35e-6 + 0.03e-6 * dimension)
    paper = system.paper_inner_step if spec.accuracy == "paper" else None
    substeps = math.ceil(spec.dt / (inner or paper or system.inner_step) * (1 - 1e-12))
    groups = math.ceil(
        n * dimension / ETDRK4.group_values
    )  # as many as stay in the cache move together
    return substeps * (150e-6 * groups + 0.055e-6 * n * dimension)


def _making_seconds(spec: DataSpec, system: System, dimension: int) -> float:
    """Training windows and tests with their burn-in, and the exponent where nobody knows it."""
    assert spec.dt
    burn = float(spec.burn_in or 0) / spec.dt

    def cost(n: int, steps: float, inner: float | None = None) -> float:
        return steps * _step_seconds(spec, system, dimension, n, inner) if n else 0.0

    total = 0.0
    lead = Odeint.lead if spec.accuracy == "paper" and system.rhs is not None else 0
    for n, length, _ in spec.shapes.values():
        total += cost(n, length + lead)
        if system.coarse_step is None:
            total += cost(n, burn, system.inner_step)
        else:
            total += cost(n, (1 - 1 / FINE_PART) * burn, system.coarse_step)
            total += cost(n, burn / FINE_PART, system.inner_step)
    if spec.lyapunov is None:
        steps = (APART + MEASURED) / system.lyapunov / spec.dt
        total += steps * 140e-6 + cost(3 * ALONG, steps) * (system.rhs is None)
    return total


# --- training --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Of the regressions: states, patches learnt from, and states in a block."""

    states: int
    learnt: int
    block: int

    @staticmethod
    def of(sizes: Sizes, model: ModelSpec) -> Rows:
        learnt = 1 if model.patches == "one" else model.scheme(sizes.dimension).patches
        width = max(model.unit_widths(sizes.dimension))
        states = snapshot_count(model, sizes.pairs, learnt)
        return Rows(states, learnt, block_states(width, learnt))

    @property
    def total(self) -> int:
        return self.states * self.learnt

    @property
    def in_block(self) -> int:
        return min(self.states, self.block) * self.learnt


def fit_seconds(sizes: Sizes, model: ModelSpec) -> float:
    rows, outputs = Rows.of(sizes, model), model.scheme(sizes.dimension).G
    patches = model.scheme(sizes.dimension).patches
    units = zip(model.unit_inputs(sizes.dimension), model.unit_widths(sizes.dimension), strict=True)
    total = 0.0
    for number, (inputs, width) in enumerate(units):
        feature = model.kind.seconds + PRODUCT_SECONDS * inputs
        total += (1 + model.refine) * rows.total * width * feature
        total += _regression_seconds(model, rows, width + outputs)
        if model.sampler == "tight" and "sampler" in model.kind.settings:
            total += rows.total * width * (PRODUCT_SECONDS * inputs + 1e-9)
        if number + 1 < model.depth:  # estimates for the next unit
            total += rows.states * patches * width * (feature + PRODUCT_SECONDS * outputs)
    return total


def _regression_seconds(model: ModelSpec, rows: Rows, n: int) -> float:
    automatic = model.beta == "auto"
    if model.solver == "normal":
        flops = 2 * rows.total * n**2 + EIGEN_FLOPS * n**3
    else:
        blocks = max(1.0, rows.states / rows.block)
        passes = 1 + model.refine
        flops = passes * blocks * _qr_flops(rows.in_block + n, n)
        # of beta two values are tried beside the path, and its rows are put together
        flops += (passes + 3 * automatic) * _qr_flops(2 * n, n) + SVD_FLOPS * n**3 * automatic
    return flops / FLOPS + BETAS_SECONDS * automatic


def _qr_flops(rows: int, n: int) -> float:
    return max(0.0, 2 * rows * n**2 - 2 / 3 * n**3)


# --- forecasts -------------------------------------------------------------------------------


def forecast_seconds(sizes: Sizes, model: ModelSpec, states: int, steps: float) -> float:
    """Of so many forecasts side by side."""
    scheme, seconds = model.scheme(sizes.dimension), model.kind.seconds
    units = zip(model.unit_inputs(sizes.dimension), model.unit_widths(sizes.dimension), strict=True)
    step = sum(
        CALL_SECONDS
        + states * scheme.patches * width * (seconds + PRODUCT_SECONDS * (inputs + scheme.G))
        for inputs, width in units
    )
    return steps * step


def look_seconds(sizes: Sizes, model: ModelSpec) -> float:
    """To count features of training, test and forecast states, and a naive first unit's."""
    if model.kind.zones(model) is None:
        return 0.0
    return LOOK_SECONDS * _looked_at(sizes, model) * _features(sizes, model) * (3 * model.depth + 1)


def _looked_at(sizes: Sizes, model: ModelSpec) -> int:
    """States."""
    return regions.states_looked_at(model.scheme(sizes.dimension).patches)


def _features(sizes: Sizes, model: ModelSpec) -> int:
    """Of a state, in the widest unit."""
    patches = model.scheme(sizes.dimension).patches
    return patches * max(model.unit_widths(sizes.dimension))


# --- memory ----------------------------------------------------------------------------------


def memory_bytes(sizes: Sizes, model: ModelSpec) -> float:
    """The arrays that exist at the same time, at the worst moment."""
    rows, scheme = Rows.of(sizes, model), model.scheme(sizes.dimension)
    width = max(model.unit_widths(sizes.dimension))
    n = width + scheme.G
    features = 8 * rows.in_block * width
    # beside them [triangle; block] and its factorization, or for normal equations nothing as large
    stacked = 8 * (rows.in_block + n) * n if model.solver == "qr" else 0
    block = features + (2 * stacked or features)
    if max(features, stacked) < HEAP_BYTES:
        block *= 2
    solving = 8 * n**2 * (7 if model.beta == "auto" else 4)
    fitting = sizes.train_bytes + 8 * n**2 * 2 + max(block, solving)
    fitting += 8 * rows.states * sizes.dimension * (4 if model.depth > 1 else 2)
    of_a_state = _features(sizes, model)
    if model.depth > 1:  # the estimates after a unit
        fitting += 8 * 3 * min(AT_ONCE, rows.states * of_a_state)
    step = 8 * sizes.n_test * (2 * of_a_state + 2 * KEPT_STEPS * sizes.dimension)
    forecasting = 2 * sizes.test_bytes + step
    looking = sizes.test_bytes + 8 * 7 * min(AT_ONCE, _looked_at(sizes, model) * of_a_state)
    return sizes.train_bytes + sizes.test_bytes + max(fitting, forecasting, looking)
