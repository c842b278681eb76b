"""Where folders of runs live: below one private temporary folder a process, removed at its end."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

HOME = "rfm-explorer"
DAY = 24 * 3600
_homes: dict[int, Path] = {}


def new_folder() -> Path:
    """An empty folder for one run, in a place only this user may look into, gone at exit."""
    own = os.getpid()
    if own not in _homes or not _homes[own].is_dir():
        _homes[own] = Path(tempfile.mkdtemp(prefix=f"{HOME}-{own}-"))
        atexit.register(_leave, own, _homes[own])
    return Path(tempfile.mkdtemp(prefix="run-", dir=_homes[own]))


def _leave(owner: int, home: Path) -> None:
    if os.getpid() == owner:  # a forked child must not take away its parent's
        shutil.rmtree(home, ignore_errors=True)


def sweep() -> None:
    """Remove what processes that were killed left more than a day ago."""
    if not hasattr(os, "getuid"):  # Windows, where asking for a process by number ends it
        return
    for home in Path(tempfile.gettempdir()).glob(f"{HOME}-*"):
        match = re.fullmatch(rf"{HOME}-(\d+)-\w+", home.name)
        with suppress(OSError):
            status = home.lstat()
            old = time.time() - status.st_mtime > DAY
            if match and old and status.st_uid == os.getuid() and not _alive(int(match[1])):
                shutil.rmtree(home, ignore_errors=True)  # which does not follow links


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
