"""The main program of a local dask cluster's process; see ``dask_local`` for its driver.

Run as a file and without imports of ours: this process needs neither torch nor the engine, only its
workers do.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

KILL_SECONDS = 2.0  # for killed workers to be gone
GRACE_SECONDS = 0.3  # for idle workers to end by themselves
END_SECONDS = 5.0  # for the whole cluster
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def main() -> None:
    """Says where the cluster is, kills workers on request, ends with its input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides; inherited by all workers
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what jobs print must not fill a pipe that nobody reads

    dask, distributed = importlib.import_module("dask"), importlib.import_module("distributed")
    settings: dict[str, Any] = {
        "distributed.scheduler.allowed-failures": 1,  # a task may have met a bad worker once
        "distributed.worker.memory.terminate": False,  # our limit is the machine, not its share
        "distributed.worker.memory.pause": False,
        "distributed.scheduler.http.routes": [],  # no web pages
        "distributed.worker.http.routes": [],
    }
    if sys.platform == "linux":
        settings["distributed.worker.multiprocessing-method"] = "forkserver"
    dask.config.set(settings)
    if sys.platform == "linux":
        # killed workers come back warm; after its first call, which sets a list of its own
        context = distributed.utils.get_mp_context()
        context.set_forkserver_preload(["distributed", "rfm_core.study.jobs"])
    security, credentials = _credentials(distributed)
    cluster = distributed.LocalCluster(
        n_workers=int(sys.argv[1]),
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",  # None would open port 8787, to everyone
        scheduler_kwargs={"dashboard": False},
        silence_logs=logging.CRITICAL,
        security=security,
        memory_limit=0,
    )
    answer = {"address": cluster.scheduler_address, "credentials": credentials}
    print(json.dumps(answer), file=replies, flush=True)
    for _ in sys.stdin:
        _kill_workers(cluster)
        print("{}", file=replies, flush=True)
    replies.close()
    # an orderly end leaves nothing behind, but workers may compute and it must not take long
    for seconds, then in ((GRACE_SECONDS, lambda: _kill_workers(cluster)), (END_SECONDS, _exit)):
        timer = threading.Timer(seconds, then)
        timer.daemon = True
        timer.start()
    cluster.close()


def _exit() -> None:
    os._exit(0)


def _kill_workers(cluster: Any) -> None:
    """And wait until they are gone; nannies start new ones."""
    running = [nanny.pid for nanny in list(cluster.workers.values()) if nanny.pid]
    for worker in running:
        with suppress(ProcessLookupError):
            os.kill(worker, KILL)
    _wait(lambda: not any(map(_exists, running)))


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return sys.platform != "win32"  # where the question itself is a signal that ends a process


def _wait(over: Callable[[], bool]) -> None:
    until = time.monotonic() + KILL_SECONDS
    while not over() and time.monotonic() < until:
        time.sleep(0.01)


def _credentials(distributed: Any) -> tuple[Any, dict[str, str] | None]:
    """A port on loopback is open to every user of the machine, and dask runs what it is sent.

    So TLS with certificates that exist in memory only, where the package to make them is there.
    """
    try:
        security = distributed.Security.temporary()
    except ImportError:
        return None, None
    role = security.get_tls_config_for_role("client")
    return security, {
        "tls_ca_file": role["ca_file"],
        "tls_client_cert": role["cert"],
        "tls_client_key": role["key"],
    }


if __name__ == "__main__":
    main()
