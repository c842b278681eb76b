"""How many threads the mathematics is divided among: one, unless somebody says otherwise.

A factorization, and some products, sum in another order with another number of threads. That is
rounding, but features are nearly dependent and the systems chaotic, so it becomes another model and
another forecast. The number is therefore part of a computation like its seed, and not a property of
the machine it happens to run on: a notebook with all cores, a worker process and a cluster all give
the same numbers. More threads are faster for wide models; say so around all that belongs together:

    with rfm_core.threads(8):
        model = rfm_core.fit(spec, data)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

import torch

from .checks import whole

P = ParamSpec("P")
T = TypeVar("T")
_threads: ContextVar[int] = ContextVar("threads", default=1)


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Within this block trainings and forecasts compute with ``number`` threads."""
    number = whole("threads", number, 1, 4096, "1 is what everything uses that is not told.")
    token = _threads.set(number)
    try:
        with _torch(number):
            yield
    finally:
        _threads.reset(token)


def in_threads(function: Callable[P, T]) -> Callable[P, T]:
    """Computes with the number of threads that was said, whatever torch is set to outside."""

    @wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> T:
        with _torch(_threads.get()):
            return function(*args, **kwargs)

    return inner


def steps_in_threads(function: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    """The same for something that computes step by step; between steps torch is as it was."""

    @wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> Generator[T, None, None]:
        steps = function(*args, **kwargs)
        while True:
            with _torch(_threads.get()):
                try:
                    step = next(steps)
                except StopIteration:
                    return
            yield step

    return inner


@contextmanager
def _torch(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    if number != before:
        torch.set_num_threads(number)
    try:
        yield
    finally:
        if number != before:
            torch.set_num_threads(before)
