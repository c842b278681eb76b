"""Where tasks run: here, in processes that can be killed, or on a dask cluster.

One protocol, so that a study does not know where it runs, and the same rows from all of them.
"""

from __future__ import annotations

import importlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Protocol, Self

import torch

from ..checks import Cancelled, InvalidInput, one_of, refuse
from ..events import CancelToken
from .tasks import Task, TaskEvent, TaskProgress, perform
from .wire import Seldom, pack_task, unpack_task


class Executor(Protocol):
    """``slots`` tasks run at a time, and ``threads`` is how many torch threads suit each of them.

    A task brings its own number of threads, since sums depend on it: ``threads`` is for whoever
    makes the tasks.
    """

    @property
    def slots(self) -> int: ...

    @property
    def threads(self) -> int: ...

    def run(self, tasks: Iterable[Task], cancel: CancelToken | None = None) -> Iterator[TaskEvent]:
        """Events as they come, in any order of the tasks; each ends in one TaskDone or TaskFailed.

        Tasks are taken from the iterable only as places become free. Once ``cancel`` is set,
        running work is stopped and ``Cancelled`` is raised; what was yielded before stays valid.
        Closing the iterator stops running work as well.
        """

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class Closing(ABC):
    """Makes ``with executor:`` close it."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Inline(Closing):
    """One task after the other in this process; nothing to start and nothing to kill.

    The job computes in a thread of its own, so that its reports come while it runs. Cancelling,
    interrupting and closing the iterator all end it between two pieces of its work.
    """

    slots = 1

    def __init__(self, modules: Sequence[str] = ()) -> None:
        for name in checked_modules(modules):
            importlib.import_module(name)

    @property
    def threads(self) -> int:
        return torch.get_num_threads()

    def run(self, tasks: Iterable[Task], cancel: CancelToken | None = None) -> Iterator[TaskEvent]:
        check_cancel(cancel)
        for task in tasks:
            check_cancel(cancel)
            packed = pack_task(task)
            if not isinstance(packed, bytes):
                yield packed
                continue
            # through the wire format: a job must see the same arguments here as elsewhere
            yield from self._one(unpack_task(packed)[0], cancel)
        check_cancel(cancel)

    def _one(self, task: Task, cancel: CancelToken | None) -> Iterator[TaskEvent]:
        events: SimpleQueue[TaskEvent | BaseException] = SimpleQueue()
        stop = _Either(cancel)
        listen = Seldom(lambda progress: events.put(TaskProgress(task.key, progress)))

        def work() -> None:
            try:
                events.put(perform(task, listen, stop))
            except BaseException as error:  # handed over, to be raised where events are awaited
                events.put(error)

        thread = threading.Thread(target=work, name=f"task {task.key}", daemon=True)
        thread.start()
        try:
            while True:
                event = events.get()
                if isinstance(event, BaseException):
                    raise event
                yield event
                if not isinstance(event, TaskProgress):
                    return
        finally:
            stop.cancel()
            thread.join()

    def close(self) -> None:
        """Nothing is kept open."""


class _Either(CancelToken):
    """Set by itself or through the token it was made with."""

    def __init__(self, other: CancelToken | None) -> None:
        super().__init__()
        self._other = other

    @property
    def cancelled(self) -> bool:
        return super().cancelled or (self._other is not None and self._other.cancelled)


EXECUTORS = ("inline", "processes", "dask")


def make_executor(name_or_executor: str | Executor | None = None, **options: Any) -> Executor:
    """The executor of that name with these options; None is "inline"; an executor is itself."""
    given = name_or_executor
    if given is not None and not isinstance(given, str):
        if not (hasattr(given, "run") and hasattr(given, "close")):
            raise refuse("executor", given, "a name or an executor", f"Names: {EXECUTORS}.")
        if options:
            raise refuse("options", options, "left out", "This executor has been made already.")
        return given
    name = one_of("executor", "inline" if given is None else given, EXECUTORS)
    kind: Callable[..., Executor]
    if name == "inline":
        kind = Inline
    elif name == "processes":
        from .processes import ProcessSlots as kind  # not at the top: it imports this
    else:
        from .dask_executor import Dask as kind
    try:
        return kind(**options)
    except TypeError as error:
        raise InvalidInput(f"The executor {name!r} cannot take these options: {error}.") from None


@contextmanager
def using(name_or_executor: str | Executor | None = None, **options: Any) -> Iterator[Executor]:
    """Like ``make_executor``, closed at the end unless it was given ready-made."""
    executor = make_executor(name_or_executor, **options)
    try:
        yield executor
    finally:
        if executor is not name_or_executor:
            executor.close()


def check_cancel(cancel: CancelToken | None) -> None:
    if cancel is not None and cancel.cancelled:
        raise Cancelled("cancelled; what was done before is kept")


def checked_modules(modules: Sequence[str]) -> tuple[str, ...]:
    """Names of modules that register further jobs."""
    remedy = "For example ('my_package.my_jobs',)."
    if isinstance(modules, str) or not all(isinstance(name, str) for name in modules):
        raise refuse("modules", modules, "a sequence of module names", remedy)
    return tuple(modules)


def cores() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1
