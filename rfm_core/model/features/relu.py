"""Rectified linear features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from .base import Array, Source, Tensor, register_features
from .random import RandomFeatures

if TYPE_CHECKING:
    from ..spec import ModelSpec


@register_features
class ReLU(RandomFeatures):
    """phi(z) = max(0, W_in z + b_in), each with its hinge inside the data.

    Hit-and-run keeps the data on one side of every hyperplane W_in z + b_in = 0, where such a
    feature would be linear or nothing. Here the samplers that look at the data put it anywhere
    between the two ends of the data along its direction (of the data themselves with "tight", of
    their bounding box with "hit-and-run"). From end to end the pre-activation grows by L1 - L0.
    """

    name = "relu"
    title = "ReLU (hinges)"
    about = "zero up to a hinge inside the data, of height L1 - L0 if it went from end to end"
    word = "ReLU feature"
    icon = "m0 9 h15 l15 -18"
    seconds = 3e-9
    no_zones = "A hinge has no zones: it is linear on either side, and bends at one point."

    @staticmethod
    def activation(x: Tensor) -> Tensor:
        return torch.relu(x)

    @staticmethod
    def slope(x: Tensor) -> Tensor:
        return (x > 0).to(x.dtype)

    @classmethod
    def change(cls, x: Tensor, dx: Tensor) -> Tensor:
        return torch.maximum(dx, -x) - torch.relu(-x)

    @classmethod
    def drawn(cls, spec: ModelSpec, source: Source) -> tuple[Array, Array]:
        found = cls.naive(spec, source)
        if found is not None:
            return found
        count, data = cls.number_drawn(spec), cls.across(spec, source)
        hinge = data.least + data.length * source.rng.random(count)
        slope = source.rng.choice([-1.0, 1.0], count) * (spec.L1 - spec.L0) / data.length
        return slope[:, None] * data.directions, -slope * np.asarray(hinge)
