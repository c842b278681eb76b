"""The README's first example does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_first_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(next(block for block in blocks if "rfm.make_dataset" in block), names)
    assert names["model"].size == 3584
    assert names["times"].summary()["mean"] > 24
    assert names["forecast"].shape == (100, 2001, 3)
    assert (tmp_path / "lorenz.safetensors").is_file()
