"""A class at once: how long each of N visitors waits, and what the server needs for them.

    python tests/bench/crowd.py [--visitors 50] [--within 10] [--out assets/class-benchmark.md]

Visitors speak to a real server as browsers do: they fetch the page, connect, pull the document,
say that they have drawn it, and listen until the sentence with the result is there. They draw
nothing, so one machine can play a whole class; what their own browsers would need is not in it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "browser"))
sys.path.insert(0, str(ROOT / "tests" / "bench"))

from explorer import server  # noqa: E402
from page import held_since  # noqa: E402
from tornado.httpclient import AsyncHTTPClient, HTTPRequest  # noqa: E402
from tornado.websocket import WebSocketClientConnection, websocket_connect  # noqa: E402

TOKEN = re.compile(r'"token":"([^"]+)"')
RESULT = re.compile(r"rfm-text lead[^>]*&gt;[^&]*Lyapunov|rfm-text lead[^<]*>[^<]*Lyapunov")
PATIENCE = 900.0
SCENES = {
    "the same link for all": "",
    "a seed of their own each": "?seed={number}",
}


@dataclass
class Visit:
    page: float  # seconds until the page was there
    document: float  # and its content
    result: float  # and the sentence that says how far the forecast sees


async def visit(address: str, query: str, after: float) -> Visit:
    await asyncio.sleep(after)
    began = time.perf_counter()
    request = HTTPRequest(f"{address}/{query}", request_timeout=PATIENCE, connect_timeout=PATIENCE)
    response = await AsyncHTTPClient().fetch(request)
    token = TOKEN.search(response.body.decode())
    assert token is not None, "the page has no token"
    page = time.perf_counter() - began
    url = f"{address.replace('http', 'ws')}/ws{query}"
    connection = await websocket_connect(
        HTTPRequest(url, request_timeout=PATIENCE, connect_timeout=PATIENCE),
        subprotocols=["bokeh", token[1]],
        max_message_size=10**9,
    )
    try:
        await receive(connection)  # ACK
        await send(connection, "PULL-DOC-REQ", {})
        text = ""
        while '"doc"' not in text:
            text = await receive(connection)
        document = time.perf_counter() - began
        await send(connection, "PATCH-DOC", READY)
        while not RESULT.search(text):
            text = await asyncio.wait_for(receive(connection), PATIENCE)
        return Visit(page, document, time.perf_counter() - began)
    finally:
        connection.close()


READY = {
    "events": [
        {
            "kind": "MessageSent",
            "msg_type": "bokeh_event",
            "msg_data": {"type": "event", "name": "document_ready", "values": {"type": "map"}},
        }
    ]
}


async def send(connection: WebSocketClientConnection, kind: str, content: dict[str, Any]) -> None:
    header = {"msgid": os.urandom(8).hex(), "msgtype": kind}
    for part in (header, {}, content):
        await connection.write_message(json.dumps(part))


async def receive(connection: WebSocketClientConnection) -> str:
    """The content of the next message; its buffers are read and forgotten."""
    header, _, content = [await part(connection) for _ in range(3)]
    for _ in range(2 * int(json.loads(header).get("num_buffers", 0))):
        await part(connection)
    return str(content)


async def part(connection: WebSocketClientConnection) -> str | bytes:
    message = await connection.read_message()
    if message is None:
        raise RuntimeError("the server closed the connection")
    return message


async def crowd(address: str, query: str, visitors: int, within: float) -> list[Visit]:
    AsyncHTTPClient.configure(None, max_clients=visitors + 5, max_body_size=10**9)
    return await asyncio.gather(
        *(
            visit(address, query.format(number=9000 + k), within * k / visitors)
            for k in range(visitors)
        )
    )


def resident(process: int) -> float:
    """Megabytes of the server itself, without its workers."""
    status = Path(f"/proc/{process}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found is not None
    return int(found[1]) / 1024


def processor(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def row(name: str, values: list[float]) -> str:
    ordered = sorted(values)
    middle, late = ordered[len(ordered) // 2], ordered[int(0.95 * (len(ordered) - 1))]
    return f"| {name} | {middle:.1f} | {late:.1f} | {ordered[-1]:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--within", type=float, default=10.0, help="seconds in which they come")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = [
        "# A class at once\n",
        f"Made by `python tests/bench/crowd.py --visitors {options.visitors} --within "
        f"{options.within:g}`: {options.visitors} visitors come within {options.within:g} s to one "
        f"server with {os.cpu_count()} cores, which trains for them as well (L63, SkipRFM with 512 "
        "features, 50,000 pairs, 20 tests). Seconds from a visitor's coming; their browsers' own "
        "work is not in it.\n",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for title, query in SCENES.items():
            log, seen = Path(folder, "log"), Path(folder, "seen.json")
            watched = (str(ROOT / "tests" / "bench" / "watched.py"), str(seen))
            with server(log=log, program=watched) as address:
                process = int(log.with_suffix(".pid").read_text())
                before, used = resident(process), processor(process)
                held_since(process, seen)
                visits = asyncio.run(crowd(address, query, options.visitors, options.within))
                held = [h["cpu"] for h in held_since(process, seen)["long"]]
                grown = (resident(process) - before) / options.visitors
                used = (processor(process) - used) / options.visitors
            lines += [
                f"\n## {title[0].upper()}{title[1:]}\n",
                "| until | median | 19 of 20 | the last |",
                "|---|---|---|---|",
                row("the page", [v.page for v in visits]),
                row("its content", [v.document for v in visits]),
                row("the result", [v.result for v in visits]),
                f"\nThe server used {used:.2f} s of processor and {grown:.1f} MB for each visitor; "
                f"its event loop was held for at most {1000 * max(held, default=0):.0f} ms at a "
                f"time, {sum(h > 0.1 for h in held)} times for more than 100 ms.",
            ]
            print("\n".join(lines), flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
