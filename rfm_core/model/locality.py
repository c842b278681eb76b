"""Which components a local unit sees and which it predicts. Global is one patch with everything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import InvalidInput, refuse, whole

Array = np.ndarray


@dataclass(frozen=True)
class Scheme:
    """A ring of ``dimension`` components in patches of ``G``, each with a halo of whole patches.

    A patch sees ``left`` patches before it, itself, and ``right`` patches after it. The paper's
    (G, I) is left = right = I.
    """

    dimension: int
    G: int
    left: int = 0
    right: int = 0

    def __post_init__(self) -> None:
        checked = {
            "dimension": whole("dimension", self.dimension, 1, None, "Count the components."),
            "left": whole("left", self.left, 0, None, "0 means no neighbours on the left."),
            "right": whole("right", self.right, 0, None, "0 means no neighbours on the right."),
        }
        most = checked["dimension"]
        checked["G"] = whole("G", self.G, 1, most, f"The state has {most} components.")
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.dimension % self.G:
            fits = [g for g in range(1, self.dimension + 1) if self.dimension % g == 0]
            near = sorted(sorted(fits, key=lambda g: abs(g - self.G))[:3])
            raise refuse(
                "G",
                self.G,
                f"a divisor of the dimension {self.dimension}",
                f"Near are {', '.join(map(str, near))}.",
            )
        if self.inputs > self.dimension:
            most = self.patches - 1
            raise InvalidInput(
                f"A halo of {self.left} patches on the left and {self.right} on the right with "
                f"G={self.G} sees {self.inputs} components, but the state has {self.dimension}. "
                f"Use at most {most} neighbouring patches in all, or a smaller G."
            )

    @property
    def patches(self) -> int:
        return self.dimension // self.G

    @property
    def inputs(self) -> int:
        return (self.left + 1 + self.right) * self.G

    @property
    def own(self) -> Array:
        """(patches, G): the components each patch predicts."""
        return np.arange(self.dimension).reshape(self.patches, self.G)

    @property
    def halo(self) -> Array:
        """(patches, inputs): the components each patch sees, in their order on the ring."""
        return self.around(self.left, self.right)

    def around(self, left: int, right: int) -> Array:
        """(patches, (left + 1 + right) G): the components of a patch and so many neighbours."""
        offsets = np.arange(-left * self.G, (1 + right) * self.G)
        first = np.arange(self.patches)[:, None] * self.G
        return (first + offsets) % self.dimension

    def distance(self, left: int, right: int) -> Array:
        """((left + 1 + right) G,): how far each component of ``around`` is from the patch itself.

        0 inside the patch, 1 at either end of the halo, so that both sides count alike however
        wide they are.
        """
        inside = np.zeros(self.G)
        before, after = (np.arange(1, n * self.G + 1) / max(1, n * self.G) for n in (left, right))
        return np.concatenate([before[::-1], inside, after])
