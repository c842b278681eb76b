"""Garbage collection that does not hold up those who watch a training.

A page is 43,000 objects that stay as long as its session, and looking through those of a whole
class takes a second. So a finished page is set aside from what Python looks through again and
again; when sessions have ended, everything is looked through once, a while later.
"""

from __future__ import annotations

import gc

from tornado.ioloop import IOLoop

LATER = 20.0  # seconds: many tabs close at the end of a lecture
_pending = False


def set_aside() -> None:
    """What is here by now stays for long."""
    gc.freeze()


def collect() -> None:
    global _pending
    _pending = False
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def collect_later() -> None:
    """A session has ended."""
    global _pending
    if not _pending:
        _pending = True
        IOLoop.current().call_later(LATER, collect)
