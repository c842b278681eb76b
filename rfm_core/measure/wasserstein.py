"""Wasserstein-2 distances of one-dimensional marginals: exactly by sorting, and by Sinkhorn."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import real, refuse, whole
from ..streams import stream

if TYPE_CHECKING:
    import torch

Array = np.ndarray

BYTES_PER_PAIR = 67  # measured: geomloss, tensorized, float64; four cost matrices and temporaries
SCALING = 0.9  # see _sinkhorn
FEWEST = 200  # samples that any budget buys
# Matrices above 32 MB, 2048^2 numbers, are new pages from the kernel each time they are made on
# Linux (glibc's largest mmap threshold): a pair then costs 3 to 4 times as much (measured).
CLIFF = 2048


def as_floats(name: str, value: ArrayLike, axes: str = "any", finite: bool = True) -> Array:
    """``value`` as a float64 array that is not empty and, unless told otherwise, finite."""
    if hasattr(value, "detach"):  # a torch tensor, perhaps on a GPU or part of a graph
        value = value.detach().cpu()
    try:
        if np.iscomplexobj(value):
            raise TypeError
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # the last of whole numbers beyond 1e308
        remedy = "Convert it with np.asarray(..., dtype=float) first."
        raise refuse(name, value, "an array of real numbers", remedy) from None
    if array.size == 0:
        remedy = "There is nothing to measure: pass some samples."
        raise refuse(f"{name}.shape", array.shape, "free of zeros (not empty)", remedy)
    if axes == "time, state" and array.ndim < 2:
        remedy = f"For a system of one component pass {name}[:, None]."
        raise refuse(f"{name}.shape", array.shape, "of the form (..., time, state)", remedy)
    if finite and not np.isfinite(array).all():
        bad = array[~np.isfinite(array)]
        limit = f"finite in every entry ({bad.size:,} of {array.size:,} are not)"
        remedy = "Leave out what comes after a trajectory has diverged."
        raise refuse(name, float(bad[0]), limit, remedy)
    return array


def wasserstein2(a: ArrayLike, b: ArrayLike) -> float | Array:
    """Exact W2 of one-dimensional marginals: a float for (n,), one for each component for (n, D).

    W2^2 = integral over q in [0, 1] of (F_a^-1(q) - F_b^-1(q))^2, where F^-1 are the quantile
    functions of the samples: the sorted samples as steps. The numbers of samples may differ.
    """
    x, y = as_floats("a", a), as_floats("b", b)
    if x.ndim not in (1, 2) or y.ndim != x.ndim or x.shape[1:] != y.shape[1:]:
        remedy = "Pool trajectories with reshape(-1, D) and use the same components for both."
        raise refuse("b.shape", y.shape, f"(samples,) or (samples, D) as a, {x.shape}", remedy)
    steps = _common_steps(len(x), len(y))
    if x.ndim == 1:
        return _quantile_distance(x, y, steps)
    # One component at a time: the memory needed beside the data is that of a single one.
    return np.array([_quantile_distance(x[:, i], y[:, i], steps) for i in range(x.shape[1])])


def _common_steps(n: int, m: int) -> tuple[Array, Array, Array] | None:
    """Steps on which both quantile functions are constant: index in a, index in b, width.

    The steps end where i/n or j/m does. Counted in units of 1/lcm(n, m) these are whole numbers,
    so that merging them is exact. None for n = m: the steps are the samples.
    """
    if n == m:
        return None
    common = math.gcd(n, m)
    of_a, of_b = m // common, n // common  # length of one sample's step
    ends = np.concatenate([np.arange(1, n + 1) * of_a, np.arange(1, m + 1) * of_b])
    ends.sort(kind="stable")  # two sorted runs: a merge in linear time
    widths = np.diff(ends, prepend=0)  # 0 where both end together, which adds nothing
    return (ends - 1) // of_a, (ends - 1) // of_b, widths / (n * of_a)


def _quantile_distance(x: Array, y: Array, steps: tuple[Array, Array, Array] | None) -> float:
    x, y = np.sort(x), np.sort(y)
    at_x, at_y, width = (slice(None), slice(None), 1.0 / x.size) if steps is None else steps
    with np.errstate(over="ignore"):  # beyond 1e308 the distance is infinite
        gap = x[at_x] - y[at_y]
    largest = float(np.abs(gap).max())
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    gap /= largest  # so that the squares neither overflow nor vanish
    return largest * math.sqrt(float(np.sum(width * gap * gap)))


@dataclass(frozen=True)
class SinkhornResult:
    """W2 by Sinkhorn on a subsample, beside the exact values that tell how good it is.

    ``seconds`` includes finding out how many samples the budget allows, not loading libraries.
    """

    w2: float
    samples: int
    seconds: float
    exact_same_samples: float
    exact_all_samples: float
    note: str


def sinkhorn2(
    a: ArrayLike,
    b: ArrayLike,
    *,
    epsilon: float = 1e-2,
    seconds: float = 5.0,
    memory_gb: float = 1.0,
    seed: int = 0,
    samples: int | None = None,
    device: torch.device | str = "cpu",
) -> SinkhornResult:
    """W2 = sqrt(2 S) of two sets of samples (n,), (m,); S is the debiased Sinkhorn divergence.

    S has the cost |x - y|^2/2 and the entropic regularization ``epsilon``, that is the blur
    sqrt(epsilon). Cost and memory grow with the square of the samples, so that a random subsample
    is used: as large as ``seconds`` (roughly: found by smaller runs first) and ``memory_gb``
    allow, or ``samples``, which then only has to fit into the memory. Calling again with
    ``samples=result.samples`` gives the very same figure on any machine.
    """
    x, y = _line("a", a), _line("b", b)
    blur = math.sqrt(real("epsilon", epsilon, "The paper uses 1e-2.", low=0, above=True))
    seconds = real("seconds", seconds, "Start with 5.", low=0, above=True)
    gigabytes = real("memory_gb", memory_gb, "Start with 1.", low=0, above=True)
    draw = stream(seed, "sinkhorn")
    few = draw.permutation(x), draw.permutation(y)
    diameter = max(max(x.max(), y.max()) - min(x.min(), y.min()), blur)

    def run(n: int) -> float:
        return _sinkhorn(few[0][:n], few[1][:n], blur, diameter, device)

    run(1)  # loads torch and geomloss, which the budget is not for
    began = time.perf_counter()
    fit = int(math.sqrt(gigabytes * 1e9 / BYTES_PER_PAIR))
    if samples is None:
        n, w2 = _largest_within(seconds, began, run, max(min(fit, x.size, y.size), 1))
    else:
        n = _affordable(samples, x.size, y.size, fit)
        w2 = run(n)
    same = _quantile_distance(few[0][:n], few[1][:n], None)
    everything = _quantile_distance(x, y, _common_steps(x.size, y.size))
    note = _note(w2, same, everything, n, x.size, y.size, blur)
    return SinkhornResult(w2, n, time.perf_counter() - began, same, everything, note)


def _line(name: str, value: ArrayLike) -> Array:
    array = as_floats(name, value)
    if array.ndim != 1:
        remedy = f"Take one component at a time, {name}[:, i], or pool them with reshape(-1)."
        raise refuse(f"{name}.shape", array.shape, "(samples,)", remedy)
    return array


def _affordable(samples: int, n: int, m: int, fit: int) -> int:
    samples = whole("samples", samples, 1, min(n, m), "Take no more than there are, or more data.")
    if samples > fit:
        need = BYTES_PER_PAIR * samples**2 / 1e9
        remedy = f"It would take {need:.2g} GB: raise memory_gb or take fewer samples."
        raise refuse("samples", samples, f"at most {fit} for this memory_gb", remedy)
    return samples


def _largest_within(
    seconds: float, began: float, run: Callable[[int], float], most: int
) -> tuple[int, float]:
    """Number of samples and result of the largest run that should end ``seconds`` after began.

    Time is c n^2, but c grows once the matrices leave the caches, and small runs are all overhead.
    So: a small run, then for 2 % and for 10 % of the time, each extrapolated from the one before,
    then for half of the rest, and once more if that was quicker than foreseen.
    """

    def timed(n: int) -> tuple[float, float]:
        start = time.perf_counter()
        return run(n), time.perf_counter() - start

    n = min(FEWEST, most)
    w2, took = timed(n)
    for share in (0.02, 0.1, 0.5, 0.7):  # what is not spent by then is the margin
        left = max(seconds - (time.perf_counter() - began), 0.0)
        more = min(int(n * math.sqrt(share * left / took)), most)
        if n <= CLIFF < more:
            more = max(CLIFF, more // 2)
        if more > 1.2 * n or more == most > n:
            n = more
            w2, took = timed(n)
    return n, w2


def _sinkhorn(
    x: Array, y: Array, blur: float, diameter: float, device: torch.device | str
) -> float:
    """sqrt(2 S) by geomloss, which anneals from ``diameter`` to ``blur`` by a factor of SCALING.

    geomloss's own factor, 0.5, stops long before convergence where W2 is small beside the spread
    of the data, the case of a good surrogate: 0.37 for 0.61, even S < 0. With 0.9 it is 0.60.
    """
    torch: Any = importlib.import_module("torch")  # both here: they take seconds to import
    geomloss: Any = importlib.import_module("geomloss")
    middle = x.mean()  # geomloss expands (x - y)^2, which is inexact far from 0
    points = [torch.as_tensor(z - middle, dtype=torch.float64, device=device) for z in (x, y)]
    loss = geomloss.SamplesLoss(
        "sinkhorn", p=2, blur=blur, diameter=diameter, scaling=SCALING, backend="tensorized"
    )
    threads = torch.get_num_threads()
    torch.set_num_threads(
        1
    )  # more gain nothing here and are up to 60 times slower on a busy machine
    try:
        with torch.no_grad():
            divergence = float(loss(*(z[:, None] for z in points)))
    finally:
        torch.set_num_threads(threads)
    return math.sqrt(2 * max(divergence, 0.0))  # below 0 by rounding only


def _note(w2: float, same: float, everything: float, n: int, m: int, k: int, blur: float) -> str:
    """Why three figures for one distance differ, for someone who meets them the first time."""
    gap = abs(w2 - same) / same * 100 if same else 0.0
    text = (
        f"On the same {n:,} samples Sinkhorn gives {w2:.4g} and sorting {same:.4g}, {gap:.1f} % "
        f"apart: Sinkhorn blurs both distributions over {blur:.2g} data units to make the search "
        f"for the best match smooth, and stops once it is nearly found, while sorting is exact. "
    )
    if n == m == k:
        return text + "All samples were used."
    return text + (
        f"Sorting all {m:,} and {k:,} samples gives {everything:.4g}: Sinkhorn's cost grows with "
        f"the square of the number of samples, so it saw only {n:,} of each, and small random "
        f"subsamples differ from each other by chance. Trust the sorted value of all samples."
    )
