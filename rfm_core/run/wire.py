"""Tasks and their events as JSON bytes: the same through a pipe, over a network, or nowhere."""

from __future__ import annotations

import importlib
import json
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from ..checks import Cancelled
from ..events import Progress
from ..model.features import modules_of_features
from ..systems import modules_of_systems, register_from_text, texts_of_systems
from .tasks import Task, TaskDone, TaskEvent, TaskFailed, TaskProgress, perform

PROGRESS_SECONDS = 0.1  # between two reports of one task, at least


def pack_task(task: Task) -> bytes | TaskFailed:
    """The task as bytes, or how it ends because its arguments are not plain values."""
    try:
        body = {
            **asdict(task),
            "modules": modules_of_systems() + modules_of_features(),
            "systems": texts_of_systems(),
        }
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        reason = f"The arguments of task {task.key!r} are not plain values ({error})."
        return TaskFailed(task.key, f"{reason} Use numbers, texts, lists and dictionaries.")


def unpack_task(data: bytes) -> tuple[Task, list[str], list[dict[str, Any]]]:
    """The task, modules that know systems and features it may speak of, and systems as text."""
    body = json.loads(data)
    modules, systems = body.pop("modules"), body.pop("systems")
    return Task(**body), modules, systems


def pack_event(event: TaskEvent) -> bytes:
    """Without the key, which whoever gave the task knows."""
    if isinstance(event, TaskProgress):
        it = event.progress
        body: Any = [it.stage, float(it.done), float(it.total), float(it.seconds)]
    elif isinstance(event, TaskDone):
        body = event.result
    else:
        body = [event.reason, event.details]
    return json.dumps({type(event).__name__: body}).encode()


def unpack_event(key: str, data: bytes, attempts: int = 1) -> TaskEvent:
    [(kind, body)] = json.loads(data).items()
    if kind == TaskProgress.__name__:
        return TaskProgress(key, Progress(*body))
    if kind == TaskDone.__name__:
        return TaskDone(key, body)
    reason, details = body
    return TaskFailed(key, reason, details, attempts)


def perform_packed(
    data: bytes, modules: Sequence[str], listener: Callable[[Progress], None] | None = None
) -> bytes:
    """In a worker: the outcome of a packed task; ``modules`` register jobs beyond our own."""
    task, of_systems, systems = unpack_task(data)
    try:
        for name in (*modules, *of_systems):
            importlib.import_module(name)
        for text in systems:
            name = text["name"]
            register_from_text(text)
    except Exception as error:
        kind = type(error).__name__
        reason = f"The worker could not import the module {name!r} ({kind}: {error})."
        return pack_event(TaskFailed(task.key, reason, traceback.format_exc()))
    try:
        return pack_event(perform(task, listener))
    except Cancelled as error:  # nobody can cancel from outside here, so the job did it itself
        return pack_event(TaskFailed(task.key, f"The job gave up: {error}"))


class Seldom:
    """A listener that passes on at most ten reports a second."""

    def __init__(self, listener: Callable[[Progress], None]) -> None:
        self._listener = listener
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + PROGRESS_SECONDS
            self._listener(progress)
