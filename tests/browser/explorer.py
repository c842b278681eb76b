"""The explorer served by a process of its own, and what tests ask of its page."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300_000  # milliseconds: for a hang, not for a slow machine
QUICK = "n_train=2000&width=64&n_test=4"  # trains in a second
LIGHT = f"{QUICK}&tab=model"  # and without figures, which cost a browser most


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def working(log: Path) -> bool:
    """Do jobs of the server with this log use the processor? Where /proc tells."""
    server = int(log.with_suffix(".pid").read_text())

    def used() -> int:
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = stat.read_text().rpartition(")")[2].split()
                if int(stat.parent.name) != server and _descends(int(stat.parent.name), server):
                    ticks += int(fields[11]) + int(fields[12])
        return ticks

    before = used()
    time.sleep(0.5)
    return used() - before > 5


def _descends(process: int, ancestor: int) -> bool:
    while process > 1:
        if process == ancestor:
            return True
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return False


@contextmanager
def server(
    *options: str, log: Path, program: tuple[str, ...] = ("-m", "rfm_explorer")
) -> Iterator[str]:
    """The address of a fresh server, started as the launcher starts it."""
    port = free_port()
    command = [sys.executable, *program, "--no-show", "--port", str(port), *options]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=out, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
    log.with_suffix(".pid").write_text(str(process.pid))
    address = f"http://localhost:{port}"
    try:
        until = time.monotonic() + 600
        while True:
            try:
                urllib.request.urlopen(f"{address}/liveness", timeout=5).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"the server did not start:\n{log.read_text()}") from None
                time.sleep(0.2)
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def lead(page: Page) -> str:
    """The sentence that says what is seen."""
    return page.locator(".rfm-text.lead").first.inner_text()


def wait_trained(page: Page) -> None:
    """Until the sentence is there and nothing is under way."""
    page.locator(".rfm-text.lead", has_text=re.compile(r"\w")).first.wait_for(timeout=PATIENCE)
    page.get_by_role("button", name="Cancel", disabled=True).wait_for(timeout=PATIENCE)


def figures(page: Page) -> list[dict[str, Any]]:
    """What the figures in sight hold: for each, its renderers' columns."""
    return page.evaluate(
        """() => {
          const found = [];
          const walk = (view) => {
            if (view == null) return;
            if (view.model?.type === "Figure" && view.el.getClientRects().length > 0) {
              const sources = view.model.renderers.map((r) => {
                const data = r.data_source?.data;
                const columns = {};
                const pairs = data instanceof Map ? data : Object.entries(data ?? {});
                for (const [name, values] of pairs)
                  columns[name] = Array.from(values).slice(0, 5000);
                return {glyph: r.glyph?.type, name: r.name, columns};
              });
              const axis = (range) => [range.start, range.end];
              found.push({sources, x: axis(view.model.x_range), y: axis(view.model.y_range),
                          width: view.el.getBoundingClientRect().width});
            }
            for (const child of view.children?.() ?? []) walk(child);
          };
          for (const root of Array.from(Bokeh.index.roots)) walk(root);
          return found;
        }"""
    )


def place_of_point(page: Page, number: int) -> tuple[float, float]:
    """Where on the page a point of the rug is, by the figure's own scales."""
    x, y = page.evaluate(
        """(number) => {
          const walk = (view) => {
            if (view?.model?.type === "Figure" && view.el.getClientRects().length > 0) {
              for (const renderer of view.model.renderers) {
                const data = renderer.data_source?.data;
                const column = (name) => data instanceof Map ? data.get(name) : data?.[name];
                if (column("realization") == null) continue;
                const box = view.el.getBoundingClientRect();
                const x = column(renderer.glyph.x.field)[number];
                const y = column(renderer.glyph.y.field)[number];
                const {x_scale, y_scale} = view.frame;
                return [box.x + x_scale.compute(x), box.y + y_scale.compute(y)];
              }
            }
            for (const child of view?.children?.() ?? []) {
              const found = walk(child);
              if (found != null) return found;
            }
            return null;
          };
          for (const root of Array.from(Bokeh.index.roots)) {
            const found = walk(root);
            if (found != null) return found;
          }
          return null;
        }""",
        number,
    )
    return x, y


def open_page(page: Page, address: str, query: str = QUICK) -> None:
    page.goto(f"{address}/?{query}")
    wait_trained(page)


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label, exact=True).select_option(label=option)


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def wait_for(page: Page, found: Any, seconds: float = 300.0) -> Any:
    """Until ``found`` gives something; the page goes on meanwhile."""
    end = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < end, "it did not come"
        page.wait_for_timeout(200)
    return result


def curve(figure: dict[str, Any], least: int = 50) -> list[dict[str, list[float]]]:
    return [
        s["columns"]
        for s in figure["sources"]
        if s["glyph"] == "Line" and max((len(v) for v in s["columns"].values()), default=0) >= least
    ]


def query_of(page: Page) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.url).query))
