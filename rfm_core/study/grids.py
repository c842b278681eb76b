"""Studies of studies: one knob turned, everything else held, as in the paper's figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..checks import InvalidInput, whole
from ..events import CancelToken
from ..run import Executor, using
from ..systems import get_system
from .results import ResultStore
from .study import StudyCancelled, StudyEvent, StudySpec, run_study

Grid = dict[str, StudySpec]


def depths_at_fixed_width(base: StudySpec, depths: Sequence[int]) -> Grid:
    """More and more units of the same width."""
    return {f"B={b}": base.replace(model=base.model.replace(depth=b)) for b in depths}


def widths_at_fixed_depth(base: StudySpec, widths: Sequence[int]) -> Grid:
    """Wider and wider units."""
    return {f"D_r={w}": base.replace(model=base.model.replace(width=w)) for w in widths}


def widths_and_depths(base: StudySpec, widths: Sequence[int], depths: Sequence[int]) -> Grid:
    """Every width with every depth."""
    return {
        f"D_r={w} B={b}": base.replace(model=base.model.replace(width=w, depth=b))
        for w in widths
        for b in depths
    }


def depths_at_fixed_size(base: StudySpec, size: int, depths: Sequence[int]) -> Grid:
    """The same number of parameters in more and narrower units: the widest that fit."""
    size = whole("size", size, 1, None, "The number of parameters, for example 163840.")
    system = get_system(base.data.system)
    dimension = system.dimension(base.data.parameter_values)
    grid: Grid = {}
    for depth in depths:
        # a single feature would be the constant of a centred unit, but it is counted like any other
        per_feature = base.model.replace(width=1, depth=depth, centred=False).size(dimension)
        width, least = size // per_feature, 2 if base.model.centred else 1
        if width < least:
            raise InvalidInput(
                f"size={size} has no room for depth={depth}: the least width, {least}, already "
                f"takes {least * per_feature} parameters. Use a larger size or fewer units."
            )
        grid[f"B={depth} D_r={width}"] = base.replace(
            model=base.model.replace(width=width, depth=depth)
        )
    return grid


def localizations(base: StudySpec, schemes: Sequence[tuple[int, int]]) -> Grid:
    """Patch sizes and halos (G, I)."""
    return {
        f"(G,I)=({g},{i})": base.replace(model=base.model.replace(G=g, I=i, left=None, right=None))
        for g, i in schemes
    }


def sampling_times(
    base: StudySpec, dts: Sequence[float], *, training_time: float | None = None
) -> Grid:
    """Coarser and coarser sampling, with as many pairs as before or over a fixed ``training_time``.

    Test trajectories keep their length in time.
    """
    span = float(base.data.test_steps or 1) * float(base.data.dt or 1)
    grid: Grid = {}
    for dt in dts:
        pairs = base.data.n_train if training_time is None else round(training_time / dt)
        steps = max(1, round(span / dt))
        grid[f"dt={dt:g}"] = base.replace(
            data=base.data.replace(dt=dt, n_train=pairs, test_steps=steps)
        )
    return grid


def noise_levels(base: StudySpec, levels: Sequence[float]) -> Grid:
    """From none to too much."""
    return {f"noise={n:g}": base.replace(model=base.model.replace(noise=n)) for n in levels}


@dataclass(frozen=True)
class GridEvent:
    """An event of the study ``label``, the ``number``-th of ``total``."""

    label: str
    number: int
    total: int
    event: StudyEvent


def run_grid(
    grid: Mapping[str, StudySpec],
    *,
    executor: str | Executor | None = None,
    store: ResultStore | None = None,
    cancel: CancelToken | None = None,
    threads: int = 1,
) -> Iterator[GridEvent]:
    """One study after the other, each as resumable as it is alone; a cancel ends all."""
    with using(executor) as runner:
        for number, (label, spec) in enumerate(grid.items(), start=1):
            events = run_study(spec, executor=runner, store=store, cancel=cancel, threads=threads)
            for event in events:
                yield GridEvent(label, number, len(grid), event)
                if isinstance(event, StudyCancelled):
                    return
