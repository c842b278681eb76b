"""Many trajectories of any stepper, side by side: in pieces of time, on the cores there are."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import torch

from ..checks import refuse
from ..events import Reporter

Array = np.ndarray
Room = Callable[[slice, int, int], Array]  # where a group's piece of time goes
Done = Callable[[slice, Array], None]


class Stepper(Protocol):
    """One sampling time of a system."""

    dt: float
    lead: int

    def rollout(self, start: Array, steps: int, report: Reporter, stage: str) -> Array:
        """(n, D) -> (n, steps + 1, D), the start included."""
        ...

    def advance(self, start: Array, steps: int, report: Reporter, stage: str) -> Array:
        """(n, D) -> (n, D) after ``steps``; nothing in between is kept."""
        ...

    def tangent(self, states: Array, vectors: Array) -> tuple[Array, Array]:
        """One step of states (n, D) and of tangent vectors (n, k, D) along them."""
        ...


class Pieces:
    """Rollout and advance in groups of trajectories and pieces of time; subclasses move a group.

    Progress is reported and cancelling noticed between pieces, each some hundredths of a second of
    work. Groups run on as many cores as there are; which trajectories share one depends on their
    number alone, so the numbers do not depend on the machine.
    """

    dt: float
    substeps = 1
    lead = 0  # steps after a start that are not yet like all others
    dimension: int | None = None  # of the state, where only one fits
    group_values = 16_384  # numbers in a group's state: what stays in the cache
    piece_work = 500_000  # numbers times substeps in a piece
    parallel = True

    def _groups(self, n: int, dimension: int) -> list[slice]:
        """Even parts, an even number of them, as two cores are usual."""
        most = max(1, min(self.group_values, self.piece_work // self.substeps))
        few = 4 * n * dimension <= most
        parts = min(n, 1 if few else 2 * math.ceil(n * dimension / (2 * most)))
        edges = np.linspace(0, n, parts + 1).astype(int)
        return [slice(a, b) for a, b in itertools.pairwise(edges.tolist())]

    def _piece(self, start: Array) -> int:
        """How many steps to make between two reports."""
        return max(1, min(4096, self.piece_work // (self.substeps * max(1, start.size))))

    def _begin(self, start: Array) -> Any:
        """The state that ``_move`` carries on; it shares no memory with ``start``."""
        return start.copy()

    def _move(self, state: Any, out: Array) -> Any:
        """Advance ``state`` by out.shape[1] steps, writing each into ``out``."""
        raise AssertionError("every stepper moves")

    def rollout(
        self, start: Array, steps: int, report: Reporter | None = None, stage: str = "trajectories"
    ) -> Array:
        start = self._states(start)
        out = np.empty((start.shape[0], steps + 1, start.shape[1]))
        out[:, 0] = start
        self._run(start, steps, report, stage, lambda rows, a, b: out[rows, a + 1 : b + 1])
        return out

    def advance(
        self, start: Array, steps: int, report: Reporter | None = None, stage: str = "burn-in"
    ) -> Array:
        start = self._states(start)
        last = start.copy()

        def piece(rows: slice, a: int, b: int) -> Array:
            return np.empty((rows.stop - rows.start, b - a, start.shape[1]))

        def keep(rows: slice, out: Array) -> None:
            last[rows] = out[:, -1]

        self._run(start, steps, report, stage, piece, keep)
        return last

    def _run(
        self,
        start: Array,
        steps: int,
        report: Reporter | None,
        stage: str,
        room: Room,
        done: Done = lambda rows, out: None,
    ) -> None:
        """Move all trajectories; ``room`` says where a group's piece goes, ``done`` takes it."""
        report = report or Reporter()
        n, groups = len(start), self._groups(*start.shape)
        cores = available_cores() if self.parallel else 1
        for first in range(0, len(groups), cores):
            some = groups[first : first + cores]
            states = [self._begin(start[rows]) for rows in some]
            piece = self._piece(start[some[0]])
            before, here = some[0].start, some[-1].stop - some[0].start
            for low in range(0, steps, piece):
                report(stage, (before * steps + here * low) / n, steps)
                outs = [room(rows, low, min(low + piece, steps)) for rows in some]
                states = _in_threads(self._move, states, outs)
                for rows, out in zip(some, outs, strict=True):
                    done(rows, out)
        report(stage, steps, steps)

    def differences(self, states: Array, vectors: Array) -> tuple[Array, Array]:
        """Central differences of the step: about ten digits, and as fast as the step itself."""
        states = self._states(states)
        n, k, dimension = vectors.shape
        small = 1e-6 * max(1e-3, math.sqrt(float(np.mean(states**2))))
        size = np.sqrt(np.mean(vectors**2, axis=-1, keepdims=True))
        shift = (small * vectors / size).reshape(n * k, dimension)
        base = np.repeat(states, k, axis=0)
        ends = self.advance(np.concatenate([states, base + shift, base - shift]), 1)
        forward, backward = ends[n : n + n * k], ends[n + n * k :]
        moved = ((forward - backward) / (2 * small)).reshape(n, k, dimension) * size
        return ends[:n], moved

    def _states(self, states: Array) -> Array:
        """(n, D) as float64; the compiled code trusts the shape, so a wrong one stops here."""
        states = np.ascontiguousarray(states, dtype=np.float64)
        if states.ndim != 2 or self.dimension not in (None, states.shape[1]):
            limit = f"(n, {self.dimension or 'D'})"
            raise refuse("shape of states", states.shape, limit, "One row is one state.")
        return states


def _in_threads(
    move: Callable[[Any, Array], Any], states: list[Any], outs: list[Array]
) -> list[Any]:
    """Move every group, each on its own core; the kernels release the interpreter lock."""
    if len(states) == 1:
        return [move(states[0], outs[0])]
    with ThreadPoolExecutor(len(states)) as pool:
        return list(pool.map(move, states, outs))


def available_cores() -> int:
    """Cores this process may use: its affinity, and no more than torch was given."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(mine, torch.get_num_threads()))
