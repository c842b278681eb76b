"""Results of studies in one SQLite file: a row that ``add`` acknowledged is on the disk.

Many processes and threads may write to one file; a kill at any moment, or a full disk, costs at
most the row being written. Only processes of one machine, though: SQLite's log (WAL) does not work
over a network. Where several machines compute, one driver writes, best to a local disk.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeVar

from ..checks import real, whole
from . import export
from .records import (
    BUSY,
    ResultRow,
    StoreError,
    StudyRecord,
    checked_digest,
    checked_json,
    checked_text,
    code,
    statistics,
)

__all__ = ["ResultRow", "ResultStore", "StoreError", "StudyRecord", "statistics"]

T = TypeVar("T")
APPLICATION = 0x52464D78  # "RFMx", SQLite's mark of whose file it is
SCHEMA = 1
FILES = ("", "-wal", "-shm", "-journal")  # what SQLite keeps beside the file
TABLES = (
    "CREATE TABLE studies (digest TEXT PRIMARY KEY, label TEXT NOT NULL, spec TEXT NOT NULL,"
    " created TEXT NOT NULL)",
    "CREATE TABLE results (study TEXT NOT NULL REFERENCES studies ON DELETE CASCADE,"
    " realization INTEGER NOT NULL, status TEXT NOT NULL, result TEXT NOT NULL,"
    " reason TEXT NOT NULL, details TEXT NOT NULL, attempts INTEGER NOT NULL,"
    " finished TEXT NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (study, realization))",
    "CREATE INDEX results_by_status ON results (study, status, realization)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {SCHEMA}",
)
# a result replaces a failure, never another result
PUT = (
    "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (study, realization)"
    " DO UPDATE SET status = excluded.status, result = excluded.result, reason = excluded.reason,"
    " details = excluded.details, attempts = excluded.attempts, finished = excluded.finished,"
    " checksum = excluded.checksum WHERE results.status = 'failed'"
)


class ResultStore:
    """``ResultStore(path)`` opens or creates; ``ResultStore(None)`` is in memory and lasts as long.

    One connection behind a lock, for any number of threads. ``wait`` is how many seconds to wait
    for other processes that are writing.
    """

    def __init__(self, path: str | os.PathLike[str] | None, *, wait: float = 30.0) -> None:
        self.path = None if path is None else export.target(path, make_folder=True)
        self.wait = real("wait", wait, "30 seconds are usual.", 0, 3600)
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._db: sqlite3.Connection | None = None
        try:
            options: Any = {"isolation_level": None, "check_same_thread": False}
            self._db = sqlite3.connect(self.path or ":memory:", timeout=self.wait, **options)
            self._identity = self._on_disk()
            self.journal = self._do(self._prepare)
        except sqlite3.Error as error:  # from connect
            raise self._worded(error) from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Safe to call twice. The last one to close a file tidies its -wal and -shm away."""
        with self._lock:
            if self._db is not None and self._process == os.getpid():
                with suppress(sqlite3.Error):  # tidying failed: the next to open does it
                    self._db.close()
            self._db = None

    def add_study(self, digest: str, spec: Mapping[str, Any], label: str = "") -> None:
        """Make a study known. Again: rows stay, the newer spec and a label that is given count."""
        texts = checked_text("label", label), checked_json("spec", spec)
        self._change(
            "INSERT INTO studies VALUES (?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET"
            " spec = excluded.spec, label = iif(excluded.label = '', label, excluded.label)"
            " WHERE spec <> excluded.spec OR excluded.label NOT IN ('', label)",
            (checked_digest(digest), *texts, _now()),
        )

    def add(self, digest: str, realization: int, row: Mapping[str, Any]) -> bool:
        """Once this returns the row is on the disk. False: there was a result, and it stays."""
        return self._put(digest, realization, "ok", checked_json("row", row), "", "", 1)

    def add_failure(
        self, digest: str, realization: int, reason: str, details: str = "", attempts: int = 1
    ) -> bool:
        """Note that a realization failed; False where it has a result, which stays."""
        attempts = whole("attempts", attempts, 1, 2**31, "1 is usual.")
        why = checked_text("reason", reason), checked_text("details", details)
        return self._put(digest, realization, "failed", "{}", *why, attempts)

    def _put(self, digest: str, realization: int, *values: Any) -> bool:
        number = whole("realization", realization, 0, 2**63 - 1, "They are numbered from 0.")
        row = (checked_digest(digest), number, *values, _now())
        return self._change(PUT, (*row, _checksum(row))) > 0

    def done(self, digest: str) -> set[int]:
        """The realizations that have a result."""
        wanted = "SELECT realization FROM results WHERE study = ? AND status = 'ok'"
        return {number for (number,) in self._read(wanted, (checked_digest(digest),))}

    def failures(self, digest: str) -> list[ResultRow]:
        return self._rows(digest, "AND status = 'failed'")

    def forget_failures(self, digest: str) -> int:
        """So that a new start tries them again; how many there were."""
        gone = "DELETE FROM results WHERE study = ? AND status = 'failed'"
        return self._change(gone, (checked_digest(digest),))

    def rows(self, digest: str) -> list[ResultRow]:
        """Results and failures, ordered by realization."""
        return self._rows(digest, "")

    def _rows(self, digest: str, condition: str) -> list[ResultRow]:
        wanted = f"SELECT * FROM results WHERE study = ? {condition} ORDER BY realization"
        rows = []
        for *row, checksum in self._read(wanted, (checked_digest(digest),)):
            _, number, status, result, reason, details, attempts, finished = row
            if checksum != _checksum(row):
                raise self._worded(sqlite3.DatabaseError(f"realization {number} was altered"))
            parsed = json.loads(result)
            rows.append(ResultRow(number, status, parsed, reason, finished, details, attempts))
        return rows

    def studies(self) -> list[StudyRecord]:
        """All studies, oldest first."""
        count = "(SELECT count(*) FROM results WHERE study = digest AND status = '{}')"
        found = self._read(
            f"SELECT digest, label, spec, created, {count.format('ok')}, {count.format('failed')}"
            " FROM studies ORDER BY created, digest"
        )
        try:
            return [StudyRecord(d, name, json.loads(s), *rest) for d, name, s, *rest in found]
        except ValueError as error:
            raise self._worded(sqlite3.DatabaseError(f"a spec was altered, {error}")) from None

    def delete_study(self, digest: str) -> bool:
        """Delete a study with all its rows; False if it was not there."""
        return self._change("DELETE FROM studies WHERE digest = ?", (checked_digest(digest),)) > 0

    def export_csv(self, digest: str | None, path: str | os.PathLike[str]) -> Path:
        """One line per realization of one study, or of all; see ``export.column_names``."""
        return self._export(export.write_csv, digest, path)

    def export_parquet(self, digest: str | None, path: str | os.PathLike[str]) -> Path:
        """As ``export_csv``, with types and with lists as lists; needs pyarrow."""
        return self._export(export.write_parquet, digest, path)

    def _export(self, write: Any, digest: str | None, path: str | os.PathLike[str]) -> Path:
        target = export.target(path)
        if self.path and target.resolve() in [Path(f"{self.path}{end}").resolve() for end in FILES]:
            raise StoreError(f"{self._name} holds the results themselves. Export to another file.")
        wanted = None if digest is None else checked_digest(digest)
        studies = [study for study in self.studies() if wanted in (None, study.digest)]
        if wanted and not studies:
            raise StoreError(f"There is no study {wanted!r} in {self._name}: nothing was exported.")
        write(target, [export.line(s, row) for s in studies for row in self.rows(s.digest)])
        return target

    @property
    def _name(self) -> str:
        return "The store in memory" if self.path is None else repr(str(self.path))

    def _read(self, statement: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        return self._do(lambda db: db.execute(statement, tuple(values)).fetchall())

    def _change(self, statement: str, values: Iterable[Any]) -> int:
        """One statement is one transaction; how many rows it changed."""
        if self._on_disk() != self._identity:
            raise StoreError(
                f"{self._name} was moved, deleted or replaced while it was open, so nothing more"
                " was written. Put it back if you can, and open it again."
            )
        return self._do(lambda db: db.execute(statement, tuple(values)).rowcount)

    def _do(self, action: Callable[[sqlite3.Connection], T]) -> T:
        deadline = time.monotonic() + self.wait
        with self._lock:
            while True:
                if self._db is None:
                    raise StoreError(f"{self._name} is closed. Open it again with ResultStore.")
                if self._process != os.getpid():
                    raise StoreError(f"{self._name} was opened by another process. Open it anew.")
                try:
                    return action(self._db)
                except sqlite3.Error as error:
                    if code(error) not in BUSY or time.monotonic() > deadline:
                        raise self._worded(error) from error
                    time.sleep(0.02)  # SQLite does not wait by itself in every case
                finally:
                    _end(self._db)

    def _prepare(self, db: sqlite3.Connection) -> str:
        """Recognise or create; the journal mode in use. A file that is not ours is not touched."""
        for setting in ("foreign_keys = ON", "fullfsync = ON", "trusted_schema = OFF"):
            db.execute(f"PRAGMA {setting}")
        mode = self._journal(db)
        # FULL in WAL; without it EXTRA also makes the end of the rollback journal durable
        db.execute(f"PRAGMA synchronous = {'FULL' if mode == 'wal' else 'EXTRA'}")
        db.execute("BEGIN IMMEDIATE")
        for statement in () if self._is_ours(db) else TABLES:
            db.execute(statement)
        db.execute("DELETE FROM studies WHERE 0")  # fails where the file is read-only; BEGIN not
        db.execute("COMMIT")
        (state,) = db.execute("PRAGMA integrity_check(1)").fetchone()
        if state != "ok":
            raise self._worded(sqlite3.DatabaseError(state))
        return mode

    def _journal(self, db: sqlite3.Connection) -> str:
        """WAL, or a rollback journal on drives without the shared memory that WAL needs."""
        try:
            self._is_ours(db)
            (mode,) = db.execute("PRAGMA journal_mode = WAL").fetchone()
            self._is_ours(db)  # the first to use the log
        except sqlite3.OperationalError as error:
            if code(error) not in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
                raise
            _end(db)
            try:  # who is alone can do without the shared memory
                db.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._is_ours(db)
                (mode,) = db.execute("PRAGMA journal_mode = DELETE").fetchone()
                db.execute("PRAGMA locking_mode = NORMAL")
                self._is_ours(db)  # the first to let go
            except sqlite3.Error:
                raise error from None
        return str(mode)

    def _is_ours(self, db: sqlite3.Connection) -> bool:
        """False for an empty file; what we cannot read is refused."""
        alone = not db.in_transaction
        if alone:  # another process may be creating the file: see all of that or nothing
            db.execute("BEGIN")
        (mark,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if alone:
            _end(db)
        if (mark, version, tables) == (0, 0, 0):
            return False
        if mark != APPLICATION:
            why = "is a database of another program; it was not changed. Choose another file."
            raise StoreError(f"{self._name} {why}")
        if version != SCHEMA:
            newer = version > SCHEMA
            raise StoreError(
                f"{self._name} was written by {'a newer' if newer else 'an older'} version of"
                f" rfm_core (schema {version}, not {SCHEMA}); it was not changed. Export it with"
                f" that version, or {'update rfm-explorer' if newer else 'use another file'}."
            )
        return True

    def _on_disk(self) -> tuple[int, int] | None:
        with suppress(OSError):
            status = os.stat(self.path or "")
            return status.st_dev, status.st_ino
        return None

    def _worded(self, error: sqlite3.Error) -> StoreError:
        return StoreError.of(error, self._name, self.wait)


def _end(db: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        if db.in_transaction:
            db.rollback()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _checksum(row: Iterable[Any]) -> int:
    """SQLite notices damage to its own structure, but not to what is in a row."""
    return zlib.crc32("\0".join(map(str, row)).encode())
