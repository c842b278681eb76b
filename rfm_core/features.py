"""The two kinds of features behind one call: tanh of random projections, and monomials."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import torch

from .checks import InvalidInput

Tensor = torch.Tensor
MOST_MONOMIALS = 50_000


class Tanh:
    """phi(z) = tanh(W_in z + b_in)."""

    def __init__(self, weights: Tensor, bias: Tensor) -> None:
        self.weights, self.bias = weights, bias

    def preactivations(self, z: Tensor) -> Tensor:
        """(..., inputs) -> (..., width)."""
        return torch.nn.functional.linear(z, self.weights, self.bias)

    def __call__(self, z: Tensor) -> Tensor:
        return torch.tanh(self.preactivations(z))

    def tangent(self, z: Tensor, dz: Tensor) -> tuple[Tensor, Tensor]:
        """phi(z) and its derivative along dz, whose leading axes may be more than those of z."""
        phi = self(z)
        return phi, (1 - phi * phi) * (dz @ self.weights.mT)

    @property
    def inputs(self) -> int:
        return self.weights.shape[1]

    @property
    def width(self) -> int:
        return self.weights.shape[0]

    def tensors(self) -> dict[str, Tensor]:
        return {"W_in": self.weights, "b_in": self.bias}


class Monomials:
    """All monomials up to a degree of (z - centre) / scale, each one product more than another."""

    def __init__(self, centre: Tensor, scale: Tensor, degree: int) -> None:
        self.centre, self.scale, self.degree = centre, scale, degree
        count = math.comb(self.inputs + degree, degree)
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
        self.width = count

    @property
    def inputs(self) -> int:
        return self.centre.shape[0]

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


Features = Tanh | Monomials
