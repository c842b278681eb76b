"""Lyapunov exponents of a true system or of a trained model, from tangent dynamics.

Benettin's method: carry k tangent vectors along n trajectories, re-orthonormalise them by QR after
every few steps, and average the logarithms of the stretching factors.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..checks import InvalidInput, real, refuse, whole
from ..events import Reporter
from ..streams import stream

Array = np.ndarray
RUNNING = 200  # how often the exponents on the way are kept


class HasTangent(Protocol):
    """A stepper of a true system, or a trained model."""

    @property
    def dt(self) -> float: ...

    def tangent(self, states: Array, vectors: Array) -> tuple[Array, Array]: ...


@dataclass(frozen=True, eq=False)
class LyapunovSpectrum:
    """Leading exponents per unit of time, largest first, and their standard error."""

    exponents: Array
    standard_error: Array
    trajectories: int
    time: float  # averaged over, per trajectory, after discarding the transient
    running_time: Array  # (m,) and the exponents as they were after so much of it: do they settle?
    running: Array  # (m, count)


def lyapunov_exponents(
    dynamics: HasTangent,
    states: Array,
    *,
    count: int = 1,
    steps: int = 2000,
    discard: float = 0.2,
    every: int = 4,
    seed: int = 0,
    report: Reporter | None = None,
) -> LyapunovSpectrum:
    """The ``count`` leading exponents along trajectories from ``states`` (n, D)."""
    if not hasattr(dynamics, "tangent"):
        remedy = "Give a model, or get_system('L63').stepper(parameters, dt)."
        raise refuse("dynamics", dynamics, "something with a tangent map", remedy)
    states = _checked(states)
    n, dimension = states.shape
    count = whole("count", count, 1, dimension, "A system has as many exponents as components.")
    steps = whole("steps", steps, 10, None, "Some thousand steps give two digits.")
    every = whole("every", every, 1, None, "4 is usual: vectors must not grow beyond all bounds.")
    discard = real("discard", discard, "0.2 leaves out the first fifth of the steps.", 0, 0.9)
    seed = whole("seed", seed, 0, None, "0 will do.")
    report = report or Reporter()
    vectors = stream(seed, "tangent").standard_normal((n, count, dimension))
    vectors = _orthonormal(vectors)[0]
    first = int(discard * steps)
    total, counted = np.zeros((n, count)), 0
    told = -np.inf
    running: list[tuple[int, Array]] = []
    for step in range(steps):
        if time.monotonic() - told > 0.05:
            report("Lyapunov exponents", step, steps)
            told = time.monotonic()
        states, vectors = dynamics.tangent(states, vectors)
        if (step + 1) % every == 0 or step + 1 in (first, steps):
            if not (np.isfinite(states).all() and np.isfinite(vectors).all()):
                raise InvalidInput(
                    f"The trajectory left the attractor after {step + 1} steps, so it has no "
                    "Lyapunov exponents. Use a model that forecasts stably, or fewer steps."
                )
            vectors, stretch = _orthonormal(vectors)
            if step >= first:
                total += stretch
                running.append((step + 1 - first, total.mean(axis=0)))
        counted += step >= first
    span = counted * dynamics.dt
    rates = total / span
    error = rates.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(count, np.nan)
    report("Lyapunov exponents", steps, steps)
    kept = [running[i] for i in np.unique(np.linspace(0, len(running) - 1, RUNNING).astype(int))]
    times = np.array([number for number, _ in kept]) * dynamics.dt
    settling = np.array([total for _, total in kept]) / times[:, None]
    return LyapunovSpectrum(rates.mean(axis=0), error, n, span, times, settling)


def kaplan_yorke(exponents: Array, dimension: int) -> float | None:
    """Dimension j + (l_1 + ... + l_j) / |l_{j+1}| with the last j at which the sum is positive.

    Of a system of ``dimension`` components; None where the exponents given do not reach that far.
    """
    rates = np.asarray(exponents, dtype=np.float64)
    sums = np.cumsum(rates)
    below = np.flatnonzero(sums < 0)
    if not len(below):
        return float(dimension) if len(rates) == dimension else None
    j = int(below[0])
    return j + float(sums[j - 1] / -rates[j]) if j else 0.0


def _checked(states: ArrayLike) -> Array:
    """(n, D), one state alone included."""
    remedy = "Give states on the attractor, for example data.train[0, ::1000]."
    try:
        found = np.atleast_2d(np.asarray(states, dtype=np.float64))
    except (TypeError, ValueError):
        raise refuse("states", states, "an array of numbers (n, D)", remedy) from None
    if found.ndim != 2 or found.size == 0:
        raise refuse("shape of states", found.shape, "(n, D) with n of at least 1", remedy)
    if not np.isfinite(found).all():
        bad = found[~np.isfinite(found)][0]
        raise refuse("a component of states", float(bad), "a finite number", remedy)
    return found


def _orthonormal(vectors: Array) -> tuple[Array, Array]:
    """Rows made orthonormal, and the logarithms of their lengths."""
    q, r = np.linalg.qr(np.swapaxes(vectors, -1, -2))
    diagonal = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    return np.swapaxes(q, -1, -2), np.log(np.maximum(diagonal, 1e-300))
