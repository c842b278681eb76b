"""Models on disk: one safetensors file, float64 bit for bit, with the spec as JSON inside."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from ..checks import InvalidInput
from ..tensorfile import DamagedFile, read_tensors, write_tensors
from .model import Model, Unit, pick_device
from .spec import ModelSpec

FORMAT = 1
ENDING = ".safetensors"


def versions() -> dict[str, str]:
    """What computed here: recorded beside every result."""
    try:
        own = version("rfm-explorer")
    except PackageNotFoundError:  # run from a bare checkout
        own = "unknown"
    return {"rfm_core": own, "torch": torch.__version__, "python": platform.python_version()}


def save_model(model: Model, path: str | Path) -> Path:
    """Write ``model``; the ending .safetensors is added where it is missing."""
    path = _with_ending(Path(path))
    arrays = {}
    for number, unit in enumerate(model.units):
        for name, tensor in {**unit.features.tensors(), "W": unit.weights}.items():
            arrays[f"unit{number}.{name}"] = tensor.detach().cpu().numpy()
    header = {
        "format": FORMAT,
        "kind": "model",
        "spec": model.spec.to_dict(),
        "dimension": model.dimension,
        "dt": model.dt,
        "limit": model.limit,
        "origin": model.origin,
        "versions": versions(),
    }
    try:
        write_tensors(path, arrays, header)
    except OSError as error:
        raise InvalidInput(
            f"The model could not be written to {str(path)!r}: {error.strerror or error}. "
            "Choose a folder that exists, may be written and has room."
        ) from error
    return path


def _with_ending(path: Path) -> Path:
    return path if path.suffix == ENDING else path.with_name(path.name + ENDING)


def load(path: str | Path, *, device: torch.device | str = "auto") -> Model:
    """The model that was saved under this name; a wrong, old or damaged file is refused."""
    path = Path(path)
    if not path.is_file():  # whoever gave a file another name may use that, too
        path = _with_ending(path)
    arrays, header = read_tensors(path)
    if header.get("kind") != "model":
        raise InvalidInput(f"{path.name!r} holds {header.get('kind', 'data')!r}, not a model.")
    if header.get("format") != FORMAT:
        raise InvalidInput(
            f"{path.name!r} is of format {header.get('format')!r}; this version of rfm_core reads "
            f"format {FORMAT}. Train and save the model again."
        )
    try:
        spec = ModelSpec.from_dict(header["spec"])
        tensors = []
        for number in range(spec.depth):
            start = f"unit{number}."
            own = {
                k[len(start) :]: torch.from_numpy(a)
                for k, a in arrays.items()
                if k.startswith(start)
            }
            weights = own.pop("W")
            tensors.append((own, weights))
        args = header["dimension"], header["dt"], header["limit"]
        return rebuild(spec, tensors, *args, device, header["origin"])
    except (KeyError, TypeError, RuntimeError) as error:
        raise DamagedFile(
            f"{path.name!r} is incomplete: {type(error).__name__} {error}. Save the model again."
        ) from None


def rebuild(
    spec: ModelSpec,
    tensors: Sequence[tuple[Mapping[str, torch.Tensor], torch.Tensor]],
    dimension: int,
    dt: float,
    limit: float,
    device: torch.device | str,
    origin: dict[str, Any],
) -> Model:
    """A model from its tensors, on ``device``."""
    place = pick_device(device)
    units = []
    for own, weights in tensors:
        # copies, so that torch aligns the memory as it does after training
        moved = {name: tensor.to(place, copy=True) for name, tensor in own.items()}
        units.append(Unit(spec.kind.rebuild(spec, moved), weights.to(place, copy=True)))
    return Model(spec, tuple(units), dimension, dt, limit, place, origin)
