"""What a view may know of the page around it, and what it may ask of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rfm_core import PaperRow

from ..results.files import Results
from ..state.settings import Settings


@dataclass(frozen=True)
class Pinned:
    """A run that was kept for comparison."""

    label: str
    run: Results


@dataclass(frozen=True)
class Shown:
    """What is looked at, at one moment."""

    run: Results | None
    settings: Settings  # that the run was started with, whatever the controls say by now
    selected: tuple[int, int]  # realization and test trajectory
    pins: tuple[Pinned, ...] = ()

    @property
    def paper(self) -> PaperRow | None:
        """The published result of such a run."""
        return self.settings.paper_row()


class Select(Protocol):
    def __call__(self, realization: int, test: int, show: bool = False) -> None:
        """Choose a test trajectory, and show its forecast if asked."""


@dataclass(frozen=True)
class Context:
    """Given to every view by the explorer."""

    now: Callable[[], Shown]
    controls: Settings  # as they stand: what Train would run
    wake: Callable[[], None]  # there is something to draw
    select: Select
