"""Features of random projections, phi(z) = s(W_in z + b_in): a kind is a function s."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Self

import torch

from ..sampler import NAIVE, Across, across, naive, sample
from .base import SETTINGS, Array, Features, Source, Tensor

if TYPE_CHECKING:
    from ..spec import ModelSpec


class RandomFeatures(Features):
    """s(W_in z + b_in), or centred: a constant 1, and s(W_in z + b_in) - s(W_in centre + b_in).

    Centred they are the same functions up to constants, with less rounding where ``change`` has.
    A kind declares itself, ``activation`` and ``slope``; if hit-and-run is not what it needs (all
    pre-activations between L0 and L1, of either sign), also ``drawn``.
    """

    word: ClassVar[str] = "feature"
    settings: ClassVar[tuple[str, ...]] = tuple(name for name in SETTINGS if name != "degree")

    def __init__(self, weights: Tensor, bias: Tensor, centre: Tensor | None = None) -> None:
        self.weights, self.bias, self.centre = weights, bias, centre
        if centre is not None:
            self.at_centre = self.preactivations(centre)

    # --- what a kind says ------------------------------------------------------------------------

    @staticmethod
    @abstractmethod
    def activation(x: Tensor) -> Tensor:
        """s(x), of every number."""

    @staticmethod
    @abstractmethod
    def slope(x: Tensor) -> Tensor:
        """s'(x), of every number."""

    @classmethod
    def change(cls, x: Tensor, dx: Tensor) -> Tensor:
        """s(x + dx) - s(x); better where it is known how to do without a difference."""
        return cls.activation(x + dx) - cls.activation(x)

    @classmethod
    def drawn(cls, spec: ModelSpec, source: Source) -> tuple[Array, Array]:
        """W_in (count, inputs) and b_in (count,) of ``number_drawn(spec)`` features."""
        return sample(
            spec.sampler,
            source.rng,
            cls.number_drawn(spec),
            source.inputs,
            source.rows,
            L0=spec.L0,
            L1=spec.L1,
            w=spec.w,
            b=spec.b,
            standardize=spec.standardize,
            emphasis=source.emphasis,
        )

    # --- what follows from it --------------------------------------------------------------------

    @classmethod
    def number_drawn(cls, spec: ModelSpec) -> int:
        """One feature of a centred unit is its constant."""
        return spec.width - spec.centred

    @classmethod
    def naive(cls, spec: ModelSpec, source: Source) -> tuple[Array, Array] | None:
        """W_in and b_in of a sampler that does not look at the data; None if it is none of them."""
        if spec.sampler not in NAIVE:
            return None
        sizes = cls.number_drawn(spec), len(source.inputs.low)
        return naive(spec.sampler, source.rng, *sizes, spec.w, spec.b, source.emphasis)

    @classmethod
    def across(cls, spec: ModelSpec, source: Source) -> Across:
        """Random directions, and from where to where the data reach along each."""
        return across(
            spec.sampler, source.rng, cls.number_drawn(spec), source.inputs, source.rows,
            standardize=spec.standardize, emphasis=source.emphasis,
        )  # fmt: skip

    @classmethod
    def count(cls, spec: ModelSpec, inputs: int) -> int:
        return spec.width

    @classmethod
    def internal(cls, inputs: int) -> int:
        return inputs + 1

    @classmethod
    def draw(cls, spec: ModelSpec, source: Source) -> Self:
        parts = cls.drawn(spec, source) if source.internal is None else source.internal
        weights, bias = (source.tensor(part) for part in parts)
        return cls(weights, bias, source.tensor(source.inputs.mean) if spec.centred else None)

    @classmethod
    def rebuild(cls, spec: ModelSpec, tensors: Mapping[str, Tensor]) -> Self:
        centre = tensors["centre"] if spec.centred else None
        return cls(tensors["W_in"], tensors["b_in"], centre)

    @property
    def inputs(self) -> int:
        return self.weights.shape[1]

    @property
    def width(self) -> int:
        return self.weights.shape[0] + (self.centre is not None)

    def tensors(self) -> dict[str, Tensor]:
        found = {"W_in": self.weights, "b_in": self.bias}
        return found if self.centre is None else {**found, "centre": self.centre}

    def preactivations(self, z: Tensor) -> Tensor:
        """(..., inputs) -> (..., rows of W_in)."""
        return torch.nn.functional.linear(z, self.weights, self.bias)

    @classmethod
    def curve(cls, x: Array) -> Array:
        return cls.activation(torch.from_numpy(x)).numpy()

    def __call__(self, z: Tensor) -> Tensor:
        if self.centre is None:
            return self.activation(self.preactivations(z))
        return self.centred(z, self.centre)

    def centred(self, z: Tensor, centre: Tensor) -> Tensor:
        changes = self.change(self.at_centre, (z - centre) @ self.weights.mT)
        return torch.nn.functional.pad(changes, (1, 0), value=1.0)

    def tangent(self, z: Tensor, dz: Tensor) -> tuple[Tensor, Tensor]:
        """phi(z) and its derivative along dz, whose leading axes may be more than those of z."""
        dphi = self.slope(self.preactivations(z)) * (dz @ self.weights.mT)
        if self.centre is not None:
            dphi = torch.nn.functional.pad(dphi, (1, 0))
        return self(z), dphi
