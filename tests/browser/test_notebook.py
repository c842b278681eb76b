"""The explorer in a cell of a real JupyterLab, as a reader uses it: offline, while it trains."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
import zipfile
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
PICTURE = """import rfm_explorer
from rfm_explorer.plots.parts import Axes
rfm_explorer.extension()
axes = Axes("a", "x", "y", (0.0, 2.0), (0.0, 2.0))
axes.overlay([axes.curve("line", range(200), range(200))], 200)"""
CELLS = (
    f"from rfm_explorer import Explorer\nexplorer = Explorer({LARGER})\nexplorer",
    'print("meanwhile", explorer.runner.active, explorer.result)',
    "print(explorer.model.spec.architecture, explorer.model.size, len(explorer.result))",
    f'Explorer.view("features", {SMALL})',
    PICTURE,  # asks no CDN either (the fixture ``page`` looks)
)
READY = """async () => {
  const session = window.jupyterapp?.shell?.currentWidget?.sessionContext;
  if (session == null) return false;
  await session.ready;
  return session.session?.kernel?.connectionStatus === "connected";
}"""


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    return tmp_path / "work" / "try.ipynb"


@pytest.fixture
def lab(tmp_path: Path, notebook: Path) -> Iterator[str]:
    """The address of a notebook in a JupyterLab of our own, which only this machine reaches."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    notebook.parent.mkdir()
    nbformat.write(content, notebook)
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


def test_live_in_a_cell(lab: str, notebook: Path, page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 1300})
    page.goto(lab)
    page.wait_for_function(READY, timeout=PATIENCE)
    run(page, 0, 1)
    # the kernel runs the next cell, whether training is over by then or not
    shown(page, 1).get_by_text(re.compile("meanwhile (True|False)")).wait_for(timeout=PATIENCE)
    cell = shown(page, 0)
    lead = cell.locator(".rfm-text.lead", has_text="With 716 random features")
    lead.wait_for(timeout=PATIENCE)
    page.wait_for_function("() => document.fonts.check('24px \"Material Icons\"')")
    assert curves(page) >= 7  # truth and forecast of three components, the error

    cell.get_by_label("Architecture", exact=True).select_option("DeepSkip")
    cell.get_by_role("button", name="Train").click()
    lead.filter(has_text="in each of 2 units").wait_for(timeout=PATIENCE)
    cell.get_by_role("button", name="Cancel", disabled=True).wait_for(timeout=PATIENCE)
    run(page, 2)
    shown(page, 2).get_by_text("DeepSkip 14320 4", exact=True).wait_for(timeout=PATIENCE)

    cell.get_by_role("tab", name="Forecast times").click()  # what comes later comes offline, too
    cell.locator(".rfm-text", has_text="Over 4 tests").wait_for(timeout=PATIENCE)
    for _ in range(2):  # a cell hands over what a page does, as often as it is asked
        with page.expect_download(timeout=PATIENCE) as download:
            cell.get_by_role("button", name="Save this tab").locator("visible=true").click()
        assert download.value.suggested_filename == "rfm-L63-DeepSkip-716x2-seed0-density.zip"
        with zipfile.ZipFile(download.value.path()) as archive:
            assert archive.testzip() is None
            assert {"density.png", "data.csv", "code.py"} < set(archive.namelist())

    run(page, 3)
    single = shown(page, 3)
    single.locator(".rfm-text", has_text="in the good zone").wait_for(timeout=PATIENCE)
    assert single.get_by_role("button", name=re.compile("Train|Pause|Cancel")).count() == 0

    run(page, 4)
    shown(page, 4).locator(".bk-Figure").wait_for(timeout=PATIENCE)

    page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")  # as Ctrl+S does
    sizes = [len(json.dumps(cell.outputs)) for cell in nbformat.read(notebook, 4).cells]
    loads = [size for size in sizes if size > 300_000]
    assert len(loads) <= 2  # the first and the last cell, which load what draws
    assert max(loads) < 3.8e6

    page.reload()  # what was saved is shown: pictures and words, nothing that looks alive
    page.wait_for_function(READY, timeout=PATIENCE)
    for number in (0, 3):
        shown(page, number).get_by_text("run the cell again").first.wait_for(timeout=PATIENCE)
    assert page.get_by_role("button", name="Train").count() == 0
    shown(page, 4).locator(".bk-Figure").wait_for(timeout=PATIENCE)
    run(page, 0)  # the kernel is still there
    cell.get_by_role("button", name="Train").wait_for(timeout=PATIENCE)
    cell.locator(".rfm-text.lead", has_text="With 716 random features").wait_for(timeout=PATIENCE)
    assert cell.get_by_text("run the cell again").count() == 0


def curves(page: Page) -> int:
    """Lines with something to see."""
    sources = [source for figure in figures(page) for source in figure["sources"]]
    long = [s for s in sources if max(map(len, s["columns"].values()), default=0) > 100]
    return sum(s["glyph"] == "Line" for s in long)
