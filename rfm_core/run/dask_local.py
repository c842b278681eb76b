"""A dask cluster of this machine, in a process of its own.

Not distributed's LocalCluster inside the driver: that imports the user's main module again in every
worker, cannot stop a running task, and its log settings are those of the whole process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from ..checks import InvalidInput

END_SECONDS = 10.0


class LocalDask:
    """Scheduler and workers on loopback; they end with the driver, even where that is killed."""

    def __init__(self, workers: int) -> None:
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("dask_host.py")), str(workers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        answer = self._read()
        if not answer:
            self.close()
            raise InvalidInput("A local dask cluster could not be started; see the messages above.")
        self.address: str = answer["address"]
        self.credentials: dict[str, str] | None = answer["credentials"]

    def kill_workers(self) -> None:
        """At once, whatever they do; new ones take their places."""
        with suppress(OSError, ValueError):
            self._pipe.write("kill\n")
            self._pipe.flush()
            self._read()

    @property
    def _pipe(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def close(self) -> None:
        with suppress(OSError):
            self._pipe.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
