"""Every notebook runs from top to bottom, asks nobody for anything, and is kept without results."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FIGURE = "application/vnd.holoviews_exec.v0+json"  # of HoloViews and of Panel
SCRIPT = "application/javascript"
# what a browser would ask for: style sheets of models, scripts and files of the page
FROM_ELSEWHERE = re.compile(r"""("url": ?|<link[^>]+href=|src=|url\(|@import )\W{0,3}https?://""")
LOADED_FROM_ELSEWHERE = re.compile(r"""(js|css|modules|exports)(_urls)? = [\[{][^\]};]*https?://""")

named = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@named
def test_is_kept_without_results(path: Path) -> None:
    stored = json.loads(path.read_text(encoding="utf-8"))
    nbformat.validate(stored)
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    assert stored["metadata"] == {"kernelspec": kernel}
    ids = [cell["id"] for cell in stored["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in stored["cells"]:
        assert re.fullmatch(r"[a-z][a-z0-9-]+", cell["id"])
        assert not cell["metadata"], cell["id"]
        if cell["cell_type"] == "code":
            assert not cell["outputs"], cell["id"]
            assert cell["execution_count"] is None, cell["id"]


@named
def test_links_lead_to_notebooks(path: Path) -> None:
    for target in re.findall(r"\]\(([^)]+\.ipynb)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).is_file(), target


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NotebookClient]:
    """One for all of them: starting one and loading torch and Panel takes longer than most."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as short:
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.setenv("PYTHONWARNINGS", "default")
        paths = [str(ROOT), str(ROOT / "app"), *filter(None, [os.environ.get("PYTHONPATH")])]
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        # not over TCP: kernels that start at the same time may choose the same port; in a folder
        # of its own because names of sockets have a hundred characters at most
        config = Config(KernelManager={"transport": "ipc", "ip": f"{short}/kernel"})
        where = {"metadata": {"path": str(tmp_path_factory.mktemp("notebooks"))}}
        empty = nbformat.v4.new_notebook()
        client = NotebookClient(empty, config=config, timeout=None, resources=where)
        with client.setup_kernel():
            yield client


@named
@pytest.mark.slow
def test_runs_from_top_to_bottom(path: Path, kernel: NotebookClient, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    # nothing is left of the one before but what Python has imported
    begin = nbformat.v4.new_code_cell(f"%reset -f\n%cd -q {tmp_path}")
    kernel.nb = nbformat.v4.new_notebook(cells=[begin, *notebook.cells])
    kernel.reset_execution_trackers()
    for number, cell in enumerate(kernel.nb.cells):
        if cell.cell_type == "code":
            kernel.execute_cell(cell, number)
    shown = [(cell, output) for cell in kernel.nb.cells for output in cell.get("outputs", [])]
    assert not [(cell.id, output.text) for cell, output in shown if output.get("name") == "stderr"]
    # the cell that loads what draws pictures has such outputs, too
    figures = [
        (cell.id, output.data)
        for cell, output in shown
        if FIGURE in output.get("data", {}) and "extension(" not in cell.source
    ]
    assert len(figures) >= 2
    assert not [name for name, data in figures if FROM_ELSEWHERE.search(data["text/html"])]
    scripts = [output.data.get(SCRIPT, "") for _, output in shown if "data" in output]
    assert max(map(len, scripts)) > 1e6, "what draws the pictures was not loaded"
    assert not [script[:200] for script in scripts if LOADED_FROM_ELSEWHERE.search(script)]
