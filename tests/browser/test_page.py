"""The explorer in a real browser: what a visitor sees, and what the pictures then hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from explorer import (
    LIGHT,
    QUICK,
    curve,
    figures,
    lead,
    open_page,
    place_of_point,
    query_of,
    wait_for,
    wait_trained,
)

import rfm_core as rfm

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_first_sight(page: Page, address: str) -> None:
    """Without a click: trained, drawn, and said in a sentence."""
    response = page.goto(address)
    assert response is not None
    assert response.headers["content-security-policy"] == "frame-ancestors 'self'"
    wait_trained(page)
    assert "512 random features" in lead(page)
    assert "Lyapunov times" in lead(page)
    shown = wait_for(page, lambda: [f for f in figures(page) if curve(f)])
    assert len(shown) >= 4  # three components and the growth of the error
    data = rfm.make_dataset(rfm.DataSpec("L63", n_test=20))
    times, values = (c for c in curve(shown[0], 500)[0].values())
    assert times[-1] > 20
    assert abs(values[0] - data.test[0, 0, 0]) < 1e-9
    assert all(f["width"] > 300 for f in shown)


def test_density_holds_the_engines_times_and_a_click_shows_that_forecast(
    page: Page, address: str
) -> None:
    open_page(page, address, f"{QUICK}&seed=4&tab=density")
    [figure] = wait_for(page, lambda: [f for f in figures(page) if f["sources"]])
    columns = next(s["columns"] for s in figure["sources"] if "realization" in s["columns"])
    spec = rfm.DataSpec("L63", n_train=2000, n_test=4, seed=4)
    data = rfm.make_dataset(spec)
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=64), data, seed=4)
    np.testing.assert_allclose(columns["vpt"], rfm.evaluate(model, data).vpt, rtol=1e-12)
    place = place_of_point(page, 2)
    page.mouse.click(*place)
    page.get_by_role("tab", name="Forecast", exact=True, selected=True).wait_for()
    assert wait_for(page, lambda: query_of(page).get("test")) == "2"


def test_realizations_fill_the_density(page: Page, address: str) -> None:
    open_page(page, address, f"{QUICK}&realizations=4&tab=density")

    def all_there() -> bool:
        [figure] = figures(page)
        columns = next(s["columns"] for s in figure["sources"] if "realization" in s["columns"])
        return sorted(set(columns["realization"])) == [0, 1, 2, 3]

    wait_for(page, all_there)


def test_space_time_images(page: Page, address: str) -> None:
    small = "n_train=2000&width=64&n_test=2&rows=5000&p.D=12"
    query = f"system=L96&{small}&architecture=LocalSkip&sides=equal&G=2&I=1"
    open_page(page, address, query)

    def images() -> bool:  # truth, forecast, error
        found = [f for f in figures(page) if any(s["glyph"] == "Image" for s in f["sources"])]
        return len(found) == 3

    wait_for(page, images)


def test_two_sessions_do_not_disturb_each_other(page: Page, address: str, browser: Browser) -> None:
    open_page(page, address, f"{LIGHT}&seed=8")
    before, link = lead(page), page.url
    other = browser.new_page()
    open_page(other, address, "n_train=2000&n_test=4&seed=9&width=32&tab=model")
    assert "32 random features" in lead(other)
    assert lead(page) == before
    assert page.url == link
    other.close()
