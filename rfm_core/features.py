"""The kinds of features behind one call: tanh of projections, plain or centred, and monomials."""

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
        phi = torch.tanh(self.preactivations(z))
        return phi, (1 - phi * phi) * (dz @ self.weights.mT)

    @property
    def inputs(self) -> int:
        return self.weights.shape[1]

    @property
    def width(self) -> int:
        return self.weights.shape[0]

    def tensors(self) -> dict[str, Tensor]:
        return {"W_in": self.weights, "b_in": self.bias}


class Centred(Tanh):
    """A constant 1, and tanh(W_in z + b_in) - tanh(W_in centre + b_in), exact to its last digits.

    The same functions as those of ``Tanh``, up to constants. But a tanh near 1 is rounded to 1e-16
    of 1, and this to 1e-16 of how far the tanh is from its value at the centre. Features of smooth
    data are nearly dependent: most of their weighted sum cancels, and what remains of it, in the
    regression and in every step of a forecast, is only as good as their last digits.
    """

    def __init__(self, weights: Tensor, bias: Tensor, centre: Tensor) -> None:
        super().__init__(weights, bias)
        self.centre = centre
        at_centre = self.preactivations(centre)
        # tanh is odd: with the sign of each row such that it is above 0 at the centre, q <= 1
        sign = torch.where(at_centre < 0, -1.0, 1.0).to(bias.dtype)
        q = torch.exp(-2 * at_centre.abs())
        pad = torch.nn.functional.pad  # a row for the constant, which comes first
        self._slope = pad(-2 * sign[:, None] * weights, (0, 0, 1, 0))
        self._offset = pad(1 + torch.exp(2 * at_centre.abs()), (1, 0), value=1.0)
        self._factor = pad(-2 * sign / (1 + q), (1, 0))

    def __call__(self, z: Tensor) -> Tensor:
        # with q = exp(-2x) at the centre and q (1 + e) at z, the difference of the two
        # tanh(x) = (1 - q) / (1 + q) is -2 e / ((1 + q) (1 + 1/q + e)): nothing cancels.
        # Beyond exp(700) a feature is saturated, and infinity over infinity is no number.
        # In place wherever torch can still differentiate: new memory costs more than the sums.
        e = ((z - self.centre) @ self._slope.mT).clamp_max_(700).expm1_()
        phi = (e / (e + self._offset)).mul_(self._factor)
        phi.select(-1, 0).fill_(1.0)
        return phi

    def tangent(self, z: Tensor, dz: Tensor) -> tuple[Tensor, Tensor]:
        """phi(z) and its derivative along dz, whose leading axes may be more than those of z."""
        _, dphi = super().tangent(z, dz)
        return self(z), torch.nn.functional.pad(dphi, (1, 0))

    @property
    def width(self) -> int:
        return self.weights.shape[0] + 1

    def tensors(self) -> dict[str, Tensor]:
        return {**super().tensors(), "centre": self.centre}


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
