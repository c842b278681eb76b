"""Steppers: u(t) -> u(t + dt) for many trajectories side by side, and their tangent dynamics.

Two families cover all systems here. ``RungeKutta`` integrates ordinary differential equations with
a compiled fixed-step scheme of order 8 and compensated summation, so that what is left over one dt
is rounding. ``ETDRK4`` integrates stiff semilinear equations in Fourier space. Neither knows any
particular equation.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..events import Reporter
from .rollout import Done, Pieces, Room

Array = np.ndarray


class RightHandSide:
    """``function(u, parameters, du)``, which fills du; compiled when it is first needed.

    numba takes a second to load and more to compile, and most who import this package want a
    model, a table or a help page first.
    """

    def __init__(self, function: Callable[..., None], analytic: bool = True) -> None:
        self.function = function
        self.analytic = analytic  # otherwise with no complex-step tangent: abs, max, if ...

    @cached_property
    def compiled(self) -> Any:
        """For real states, and where it is analytic for the complex-step tangent."""
        from .kernel import compile_right_hand_side

        return compile_right_hand_side(self.function, self.analytic)

    def __call__(self, u: Array, parameters: Array, du: Array) -> None:
        self.compiled(u, parameters, du)


def right_hand_side(function: Callable[..., None]) -> RightHandSide:
    """Have ``function(u, parameters, du)`` compiled."""
    return RightHandSide(function)


class RungeKutta(Pieces):
    """Dormand and Prince's eighth-order scheme with a fixed inner step, compiled.

    The state is carried as a sum of two floats, so rounding does not accumulate from step to step.
    """

    def __init__(
        self,
        rhs: RightHandSide,
        parameters: Array,
        dt: float,
        inner_step: float,
        dimension: int | None = None,
    ) -> None:
        self.dt, self.dimension = dt, dimension
        self.substeps = max(1, math.ceil(dt / inner_step * (1 - 1e-12)))
        self._parameters = np.asarray(parameters, dtype=np.float64)
        self._rhs = rhs

    def _begin(self, start: Array) -> tuple[Array, Array]:
        return start.copy(), np.zeros_like(start)

    def _move(self, state: tuple[Array, Array], out: Array) -> tuple[Array, Array]:
        u, carry = state
        self._kernel(u, carry, out)
        return u, carry

    def _kernel(self, u: Array, carry: Array, out: Array) -> None:
        from .kernel import order8

        step = self.dt / self.substeps
        order8(self._rhs.compiled, u, carry, self._parameters, step, self.substeps, out)

    def tangent(self, states: Array, vectors: Array) -> tuple[Array, Array]:
        """Complex-step derivative: exact to rounding for right-hand sides analytic in u."""
        if not self._rhs.analytic:
            return self.differences(states, vectors)
        states = self._states(states)
        n, k, dimension = vectors.shape
        tiny = 1e-100
        start = (states[:, None] + 1j * tiny * vectors).reshape(n * k, dimension)
        carry, out = np.zeros_like(start), np.empty((n * k, 1, dimension), dtype=complex)
        self._kernel(start, carry, out)
        end = out.reshape(n, k, dimension)
        return end[:, 0].real.copy(), end.imag / tiny


class Odeint(Pieces):
    """scipy's ``odeint`` at its default tolerance, as the paper's data were made.

    One call a trajectory, as there. A call begins with small steps of low order, and a state that
    starts a new call has other errors than one in the middle of it: on data of many short calls
    models forecast Lorenz-63 for 14.3 Lyapunov times, on data of one for 14.8. For the same reason
    the first ``lead`` steps of a call are not to be used.
    """

    lead = 500
    told = 500  # evaluations of the right-hand side between two reports

    def __init__(
        self, rhs: RightHandSide, parameters: Array, dt: float, dimension: int | None = None
    ) -> None:
        self.dt, self.dimension = dt, dimension
        self._rhs, self._parameters = rhs, np.asarray(parameters, dtype=np.float64)

    def _run(
        self,
        start: Array,
        steps: int,
        report: Reporter | None,
        stage: str,
        room: Room,
        done: Done = lambda rows, out: None,
    ) -> None:
        report = report or Reporter()
        n = len(start)
        for i in range(n if steps else 0):

            def tell(share: float, before: int = i) -> None:
                report(stage, (before + share) * steps / n, steps)

            out = room(slice(i, i + 1), 0, steps)
            out[0] = self._path(start[i], steps, tell)
            done(slice(i, i + 1), out)
        report(stage, steps, steps)

    def _path(self, start: Array, steps: int, tell: Callable[[float], None]) -> Array:
        """The states after ``start``; ``tell`` is told the share that is done, and may raise."""
        from scipy.integrate import ODEintWarning, odeint

        end = steps * self.dt
        evaluations = itertools.count()

        def slope(u: Array, t: float) -> Array:
            if next(evaluations) % self.told == 0:
                tell(min(t / end, 1.0))  # odeint looks a little beyond the end
            du = np.empty_like(u)
            self._rhs(u, self._parameters, du)
            return du

        times = self.dt * np.arange(steps + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ODEintWarning)
            found, notes = odeint(slope, start, times, full_output=True)
        fine = notes["message"].startswith("Integration successful")
        return found[1:] if fine else np.full_like(found[1:], np.nan)

    def tangent(self, states: Array, vectors: Array) -> tuple[Array, Array]:
        # odeint's steps depend on the state, so it has no tangent map of its own
        fine = RungeKutta(self._rhs, self._parameters, self.dt, self.dt / 4, self.dimension)
        return fine.tangent(states, vectors)


class ETDRK4(Pieces):
    """Exponential time differencing, fourth order, for v' = linear * v + nonlinear(v).

    ``v`` is the real Fourier transform of the state on a periodic grid; ``nonlinear`` takes and
    returns such transforms. A fixed step makes it a true map of the state. In numpy on purpose:
    torch's threads were measured to be up to ten times slower here when the cores are shared.
    """

    parallel = False  # two threads were measured to take half as long again: the calls are short

    def __init__(
        self,
        linear: Array,
        nonlinear: Callable[[Array], Array],
        grid: int,
        dt: float,
        inner_step: float,
    ) -> None:
        self.dt, self.grid, self.dimension = dt, grid, grid
        self.substeps = max(1, math.ceil(dt / inner_step * (1 - 1e-12)))
        self._nonlinear = nonlinear
        self._fft = real_transforms(grid)
        self._coefficients = _etd_coefficients(linear, dt / self.substeps)

    def _inner(self, v: Array) -> Array:
        full, half, q, f1, f2, f3 = self._coefficients
        here = self._nonlinear(v)
        drift = half * v
        a = drift + q * here
        at_a = self._nonlinear(a)
        b = drift + q * at_a
        at_b = self._nonlinear(b)
        c = half * a + q * (2 * at_b - here)
        at_c = self._nonlinear(c)
        # in place where the arrays are ours: they are large enough for memory to set the pace
        both = at_a + at_b
        both *= f2
        new: Array = full * v
        new += f1 * here
        new += both
        new += f3 * at_c
        return new

    def _begin(self, start: Array) -> Array:
        return np.asarray(self._fft[0](start))

    def _move(self, state: Array, out: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):  # a state that blows up ends as NaN
            for t in range(out.shape[1]):
                for _ in range(self.substeps):
                    state = self._inner(state)
                out[:, t] = self._fft[1](state)
        return state

    def tangent(self, states: Array, vectors: Array) -> tuple[Array, Array]:
        return self.differences(states, vectors)


def real_transforms(grid: int) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
    """There and back, of states on so many points."""
    from scipy.fft import irfft, rfft

    return rfft, partial(irfft, n=grid)


def _etd_coefficients(linear: Array, step: float) -> tuple[Array, ...]:
    """Kassam and Trefethen's contour means, which avoid cancellation for small ``linear``."""
    z = step * np.asarray(linear, dtype=np.float64)
    circle = np.exp(1j * np.pi * (np.arange(32) + 0.5) / 32)
    r = z[:, None] + circle[None, :]
    exp, half = np.exp(r), np.exp(r / 2)
    q = step * ((half - 1) / r).mean(axis=1).real
    f1 = step * ((-4 - r + exp * (4 - 3 * r + r**2)) / r**3).mean(axis=1).real
    f2 = step * (2 * (2 + r + exp * (-2 + r)) / r**3).mean(axis=1).real
    f3 = step * ((-4 - 3 * r - r**2 + exp * (4 - r)) / r**3).mean(axis=1).real
    return np.exp(z), np.exp(z / 2), q, f1, f2, f3
