"""``python -m rfm_explorer`` (or ``rfm-explorer``): the explorer, with safe defaults."""

from __future__ import annotations

import argparse
import os
import secrets
import socket
import sys
from collections.abc import Sequence

# Threads that wait should sleep, not spin; read once, when torch is loaded, and by all workers.
os.environ["OMP_WAIT_POLICY"] = os.environ.get("OMP_WAIT_POLICY", "PASSIVE")

from rfm_core import InvalidInput
from rfm_core.checks import real, whole

from .serve.logs import begin_log

PORTS = range(5006, 5026)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    begin_log()
    try:
        serve(options)
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print()
    return 0


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m rfm_explorer",
        description="Open RFM Explorer in the browser. Only this machine can reach it, unless "
        "--address says otherwise.",
    )
    p.add_argument("--port", type=int, help="default: the first free one from 5006 on")
    p.add_argument("--address", default="127.0.0.1", help="0.0.0.0 for a class (default 127.0.0.1)")
    p.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="HOST[:PORT]",
        help="name under which browsers reach it, for example behind a proxy; repeatable",
    )
    p.add_argument("--no-show", action="store_true", help="do not open a browser")
    p.add_argument("--jobs", type=int, help="jobs that run at the same time (default: cores)")
    p.add_argument("--memory-gb", type=float, help="memory for all jobs (default: 60 %% of all)")
    p.add_argument("--job-minutes", type=float, help="longest job (default 60)")
    p.add_argument("--password", help="ask visitors for this password (any user name)")
    return p


def serve(options: argparse.Namespace) -> None:
    """Blocks until it is interrupted."""
    port = free_port(options.address) if options.port is None else options.port
    whole("port", port, 1, 65535, "5006 is usual.")
    import panel as pn  # after the options are checked: this takes seconds

    from .page.page import TITLE, make_page
    from .queue.shared import configure
    from .results.temporary import sweep
    from .serve.admission import make_pages_one_by_one
    from .serve.gallery import ROUTES
    from .serve.headers import protected
    from .serve.prepare import prepare

    chosen = {
        "running": options.jobs,
        "memory_gb": options.memory_gb,
        "job_minutes": options.job_minutes,
    }
    if options.memory_gb is not None:
        real("memory_gb", options.memory_gb, "It is for all jobs together.", 0.5, 1e6)
    scheduler = configure(**{name: value for name, value in chosen.items() if value is not None})
    sweep()
    scheduler.warm()
    print("Training the first model ...", flush=True)
    prepare()
    make_pages_one_by_one()
    here = "localhost" if options.address in ("127.0.0.1", "0.0.0.0") else options.address
    print(f"{TITLE} is at http://{here}:{port}  (Ctrl-C ends it)", flush=True)
    print(f"For lectures: http://{here}:{port}/gallery", flush=True)
    extra = {"basic_auth": options.password} if options.password else {}
    pn.serve(
        {"/": lambda: make_page(gallery=True)},
        title={"/": TITLE},
        address=options.address,
        port=port,
        websocket_origin=[f"{here}:{port}", f"127.0.0.1:{port}", *options.allow_origin],
        show=not options.no_show,
        extra_patterns=ROUTES,
        transforms=[protected(options.allow_origin)],
        # a link to somebody's session must not be guessable, nor live longer than the server
        sign_sessions=True,
        secret_key=secrets.token_urlsafe(32),
        cookie_secret=secrets.token_urlsafe(32),
        generate_session_ids=True,
        unused_session_lifetime_milliseconds=120_000,  # time to come back after the network was cut
        session_token_expiration=86_400,
        admin=False,
        liveness=True,  # /liveness answers while the server is well
        **extra,
    )


def free_port(address: str) -> int:
    """The first free one from 5006 on."""
    for port in PORTS:
        with socket.socket() as probe:
            try:
                probe.bind((address, port))
            except OSError:
                continue
            return port
    raise InvalidInput(
        f"No port from {PORTS.start} to {PORTS.stop - 1} is free at {address}. Name one by --port."
    )


if __name__ == "__main__":
    sys.exit(main())
