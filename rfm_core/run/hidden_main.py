"""What this package knows of the insides of ``multiprocessing``: how it finds the main module.

``tests/core/test_hidden_main.py`` says so when a version of Python changes it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_hiding = threading.Lock()


@contextmanager
def hidden_main() -> Iterator[None]:
    """Without this, a spawned process imports the user's main module again.

    A script without ``if __name__ == "__main__"`` would then start its study anew in each worker.
    Workers need nothing from it: jobs are in modules. No parameter of ``multiprocessing`` says so;
    it tells a new process of the module's file or name, where there is one.
    """
    main: Any = sys.modules["__main__"]
    with _hiding:
        kept = {name: getattr(main, name, None) for name in ("__file__", "__spec__")}
        there = {name for name in kept if hasattr(main, name)}
        try:
            for name in kept:
                setattr(main, name, None)
            yield
        finally:
            for name, value in kept.items():
                setattr(main, name, value) if name in there else delattr(main, name)
