"""Chromium for the tests in this folder, and a page that tolerates no error and no stranger."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from explorer import server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NO_BROWSER = "NO BROWSER: "
LOCAL_HOSTS = {"", "localhost", "127.0.0.1", "[::1]", "::1"}
# a browser under test talks to nobody but the page it is given, and draws without emulating a
# graphics card
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-gpu-rasterization",
    "--disable-accelerated-2d-canvas",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
]


def chromium_path() -> str:
    """RFM_CHROMIUM, what the set-up found (.venv/chromium-path), or what PATH has."""
    if given := os.environ.get("RFM_CHROMIUM"):
        return given
    noted = Path(sys.prefix, "chromium-path")
    if noted.exists() and (path := noted.read_text(encoding="utf-8").strip()):
        return path
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), "")


def is_external(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname not in LOCAL_HOSTS


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium_path()
    if not path:
        pytest.skip(NO_BROWSER + "neither Chromium nor Chrome is here (make test looks for one)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip(NO_BROWSER + "the Python package playwright is not installed")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server of ``address`` writes."""
    return tmp_path_factory.mktemp("server") / "log"


@pytest.fixture(scope="session")
def address(log: Path) -> Iterator[str]:
    """Of one server for all tests that do not need one of their own."""
    with server(log=log) as found:
        yield found
    text = log.read_text(encoding="utf-8")
    assert "Traceback" not in text, text


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own; an error in its console or a request that fails or leaves fails the test.

    Requests to other hosts are stopped as well as counted.
    """
    problems: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.route(is_external, lambda route: route.abort())
    page = context.new_page()

    def on_console(message) -> None:
        if message.type == "error":
            problems.append(f"console error: {message.text}")

    def on_request(request) -> None:
        if is_external(request.url):
            problems.append(f"external request: {request.url}")

    def on_response(response) -> None:
        if response.status >= 400:
            problems.append(f"status {response.status}: {response.url}")

    def on_failure(request) -> None:
        if request.failure != "net::ERR_ABORTED":  # what the page is left with is not its fault
            problems.append(f"failed request: {request.url}")

    def on_web_socket(socket) -> None:
        if is_external(socket.url):
            problems.append(f"external web socket: {socket.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: problems.append(f"uncaught error: {error}"))
    page.on("request", on_request)
    page.on("requestfailed", on_failure)
    page.on("response", on_response)
    page.on("websocket", on_web_socket)
    yield page
    context.close()
    if problems:
        pytest.fail("the page was not clean:\n  " + "\n  ".join(problems), pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    missed = [report for report in skipped if NO_BROWSER in str(report.longrepr)]
    if missed:
        terminalreporter.section("BROWSER TESTS SKIPPED", sep="!", red=True, bold=True)
        terminalreporter.line(
            f"{len(missed)} browser test(s) did not run: no Chromium or Chrome could be used. "
            "Install one or set RFM_CHROMIUM to its path, then run `make test` again.",
            red=True,
        )
