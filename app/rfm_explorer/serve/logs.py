"""What the server's log is spared: a tab that closes while something is on its way to or from it.

Bokeh and Tornado log a traceback for each message that comes too late. A class that leaves would
fill the log with them, and the lines that matter would drown.
"""

from __future__ import annotations

import logging
import traceback

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError

CLOSED = "connection was closed"


def begin_log() -> None:
    """Warnings and worse on the terminal, without what is no trouble."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    for handler in logging.getLogger().handlers:
        handler.addFilter(matters)


def matters(record: logging.LogRecord) -> bool:
    """Is it about anything else than a tab that was closed?"""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return CLOSED not in str(record.msg)
    if isinstance(error, (StreamClosedError, WebSocketClosedError)):
        return False
    where = traceback.extract_tb(error.__traceback__)
    # a connection that was taken from its session asserts that it has one
    detached = isinstance(error, AssertionError) and where and where[-1].name == "session"
    return not (detached and "bokeh" in where[-1].filename)
