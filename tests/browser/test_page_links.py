"""What a link says is what the page shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from explorer import LIGHT, QUICK, figures, lead, open_page, query_of, wait_for, wait_trained

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_link_reproduces_the_picture(page: Page, address: str) -> None:
    open_page(page, address, f"{QUICK}&seed=7&sampler=gaussian&w=0.2&tab=features")
    before = lead(page)
    link = page.url
    assert query_of(page)["tab"] == "features"
    page.goto("about:blank")
    page.goto(link)
    wait_trained(page)
    assert lead(page) == before
    assert query_of(page)["sampler"] == "gaussian"
    page.get_by_role("tab", name="Features", selected=True).wait_for()


def test_bad_links_are_named_and_replaced(page: Page, address: str) -> None:
    open_page(page, address, f"{LIGHT}&depth=banana&colour=<script>alert(1)</script>&L0=nan")
    text = page.locator(".rfm-text.warning").first.inner_text()
    for word in ("banana", "colour", "nan"):
        assert word in text


def test_teachers_can_hide_and_single_out(page: Page, address: str) -> None:
    open_page(page, address, f"{QUICK}&hide=more,architecture")
    assert not page.get_by_label("Architecture", exact=True).first.is_visible()
    assert page.get_by_label("System", exact=True).first.is_visible()
    assert not page.get_by_role("button", name="More settings").is_visible()
    page.goto(f"{address}/?{QUICK}&view=features")
    wait_trained(page)
    wait_for(page, lambda: len(figures(page)) >= 3)
    assert page.get_by_role("tab").count() == 0
    assert page.get_by_label("System", exact=True).count() == 0


def test_paper_values_in_one_click(page: Page, address: str) -> None:
    open_page(page, address, "width=512&n_test=2&n_train=2000&tab=model")
    page.get_by_role("button", name=re.compile("aper: SkipRFM 512, 10.1")).click()
    wait_for(page, lambda: query_of(page).get("solver") == "normal")
    query = query_of(page)
    assert query["accuracy"] == "paper"
    assert query["sampler"] == "hit-and-run"
    recommended = page.get_by_role("button", name="Recommended: SkipRFM 512")
    recommended.click()
    wait_for(page, lambda: "solver" not in query_of(page))
    assert "accuracy" not in query_of(page)
    wait_for(page, recommended.is_disabled)
    page.get_by_role("button", name="Furthest: SkipRFM 1024").click()
    wait_for(page, lambda: query_of(page).get("width") == "1024")
