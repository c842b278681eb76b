"""Polynomials, as a baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Self

import numpy as np
import torch

from ...checks import InvalidInput
from .base import Features, Source, Tensor, register_features

if TYPE_CHECKING:
    from ..spec import ModelSpec

MOST_MONOMIALS = 50_000


@register_features
class Monomials(Features):
    """All monomials up to a degree of (z - centre) / scale, each one product more than another."""

    name = "polynomial"
    title = "polynomial"
    about = "all products of components up to a degree, a baseline without chance"
    word = "monomial"
    icon = "m0 9 c10 -26 20 8 30 -18"
    settings = ("degree",)  # centred, scaled and with a constant they are anyway
    seconds = 9.5e-9
    no_zones = "A polynomial has no zones: nothing in it is flat."

    def __init__(self, centre: Tensor, scale: Tensor, degree: int) -> None:
        self.centre, self.scale, self.degree = centre, scale, degree
        count = self.width
        if count > MOST_MONOMIALS:
            raise InvalidInput(
                f"Degree {degree} in {self.inputs} inputs has {count} monomials; at most "
                f"{MOST_MONOMIALS} are possible. Lower the degree or use a smaller patch and halo."
            )
        place: dict[tuple[int, ...], int] = {(): 0}
        self._levels: list[tuple[Tensor, Tensor]] = []
        device = centre.device
        for power in range(1, degree + 1):
            shorter, last = [], []
            for chosen in combinations_with_replacement(range(self.inputs), power):
                shorter.append(place[chosen[:-1]])
                last.append(chosen[-1])
                place[chosen] = len(place)
            self._levels.append(
                (torch.tensor(shorter, device=device), torch.tensor(last, device=device))
            )

    @classmethod
    def count(cls, spec: ModelSpec, inputs: int) -> int:
        return math.comb(inputs + spec.degree, spec.degree)

    @classmethod
    def internal(cls, inputs: int) -> int:
        return 0

    @classmethod
    def label(cls, *, width: int, degree: int, depth: int | None) -> str:
        return f"{cls.name} degree {degree}" + (f" x{depth}" if depth is not None else "")

    @classmethod
    def draw(cls, spec: ModelSpec, source: Source) -> Self:
        inputs = source.inputs
        scale = np.where(inputs.std > 0, inputs.std, 1.0)
        return cls(source.tensor(inputs.mean), source.tensor(scale), spec.degree)

    @classmethod
    def rebuild(cls, spec: ModelSpec, tensors: Mapping[str, Tensor]) -> Self:
        return cls(tensors["centre"], tensors["scale"], spec.degree)

    @property
    def inputs(self) -> int:
        return self.centre.shape[0]

    @property
    def width(self) -> int:
        return math.comb(self.inputs + self.degree, self.degree)

    def __call__(self, z: Tensor) -> Tensor:
        z = (z - self.centre) / self.scale
        phi = torch.ones_like(z[..., :1])
        for shorter, last in self._levels:
            phi = torch.cat([phi, phi[..., shorter] * z[..., last]], dim=-1)
        return phi

    def tangent(self, z: Tensor, dz: Tensor) -> tuple[Tensor, Tensor]:
        """phi(z) and its derivative along dz, whose leading axes may be more than those of z."""
        z, dz = (z - self.centre) / self.scale, dz / self.scale
        phi, dphi = torch.ones_like(z[..., :1]), torch.zeros_like(dz[..., :1])
        for shorter, last in self._levels:
            grown = dphi[..., shorter] * z[..., last] + phi[..., shorter] * dz[..., last]
            dphi = torch.cat([dphi, grown], dim=-1)
            phi = torch.cat([phi, phi[..., shorter] * z[..., last]], dim=-1)
        return phi, dphi

    def tensors(self) -> dict[str, Tensor]:
        return {"centre": self.centre, "scale": self.scale}
