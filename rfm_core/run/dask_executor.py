"""Tasks on a dask cluster: of several machines by its address, or of this one."""

from __future__ import annotations

import gc
import importlib
import itertools
import queue
import time
import traceback
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from ..checks import Cancelled, InvalidInput, refuse, whole
from ..events import CancelToken
from .base import Closing, check_cancel, checked_modules, cores
from .dask_local import LocalDask
from .tasks import Task, TaskEvent, TaskFailed
from .wire import pack_task, perform_packed, unpack_event

LOOK_SECONDS = 0.05  # how often a run looks at its cancel token
CONNECT_SECONDS = 15
FETCH_SECONDS = 5.0  # for the result of a task that is done
RECOUNT_SECONDS = 1.0  # workers of a cluster come and go


def perform_on_worker(task: bytes, modules: tuple[str, ...]) -> bytes:
    """What dask calls in a worker."""
    return perform_packed(task, modules)


class Dask(Closing):
    """Tasks on the workers of dask's scheduler at ``address``, or of a cluster made here.

    Each worker should have one thread (``dask worker --nthreads 1``), as the local ones have:
    tasks set torch's threads themselves, and their peak memory is that of their process. There
    are no progress events. A task whose workers died is tried again, by itself after all others,
    so that it harms none of them; it ends as TaskFailed when its workers die there too.

    Cancelling kills the workers of a local cluster at once. On another cluster, what waits is
    withdrawn, but a realization that is running comes to its end first.
    """

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        threads: int = 1,
        modules: Sequence[str] = (),
    ) -> None:
        self._distributed = _distributed()
        self.threads = whole("threads", threads, 1, 4096, "1 is best when all workers are in use.")
        self._modules = checked_modules(modules)
        self._address = address
        if address is not None and workers is not None:
            remedy = "Leave it out: the cluster has the workers that were started for it."
            raise refuse("workers", workers, "None together with an address", remedy)
        number = max(1, cores() // self.threads) if workers is None else workers
        self._workers = whole("workers", number, 1, 4096, f"This machine has {cores()} cores.")
        self._local: LocalDask | None = None
        self._client: Any = None
        self._closed = False
        self._counted = 0.0
        if address is not None:
            self._connect()

    @property
    def slots(self) -> int:
        """Workers now; of a cluster without any, one, so that a task can wait for them.

        Local ones that died are on their way back, so their number does not change.
        """
        remote = self._client is not None and self._local is None
        if remote and time.monotonic() > self._counted + RECOUNT_SECONDS:
            with suppress(OSError, TimeoutError):
                self._workers = max(1, sum(self._client.nthreads().values()))
            self._counted = time.monotonic()
        return self._workers

    def _connect(self) -> None:
        if self._closed:
            raise InvalidInput("This executor has been closed. Make a new one.")
        if self._client is not None:
            return
        options: dict[str, Any] = {"timeout": CONNECT_SECONDS, "set_as_default": False}
        address = self._address
        if address is None:
            self._local = LocalDask(self._workers)
            address = self._local.address
            if self._local.credentials is not None:
                secret = {"require_encryption": True, **self._local.credentials}
                options["security"] = self._distributed.Security(**secret)
        try:
            self._client = self._distributed.Client(address, **options)
        except (OSError, ValueError, TypeError) as error:
            self.close()
            remedy = "Start one with: dask scheduler; then on each machine: dask worker ADDRESS."
            limit = "the address of a running dask scheduler, such as 'tcp://10.0.0.1:8786'"
            raise refuse("address", self._address, limit, f"{remedy} ({error})") from None

    def run(self, tasks: Iterable[Task], cancel: CancelToken | None = None) -> Iterator[TaskEvent]:
        check_cancel(cancel)
        self._connect()
        run = _Run(self._client, self._modules)
        source = iter(tasks)
        more = True
        try:
            while True:
                while more and len(run.waiting) < self.slots:
                    task = next(source, None)
                    if task is None:
                        more = False
                    elif (refused := run.submit(task)) is not None:
                        yield refused
                if not run.waiting and not run.submit_suspect():
                    return
                if self._closed:
                    raise Cancelled("the executor was closed")
                check_cancel(cancel)
                event = run.next_event()
                if event is not None:
                    yield event
        except ConnectionError:
            self._disconnect()
            raise
        finally:
            if run.waiting:
                run.withdraw()
                if self._local is not None:
                    self._local.kill_workers()

    def _disconnect(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._local is not None:
            self._local.close()
            self._local = None

    def close(self) -> None:
        """Also ends the local cluster; another one goes on without us."""
        self._closed = True
        self._disconnect()
        # Deleted clients take a lock of dask's. Left to the collector this may happen in the very
        # thread that another client is starting under that lock: neither would ever go on.
        gc.collect()


class _Run:
    """Tasks of one run that are with dask, and those suspected of killing workers."""

    def __init__(self, client: Any, modules: tuple[str, ...]) -> None:
        self._client, self._modules = client, modules
        self._name = f"rfm-{uuid.uuid4().hex[:12]}"
        self._numbers = itertools.count()
        self._ready: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._suspects: list[tuple[Task, int]] = []
        self.waiting: dict[str, tuple[Any, Task, int]] = {}

    def submit(self, task: Task, deaths: int = 0) -> TaskFailed | None:
        """``deaths`` of workers that had this task so far; the answer is for a task not plain."""
        packed = pack_task(task)
        if not isinstance(packed, bytes):
            return packed
        name = f"{self._name}-{next(self._numbers)}"
        future = self._client.submit(perform_on_worker, packed, self._modules, key=name, pure=False)
        self.waiting[name] = (future, task, deaths)
        future.add_done_callback(self._ready.put)
        return None

    def submit_suspect(self) -> bool:
        """One, when nothing else is there: a worker that dies takes all its tasks with it."""
        if self._suspects:
            self.submit(*self._suspects.pop())
        return bool(self.waiting)

    def next_event(self) -> TaskEvent | None:
        """The outcome of a task, if there is one within a moment."""
        try:
            future = self._ready.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            return None
        if future.key not in self.waiting:
            return None
        if future.status in ("cancelled", "lost"):
            raise ConnectionError(
                "The connection to the dask scheduler was lost. What was done before is kept."
            )
        _, task, deaths = self.waiting[future.key]
        try:
            outcome: TaskEvent | None = unpack_event(
                task.key, future.result(timeout=FETCH_SECONDS), attempts=1 + deaths
            )
        except TimeoutError:  # its worker died with the result, which is computed again
            self._ready.put(future)
            return None
        except Exception as error:
            outcome = self._failure(task, deaths, error)
        del self.waiting[future.key]
        future.release()
        return outcome

    def _failure(self, task: Task, deaths: int, error: Exception) -> TaskFailed | None:
        """None for a task that gets a trial of its own."""
        kind = type(error).__name__
        if kind != "KilledWorker":
            reason = f"A dask worker could not take this task ({kind}: {error})."
            details = "".join(traceback.format_exception(error))
            return TaskFailed(task.key, reason, details, 1 + deaths)
        died = int(getattr(error, "allowed_failures", 0)) + 1
        if not deaths:
            self._suspects.append((task, died))
            return None
        reason = (
            f"Its worker died {deaths + died} times, perhaps because its machine ran out of memory,"
            " so the task was given up."
        )
        return TaskFailed(task.key, reason, str(error), deaths + died)

    def withdraw(self) -> None:
        futures = [future for future, _, _ in self.waiting.values()]
        self.waiting.clear()
        with suppress(OSError, RuntimeError, TimeoutError):  # without a scheduler all is over
            self._client.cancel(futures, force=True)


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise InvalidInput(
            f"The executor 'dask' needs the package distributed, which is not here ({error})."
            ' Install it with: pip install "rfm-explorer[cluster]"'
        ) from None
