"""What to start from: the model that is known to do well on a system, and why."""

from __future__ import annotations

from collections.abc import Mapping

from .architecture import ModelSpec
from .checks import flag, refuse
from .data import DataSpec
from .systems import get_system

KS_PATCH = 1.6  # length of a patch; four points of the paper's grid
LONG_STEP = 0.05  # Lyapunov times: over longer steps a second unit pays


def recommended(data: DataSpec | str, *, far: bool = False) -> ModelSpec:
    """The model to start from for a system, by name or with its time step and parameters.

    It trains in seconds on two cores; with ``far=True`` in minutes, and sees further. What these
    reach is measured in assets/forecast-times.md.
    """
    if isinstance(data, str):
        data = DataSpec(data)
    if not isinstance(data, DataSpec):
        raise refuse("data", data, "a system's name or a DataSpec", "For example 'L96'.")
    far = flag("far", far, "False trains in seconds.")
    if data.system == "L96":
        return _lorenz_96(far)
    if data.system == "KS":
        return _kuramoto_sivashinsky(data.parameter_values, far)
    return _small(data, far)


def _small(data: DataSpec, far: bool) -> ModelSpec:
    """Few components: one unit that sees all of them; two where a step is long."""
    assert data.dt is not None
    if get_system(data.system).lyapunov * data.dt > LONG_STEP:
        return ModelSpec("DeepSkip", width=716, depth=4 if far else 2)
    return ModelSpec("SkipRFM", width=1024 if far else 512)


def _lorenz_96(far: bool) -> ModelSpec:
    """Units of one component that exchange estimates; influence comes mostly from the left.

    The map over a step is a polynomial of low degree in many inputs, so features are drawn in a
    narrow range, where a tanh is one too.
    """
    return ModelSpec(
        "LocalDeepSkip",
        width=1024 if far else 512,
        depth=4 if far else 3,
        G=1,
        left=4,
        right=2,
        exchange=(4, 2) if far else (2, 1),
        standardize=True,
        L1=0.41,
        rows=40_000,
    )


def _kuramoto_sivashinsky(parameters: Mapping[str, float], far: bool) -> ModelSpec:
    """Wide halos, so that short waves can be damped, tapered, so that features stay on what counts.

    The noise on inputs is what teaches the damping; it must not be much below the error of a step.
    """
    grid = int(parameters["grid"])
    wanted = KS_PATCH * grid / parameters["L"]
    patch = min((g for g in range(1, grid + 1) if grid % g == 0), key=lambda g: abs(g - wanted))
    fits = max(0, (grid // patch - 1) // 2)  # neighbours on either side on a small ring
    return ModelSpec(
        "LocalDeepSkip",
        width=1024 if far else 512,
        depth=4 if far else 2,
        G=patch,
        I=min(3, fits),
        exchange=min(2, fits),
        taper=0.33,
        L1=1.0,
        noise=3e-7 if far else 3e-6,
        noise_on="input",
        rows=60_000,
    )
