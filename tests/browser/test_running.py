"""Runs in a real browser: begun, paused, cancelled, queued, left."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from explorer import (
    LIGHT,
    PATIENCE,
    choose,
    open_page,
    server,
    wait_for,
    wait_trained,
    working,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_controls_that_do_not_apply_say_why(page: Page, address: str) -> None:
    open_page(page, address, LIGHT)
    field = page.get_by_role("textbox", name="Patch size G", exact=True)
    assert field.count() == 0
    page.get_by_text(re.compile("[1-9][0-9]* settings do not apply here")).first.click()
    page.get_by_text("Only local architectures have patches.").first.wait_for()
    choose(page, "System", "Lorenz 1996")
    wait_for(page, lambda: field.count() == 1 and field.input_value() == "1")
    field.fill("7")
    field.press("Enter")
    page.get_by_text("G=7 cannot be used").first.wait_for()
    page.get_by_role("button", name="Train").click()
    page.locator(".rfm-text.error", has_text="G=7").wait_for()


def test_cancel_and_train_again(page: Page, address: str) -> None:
    page.goto(f"{address}/?n_train=200000&width=1448&n_test=4&tab=model")
    cancel = page.get_by_role("button", name="Cancel", disabled=False)
    cancel.wait_for(timeout=PATIENCE)
    cancel.click()
    page.get_by_text("Cancelled. What was done until then stays.").wait_for(timeout=PATIENCE)
    open_page(page, address, LIGHT)


def test_pause_and_resume(page: Page, address: str) -> None:
    page.goto(f"{address}/?n_train=30000&width=512&n_test=4&seed=21&tab=model")
    page.get_by_role("button", name="Pause", disabled=False).click(timeout=PATIENCE)
    page.get_by_text(re.compile("^Paused")).wait_for()
    page.get_by_role("button", name="Resume", disabled=False).click()
    wait_trained(page)


def test_a_full_server_shows_the_place_in_the_queue(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    with server("--jobs", "1", log=tmp_path / "log") as alone:
        other = browser.new_page()
        other.goto(f"{alone}/?n_train=200000&width=1024&n_test=2&seed=31&tab=model")
        other.get_by_role("button", name="Cancel", disabled=False).wait_for(timeout=PATIENCE)
        page.goto(f"{alone}/?{LIGHT}&seed=32")
        page.get_by_text("place 1 in the queue").wait_for(timeout=PATIENCE)
        wait_trained(page)  # turns are fair: the long job does not keep it waiting
        assert other.get_by_role("button", name="Cancel", disabled=False).count() == 1
        other.close()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_closed_tab_stops_its_job(page: Page, address: str, browser: Browser, log: Path) -> None:
    wait_for(page, lambda: not working(log))
    other = browser.new_page()
    other.goto(f"{address}/?n_train=1000000&width=1448&n_test=2&seed=77&tab=model")
    other.get_by_role("button", name="Cancel", disabled=False).wait_for(timeout=PATIENCE)
    assert wait_for(page, lambda: working(log))
    other.close()
    wait_for(page, lambda: not working(log))
