"""Dark and light, wide and narrow, and where the keyboard is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from explorer import LIGHT, QUICK, choose, figures, open_page, query_of, wait_for, wait_trained

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
# what was painted while the page came up: the brightest background of body and bar
WATCH = """
window.seen = [];
const look = () => {
  const walk = (node, found) => {
    for (const element of node.querySelectorAll("body, .header, .main")) found.push(element);
    for (const element of node.querySelectorAll("*"))
      if (element.shadowRoot) walk(element.shadowRoot, found);
    return found;
  };
  for (const element of walk(document, [])) {
    const style = getComputedStyle(element);
    if (style.visibility !== "hidden") window.seen.push(style.backgroundColor);
  }
  window.seen.push(getComputedStyle(document.documentElement).backgroundColor);
  if (window.seen.length < 20000) requestAnimationFrame(look);
};
document.addEventListener("DOMContentLoaded", look);
"""


def rgb(colour: str) -> list[float]:
    return [float(part) for part in re.findall(r"[\d.]+", colour)]


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [part / 255 for part in rgb(colour)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted([light(one), light(other)])
    return (high + 0.05) / (low + 0.05)


def background(page: Page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def is_dark(page: Page) -> bool:
    return max(rgb(background(page))[:3]) < 60


def title_contrast(page: Page) -> float:
    title = page.locator(".title").evaluate("(e) => getComputedStyle(e).color")
    bar = page.locator(".header").evaluate("(e) => getComputedStyle(e).backgroundColor")
    return contrast(title, bar)


@pytest.fixture
def visitor(browser: Browser) -> Any:
    """``visitor(color_scheme="dark")`` is a page of somebody who was never here."""
    contexts = []

    def make(**options: Any) -> Page:
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 800}, **options))
        return contexts[-1].new_page()

    yield make
    for context in contexts:
        context.close()


def test_dark_by_preference_without_a_flash(visitor: Any, address: str) -> None:
    page = visitor(color_scheme="dark")
    page.add_init_script(WATCH)
    open_page(page, address, LIGHT)
    wait_for(page, lambda: is_dark(page))
    assert title_contrast(page) >= 4.5
    painted = {colour for colour in page.evaluate("window.seen") if rgb(colour)[3:] != [0.0]}
    assert painted
    assert not [c for c in painted if min(rgb(c)[:3]) > 200], painted


def test_a_chosen_theme_is_kept(visitor: Any, address: str) -> None:
    page = visitor(color_scheme="dark")
    open_page(page, address, LIGHT)
    page.get_by_label("Toggle theme").click()
    wait_for(page, lambda: not is_dark(page))
    assert title_contrast(page) >= 4.5
    page.reload()
    wait_trained(page)
    assert not is_dark(page)


def test_a_link_says_which_theme(visitor: Any, address: str) -> None:
    page = visitor(color_scheme="light")
    open_page(page, address, f"{LIGHT}&dark=1")
    wait_for(page, lambda: is_dark(page))
    assert query_of(page)["dark"] == "1"
    assert page.locator(".rfm-text.warning", has_text="dark").count() == 0
    page.get_by_label("Toggle theme").click()
    wait_for(page, lambda: query_of(page)["dark"] == "0")
    assert not is_dark(page)


@pytest.mark.parametrize("width", [800, 720, 400])  # 720: 1440 at 200 %
def test_narrow_pages_have_the_picture_first(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    open_page(page, address, QUICK)
    page.get_by_label("Open drawer").wait_for()
    page.get_by_role("combobox", name="Architecture", exact=True).wait_for(state="hidden")
    wait_for(page, lambda: [f for f in figures(page) if f["width"] > 0.75 * width])
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    page.get_by_label("Open drawer").click()
    choose(page, "Architecture", "RFM")
    wait_for(page, lambda: query_of(page).get("architecture") == "RFM")
    page.get_by_label("Close drawer").click()
    page.get_by_role("combobox", name="Architecture", exact=True).wait_for(state="hidden")
    page.get_by_role("button", name="Train").click()
    wait_trained(page)


def test_a_window_that_grows_shows_its_controls(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 800, "height": 900})
    open_page(page, address, LIGHT)
    page.get_by_label("Open drawer").wait_for()
    page.set_viewport_size({"width": 1200, "height": 900})
    page.get_by_role("combobox", name="Architecture", exact=True).wait_for()
    page.set_viewport_size({"width": 800, "height": 900})
    page.get_by_role("combobox", name="Architecture", exact=True).wait_for(state="hidden")


# the element that has the focus, through all shadow roots: what it is, and its outline
FOCUSED = """() => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  if (element == null || element === document.body) return null;
  const ground = (node) => {
    for (; node; node = node.parentElement ?? node.getRootNode().host) {
      const colour = getComputedStyle(node).backgroundColor;
      if (!colour.endsWith(", 0)")) return colour;
    }
    return getComputedStyle(document.documentElement).backgroundColor;
  };
  const style = getComputedStyle(element);
  const inside = parseFloat(style.outlineOffset) < 0;
  return {
    what: `${element.tagName} ${element.getAttribute("aria-label") ?? element.innerText ?? ""}`,
    line: style.outlineStyle, width: parseFloat(style.outlineWidth), colour: style.outlineColor,
    ground: ground(inside ? element : element.parentElement ?? element.getRootNode().host),
  };
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_focus_is_seen_everywhere(visitor: Any, address: str, scheme: str) -> None:
    page = visitor(color_scheme=scheme)
    open_page(page, address, LIGHT)
    page.locator("#loader").wait_for(state="hidden")
    reached, faint = [], []
    for _ in range(80):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUSED)
        if focus is None:
            break  # once around
        reached.append(focus["what"])
        good = focus["line"] != "none" and focus["width"] >= 2
        if not good or contrast(focus["colour"], focus["ground"]) < 3:
            faint.append(focus)
    assert any("Train" in what for what in reached)
    assert any("Pin this run" in what for what in reached)
    assert any("Gallery" in what for what in reached)
    assert not faint
