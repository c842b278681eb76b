"""Every slider of the sidebar, moved as a person moves it, sets the value that it shows."""

from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING, Any

import pytest
from explorer import PATIENCE, wait_trained

from app.controls import CHOICES, LABELS, options, shown
from app.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LINK = "system=L63&architecture=DeepSkip&width=64&depth=2&n_train=2000&beta_auto=false&noise=1e-3"


@pytest.fixture
def touched(browser: Browser) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, has_touch=True)
    yield context.new_page()
    context.close()


def told(page: Page, name: str) -> Any:
    """The value that the address says."""
    settings = Settings()
    settings.read(dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.url).query)))
    return getattr(settings, name)


def handle(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=LABELS[name])


def moved(page: Page, name: str, before: Any, wanted: Any) -> None:
    """The address, and with it the settings, have what the slider stands at."""
    for _ in range(PATIENCE // 100):
        if told(page, name) != before:
            break
        page.wait_for_timeout(100)
    assert told(page, name) == wanted
    assert handle(page, name).get_attribute("aria-valuetext") == shown(name, wanted)


@pytest.mark.parametrize("how", ["mouse", "touch", "keys"])
def test_a_slider_sets_what_it_shows(page: Page, touched: Page, address: str, how: str) -> None:
    visit = touched if how == "touch" else page
    visit.goto(f"{address}/?{LINK}")
    wait_trained(visit)
    visit.get_by_role("button", name="More settings").click()
    for name in CHOICES:
        slider, before = handle(visit, name), told(visit, name)
        offered = options(name, before)
        slider.evaluate('(e) => e.scrollIntoView({block: "center", behavior: "instant"})')
        if how == "keys":
            slider.focus()
            visit.keyboard.press("ArrowRight")
            moved(visit, name, before, offered[offered.index(before) + 1])
            continue
        at = len(offered) // 2
        track = slider.locator("xpath=ancestor::*[contains(@class, 'MuiSlider-root')]")
        bounds = track.bounding_box()
        assert bounds is not None
        x = bounds["x"] + bounds["width"] * at / (len(offered) - 1)
        y = bounds["y"] + bounds["height"] / 2
        if how == "mouse":
            visit.mouse.click(x, y)
        else:
            visit.touchscreen.tap(x, y)
        moved(visit, name, before, offered[at])
