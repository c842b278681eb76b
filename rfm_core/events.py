"""Progress as small frozen events, and the token by which a long computation is cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .checks import Cancelled


@dataclass(frozen=True)
class Progress:
    """``done`` of ``total`` pieces of ``stage`` are finished after ``seconds`` of that stage."""

    stage: str
    done: float
    total: float
    seconds: float = 0.0

    @property
    def fraction(self) -> float:
        return self.done / self.total if self.total else 1.0

    @property
    def seconds_left(self) -> float | None:
        """Linear extrapolation; None before anything is done."""
        if self.done <= 0:
            return None
        return self.seconds * (self.total - self.done) / self.done


class CancelToken:
    """Set from any thread; long computations look at it between pieces and raise ``Cancelled``."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()


class Reporter:
    """Carries a listener and a cancel token through a computation; both are optional."""

    def __init__(
        self,
        listener: Callable[[Progress], None] | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        self._listener = listener
        self._cancel = cancel
        self._stage = ""
        self._began = 0.0

    def __call__(self, stage: str, done: float, total: float) -> None:
        """Report a finished piece; the natural place to be cancelled."""
        if self._cancel is not None and self._cancel.cancelled:
            raise Cancelled(f"cancelled during {stage} ({done:g} of {total:g} done)")
        if stage != self._stage:
            self._stage, self._began = stage, time.perf_counter()
        if self._listener is not None:
            self._listener(Progress(stage, done, total, time.perf_counter() - self._began))
