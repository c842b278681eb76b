"""The gallery in a real browser: it opens at once, its pictures come, its cards lead on."""

from __future__ import annotations

import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest
from explorer import PATIENCE, figures

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LOADED = "() => Array.from(document.images).every((i) => i.complete && i.naturalWidth > 0)"


def test_cards_lead_to_working_pages(address: str, page: Page) -> None:
    page.goto(f"{address}/gallery")
    assert page.get_by_role("heading", level=3).count() >= 26
    page.get_by_role("heading", name="Single pictures").scroll_into_view_if_needed()
    page.wait_for_function(LOADED, timeout=PATIENCE)
    page.set_viewport_size({"width": 800, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 800

    page.get_by_role("link", name="Forecast times").click()
    page.locator(".rfm-text", has_text="tests a forecast is valid for").wait_for(timeout=PATIENCE)
    assert any(figure["sources"] for figure in figures(page))
    assert page.get_by_role("tab").count() == 0

    page.goto(f"{address}/gallery")
    page.get_by_role("link", name="Features that are all linear").click()
    page.locator(".rfm-text.story", has_text="What if the random weights").wait_for(
        timeout=PATIENCE
    )
    page.get_by_role("link", name="Gallery").click()
    page.get_by_role("heading", name="Stories").wait_for()


def test_notebooks_are_there_to_read_and_to_keep(address: str, page: Page) -> None:
    page.goto(f"{address}/gallery")
    page.get_by_role("link", name="Read", exact=True).first.click()
    page.locator("math").first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download to run it").first.click()
    assert download.value.suggested_filename == "01-getting-started.ipynb"


def test_what_is_not_there_is_not_there(address: str) -> None:
    for path in ("notebooks/..%2f..%2fpyproject", "notebooks/09-none.ipynb", "pictures/none.svg"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}/gallery/{path}", timeout=10)
    with urllib.request.urlopen(f"{address}/gallery", timeout=10) as answer:
        policies = answer.headers.get_all("Content-Security-Policy")
    assert any("script-src 'none'" in policy for policy in policies)
