"""What all sessions of one server share: the broker of processes and the shelf of runs."""

from __future__ import annotations

import threading

from .broker import get_broker
from .shelf import Shelf

_lock = threading.Lock()
_shelf: Shelf | None = None


def get_shelf() -> Shelf:
    """The one of this process, made when it is first needed."""
    global _shelf
    with _lock:
        if _shelf is None:
            _shelf = Shelf(get_broker())
        return _shelf
