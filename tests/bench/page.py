"""How long a visitor waits: the explorer beside a bare page and a bare fit, in one run.

    python tests/bench/page.py [--repeats 5] [--out assets/page-benchmark.md]

Also what held the server's event loop while it trained, longest first, by name (watched.py).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

from conftest import ARGUMENTS, chromium_path  # noqa: E402
from explorer import PATIENCE, free_port, server, wait_trained  # noqa: E402
from playwright.sync_api import Browser, sync_playwright  # noqa: E402

BARE_PAGE = """
import panel as pn, panel_material_ui as pmui, sys
pn.serve({"/": lambda: pmui.Page(title="bare", main=[pmui.Button(label="Train")])},
         port=int(sys.argv[1]), show=False)
"""
BARE_FIT = """
import time, torch
torch.set_num_threads(1)
import rfm_core as rfm
data = rfm.make_dataset(rfm.DataSpec("L63", n_test=20))
rfm.fit(rfm.ModelSpec("SkipRFM", width=64), data)
for repeat in range(int(__import__("sys").argv[1])):
    began = time.perf_counter()
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=512), data, seed=repeat)
    rfm.evaluate(model, data)
    print(time.perf_counter() - began)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        measured, blocked = measure(browser, options.repeats, Path(folder))
        browser.close()
    text = report(measured, blocked, options.repeats)
    print(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")


def measure(browser: Browser, repeats: int, folder: Path) -> tuple[dict[str, list[float]], Any]:
    fit = subprocess.run(
        [sys.executable, "-c", BARE_FIT, str(repeats)], capture_output=True, text=True, check=True
    )
    found = {"bare fit and test": [float(line) for line in fit.stdout.split()]}
    found["bare page: first sight"] = bare_pages(browser, repeats)
    opened: list[float] = []
    shared: list[float] = []
    trained: list[float] = []
    log, seen = folder / "log", folder / "seen.json"
    watched = (str(ROOT / "tests" / "bench" / "watched.py"), str(seen))
    with server(log=log, program=watched) as address:
        for repeat in range(repeats):
            shared.append(first_picture(browser, address))
            opened.append(first_picture(browser, f"{address}/?seed={100 + repeat}"))
        page = browser.new_page()
        page.goto(address)
        wait_trained(page)
        page.get_by_role("button", name="More settings").click()
        seed = page.get_by_label("Seed", exact=True)
        process = int(log.with_suffix(".pid").read_text())
        for repeat in range(repeats):
            seed.fill(str(500 + repeat))
            seed.press("Enter")
            page.wait_for_timeout(1500)
            if repeat == 0:
                held_since(process, seen)  # what was before does not count
            began = time.perf_counter()
            page.get_by_role("button", name="Train").click()
            page.get_by_role("button", name="Cancel", disabled=False).wait_for(timeout=PATIENCE)
            wait_trained(page)
            trained.append(time.perf_counter() - began)
        held = held_since(process, seen)
        page.close()
    found["page open to first picture (trained before)"] = shared
    found["page open to first trained picture"] = opened
    found["Train to the finished picture"] = trained
    return found, held


def held_since(process: int, seen: Path) -> dict[str, Any]:
    """What the watch saw since it was last asked."""
    seen.unlink(missing_ok=True)
    os.kill(process, signal.SIGUSR1)
    while not seen.exists() or not seen.read_text(encoding="utf-8"):
        time.sleep(0.05)
    return dict(json.loads(seen.read_text(encoding="utf-8")))


def bare_pages(browser: Browser, repeats: int) -> list[float]:
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", BARE_PAGE, str(port)])
    try:
        time.sleep(8)
        return [until_train(browser, f"http://localhost:{port}/") for _ in range(repeats)]
    finally:
        process.kill()


def until_train(browser: Browser, address: str) -> float:
    page = browser.new_page()
    began = time.perf_counter()
    page.goto(address)
    page.get_by_role("button", name="Train").wait_for(timeout=PATIENCE)
    seconds = time.perf_counter() - began
    page.close()
    return seconds


def first_picture(browser: Browser, address: str) -> float:
    page = browser.new_page()
    began = time.perf_counter()
    page.goto(address)
    page.locator(".rfm-text.lead", has_text=re.compile(r"\w")).first.wait_for(timeout=PATIENCE)
    page.locator("canvas").first.wait_for(timeout=PATIENCE)
    seconds = time.perf_counter() - began
    page.close()
    return seconds


def report(measured: dict[str, list[float]], blocked: Any, repeats: int) -> str:
    fit = statistics.median(measured["bare fit and test"])
    bare = statistics.median(measured["bare page: first sight"])
    lines = [
        "# How long a visitor waits\n",
        f"Made by `python tests/bench/page.py --repeats {repeats}` on one machine in one run: L63, "
        "SkipRFM with 512 features, 50,000 pairs, 20 tests, one thread, Chromium with software "
        "rendering. Seconds; compare the ratios, the machine was not idle.\n",
        "| | median | least | most | over the bare page | over the bare fit |",
        "|---|---|---|---|---|---|",
    ]
    for name, values in measured.items():
        middle = statistics.median(values)
        lines.append(
            f"| {name} | {middle:.2f} | {min(values):.2f} | {max(values):.2f} "
            f"| {middle / bare:.1f} | {middle / fit:.1f} |"
        )
    held = sorted(blocked["long"], key=lambda h: h["cpu"], reverse=True)
    over = sum(h["cpu"] > 0.1 for h in held)
    lines.append(
        f"\nWhile it trained the event loop ran {blocked['callbacks']:,} callbacks; {over} used "
        "the processor for more than 100 ms. The longest, with the place most of the time was in "
        "(innermost of ours, innermost of all; waiting means other processes had the core):\n"
    )
    lines.append("| processor | with waiting | ours | innermost |")
    lines.append("|---|---|---|---|")
    for h in held[:8]:
        places = f"{h['ours'] or 'none'} | {h['inner']}"
        lines.append(f"| {h['cpu'] * 1000:.0f} ms | {h['wall'] * 1000:.0f} ms | {places} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
