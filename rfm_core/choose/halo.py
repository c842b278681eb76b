"""Which neighbours matter: the halo of a system that looks the same everywhere, from data alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from ..checks import InvalidInput, real, refuse, whole
from ..data.dataset import Dataset
from ..events import Reporter
from ..model.fit import Fitted, fit_events
from ..model.spec import ModelSpec

WORTH = 1.15  # what a wider halo must gain to be taken
SPARED = 1.05  # what a narrower one may lose at the end
TAPER = 0.4


@dataclass(frozen=True)
class Halo:
    """So many components on the left and on the right; ``error`` is that of one step with them.

    ``tried`` are all (left, right, error), in the order in which they were looked at.
    """

    left: int
    right: int
    error: float
    tried: tuple[tuple[int, int, float], ...]


def find_halo(
    data: Dataset,
    *,
    most: int = 24,
    width: int = 512,
    rows: int = 12_000,
    noise: float = 1e-5,
    seed: int = 0,
    device: torch.device | str = "auto",
    report: Reporter | None = None,
) -> Halo:
    """The halo with which one local unit predicts held-out training rows best, found by growing it.

    It grows to the left, to the right or to both sides, whichever helps more, as long as it helps.
    ``noise``, as a share of the standard deviation, is on the inputs. It is there on purpose: data
    of a system that damps short waves contain none, and without noise a narrow halo seems to do,
    through gains on what is not there.
    """
    if not isinstance(data, Dataset):
        raise refuse("data", data, "a Dataset", "Use make_dataset or load_series.")
    if not data.homogeneous:
        raise InvalidInput(
            f"A halo can be found only where the system looks the same everywhere, and nobody said "
            f"that of {data.name!r}. Load it with homogeneous=True if it is so."
        )
    most = whole("most", most, 0, None, "24 components on a side are usual.")
    report = report or Reporter()
    size = real("noise", noise, "1e-5 of the standard deviation is usual.", 0, 1e3)
    size *= float(data.std.mean())
    errors: dict[tuple[int, int], float] = {}

    def error(halo: tuple[int, int]) -> float:
        if halo not in errors:
            report("halo", len(errors), len(errors) + 1)
            left, right = halo
            spec = ModelSpec(
                "LocalSkip", width=width, G=1, left=left, right=right, rows=rows, noise=size,
                noise_on="input", standardize=True, taper=TAPER,
            )  # fmt: skip
            errors[halo] = held_out_error(spec, data, seed, device)
        return errors[halo]

    halo = (0, 0)
    while wider := list(_wider(halo, most, data.dimension)):
        best = min(wider, key=error)
        if error(halo) < WORTH * error(best):
            break
        halo = best
    enough = SPARED * error(halo)
    while narrower := [h for h in _narrower(halo) if error(h) < enough]:
        halo = min(narrower, key=error)
    report("halo", len(errors), len(errors))
    return Halo(*halo, errors[halo], tuple((*h, e) for h, e in errors.items()))


def held_out_error(
    spec: ModelSpec, data: Dataset, seed: int = 0, device: torch.device | str = "auto"
) -> float:
    """Of one step, on training rows held out from the first unit, with the best beta for them."""
    spec = spec.replace(beta="auto")
    fitted = next(
        e for e in fit_events(spec, data, seed=seed, device=device) if isinstance(e, Fitted)
    )
    path = fitted.units[0].path
    assert path is not None  # there is one wherever beta is automatic
    return float(np.nanmin(path.heldout))


def _wider(halo: tuple[int, int], most: int, dimension: int) -> Iterator[tuple[int, int]]:
    left, right = halo
    step = max(1, max(halo) // 2)  # a wide halo on a fine grid gains little by one component
    for a, b in ((step, 0), (0, step), (step, step)):
        if max(left + a, right + b) <= most and left + a + right + b < dimension:
            yield left + a, right + b


def _narrower(halo: tuple[int, int]) -> Iterator[tuple[int, int]]:
    left, right = halo
    if left:
        yield left - 1, right
    if right:
        yield left, right - 1
