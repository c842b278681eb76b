"""Many realizations of one spec: events as they finish, running statistics, nothing lost."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from ..checks import Cancelled, refuse, whole
from ..data.generate import DataSpec
from ..events import CancelToken, Progress
from ..model.spec import ModelSpec
from ..run import Executor, using
from ..run.tasks import Task, TaskDone, TaskFailed
from ..spec import Spec, digest_of
from .results import ResultRow, ResultStore, statistics


@dataclass(frozen=True)
class StudySpec(Spec):
    """``realizations`` of a model, each with its own training window, weights and test starts.

    ``data.n_test`` test trajectories each; the paper has 500 realizations with one.
    """

    data: DataSpec
    model: ModelSpec
    realizations: int = 500
    seed: int = 0

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name, kind in (("data", DataSpec), ("model", ModelSpec)):
            value = getattr(self, name)
            if isinstance(value, Mapping):
                value = kind.from_dict(value)
            if not isinstance(value, kind):
                raise refuse(name, value, f"a {kind.__name__}", f"For example {kind.__name__}().")
            put(self, name, value)
        remedy = "The paper has 500; 50 give a mean to about 0.2."
        put(self, "realizations", whole("realizations", self.realizations, 1, 10**6, remedy))
        put(self, "seed", whole("seed", self.seed, 0, 2**63, "0 will do."))
        if self.data.n_test < 1:
            raise refuse("data.n_test", self.data.n_test, "at least 1", "The paper has 1.")
        # the study sets these two for every realization
        put(self, "data", self.data.replace(seed=0, realization=0))

    @property
    def key(self) -> str:
        """Names the study whatever the number of realizations, so that it can be extended."""
        return digest_of({**self.to_dict(), "realizations": None})

    @property
    def label(self) -> str:
        return f"{self.data.system} {self.model.label}"

    def task(self, realization: int, threads: int = 1) -> Task:
        """The work of one realization, in plain values."""
        arguments = {
            "realization": realization,
            "seed": self.seed,
            "data": self.data.to_dict(),
            "model": self.model.to_dict(),
        }
        return Task(str(realization), "realization", arguments, threads)


@dataclass(frozen=True)
class StudyEvent:
    """How far the study is; ``statistics`` are over everything done so far."""

    done: int
    total: int
    failed: int
    seconds: float  # since this start
    statistics: dict[str, Any]
    resumed: int = 0  # realizations that were there at the start

    @property
    def seconds_left(self) -> float | None:
        """Linear extrapolation from what this start has done; None before anything is."""
        mine = self.done + self.failed - self.resumed
        if mine <= 0:
            return None
        return self.seconds * (self.total - self.done - self.failed) / mine


@dataclass(frozen=True)
class StudyStarted(StudyEvent):
    """The first event; ``done`` counts what an earlier start left."""


@dataclass(frozen=True)
class RealizationProgress(StudyEvent):
    realization: int = 0
    progress: Progress | None = None


@dataclass(frozen=True)
class RealizationDone(StudyEvent):
    realization: int = 0
    result: dict[str, Any] | None = None


@dataclass(frozen=True)
class RealizationFailed(StudyEvent):
    realization: int = 0
    reason: str = ""


@dataclass(frozen=True)
class StudyCancelled(StudyEvent):
    """The last event after a cancel; what is done is kept."""


@dataclass(frozen=True)
class StudyFinished(StudyEvent):
    """The last event; some realizations may have failed."""


def run_study(
    spec: StudySpec,
    *,
    executor: str | Executor | None = None,
    store: ResultStore | None = None,
    cancel: CancelToken | None = None,
    threads: int = 1,
) -> Iterator[StudyEvent]:
    """Run what the store does not have yet, and tell of it as it happens.

    ``executor``: None for here, "processes", "dask", or one made by ``make_executor``. The same
    study started again resumes; what failed is tried again. Rows do not depend on where or in
    which order they were computed (with the same number of ``threads``). An error of the store
    stops the study: a result that cannot be kept is not claimed.
    """
    own = ResultStore(None) if store is None else nullcontext(store)
    with using(executor) as runner, own as results:
        yield from _Run(spec, runner, results, cancel, threads).events()


class _Run:
    def __init__(
        self,
        spec: StudySpec,
        executor: Executor,
        store: ResultStore,
        cancel: CancelToken | None,
        threads: int,
    ) -> None:
        self.spec, self.executor, self.store, self.cancel = spec, executor, store, cancel
        self.threads = whole("threads", threads, 1, 1024, "1 when several run side by side.")
        self.key = spec.key
        store.add_study(self.key, spec.to_dict(), spec.label)
        store.forget_failures(self.key)
        self.rows: dict[int, ResultRow] = {
            row.realization: row
            for row in store.rows(self.key)
            if row.status == "ok" and row.realization < spec.realizations
        }
        self.failed = 0
        self.resumed = len(self.rows)
        self.statistics = statistics(self.rows.values())
        self.began = time.perf_counter()

    def events(self) -> Iterator[StudyEvent]:
        yield self._event(StudyStarted)
        missing = (r for r in range(self.spec.realizations) if r not in self.rows)
        tasks = (self.spec.task(r, self.threads) for r in missing)
        try:
            for event in self.executor.run(tasks, self.cancel):
                number = int(event.key)
                if isinstance(event, TaskDone):
                    self._keep(number, event.result)
                    yield self._event(RealizationDone, realization=number, result=event.result)
                elif isinstance(event, TaskFailed):
                    self.failed += 1
                    self.store.add_failure(
                        self.key, number, event.reason, event.details, event.attempts
                    )
                    yield self._event(RealizationFailed, realization=number, reason=event.reason)
                else:
                    yield self._event(
                        RealizationProgress, realization=number, progress=event.progress
                    )
        except Cancelled:
            yield self._event(StudyCancelled)
            return
        yield self._event(StudyFinished)

    def _keep(self, number: int, result: dict[str, Any]) -> None:
        self.store.add(self.key, number, result)
        self.rows[number] = ResultRow(number, "ok", result, "", "")
        self.statistics = statistics(self.rows[r] for r in sorted(self.rows))

    def _event(self, kind: type[StudyEvent], **more: Any) -> Any:
        return kind(
            done=len(self.rows),
            total=self.spec.realizations,
            failed=self.failed,
            seconds=time.perf_counter() - self.began,
            statistics={**self.statistics, "failed": self.failed},
            resumed=self.resumed,
            **more,
        )
