"""What numba compiles: the inner loop of ``RungeKutta``; imported when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types

from . import dop853

_TABLEAU, _WEIGHTS = dop853.A, dop853.B  # names of this module, as the kernel needs them
_REAL, _COMPLEX = numba.float64, numba.complex128


def compile_right_hand_side(function: Callable[..., None], analytic: bool = True) -> Any:
    """For real states and, where it is ``analytic``, for the complex-step tangent."""
    kinds = (_REAL, _COMPLEX) if analytic else (_REAL,)
    return _compiled([numba.void(kind[::1], _REAL[::1], kind[::1]) for kind in kinds])(function)


def compiled_filling(equation: Callable[..., Any], parameters: int) -> Callable[..., None]:
    """From an equation that returns the slopes, one that fills them in; both to be compiled."""
    given = "".join(f", parameters[{number}]" for number in range(parameters))
    lines = f"""
def fill(u, parameters, du):
    slopes = equation(u{given})
    for i in range(len(du)):
        du[i] = slopes[i]
"""
    names: dict[str, Any] = {"equation": numba.njit(equation)}
    exec(lines, names)
    found: Callable[..., None] = names["fill"]
    return found


def _compiled(signatures: list[Any], **options: Any) -> Callable[[Callable[..., None]], Any]:
    """numba.njit, cached on disk where that can be done."""

    def compile_(function: Callable[..., None]) -> Any:
        try:
            return numba.njit(signatures, cache=True, **options)(function)
        except RuntimeError:  # no folder to write to, or typed at a prompt: compiled every time
            return numba.njit(signatures, **options)(function)

    return compile_


def _kernel_signature(kind: Any) -> Any:
    # the right-hand side goes in by address, so that one compiled kernel serves them all
    function = types.FunctionType(numba.void(kind[::1], _REAL[::1], kind[::1]))
    return numba.void(
        function, kind[:, ::1], kind[:, ::1], _REAL[::1], _REAL, numba.int64, kind[:, :, :]
    )


@_compiled([_kernel_signature(_REAL), _kernel_signature(_COMPLEX)], nogil=True, error_model="numpy")
def order8(rhs, u, carry, parameters, step, substeps, out):  # type: ignore[no-untyped-def]
    stages = len(_WEIGHTS)
    n, dimension = u.shape
    k = np.empty((stages, dimension), dtype=u.dtype)
    at = np.empty(dimension, dtype=u.dtype)
    for i in range(n):
        for t in range(out.shape[1]):
            for _ in range(substeps):
                for s in range(stages):
                    at[:] = 0.0
                    for j in range(s):
                        a = _TABLEAU[s, j]
                        if a != 0.0:
                            for d in range(dimension):
                                at[d] += a * k[j, d]
                    for d in range(dimension):
                        at[d] = u[i, d] + (step * at[d] + carry[i, d])
                    rhs(at, parameters, k[s])
                at[:] = 0.0
                for s in range(stages):
                    b = _WEIGHTS[s]
                    if b != 0.0:
                        for d in range(dimension):
                            at[d] += b * k[s, d]
                for d in range(dimension):  # compensated: what the sum loses is carried on
                    change = step * at[d] + carry[i, d]
                    new = u[i, d] + change
                    carry[i, d] = change - (new - u[i, d])
                    u[i, d] = new
            for d in range(dimension):
                out[i, t, d] = u[i, d]
