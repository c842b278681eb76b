"""Back, Forward and reload: page, controls, tab and run are as they were."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from controls import agree
from explorer import LIGHT, PATIENCE, choose, lead, open_page, query_of, tab, wait_for, wait_trained

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def entries(page: Page) -> int:
    return page.evaluate("history.length")


def shown_tab(page: Page) -> str:
    return page.get_by_role("tab", selected=True).inner_text()


def test_back_and_forward(page: Page, address: str) -> None:
    open_page(page, address, LIGHT)
    first = entries(page)
    assert query_of(page)["system"] == "L63"  # completed in place, without an entry of its own
    tab(page, "Take away")
    wait_for(page, lambda: query_of(page)["tab"] == "take-away")
    width = page.get_by_role("textbox", name="Width D_r, typed")
    width.fill("48")
    width.press("Enter")
    wait_for(page, lambda: query_of(page)["width"] == "48")
    page.get_by_role("button", name="Train").click()
    page.locator(".rfm-text.lead", has_text="48 random features").wait_for(timeout=PATIENCE)
    wait_trained(page)
    assert entries(page) == first + 2  # one for each change; the run belongs to the second

    page.go_back()
    page.locator(".rfm-text.lead", has_text="64 random features").wait_for(timeout=PATIENCE)
    agree(page, "back to the first width")
    assert query_of(page)["width"] == "64"
    assert shown_tab(page) == "Take away"
    page.go_back()
    wait_for(page, lambda: shown_tab(page) == "Model")
    assert query_of(page)["tab"] == "model"
    page.go_forward()
    wait_for(page, lambda: shown_tab(page) == "Take away")
    page.go_forward()
    page.locator(".rfm-text.lead", has_text="48 random features").wait_for(timeout=PATIENCE)
    agree(page, "forward to the second width")
    assert entries(page) == first + 2  # none was added on the way
    page.reload()
    wait_trained(page)
    assert "48 random features" in lead(page)
    assert shown_tab(page) == "Take away"


def test_what_was_not_run_is_not_run_by_going_back(page: Page, address: str) -> None:
    open_page(page, address, LIGHT)
    choose(page, "Architecture", "RFM")
    wait_for(page, lambda: query_of(page).get("architecture") == "RFM")
    choose(page, "System", "Lorenz 1996")
    wait_for(page, lambda: query_of(page)["system"] == "L96")
    page.go_back()
    wait_for(page, lambda: query_of(page).get("architecture") == "RFM")
    agree(page, "back to another architecture")
    assert "Lorenz 1963" in lead(page)
    assert page.get_by_role("button", name="Cancel", disabled=True).count() == 1


def test_one_entry_for_a_slider_that_is_dragged(page: Page, address: str) -> None:
    open_page(page, address, LIGHT)
    first, before = entries(page), query_of(page)["width"]
    slider = page.get_by_role("slider", name="Width D_r", exact=True)
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.3 * box["width"], y)
    page.mouse.down()
    for share in (0.4, 0.5, 0.6, 0.7):
        old = slider.get_attribute("aria-valuetext")
        page.mouse.move(box["x"] + share * box["width"], y)
        wait_for(page, lambda old=old: slider.get_attribute("aria-valuetext") != old)
    page.mouse.up()
    usual = "512"  # which the address does not say
    wait_for(
        page,
        lambda: query_of(page).get("width", usual) == slider.get_attribute("aria-valuetext"),
    )
    agree(page, "a drag")
    assert entries(page) == first + 1
    page.go_back()
    wait_for(page, lambda: query_of(page).get("width") == before)
    agree(page, "back before the drag")


def test_a_reload_finds_the_file_and_nobody_else_does(
    page: Page, address: str, browser: Browser, tmp_path: Path
) -> None:
    open_page(page, address, LIGHT)
    file = tmp_path / "ramp.csv"
    rows = (f"{0.1 * k:.1f},{(7 * k) % 23},{(5 * k) % 19}" for k in range(400))
    file.write_text("t,first,second\n" + "\n".join(rows))
    choose(page, "System", "My own data")
    page.locator("input[type=file]").set_input_files(file)
    page.locator(".rfm-text", has_text="400 rows of 3 columns").wait_for()
    page.get_by_label("second", exact=True).check()
    page.get_by_role("button", name="Train").click()
    page.locator(".rfm-text.lead", has_text="learned ramp").wait_for(timeout=PATIENCE)
    link = page.url
    assert query_of(page)["system"] == "own"

    page.reload()
    page.locator(".rfm-text.lead", has_text="learned ramp").wait_for(timeout=PATIENCE)
    assert page.url == link
    assert page.get_by_label("second", exact=True).is_checked()
    page.go_back()
    page.locator(".rfm-text.lead", has_text="Lorenz 1963").wait_for(timeout=PATIENCE)
    page.go_forward()
    page.locator(".rfm-text.lead", has_text="learned ramp").wait_for(timeout=PATIENCE)

    other = browser.new_page()
    other.goto(link)
    wait_trained(other)
    other.locator(".rfm-text.warning", has_text="a link cannot carry").wait_for()
    assert "Lorenz 1963" in lead(other)
    wait_for(other, lambda: query_of(other)["system"] == "L63")
    other.close()
