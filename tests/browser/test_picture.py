"""The demo's picture, opened in a real browser."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_demo_picture_shows_truth_and_forecast(page: Page, tmp_path: Path) -> None:
    picture = tmp_path / "demo.svg"
    command = [sys.executable, "-m", "rfm_core", "demo", "--picture", str(picture)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=240)
    assert done.returncode == 0, done.stderr
    page.goto(picture.as_uri())
    assert page.evaluate("document.documentElement.tagName") == "svg"
    assert page.title()
    for name in ("truth", "forecast"):
        curves = page.locator(f"path.{name}, polyline.{name}").all()
        assert curves, f"no curve of class {name}"
        for curve in curves:
            box = curve.bounding_box()
            assert box is not None
            assert box["width"] > 200
