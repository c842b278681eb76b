"""The explorer in a cell of a real JupyterLab, as a reader uses it: offline, while it trains."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from explorer import PATIENCE, ROOT, figures, free_port

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("jupyterlab")

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SMALL = 'system="L63", width=64, n_train=2000, n_test=4'
# so that training outlasts the drawing of the cell
LARGER = 'system="L63", width=716, n_test=4, refine=0'
CELLS = (
    f"from app import Explorer\nexplorer = Explorer({LARGER})\nexplorer",
    'print("meanwhile", explorer.runner.active, explorer.result)',
    "print(explorer.model.spec.architecture, explorer.model.size, len(explorer.result))",
    f'Explorer.view("features", {SMALL})',
)
READY = """async () => {
  const session = window.jupyterapp?.shell?.currentWidget?.sessionContext;
  if (session == null) return false;
  await session.ready;
  return session.session?.kernel?.connectionStatus === "connected";
}"""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a notebook in a JupyterLab of our own, which only this machine reaches."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    (tmp_path / "work").mkdir()
    nbformat.write(notebook, tmp_path / "work" / "try.ipynb")
    homes = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    homes += ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR")
    news = tmp_path / homes[4] / "@jupyterlab" / "apputils-extension"
    news.mkdir(parents=True)
    quiet = json.dumps({"fetchNews": "false", "checkForUpdates": False})
    (news / "notification.jupyterlab-settings").write_text(quiet)
    own = {home: str(tmp_path / home) for home in homes}
    port = free_port()
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.open_browser": False,
        "ServerApp.allow_root": True,
        "ServerApp.root_dir": tmp_path / "work",
        "IdentityProvider.token": "",
        "LabApp.expose_app_in_browser": True,
    }
    command = [sys.executable, "-m", "jupyterlab", *(f"--{k}={v}" for k, v in options.items())]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    more = {**own, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
    log = tmp_path / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **more})
    try:
        until = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://localhost:{port}/api", timeout=5).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}") from None
                time.sleep(0.2)
        yield f"http://localhost:{port}/doc/tree/try.ipynb"
    finally:
        process.terminate()  # its kernels end with it
        process.wait(30)


def run(page: Page, *numbers: int) -> None:
    """As Shift+Enter does, one after the other, without waiting for what they give."""
    for number in numbers:
        cell = page.locator(".jp-CodeCell").nth(number)
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")


def shown(page: Page, number: int) -> Locator:
    return page.locator(".jp-CodeCell").nth(number).locator(".jp-OutputArea")


def test_live_in_a_cell(lab: str, page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 1300})
    page.goto(lab)
    page.wait_for_function(READY, timeout=PATIENCE)
    run(page, 0, 1)
    shown(page, 1).get_by_text("meanwhile True None").wait_for(timeout=PATIENCE)
    cell = shown(page, 0)
    lead = cell.locator(".rfm-text.lead", has_text="With 716 random features")
    lead.wait_for(timeout=PATIENCE)
    page.wait_for_function("() => document.fonts.check('24px \"Material Icons\"')")
    assert curves(page) >= 7  # truth and forecast of three components, the error

    cell.get_by_label("Architecture", exact=True).click()
    page.get_by_role("menuitem", name="DeepSkip", exact=True).click()
    cell.get_by_role("button", name="Train").click()
    lead.filter(has_text="in each of 2 units").wait_for(timeout=PATIENCE)
    cell.get_by_role("button", name="Cancel", disabled=True).wait_for(timeout=PATIENCE)
    run(page, 2)
    shown(page, 2).get_by_text("DeepSkip 14320 4", exact=True).wait_for(timeout=PATIENCE)

    cell.get_by_role("tab", name="Forecast times").click()  # what comes later comes offline, too
    cell.locator(".rfm-text", has_text="Over 4 tests").wait_for(timeout=PATIENCE)

    run(page, 3)
    single = shown(page, 3)
    single.locator(".rfm-text", has_text="in the good zone").wait_for(timeout=PATIENCE)
    assert single.get_by_role("button", name=re.compile("Train|Pause|Cancel")).count() == 0


def curves(page: Page) -> int:
    """Lines with something to see."""
    sources = [source for figure in figures(page) for source in figure["sources"]]
    long = [s for s in sources if max(map(len, s["columns"].values()), default=0) > 100]
    return sum(s["glyph"] == "Line" for s in long)
