"""A kind of features is tried before it is taken: what is wrong with it, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...checks import InvalidInput, refuse
from ..sampler import Inputs
from .base import NAME, SETTINGS, Features, Source

TEXTS = ("title", "about", "word", "icon")
STEP, NEAR = 1e-6, 1e-4  # of a difference quotient, and how near it must be


def check(kind: Any) -> None:
    """The declarations of a class."""
    if not (isinstance(kind, type) and issubclass(kind, Features)):
        raise refuse("features", kind, "a subclass of Features", "See RandomFeatures.")
    missing = sorted(getattr(kind, "__abstractmethods__", ()))
    missing += [n for n in ("name", *TEXTS, "settings") if not hasattr(kind, n)]
    if missing:
        raise InvalidInput(
            f"{kind.__name__} cannot be registered: it lacks {', '.join(missing)}. "
            "The class Features says what each of them is."
        )
    if not isinstance(kind.name, str) or not NAME.fullmatch(kind.name):
        limit = "a small letter and then up to 39 small letters, digits, - or _"
        raise refuse("name", kind.name, limit, "It is part of links.")
    for unknown in set(kind.settings) - set(SETTINGS):
        raise refuse("settings", unknown, f"among {', '.join(SETTINGS)}", "Leave it out.")


def attempt(kind: type[Features]) -> None:
    """Draw some for three inputs, look at values and derivatives, store and rebuild them."""
    from ..spec import ModelSpec

    try:
        for centred in (False, True):
            spec = ModelSpec("RFM", width=8, degree=2, centred=centred, features=kind.name)
            _attempt(kind, spec)
    except InvalidInput as error:
        raise InvalidInput(f"{kind.__name__} cannot be registered: {error}") from None
    except Exception as error:  # a stranger's functions may raise anything
        raise InvalidInput(
            f"{kind.__name__} cannot be registered: a first use of it ended in "
            f"{type(error).__name__}: {error}. Call its parts by hand to see why."
        ) from error


def _attempt(kind: type[Features], spec: Any) -> None:
    rng = np.random.default_rng(0)
    z, dz = (torch.from_numpy(rng.normal(size=(40, 3))) for _ in range(2))
    source = Source(Inputs.scan(lambda: [z]), lambda: [z], rng, z.device)
    features = kind.draw(spec, source)
    expected = kind.count(spec, 3)
    if (features.inputs, features.width) != (3, expected):
        raise refuse(
            "inputs and width", (features.inputs, features.width), f"(3, {expected})",
            "count(spec, inputs) says how many there are.",
        )  # fmt: skip
    phi, dphi = features.tangent(z, dz)
    values = features(z)
    if values.shape != (40, expected) or not bool(torch.isfinite(values).all()):
        raise refuse(
            "shape of the values", tuple(values.shape), f"(40, {expected}), all of them finite",
            "They are phi(z) of 40 rows z.",
        )  # fmt: skip
    quotient = (features(z + STEP * dz) - features(z - STEP * dz)) / (2 * STEP)
    size = 1 + dphi.abs().max()
    if not torch.allclose(phi, values) or bool(((dphi - quotient).abs() > NEAR * size).any()):
        raise refuse(
            "derivative", float((dphi - quotient).abs().max()),
            "that of the values: this is how far it is from a difference quotient",
            "Look at the slope, or at tangent.",
        )  # fmt: skip
    again = kind.rebuild(spec, {name: t.clone() for name, t in features.tensors().items()})
    if not torch.equal(again(z), values):
        raise InvalidInput("rebuilt from its tensors it has other values. Store all that matters.")
