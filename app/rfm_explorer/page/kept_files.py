"""Files that visitors gave: kept while a page uses them and a while longer, so that a reload finds
them. Whoever asks for one must know its name, which nobody can guess.
"""

from __future__ import annotations

import secrets
import shutil
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..results.temporary import new_folder

KEPT_MINUTES = 15  # after the last page that used it is gone


@dataclass
class KeptFile:
    """A file on the server's disk, under a name of ours, and what its page knows about it."""

    path: Path
    name: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    found: dict[str, Any] | None = None  # what a worker saw in it
    settings: dict[str, Any] = field(default_factory=dict)  # how it is to be read
    pages: int = 1
    _end: threading.Timer | None = None


class KeptFiles:
    """All of a process, by name."""

    def __init__(self, minutes: float = KEPT_MINUTES) -> None:
        self._seconds = 60 * minutes
        self._files: dict[str, KeptFile] = {}
        self._lock = threading.Lock()

    def add(self, content: bytes) -> KeptFile:
        """Keep this; the page that gave it uses it."""
        path = new_folder() / "upload"
        path.write_bytes(content)
        kept = KeptFile(path)
        with self._lock:
            self._files[kept.name] = kept
        return kept

    def find(self, name: str) -> KeptFile | None:
        """The file of that name, for one more page."""
        with self._lock:
            kept = self._files.get(name)
            if kept is not None:
                kept.pages += 1
                if kept._end is not None:
                    kept._end.cancel()
                    kept._end = None
        return kept

    def leave(self, kept: KeptFile, at_once: bool = False) -> None:
        """One page fewer uses it; after the last it goes, at once or when its time is over."""
        with self._lock:
            kept.pages -= 1
            if kept.pages > 0:
                return
            if not at_once:
                kept._end = threading.Timer(self._seconds, self._delete, [kept])
                kept._end.daemon = True
                kept._end.start()
                return
        self._delete(kept)

    def _delete(self, kept: KeptFile) -> None:
        with self._lock:
            if kept.pages > 0:  # found again at the last moment
                return
            self._files.pop(kept.name, None)
        shutil.rmtree(kept.path.parent, ignore_errors=True)


KEPT = KeptFiles()
