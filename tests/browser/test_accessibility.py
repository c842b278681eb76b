"""axe finds nothing critical or serious, in light and dark, on every tab and in the gallery."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import axe_playwright_python
import pytest
from explorer import QUICK, choose, open_page, wait_trained

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"


def findings(page: Page) -> list[str]:
    """What stands in somebody's way, and where."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{kind['impact']} {kind['id']}: {node['html'][:200]}"
        for kind in found["violations"]
        if kind["impact"] in ("critical", "serious")
        for node in kind["nodes"]
    ]


@pytest.fixture(params=["light", "dark"])
def visit(browser: Browser, request: pytest.FixtureRequest) -> Page:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, color_scheme=request.param, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


def test_every_tab(visit: Page, address: str) -> None:
    open_page(visit, address, f"{QUICK}&climate_times=20")
    visit.locator("#loader").wait_for(state="hidden")
    found = {}
    names = [tab.inner_text() for tab in visit.get_by_role("tab").all()]
    assert len(names) >= 7
    for name in names:
        visit.get_by_role("tab", name=name, exact=True).click()
        visit.get_by_role("tab", name=name, exact=True, selected=True).wait_for()
        wait_trained(visit)
        found[name] = findings(visit)
    assert not any(found.values()), found


def test_open_groups_pins_and_own_data(visit: Page, address: str) -> None:
    open_page(visit, address, f"{QUICK}&tab=density")
    visit.locator("#loader").wait_for(state="hidden")
    visit.get_by_role("button", name="Pin this run").click()
    visit.locator("table.rfm-pins").wait_for()
    for group in visit.locator("summary").all():
        if group.is_visible():
            group.click()
    for help in visit.get_by_role("button", name="About").all()[:5]:
        help.click()
    assert not findings(visit)
    choose(visit, "System", "My own data")
    visit.locator("input[type=file]").wait_for()
    assert not findings(visit)


def test_an_open_drawer_on_a_narrow_screen(visit: Page, address: str) -> None:
    visit.set_viewport_size({"width": 400, "height": 800})
    open_page(visit, address, f"{QUICK}&tab=model")
    visit.locator("#loader").wait_for(state="hidden")
    assert not findings(visit)
    visit.get_by_label("Open drawer").click()
    visit.get_by_role("combobox", name="System", exact=True).wait_for()
    assert not findings(visit)


def test_the_gallery(visit: Page, address: str) -> None:
    visit.goto(f"{address}/gallery")
    assert not findings(visit)
    visit.get_by_role("link", name="Read", exact=True).first.click()
    visit.locator("math").first.wait_for()
    assert not findings(visit)
