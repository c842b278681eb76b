"""Runs beside each other in a real browser: pins and stories."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from explorer import PATIENCE, QUICK, choose, open_page, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_pins_overlay_and_differ(page: Page, address: str) -> None:
    open_page(page, address, f"{QUICK}&tab=density")
    page.get_by_role("button", name="Pin this run").click()
    page.locator("table.rfm-pins").wait_for()
    choose(page, "Architecture", "RFM")
    page.get_by_role("button", name="Train").click()
    page.locator("table.rfm-pins", has_text="Architecture").wait_for(timeout=PATIENCE)
    text = page.locator("table.rfm-pins").inner_text()
    assert "SkipRFM" in text
    assert "Seed" not in text


def test_a_story_runs_both_acts(page: Page, address: str) -> None:
    open_page(page, address)
    choose(page, "Story", "Features that are all linear")
    page.get_by_role("button", name="Show the answer").wait_for(timeout=PATIENCE)
    story = page.locator(".rfm-text.story")
    assert "Pinned" not in story.inner_text()  # there is time to vote
    page.get_by_role("button", name="Show the answer").click()
    page.locator(".rfm-text.story", has_text="Pinned, L63").wait_for(timeout=PATIENCE)
    assert "linear zone" in story.inner_text()
    assert page.locator("table.rfm-pins").count() == 1
    choose(page, "System", "Lorenz 1996")
    wait_for(page, lambda: not story.inner_text())  # it is about another system
