"""The explorer in a real browser: what a visitor does, and what the pictures then hold."""

from __future__ import annotations

import io
import json
import re
import sys
import time
import urllib.parse
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from explorer import PATIENCE, figures, lead, place_of_point, server, wait_trained, working

import rfm_core as rfm

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
QUICK = "n_train=2000&width=64&n_test=4"  # trains in a second
LIGHT = f"{QUICK}&tab=model"  # and without figures, which cost a browser most


def open_page(page: Page, address: str, query: str = QUICK) -> None:
    page.goto(f"{address}/?{query}")
    wait_trained(page)


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_label(label, exact=True).first.click()
    page.get_by_role("menuitem", name=option, exact=True).click()


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def wait_for(page: Page, found: Any, seconds: float = 60.0) -> Any:
    """Until ``found`` gives something; the page goes on meanwhile."""
    end = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < end, "it did not come"
        page.wait_for_timeout(200)
    return result


def curve(figure: dict[str, Any], least: int = 50) -> list[dict[str, list[float]]]:
    return [
        s["columns"]
        for s in figure["sources"]
        if s["glyph"] == "Line" and max((len(v) for v in s["columns"].values()), default=0) >= least
    ]


def query_of(page: Page) -> dict[str, str]:
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page.url).query))


def saved(page: Page, button: str) -> bytes:
    with page.expect_download() as download:
        page.locator("button:not([role=tab]), a").filter(
            has_text=re.compile(rf"^(\w+_?\w*)?{button}$")  # an icon is a word, too
        ).first.click()
    return Path(download.value.path()).read_bytes()


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


def test_every_tab_draws(page: Page, address: str) -> None:
    open_page(page, address, f"{QUICK}&climate_times=20")
    for name, least in (("Forecast times", 1), ("Features", 3), ("Long-time statistics", 2),
                        ("Regression", 3)):  # fmt: skip
        tab(page, name)
        wait_for(page, lambda n=least: len([f for f in figures(page) if f["width"] > 200]) >= n)
        wait_trained(page)
    tab(page, "Model")
    drawing = page.locator("svg[role=img]").first
    drawing.wait_for()
    assert "448" in str(drawing.text_content())  # (3 + 3 + 1) * 64
    tab(page, "Take away")
    page.locator(".rfm-text.code", has_text="rfm.ModelSpec").wait_for()


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


def test_controls_that_do_not_apply_say_why(page: Page, address: str) -> None:
    open_page(page, address, LIGHT)
    assert page.get_by_label("Patch size G").is_disabled()
    page.get_by_text("Only local architectures have patches.").wait_for()
    choose(page, "System", "Lorenz 1996")
    field = page.get_by_label("Patch size G")
    # the last thing that follows a new system is the model's drawing; what comes while somebody
    # types would replace it
    page.locator(".rfm-text", has_text="Each of the 40 patches of 1 component").wait_for()
    wait_for(page, lambda: field.is_enabled() and field.input_value() == "1")
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
    page.get_by_text("Cancelled. What was done until then stays.").wait_for(timeout=5000)
    open_page(page, address, LIGHT)


def test_pause_and_resume(page: Page, address: str) -> None:
    page.goto(f"{address}/?n_train=30000&width=512&n_test=4&seed=21&tab=model")
    page.get_by_role("button", name="Pause", disabled=False).click(timeout=PATIENCE)
    page.get_by_text(re.compile("^Paused")).wait_for()
    resume = page.get_by_role("button", name="Resume")
    page.wait_for_timeout(700)
    assert resume.is_enabled()
    resume.click()
    wait_trained(page)


def test_the_attractor_turns_and_the_forecast_plays(page: Page, address: str) -> None:
    open_page(page, address)

    def columns(figure: int, *glyphs: str) -> list[Any]:
        return [s["columns"] for s in figures(page)[figure]["sources"] if s["glyph"] in glyphs]

    wait_for(page, lambda: len(figures(page)) == 5)  # three components, attractor, error
    solid = columns(3, "Line")
    turn = page.get_by_role("slider", name="Turn (degrees)")
    turn.focus()
    turn.press("ArrowRight")
    turned = wait_for(page, lambda: (now := columns(3, "Line")) != solid and now)
    choose(page, "Attractor", "x-z")
    wait_for(page, lambda: columns(3, "Line") != turned)
    turn.wait_for(state="hidden")

    def marks() -> list[float]:
        """Where vertical lines stand: the end of the forecast, and now."""
        ends = (column.items() for column in columns(0, "Segment"))
        return [x for items in ends for name, xs in items if name.endswith("_x") for x in xs]

    still = marks()
    page.get_by_role("button", name="Play").click()
    places: set[float] = set()
    wait_for(page, lambda: places.update(set(marks()) - set(still)) or len(places) > 2)
    page.get_by_role("button", name="Play").click()
    wait_for(page, lambda: marks() == still)


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


def test_a_story_runs_both_acts(page: Page, address: str) -> None:
    open_page(page, address)
    choose(page, "Story", "Features that are all linear")
    page.locator(".rfm-text.story", has_text="Pinned:").wait_for(timeout=PATIENCE)
    text = page.locator(".rfm-text.story").inner_text()
    assert "linear zone" in text
    assert page.locator("table.rfm-pins").count() == 1


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


def test_own_data(page: Page, address: str, tmp_path: Path) -> None:
    open_page(page, address, LIGHT)
    data = rfm.make_dataset(rfm.DataSpec("L63", n_train=3000, n_test=1))
    table = np.column_stack([np.arange(3001) * 0.01, data.train[0]])
    file = tmp_path / "<img src=x onerror=alert(1)>.csv"
    head = "time,<b>x</b>,y,z"
    np.savetxt(file, table, delimiter=",", header=head, comments="")
    choose(page, "System", "My own data")
    page.locator("input[type=file]").first.set_input_files(file)
    page.locator(".rfm-text", has_text=re.compile("3,?001")).first.wait_for()
    page.get_by_role("button", name="Train").click()
    page.locator(".rfm-text.lead", has_text="time units").wait_for(timeout=PATIENCE)
    assert page.locator("img[src=x]").count() == 0


def test_a_hostile_file_gets_a_sentence_while_others_go_on(
    page: Page, address: str, tmp_path: Path, browser: Browser
) -> None:
    open_page(page, address, LIGHT)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (90000000,), }"
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00v\x00" + header + b"\0" * 20_000_000)
    file = tmp_path / "bomb.npz"
    file.write_bytes(bomb.getvalue())
    choose(page, "System", "My own data")
    page.locator("input[type=file]").first.set_input_files(file)
    other = browser.new_page()
    open_page(other, address, f"{LIGHT}&seed=31")
    other.close()
    page.locator(".rfm-text.error", has_text=re.compile(r"\w")).first.wait_for(timeout=20_000)


def test_everything_can_be_taken_away(page: Page, address: str, tmp_path: Path) -> None:
    open_page(page, address, f"{QUICK}&seed=5&tab=density")
    wait_for(page, lambda: figures(page))
    assert saved(page, "PNG")[:8] == b"\x89PNG\r\n\x1a\n"
    page.get_by_role("tooltip").wait_for()  # it lies over the next button
    assert saved(page, "SVG").startswith(b"<svg")
    assert b"vpt" in saved(page, "CSV")
    arrays = np.load(io.BytesIO(saved(page, "NPZ")))
    tab(page, "Forecast")
    wait_for(page, lambda: len(figures(page)) == 5)
    names = set()
    page.on("download", lambda download: names.add(download.suggested_filename))
    saved(page, "SVG")
    wait_for(page, lambda: len(names) == 5)
    assert {"rfm-forecast-attractor.svg", "rfm-forecast-growth.svg"} < names
    tab(page, "Take away")
    page.locator(".rfm-text.code", has_text="import rfm_core").wait_for()
    choose(page, "Python for", "forecast times")
    wait_for(page, lambda: "np.concatenate" in code(page))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the code").click()
    copied = wait_for(page, lambda: page.evaluate("navigator.clipboard.readText()"))
    assert copied.split() == code(page).split()
    made: dict[str, Any] = {}
    exec(code(page), made)  # the snippet gives the numbers of the picture
    np.testing.assert_array_equal(np.sort(np.ravel(made["vpt"])), np.sort(arrays["vpt"]))
    model = tmp_path / "model.safetensors"
    model.write_bytes(saved(page, "Model"))
    assert rfm.load(model).size == 448


def code(page: Page) -> str:
    return page.locator(".rfm-text.code").first.inner_text()


def test_two_sessions_do_not_disturb_each_other(page: Page, address: str, browser: Browser) -> None:
    open_page(page, address, f"{LIGHT}&seed=8")
    before, link = lead(page), page.url
    other = browser.new_page()
    open_page(other, address, "n_train=2000&n_test=4&seed=9&width=32&tab=model")
    assert "32 random features" in lead(other)
    assert lead(page) == before
    assert page.url == link
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


def test_dark_and_narrow(page: Page, address: str) -> None:
    open_page(page, address)
    page.set_viewport_size({"width": 800, "height": 900})
    page.get_by_label("Toggle theme").click()
    wait_for(page, lambda: [f for f in figures(page) if f["width"] > 300])
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 800
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    dark = [int(v) for v in re.findall(r"\d+", background)[:3]]
    assert max(dark) < 60, json.dumps(background)


def test_the_keyboard_reaches_the_controls(page: Page, address: str) -> None:
    open_page(page, address, LIGHT)
    page.get_by_role("button", name="Train").focus()
    active = """() => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      return element?.innerText ?? "";
    }"""
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(active))
    assert any("Pin this run" in text for text in reached)
