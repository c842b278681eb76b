"""Every recipe of CONTRIBUTING.md, followed word for word on a copy of the repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```python ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MOST_FILES = {"system": 2, "feature": 1, "control": 2, "tab": 3, "metric": 3}


def recipes() -> dict[str, list[tuple[str, str]]]:
    """Headings of the recipes, and the blocks below each."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    parts = re.split(r"^## Add an? ", text, flags=re.MULTILINE)[1:]
    return {part.split("\n", 1)[0]: BLOCK.findall(part) for part in parts}


def test_there_is_a_recipe_for_each() -> None:
    assert set(recipes()) == set(MOST_FILES)


def apply(folder: Path, head: str, body: str) -> str:
    """Make the change that a block asks for; the file it is in."""
    path, _, line = head.partition(" after ")
    file = folder / path
    if not line:
        assert not file.exists()
        file.write_text(body, encoding="utf-8")
        return path
    lines = file.read_text(encoding="utf-8").split("\n")
    assert lines.count(line) == 1, f"{path} should have this line once: {line!r}"
    at = lines.index(line) + 1
    file.write_text("\n".join([*lines[:at], *body.rstrip("\n").split("\n"), *lines[at:]]))
    return path


@pytest.mark.parametrize("name", recipes())
def test_recipe(name: str, tmp_path: Path) -> None:
    for package in ("rfm_core", "app", "notebooks"):  # with what is compiled of them
        shutil.copytree(ROOT / package, tmp_path / package)
    *changes, (last, check) = recipes()[name]
    assert last == "check"
    touched = {apply(tmp_path, head, body) for head, body in changes}
    assert len(touched) <= MOST_FILES[name], touched
    lint = [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml")]
    lint += ["--select", "F,E", *(str(tmp_path / path) for path in touched)]
    done = subprocess.run(lint, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    paths = os.pathsep.join([str(tmp_path), str(tmp_path / "app")])
    done = subprocess.run(
        [sys.executable, "-W", "error::SyntaxWarning", "-c", check],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
