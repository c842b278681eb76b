"""Every notebook runs from top to bottom in a kernel of its own, and is kept without results."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SECONDS = 120  # that a cell may take, and half of what a notebook may; most take 20 to 40 in all
FIGURE = "application/vnd.holoviews_exec.v0+json"  # of HoloViews and of Panel

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


@named
@pytest.mark.slow
@pytest.mark.timeout(2 * SECONDS)
def test_runs_from_top_to_bottom(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as short:  # names of sockets have a hundred characters
        # not over TCP: kernels that start at the same time may choose the same port
        kernel = Config(KernelManager={"transport": "ipc", "ip": f"{short}/kernel"})
        where = {"metadata": {"path": str(tmp_path)}}
        NotebookClient(notebook, config=kernel, timeout=SECONDS, resources=where).execute()
    shown = [(cell, output) for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [(cell.id, output.text) for cell, output in shown if output.get("name") == "stderr"]
    # the cell that loads what draws pictures has such outputs, too
    figures = [
        cell.id
        for cell, output in shown
        if FIGURE in output.get("data", {}) and "extension(" not in cell.source
    ]
    assert len(figures) >= 2
