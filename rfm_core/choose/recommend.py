"""What to start from: the model that is known to do well on a system, or is found from its data."""

from __future__ import annotations

import torch

from ..checks import flag, refuse
from ..data.dataset import Dataset
from ..data.generate import DataSpec, spec_of
from ..events import Reporter
from ..model.recipes import few_components, narrow_halo, wide_halo
from ..model.spec import ModelSpec
from ..systems import get_system
from .halo import find_halo, held_out_error

LONG_STEP = 0.05  # Lyapunov times: over longer steps a second unit pays
FAST = 0.4  # the same where nobody knows the exponent: change over a step, in standard deviations
SPATIAL = 8  # so many components that look alike are a field
NARROW = 6  # a halo up to this is narrow: a patch of one component sees all of it
ANY_HALO = 3  # components on each side, of a ring about which nothing is known
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
    training data, which takes some seconds more. So it is for a system that looks the same
    everywhere and does not say what suits it; without data it gets a guess.
    """
    far = flag("far", far, "False trains in seconds.")
    if isinstance(data, Dataset):
        known = spec_of(data)
        if known is None or _left_to_data(known):
            return _of_series(data, far, device, report)
        data = known
    if isinstance(data, str):
        data = DataSpec(data)
    if not isinstance(data, DataSpec):
        raise refuse("data", data, "a system's name, a DataSpec or a Dataset", "Try 'L96'.")
    system, parameters = get_system(data.system), data.parameter_values
    if system.recommend is not None:
        return system.recommend(parameters, far)
    if _left_to_data(data):
        return narrow_halo(ANY_HALO, ANY_HALO, RANGES[1], far)
    assert data.dt is not None
    return few_components(system.lyapunov * data.dt > LONG_STEP, far)


def _left_to_data(spec: DataSpec) -> bool:
    """A ring whose entry does not say what suits it."""
    system = get_system(spec.system)
    ring = system.homogeneous and system.dimension(spec.parameter_values) >= SPATIAL
    return ring and system.recommend is None


def _of_series(
    data: Dataset, far: bool, device: torch.device | str, report: Reporter | None
) -> ModelSpec:
    if not data.homogeneous or data.dimension < SPATIAL:
        change = float((data.train[:, 1:] - data.train[:, :-1]).std() / data.std.mean())
        return few_components(
            data.lyapunov * data.dt > LONG_STEP if data.lyapunov else change > FAST, far
        )
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
        return narrow_halo(halo.left, halo.right, L1, far)
    return wide_halo(data.dimension, widest, L1, scale / 1.3, far)
