"""Random Fourier features."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from .base import Array, Source, Tensor, register_features
from .random import RandomFeatures

if TYPE_CHECKING:
    from ..spec import ModelSpec


@register_features
class Fourier(RandomFeatures):
    """phi(z) = cos(W_in z + b_in), waves in random directions.

    The samplers that look at the data give each wave between L0 and L1 periods from one end of the
    data to the other along its direction (of the data themselves with "tight", of their bounding
    box with "hit-and-run"), and any phase. The naive ones are those of the literature: with
    "gaussian" the features are those of a Gaussian kernel of length 1 / w, if b is large.
    """

    name = "fourier"
    title = "Fourier (cosine)"
    about = "a wave of L0 to L1 periods from one end of the data to the other"
    word = "cosine feature"
    icon = "m0 -9 c8 0 7 18 15 18 c8 0 7 -18 15 -18"
    seconds = 1.6e-8
    no_zones = "A cosine is nowhere flat for good, so there are no zones to show."

    @staticmethod
    def activation(x: Tensor) -> Tensor:
        return torch.cos(x)

    @staticmethod
    def slope(x: Tensor) -> Tensor:
        return -torch.sin(x)

    @classmethod
    def change(cls, x: Tensor, dx: Tensor) -> Tensor:
        half = dx / 2
        return -2 * torch.sin(x + half) * torch.sin(half)

    @classmethod
    def drawn(cls, spec: ModelSpec, source: Source) -> tuple[Array, Array]:
        found = cls.naive(spec, source)
        if found is not None:
            return found
        count, data = cls.number_drawn(spec), cls.across(spec, source)
        periods = source.rng.uniform(spec.L0, spec.L1, count)
        phase = source.rng.uniform(0, 2 * math.pi, count)
        return (2 * math.pi * periods / data.length)[:, None] * data.directions, phase
