"""What a model learns from and is tested on, wherever it came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..lines import InOneLine

Array = np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(InOneLine):
    """Training and test trajectories of one system, float64, read-only.

    ``train`` is (trajectories, time, D), ``test`` is (n_test, test_steps + 1, D). All trajectories
    of a set have the same length. ``lyapunov`` is None where nobody knows it: times are then shown
    in model units. ``origin`` says in plain values how the set was made.
    """

    train: Array
    test: Array
    dt: float
    eps: float
    lyapunov: float | None
    name: str
    homogeneous: bool = False
    lyapunov_is_estimate: bool = False
    columns: tuple[str, ...] = ()
    origin: dict[str, Any] = field(default_factory=dict)
    digest: str = ""

    def __post_init__(self) -> None:
        for name in ("train", "test"):
            array = np.ascontiguousarray(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def in_one_line(self) -> tuple[str, str]:
        def size(states: Array) -> str:
            count, length, _ = states.shape
            return f"{count:,} x {length:,}" if count != 1 else f"{length:,}"

        exponent = f", Lyapunov exponent {self.lyapunov:.3g}" if self.lyapunov else ""
        return (
            f"Dataset {self.name}",
            f"{self.dimension} components, dt={self.dt:g}{exponent}; {size(self.train)} states to "
            f"learn from, {size(self.test)} to test on",
        )

    @property
    def dimension(self) -> int:
        return int(self.train.shape[-1])

    @property
    def pairs(self) -> int:
        """How many pairs (state, next state) the training trajectories hold."""
        return int(self.train.shape[0] * (self.train.shape[1] - 1))

    @property
    def lyapunov_time(self) -> float:
        """Length of the unit in which forecast times are shown: 1/Lyapunov exponent, or 1."""
        return 1.0 / self.lyapunov if self.lyapunov else 1.0

    @property
    def unit(self) -> str:
        """In which forecast times are shown."""
        return "Lyapunov times" if self.lyapunov else "time units"

    @property
    def per_step(self) -> float:
        """Length of one step in ``unit``."""
        return self.dt * (self.lyapunov or 1.0)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the components: their own, or x1, x2, ..."""
        return self.columns or tuple(f"x{i + 1}" for i in range(self.dimension))

    @cached_property
    def std(self) -> Array:
        """Standard deviation of each component over the training data."""
        return np.asarray(self.train.reshape(-1, self.dimension).std(axis=0))

    @cached_property
    def mean(self) -> Array:
        """Mean of each component over the training data."""
        return np.asarray(self.train.reshape(-1, self.dimension).mean(axis=0))

    @cached_property
    def mean_norm(self) -> float:
        """Mean Euclidean norm of the training states, the yardstick of tau_f."""
        flat = self.train.reshape(-1, self.dimension)
        return float(np.sqrt(np.einsum("nd,nd->n", flat, flat)).mean())


def evenly(states: Array, most: int) -> Array:
    """At most so many of (..., D) as (n, D), in their order."""
    flat = states.reshape(-1, states.shape[-1])
    at = np.linspace(0, len(flat) - 1, min(len(flat), most)).round().astype(int)
    return np.asarray(flat[at])
