"""A trained model: forecasts, sizes, and the one loop of all architectures.

One step from the state u:

    y = u
    for each unit:
        z = [u at the halo | y at the exchange halo]          (the second part only where deep)
        y = (y if skip else 0) + W^T phi(z), patches joined
    next state = y
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from ..checks import InvalidInput, whole
from ..events import Reporter
from ..lines import InOneLine
from ..parallel import in_threads
from .features import Features
from .locality import Scheme
from .spec import ModelSpec

Array = np.ndarray
Tensor = torch.Tensor
AT_ONCE = 4_000_000  # features held at once where all states are gone through
KEPT_STEPS = 64  # of a forecast, before they are copied out


@dataclass(frozen=True, eq=False, repr=False)
class Unit:
    """Features of a unit's input, and its outer weights (width, G).

    The weights are kept in one memory layout, because another one rounds differently, and chaos
    would make of that another forecast: a loaded model must forecast like the one that was saved.
    """

    features: Features
    weights: Tensor

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", self.weights.contiguous())

    def __repr__(self) -> str:
        f = self.features
        return f"Unit({f.width} {f.name} features of {f.inputs} inputs)"


@dataclass(frozen=True, eq=False)
class Forecast:
    """States (..., steps + 1, D), NaN from the step on at which a trajectory left every bound."""

    states: Array
    diverged_at: Array  # (...,): that step, or -1
    steps: int  # so many were computed; later ones are NaN too


class Wiring:
    """Which entries of the state and of the current estimate each unit reads, as index tensors."""

    def __init__(self, spec: ModelSpec, dimension: int, device: torch.device | str) -> None:
        self.spec = spec
        self.scheme: Scheme = spec.scheme(dimension)
        self.halo = torch.as_tensor(self.scheme.halo, device=device)
        self.own = torch.as_tensor(self.scheme.own, device=device)
        sides = spec.exchange if spec.exchanging else (0, 0)
        self.exchange = torch.as_tensor(self.scheme.around(*sides), device=device)
        self._global = self.scheme.patches == 1

    def read(self, unit: int, u: Tensor, y: Tensor, patches: slice = slice(None)) -> Tensor:
        """Inputs of a unit, (..., patches, inputs)."""
        deep = self._reads_estimates(unit)
        if self._global:
            return (torch.cat([u, y], dim=-1) if deep else u)[..., None, :]
        seen = u[..., self.halo[patches]]
        return torch.cat([seen, y[..., self.exchange[patches]]], dim=-1) if deep else seen

    def distance(self, unit: int) -> Array:
        """How far each input of a unit is from its patch: 0 inside, 1 at the end of the halo."""
        spec, scheme = self.spec, self.scheme
        seen = scheme.distance(scheme.left, scheme.right)
        if not self._reads_estimates(unit):
            return seen
        sides = spec.exchange if spec.exchanging else (0, 0)
        return np.concatenate([seen, scheme.distance(*sides)])

    def _reads_estimates(self, unit: int) -> bool:
        return self.spec.choices.deep and not (self.spec.exchanging and unit == 0)

    def apply(self, number: int, unit: Unit, u: Tensor, y: Tensor) -> Tensor:
        """The estimate after one more unit."""
        out = unit.features(self.read(number, u, y)) @ unit.weights
        joined = out.flatten(-2)  # patches lie in order, so joining them is a reshape
        return y + joined if self.spec.choices.skip else joined


@dataclass(frozen=True, eq=False, repr=False)
class Model(InOneLine):
    """A trained surrogate u_n -> u_{n+1}. Immutable; all tensors on one device, float64."""

    spec: ModelSpec
    units: tuple[Unit, ...]
    dimension: int
    dt: float
    limit: float  # beyond it a state counts as diverged
    device: torch.device
    origin: dict[str, Any] = field(default_factory=dict)  # data, seed, realization, versions
    wiring: Wiring = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "wiring", Wiring(self.spec, self.dimension, self.device))

    def in_one_line(self) -> tuple[str, str]:
        betas = self.origin.get("betas", [])
        chosen = f", beta {', '.join(f'{beta:.0e}' for beta in betas)}" if betas else ""
        system = _system(self.origin)
        name = f" of {system}" if system else ""
        return (
            f"Model {self.spec.label}",
            f"{self.size:,} parameters, {self.dimension} components{name}, dt={self.dt:g}{chosen}",
        )

    @property
    def size(self) -> int:
        """Number of weights and biases, as the paper counts them."""
        return self.spec.size(self.dimension)

    def step(self, u: Tensor) -> Tensor:
        """One sampling time of states (..., D)."""
        y = u
        for number, unit in enumerate(self.units):
            y = self.wiring.apply(number, unit, u, y)
        return y

    def unit_inputs(self, u: Tensor) -> list[Tensor]:
        """What each unit sees of states (..., D): (..., patches, inputs)."""
        seen, y = [], u
        for number, unit in enumerate(self.units):
            seen.append(self.wiring.read(number, u, y))
            y = self.wiring.apply(number, unit, u, y)
        return seen

    def as_states(self, states: ArrayLike | Tensor, name: str = "states") -> Tensor:
        """Checked, float64, on the model's device."""
        if not isinstance(states, torch.Tensor):
            states = torch.from_numpy(np.array(states, dtype=np.float64))
        tensor: Tensor = states.to(device=self.device, dtype=torch.float64)
        if tensor.ndim == 0 or tensor.shape[-1] != self.dimension:
            raise InvalidInput(
                f"{name} has shape {tuple(tensor.shape)}, but this model works on states of "
                f"{self.dimension} components. The last axis must have that length."
            )
        return tensor

    @in_threads
    def predict(self, states: ArrayLike | Tensor) -> Array:
        """One step of any number of states, (..., D) -> (..., D)."""
        tensor = self.as_states(states)
        flat = tensor.reshape(-1, self.dimension)
        with torch.inference_mode():
            out = [self.step(block) for block in torch.split(flat, self.block_of_states())]
        joined = torch.cat(out) if out else flat
        return joined.reshape(tensor.shape).cpu().numpy()

    def block_of_states(self, values: int = AT_ONCE) -> int:
        """How many states at once keep the features below ``values`` numbers."""
        widest = max(unit.weights.shape[0] for unit in self.units)
        return max(1, values // (widest * self.wiring.scheme.patches))

    def forecast(
        self, start: ArrayLike | Tensor, steps: int, *, report: Reporter | None = None
    ) -> Array:
        """Autonomous forecasts from states (..., D): (..., steps + 1, D), the start included."""
        return self.run(start, steps, report=report).states

    @in_threads
    def run(
        self,
        start: ArrayLike | Tensor,
        steps: int,
        *,
        report: Reporter | None = None,
        enough: Callable[[int, Array], bool] | None = None,
    ) -> Forecast:
        """Like ``forecast``, and says where trajectories left every bound.

        ``enough(first, piece)`` looks at every new piece (n, times, D), the earliest of which is
        step ``first``, and may end the run early; what was not computed stays NaN.
        """
        first = self.as_states(start, "start")
        steps = whole("steps", steps, 0, 10**9, "The number of steps to forecast.")
        if not bool(torch.isfinite(first).all()):
            raise InvalidInput("start contains NaN or infinity. Give finite states.")
        report = report or Reporter()
        u = first.reshape(-1, self.dimension)
        n = u.shape[0]
        out = np.full((n, steps + 1, self.dimension), np.nan)
        out[:, 0] = u.cpu().numpy()
        kept: list[Tensor] = []
        done = 0
        with torch.inference_mode():
            for step in range(1, steps + 1):
                u = self._bounded(self.step(u))
                kept.append(u)
                if len(kept) == KEPT_STEPS or step == steps:
                    # in pieces, so that a device is asked for its numbers rarely
                    piece = torch.stack(kept, dim=1).cpu().numpy()
                    out[:, done + 1 : step + 1] = piece
                    report("forecast", step, steps)
                    over = enough is not None and enough(done + 1, piece)
                    kept, done = [], step
                    if over or np.isnan(piece[:, -1, 0]).all():
                        break  # nothing left to forecast
        lost = np.isnan(out[:, : done + 1, 0])
        diverged = np.where(lost.any(axis=1), lost.argmax(axis=1), -1)
        lead = tuple(first.shape[:-1])
        states = out.reshape(*lead, steps + 1, self.dimension)
        return Forecast(states, diverged.reshape(lead), done)

    @in_threads
    def tangent(self, states: Array, vectors: Array) -> tuple[Array, Array]:
        """One step of states (n, D) and of tangent vectors (n, k, D) along them, exactly.

        A state that leaves every bound becomes NaN, as in ``run``.
        """
        u, v = self.as_states(states)[:, None], self.as_states(vectors, "vectors")
        y, dy = u, v
        wiring, skip = self.wiring, self.spec.choices.skip
        with torch.inference_mode():
            for number, unit in enumerate(self.units):
                seen, along = wiring.read(number, u, y), wiring.read(number, v, dy)
                phi, dphi = unit.features.tangent(seen, along)
                out, dout = (phi @ unit.weights).flatten(-2), (dphi @ unit.weights).flatten(-2)
                y, dy = (y + out, dy + dout) if skip else (out, dout)
        return self._bounded(y[:, 0]).cpu().numpy(), dy.cpu().numpy()

    def _bounded(self, y: Tensor) -> Tensor:
        """NaN for states out of bounds; NaN compares false, so it stays NaN."""
        inside = (y.abs() <= self.limit).all(dim=-1, keepdim=True)
        return torch.where(inside, y, torch.nan)

    def save(self, path: str | Path) -> Path:
        """Write the model to one safetensors file; ``rfm_core.load`` reads it."""
        from .store import save_model

        return save_model(self, path)

    def to(self, device: torch.device | str) -> Model:
        """The same model on another device."""
        from .store import rebuild

        tensors = [(unit.features.tensors(), unit.weights) for unit in self.units]
        return rebuild(self.spec, tensors, self.dimension, self.dt, self.limit, device, self.origin)


def _system(origin: Mapping[str, Any]) -> str:
    """What it was trained on, as far as it is known."""
    data = origin.get("data") or {}
    return str(data.get("system") or data.get("source") or "")


def pick_device(device: torch.device | str = "auto") -> torch.device:
    """ "auto" is CUDA where there is one."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError):
        raise InvalidInput(f"device={device!r} is unknown. Use 'auto', 'cpu' or 'cuda'.") from None
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInput(f"device={device!r} is not here: no CUDA device was found. Use 'cpu'.")
    return chosen
