"""What the log is spared, and that it is spared nothing else."""

from __future__ import annotations

import logging
import sys

import pytest
from bokeh.server.connection import ServerConnection
from rfm_explorer.serve.logs import matters
from tornado.websocket import WebSocketClosedError


def record(message: str, raised: object = None) -> logging.LogRecord:
    return logging.LogRecord("x", logging.ERROR, "f", 1, message, None, raised)  # type: ignore[arg-type]


def test_messages_of_a_closed_tab_are_left_out() -> None:
    detached = ServerConnection.__new__(ServerConnection)
    detached._session = None
    with pytest.raises(AssertionError) as caught:
        _ = detached.session
    assert not matters(record("error handling message", caught._excinfo))
    assert not matters(record("Failed sending message as connection was closed"))
    try:
        raise WebSocketClosedError
    except WebSocketClosedError:
        assert not matters(record("Task exception was never retrieved", sys.exc_info()))


def test_everything_else_is_kept() -> None:
    assert matters(record("the page could not be updated"))
    try:
        raise AssertionError("of ours")
    except AssertionError:
        assert matters(record("error handling message", sys.exc_info()))
