"""What a kind of features is, and the one list of them.

A kind is a class: what it is called and drawn as, how many features it makes of so many inputs, how
these are made from data, their values and derivatives, and what of them is stored. One call adds
one, from any module:

    @register_features
    class Mine(RandomFeatures): ...

Nothing else tests the name of a kind: what somebody needs to know of it is asked of its class.
``RandomFeatures`` are those of random projections; a kind of those is a function and its slope.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

import numpy as np
import torch

from ...checks import InvalidInput, one_of, refuse
from ..sampler import Inputs, Rows

if TYPE_CHECKING:
    from ..spec import ModelSpec

Array = np.ndarray
Tensor = torch.Tensor
NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")  # it is part of links and of labels
# fields of ModelSpec that only some kinds have a use for
SETTINGS = (
    "width", "degree", "sampler", "L0", "L1", "w", "b", "standardize", "taper", "unit_weights",
    "centred",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Source:
    """What the features of a unit are made from: its inputs on the training data, and chance."""

    inputs: Inputs
    rows: Rows  # the inputs themselves, block by block
    rng: np.random.Generator
    device: torch.device
    emphasis: Array | None = None  # how much of each input directions take; None: of all alike
    internal: tuple[Array, Array] | None = None  # W_in and b_in, where they are not to be drawn

    def tensor(self, array: Array) -> Tensor:
        return torch.as_tensor(array, dtype=torch.float64, device=self.device)


class Features(ABC):
    """The features of one unit, phi(z): (..., inputs) -> (..., width)."""

    name: ClassVar[str]  # in ModelSpec.features, links and labels
    title: ClassVar[str]  # as a choice on the page
    about: ClassVar[str]  # a sentence, after the title: what they are, what L0 and L1 are to them
    word: ClassVar[str]  # one of them, in a sentence; with an s more of them
    icon: ClassVar[str]  # an SVG path, relative, 30 wide and 18 high around where it begins
    settings: ClassVar[tuple[str, ...]]  # those of SETTINGS that they have a use for
    seconds: ClassVar[float] = 1e-8  # of one of one state, beside its products with its inputs
    no_zones: ClassVar[str] = "They have no zones in which they are linear or saturated."

    # --- the kind, before there is a model -----------------------------------------------------

    @classmethod
    @abstractmethod
    def count(cls, spec: ModelSpec, inputs: int) -> int:
        """How many of so many inputs."""

    @classmethod
    @abstractmethod
    def internal(cls, inputs: int) -> int:
        """Weights and biases inside each of them, for the size of a model."""

    @classmethod
    @abstractmethod
    def draw(cls, spec: ModelSpec, source: Source) -> Self:
        """Those of a unit that is to be trained."""

    @classmethod
    @abstractmethod
    def rebuild(cls, spec: ModelSpec, tensors: Mapping[str, Tensor]) -> Self:
        """Those whose ``tensors`` these are, to the last bit."""

    @classmethod
    def label(cls, *, width: int, degree: int, depth: int | None) -> str:
        """Kind and sizes in a few letters; ``depth`` is None where there is one unit anyway."""
        return f"{cls.name} {width}" + (f"x{depth}" if depth is not None else "")

    @classmethod
    def zones(cls, spec: ModelSpec) -> tuple[float, float] | None:
        """Up to which size of pre-activation they are linear and from which on saturated.

        None where they have no such zones, and ``no_zones`` says why.
        """
        return None

    # --- the features --------------------------------------------------------------------------

    @property
    @abstractmethod
    def inputs(self) -> int: ...

    @property
    @abstractmethod
    def width(self) -> int: ...

    @abstractmethod
    def __call__(self, z: Tensor) -> Tensor:
        """(..., inputs) -> (..., width)."""

    @abstractmethod
    def tangent(self, z: Tensor, dz: Tensor) -> tuple[Tensor, Tensor]:
        """phi(z) and its derivative along dz, whose leading axes may be more than those of z."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """What is to be stored, by name."""

    def preactivations(self, z: Tensor) -> Tensor:
        """What the zones are zones of; asked only of kinds that have some."""
        raise NotImplementedError(f"{self.name} features have no pre-activations")

    @classmethod
    def curve(cls, x: Array) -> Array:
        """One of them over its pre-activation, to be drawn; asked only of kinds with zones."""
        raise NotImplementedError(f"{cls.name} features have no pre-activations")


FEATURES: dict[str, type[Features]] = {}
Kind = TypeVar("Kind", bound=type[Features])


def register_features(kind: Kind, *, replace: bool = False) -> Kind:
    """Add a kind of features to all others, or with ``replace=True`` put it in the place of one.

    It is tried first: one that cannot be drawn, stored and rebuilt, or whose derivative is another
    one than that of its values, is refused. Worker processes import the module of its class; a
    script that is run itself cannot be imported, so what workers shall know belongs beside it.
    """
    from .trial import attempt, check

    check(kind)
    if kind.name in FEATURES and not replace:
        raise refuse(
            "name", kind.name, "new: there is a kind of features of this name",
            "Choose another name, or pass replace=True to put it in that one's place.",
        )  # fmt: skip
    before = FEATURES.get(kind.name)
    FEATURES[kind.name] = kind  # no spec can be made of one that is not in the list
    if _ours(kind):  # there is no spec yet while these are read; tests try them
        return kind
    try:
        attempt(kind)
    except InvalidInput:
        if before is None:
            del FEATURES[kind.name]
        else:
            FEATURES[kind.name] = before
        raise
    return kind


def get_features(name: str) -> type[Features]:
    """The kind of that name; the error lists all of them."""
    remedy = "A kind of your own must be registered, and for worker processes in a module."
    found: str = one_of("features", name, FEATURES, remedy)
    return FEATURES[found]


def modules_of_features() -> list[str]:
    """Modules of kinds that are not ours, for worker processes to import."""
    homes = {kind.__module__ for kind in FEATURES.values() if not _ours(kind)}
    return sorted(homes - {"__main__"})


def _ours(kind: type[Features]) -> bool:
    return kind.__module__.startswith(f"{__package__}.")
