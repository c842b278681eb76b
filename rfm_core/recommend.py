"""What to start from: the model that is known to do well on a system, or is found from its data."""

from __future__ import annotations

import torch

from .architecture import ModelSpec
from .checks import flag, refuse
from .data import DataSpec
from .dataset import Dataset
from .events import Reporter
from .halo import find_halo, held_out_error
from .systems import get_system

KS_HALO = 4.7  # length, on each side; twelve points of the paper's grid
LONG_STEP = 0.05  # Lyapunov times: over longer steps a second unit pays
FAST = 0.4  # the same where nobody knows the exponent: change over a step, in standard deviations
SPATIAL = 8  # so many components that look alike are a field
NARROW = 6  # a halo up to this is narrow: a patch of one component sees all of it
RANGES = (0.41, 1.0, 3.5)  # L1, from nearly polynomial to strongly curved features


def recommended(
    data: DataSpec | Dataset | str,
    *,
    far: bool = False,
    device: torch.device | str = "auto",
    report: Reporter | None = None,
) -> ModelSpec:
    """The model to start from for a system, by name or with its time step and parameters.

    It trains in seconds on two cores; with ``far=True`` in minutes, and sees further. What these
    reach is measured in assets/forecast-times.md. For a series of your own give the ``Dataset``:
    where it is homogeneous in space, the halo and the range of the features are found from the
    training data, which takes some seconds more.
    """
    far = flag("far", far, "False trains in seconds.")
    if isinstance(data, Dataset):
        known = _origin(data)
        if known is None:
            return _of_series(data, far, device, report)
        data = known
    if isinstance(data, str):
        data = DataSpec(data)
    if not isinstance(data, DataSpec):
        raise refuse("data", data, "a system's name, a DataSpec or a Dataset", "Try 'L96'.")
    if data.system == "L96":
        return _near(4, 2, 0.41, far)
    if data.system == "KS":
        parameters = data.parameter_values
        grid = int(parameters["grid"])
        return _wide(grid, KS_HALO * grid / parameters["L"], 1.0, 1.0, far)
    assert data.dt is not None
    return _small(get_system(data.system).lyapunov * data.dt > LONG_STEP, far)


def _origin(data: Dataset) -> DataSpec | None:
    """How the data of a known system were made; None for a series of somebody's own."""
    return DataSpec.from_dict(data.origin) if data.origin.get("kind") == "DataSpec" else None


def _of_series(
    data: Dataset, far: bool, device: torch.device | str, report: Reporter | None
) -> ModelSpec:
    if not data.homogeneous or data.dimension < SPATIAL:
        change = float((data.train[:, 1:] - data.train[:, :-1]).std() / data.std.mean())
        return _small(data.lyapunov * data.dt > LONG_STEP if data.lyapunov else change > FAST, far)
    halo = find_halo(data, device=device, report=report)
    widest = max(halo.left, halo.right)
    scale = float(data.std.mean())
    trial = ModelSpec(
        "LocalSkip", width=512, G=1, left=halo.left, right=halo.right, rows=12_000,
        noise=1e-5 * scale, noise_on="input", standardize=True,
        taper=None if widest <= NARROW else 0.4,
    )  # fmt: skip
    errors = {r: held_out_error(trial.replace(L1=r), data, device=device) for r in RANGES}
    # where the halo is the limit all do alike, and units that follow want the narrow one
    L1 = min(r for r in RANGES if errors[r] < 1.05 * min(errors.values()))
    if widest <= NARROW:
        return _near(halo.left, halo.right, L1, far)
    return _wide(data.dimension, widest, L1, scale / 1.3, far)


def _small(long_step: bool, far: bool) -> ModelSpec:
    """Few components: one unit that sees all of them; two where a step is long.

    Here nothing but rounding is in the way, and refinement takes some of it away.
    """
    if long_step:
        return ModelSpec("DeepSkip", width=716, depth=4 if far else 2, refine=2)
    return ModelSpec("SkipRFM", width=1024 if far else 512, refine=2)


def _near(left: int, right: int, L1: float, far: bool) -> ModelSpec:
    """Units of one component that exchange estimates with those whose influence is nearest.

    On Lorenz-96 the map over a step is a polynomial of low degree in many inputs, so features are
    drawn in a narrow range, where a tanh is one too.
    """
    return ModelSpec(
        "LocalDeepSkip",
        width=1024 if far else 512,
        depth=4 if far else 3,
        G=1,
        left=left,
        right=right,
        exchange=(left, right) if far else (-(-left // 2), -(-right // 2)),
        standardize=True,
        L1=L1,
        rows=40_000,
    )


def _wide(dimension: int, halo: float, L1: float, scale: float, far: bool) -> ModelSpec:
    """Wide halos, so that short waves can be damped, tapered, so that features stay on what counts.

    A halo of three patches. The noise on inputs is what teaches the damping; it must not be much
    below the error of a step. ``scale`` is the size of the field beside that of
    Kuramoto-Sivashinsky, on which all this was measured.
    """
    divisors = (g for g in range(1, dimension + 1) if dimension % g == 0)
    patch = min(divisors, key=lambda g: abs(g - halo / 3))
    fits = max(0, (dimension // patch - 1) // 2)  # neighbours on either side on a small ring
    return ModelSpec(
        "LocalDeepSkip",
        width=1536 if far else 768,
        depth=4 if far else 2,
        G=patch,
        I=min(3, fits),
        exchange=min(2, fits),
        taper=0.33,
        L1=L1,
        noise=scale * (1e-7 if far else 3e-6),
        noise_on="input",
        rows=90_000 if far else 60_000,
    )
