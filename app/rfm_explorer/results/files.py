"""The folder of one run: a worker writes results into it, the page reads what is there so far.

Every file is written whole or not at all, so reader and writer need no agreement on time:

    info, trained, features, ...           one record each, under the name of its kind
    model                                  the trained model
    times-<realization>                    forecast times of its tests
    tests-<realization>-<first>-<last>     truth and forecasts of these tests
    live, piece-<step>                     the shown forecast as it grows
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rfm_core import Cancelled, InvalidInput, Model

from .records import Info, Times, Trained, Trajectory
from .serialize import read_result, write_result

Array = np.ndarray
END = ".safetensors"
FILE_BYTES = 2_000_000  # of several tests in one file: each file costs 10 ms of waiting for a disk
TESTS_BYTES = 500_000_000  # of all tests in a folder; beyond it only their times are kept
SETTLED = 100_000_000  # nanoseconds: clocks of file systems are coarser than ours
TESTS_NAME = re.compile(rf"tests-(\d+)-(\d+)-(\d+)\{END}")
# what files with other names belong to
UNDER = dict.fromkeys(("live", "piece", "tests"), "trajectory")
READ_WHEN_ASKED = ("tests", "model")
Record = TypeVar("Record")


def kind_of(record: type) -> str:
    """The name under which records of this type are kept: ``climate`` for ``Climate``."""
    return record.__name__.lower()


class Writer:
    """The worker's side."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def save(self, record: object) -> None:
        """The one record of its kind, such as ``Info`` or ``Climate``."""
        self._write(kind_of(type(record)), record)

    def model(self, model: Model) -> None:
        self._check()
        try:
            model.save(self.folder / f"model{END}")
        except InvalidInput as error:  # it names the folder, which is the server's own business
            raise _no_room(error.__cause__ or error) from error

    def times(self, realization: int, times: Times) -> None:
        self._write(f"times-{realization:06d}", times)

    def live(self, realization: int, test: int, truth: Array) -> None:
        """A forecast begins to grow; what an earlier attempt left is taken away."""
        self._drop_pieces()
        start = {"realization": realization, "test": test, "truth": truth}
        self._write("live", start)

    def piece(
        self, first: int, states: Array, error: Array, vpt: float | None, diverged_at: int
    ) -> None:
        """States and errors from step ``first`` on of the growing forecast."""
        part = {"states": states, "error": error, "vpt": vpt, "diverged_at": diverged_at}
        self._write(f"piece-{first:09d}", {"first": first, **part})

    def trajectories(self, whole: Sequence[Trajectory], shown: int | None = None) -> None:
        """All tests of a realization, as far as there is room, and the one that is shown anyway.

        It was growing until now; its pieces are done with.
        """
        room = TESTS_BYTES - sum(p.stat().st_size for p in self.folder.glob(f"tests-*{END}"))
        size = sum(a.nbytes for t in whole[:1] for a in (t.truth, t.forecast, t.error))
        together = max(1, FILE_BYTES // max(1, size))
        for low in range(0, len(whole), together):
            some = whole[low : low + together]
            room -= size * len(some)
            if room < 0 and all(t.test != shown for t in some):
                continue
            name = f"tests-{some[0].realization:06d}-{some[0].test:06d}-{some[-1].test:06d}"
            self._write(name, [_cut(trajectory) for trajectory in some])
        self._drop_pieces()

    def _write(self, name: str, result: object) -> None:
        self._check()
        try:
            write_result(self.folder / f"{name}{END}", result)
        except OSError as error:
            raise _no_room(error) from error

    def _check(self) -> None:
        if not self.folder.is_dir():  # writing would make it anew, and nobody would remove it
            raise Cancelled("nobody wants this run any more")

    def _drop_pieces(self) -> None:
        for path in self.folder.glob(f"piece-*{END}"):
            path.unlink(missing_ok=True)


class Results:
    """The page's side: whatever is there, in any order; nothing here raises for a bad file."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._versions: Counter[str] = Counter()
        self._stamps: dict[str, tuple[int, int, int]] = {}  # of every file
        self._results: dict[str, Any] = {}  # of files that are read at once
        self._read: OrderedDict[str, Any] = OrderedDict()  # of tests, the last few
        self._made: dict[type, tuple[int, Any]] = {}  # from several files, with its version
        self._modified, self._settled = -1, False

    def refresh(self) -> bool:
        """Look for new results; True where there are some. Next to nothing where there are none."""
        try:
            modified = os.stat(self.folder).st_mtime_ns
            if modified == self._modified and self._settled:
                return False
            # a change soon after this one may bear the same time: look again until it cannot
            self._settled = time.time_ns() - modified > SETTLED
            self._modified = modified
            with os.scandir(self.folder) as entries:
                found = {e.name: _stamp(e) for e in entries if e.name.endswith(END)}
        except OSError:  # removed, or a file vanished as we looked
            self._modified = -1
            return False
        return self._take(found)

    def _take(self, found: dict[str, tuple[int, int, int]]) -> bool:
        new = [name for name, stamp in found.items() if self._stamps.get(name) != stamp]
        for gone in self._results.keys() - found.keys():
            del self._results[gone]
        self._stamps = found
        kinds: set[str] = set()
        for name in sorted(new):
            start = re.split(r"[-.]", name)[0]
            kind = UNDER.get(start, start)
            if start in READ_WHEN_ASKED or self._load(name):
                kinds.add(kind)
        self._versions.update(kinds)
        return bool(kinds)

    def _load(self, name: str) -> bool:
        try:
            self._results[name] = read_result(self.folder / name)
        except (OSError, ValueError, KeyError, TypeError):  # damaged: as if it were not there
            return False
        return True

    def get(self, kind: type[Record]) -> Record | None:
        """The record of that kind, such as ``run.get(Climate)``; None where it is not there yet."""
        record = self._results.get(f"{kind_of(kind)}{END}")
        return record if isinstance(record, kind) else None

    def version(self, kind: type) -> int:
        """Grows when there is something new of that kind; of a ``Trajectory``, of any of them."""
        return self._versions[kind_of(kind)]

    @property
    def info(self) -> Info | None:
        return self.get(Info)

    @property
    def trained(self) -> Trained | None:
        return self.get(Trained)

    @property
    def model_path(self) -> Path | None:
        """The file of the trained model."""
        name = f"model{END}"
        return self.folder / name if name in self._stamps else None

    @property
    def times(self) -> Times | None:
        """Of all realizations so far, in order."""
        return self._once(Times, self._join_times)

    @property
    def live(self) -> Trajectory | None:
        """The shown trajectory: growing, then whole."""
        return self._once(Trajectory, self._grow)

    def trajectory(self, realization: int, test: int) -> Trajectory | None:
        """One test trajectory, or None where it is not there (yet), or there was no room for it."""
        for name in self._stamps:
            match = TESTS_NAME.fullmatch(name)
            if match and int(match[1]) == realization and int(match[2]) <= test <= int(match[3]):
                several = self._tests(name)
                return next((t for t in several if t.test == test), None)
        return None

    def remove(self) -> None:
        """Delete the folder and everything in it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _once(self, kind: type[Record], make: Callable[[], Record | None]) -> Record | None:
        """Made anew only when there is something new."""
        version = self.version(kind)
        if self._made.get(kind, (-1, None))[0] != version:
            self._made[kind] = version, make()
        found: Record | None = self._made[kind][1]
        return found

    def _join_times(self) -> Times | None:
        names = sorted(name for name in self._results if name.startswith("times-"))
        parts = [self._results[name] for name in names]
        if not parts:
            return None
        fields = [f.name for f in dataclasses.fields(Times)]
        return Times(**{f: np.concatenate([getattr(p, f) for p in parts]) for f in fields})

    def _grow(self) -> Trajectory | None:
        start = self._results.get(f"live{END}")
        if start is None:
            return None
        done = self.trajectory(start["realization"], start["test"])
        if done is not None:
            return done
        truth = start["truth"]
        forecast, error = np.full_like(truth, np.nan), np.full(len(truth), np.nan)
        forecast[0], error[0] = truth[0], 0.0
        vpt, diverged_at = None, -1
        for name in sorted(name for name in self._results if name.startswith("piece-")):
            part = self._results[name]
            here = slice(part["first"], part["first"] + len(part["states"]))
            forecast[here], error[here] = part["states"], part["error"]
            vpt, diverged_at = part["vpt"], part["diverged_at"]
        ids = start["realization"], start["test"]
        return Trajectory(*ids, truth, forecast, error, vpt, False, diverged_at, done=False)

    def _tests(self, name: str) -> Sequence[Trajectory]:
        key = f"{name} {self._stamps[name]}"
        if key not in self._read:
            try:
                self._read[key] = [_padded(t) for t in read_result(self.folder / name)]
            except (OSError, ValueError, KeyError, TypeError):
                return []
        self._read.move_to_end(key)
        while len(self._read) > 4:
            self._read.popitem(last=False)
        return list(self._read[key])


def _no_room(error: BaseException) -> InvalidInput:
    return InvalidInput(
        f"The results could not be kept ({getattr(error, 'strerror', None) or 'unknown error'}): "
        "the server's temporary folder must have room for them. Ask for fewer or shorter tests, "
        "or free some space there."
    )


def _stamp(entry: os.DirEntry[str]) -> tuple[int, int, int]:
    status = entry.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _cut(trajectory: Trajectory) -> Trajectory:
    """Without the NaN at the end of the forecast, which may be most of it."""
    there = np.flatnonzero(np.isfinite(trajectory.forecast).all(axis=1))
    end = int(there[-1]) + 1 if len(there) else 0
    return dataclasses.replace(trajectory, forecast=trajectory.forecast[:end])


def _padded(trajectory: Trajectory) -> Trajectory:
    whole = np.full_like(trajectory.truth, np.nan)
    whole[: len(trajectory.forecast)] = trajectory.forecast
    return dataclasses.replace(trajectory, forecast=whole)
