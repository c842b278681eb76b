"""The paper's features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .base import Tensor, register_features
from .random import RandomFeatures

if TYPE_CHECKING:
    from ..spec import ModelSpec


@register_features
class Tanh(RandomFeatures):
    """phi(z) = tanh(W_in z + b_in).

    Centred, a difference of two of them is exact to its last digits. A tanh near 1 is rounded to
    1e-16 of 1, and this to 1e-16 of how far the tanh is from its value at the centre. Features of
    smooth data are nearly dependent: most of their weighted sum cancels, and what remains of it, in
    the regression and in every step of a forecast, is only as good as their last digits.
    """

    name = "tanh"
    title = "tanh (paper)"
    about = "bends where hit-and-run puts the data: between L0, linear below, and L1, flat above"
    word = "tanh feature"
    icon = "m0 9 c14 0 16 -18 30 -18"
    seconds = 9.5e-9

    def __init__(self, weights: Tensor, bias: Tensor, centre: Tensor | None = None) -> None:
        super().__init__(weights, bias, centre)
        if centre is None:
            return
        # tanh is odd: with the sign of each row such that it is above 0 at the centre, q <= 1
        at_centre = self.at_centre
        sign = torch.where(at_centre < 0, -1.0, 1.0).to(bias.dtype)
        q = torch.exp(-2 * at_centre.abs())
        pad = torch.nn.functional.pad  # a row for the constant, which comes first
        self._slope = pad(-2 * sign[:, None] * weights, (0, 0, 1, 0))
        self._offset = pad(1 + torch.exp(2 * at_centre.abs()), (1, 0), value=1.0)
        self._factor = pad(-2 * sign / (1 + q), (1, 0))

    @classmethod
    def label(cls, *, width: int, degree: int, depth: int | None) -> str:
        """As the paper would: it knows no other kind."""
        return f"{width}" + (f"x{depth}" if depth is not None else "")

    @classmethod
    def zones(cls, spec: ModelSpec) -> tuple[float, float]:
        return spec.L0, spec.L1

    @staticmethod
    def activation(x: Tensor) -> Tensor:
        return torch.tanh(x)

    @staticmethod
    def slope(x: Tensor) -> Tensor:
        phi = torch.tanh(x)
        return 1 - phi * phi

    def centred(self, z: Tensor, centre: Tensor) -> Tensor:
        # with q = exp(-2x) at the centre and q (1 + e) at z, the difference of the two
        # tanh(x) = (1 - q) / (1 + q) is -2 e / ((1 + q) (1 + 1/q + e)): nothing cancels.
        # Beyond exp(700) a feature is saturated, and infinity over infinity is no number.
        # In place wherever torch can still differentiate: new memory costs more than the sums.
        e = ((z - centre) @ self._slope.mT).clamp_max_(700).expm1_()
        phi = (e / (e + self._offset)).mul_(self._factor)
        phi.select(-1, 0).fill_(1.0)
        return phi
