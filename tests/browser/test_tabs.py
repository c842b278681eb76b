"""Every tab in a real browser: it draws, its choices act, and it can be saved again and again."""

from __future__ import annotations

import io
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from explorer import PATIENCE, figures, wait_trained

import rfm_core as rfm

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
QUICK = "n_train=2000&width=64&n_test=4&climate_times=20"  # trains in a second
# tab, its key, its pictures, and something among its arrays
TABS = [
    ("Forecast times", "density", {"density"}, "vpt"),
    ("Features", "features", {"zones", "shares", "naive-shares"}, "good"),
    ("Long-time statistics", "statistics", {"marginal", "spectrum"}, "w2"),
    ("Regression", "regression", {"singular", "path", "solvers"}, "beta"),
    ("Stability", "stability", {"exponents", "one-step"}, "tau_f"),
]


def open_page(page: Page, address: str, query: str = QUICK) -> None:
    page.goto(f"{address}/?{query}")
    wait_trained(page)


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def wait_for(page: Page, found: Any, seconds: float = 300.0) -> Any:
    """Until ``found`` gives something; the page goes on meanwhile."""
    end = time.monotonic() + seconds
    while not (result := found()):
        assert time.monotonic() < end, "it did not come"
        page.wait_for_timeout(200)
    return result


def saved(page: Page, button: str) -> tuple[str, bytes]:
    with page.expect_download(timeout=PATIENCE) as download:
        page.get_by_role("button", name=button).locator("visible=true").click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def unzipped(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def code(page: Page) -> str:
    return page.locator(".rfm-text.code").first.inner_text()


def test_every_tab_draws_and_is_saved_twice(page: Page, address: str) -> None:
    """One archive each time, with all that is in sight, named by the run and its seed."""
    open_page(page, address, f"{QUICK}&seed=5")
    for title, key, pictures, array in TABS:
        tab(page, title)
        wide = [len(pictures)]
        wait_for(page, lambda n=wide: [sum(f["width"] > 200 for f in figures(page))] == n)
        wait_trained(page)
        for _ in range(2):
            name, content = saved(page, "Save this tab")
            assert name == f"rfm-L63-SkipRFM-64-seed5-{key}.zip"
            files = unzipped(content)
            expected = {f"{p}.{kind}" for p in pictures for kind in ("png", "svg")}
            assert set(files) == expected | {"data.csv", "data.npz", "code.py", "README.txt"}
            assert all(files[f"{p}.png"].startswith(b"\x89PNG\r\n\x1a\n") for p in pictures)
            assert all(b"<svg" in files[f"{p}.svg"][:200] for p in pictures)
            assert array in np.load(io.BytesIO(files["data.npz"])).files
            readme = files["README.txt"].decode()
            assert f"tab={key}" in readme
            assert "seed=5" in readme
            compile(files["code.py"], "code.py", "exec")
    tab(page, "Model")
    drawing = page.locator("svg[role=img]").first
    drawing.wait_for()
    assert "448" in str(drawing.text_content())  # (3 + 3 + 1) * 64
    for _ in range(2):
        name, content = saved(page, "Save this tab")
        assert name.endswith("seed5-model.zip")
        assert set(unzipped(content)) == {"model.svg", "code.py", "README.txt"}


def test_a_second_run_is_saved_as_itself(page: Page, address: str) -> None:
    open_page(page, address, f"{QUICK}&seed=6&tab=density")
    wait_for(page, lambda: figures(page))
    first = saved(page, "Save this tab")
    width = page.get_by_label("Width D_r, typed", exact=True)
    width.fill("32")
    width.press("Enter")
    page.get_by_role("button", name="Train").click()
    page.locator(".rfm-text.lead", has_text="With 32 random").wait_for(timeout=PATIENCE)
    wait_trained(page)
    for _ in range(2):
        second = saved(page, "Save this tab")
        assert (first[0], second[0]) == (
            "rfm-L63-SkipRFM-64-seed6-density.zip",
            "rfm-L63-SkipRFM-32-seed6-density.zip",
        )
        times = [np.load(io.BytesIO(unzipped(c)["data.npz"]))["vpt"] for _, c in (first, second)]
        assert not np.array_equal(*times)
    names: dict[str, Any] = {}
    exec(unzipped(second[1])["code.py"].decode(), names)  # the code gives the numbers saved
    np.testing.assert_array_equal(np.sort(names["vpt"]), np.sort(times[1]))


def test_model_and_code_are_saved_twice(page: Page, address: str, tmp_path: Path) -> None:
    open_page(page, address, f"{QUICK}&seed=5&tab=take-away")
    page.locator(".rfm-text.code", has_text="import rfm_core").wait_for()
    page.get_by_label("Python for", exact=True).select_option("Forecast times")
    wait_for(page, lambda: "np.concatenate" in code(page))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the code").click()
    copied = wait_for(page, lambda: page.evaluate("navigator.clipboard.readText()"))
    assert copied.split() == code(page).split()
    for _ in range(2):
        name, content = saved(page, "Save the code")
        assert name == "rfm-L63-SkipRFM-64-seed5-density.py"
        assert content.decode().split() == copied.split()
        name, content = saved(page, "Save the model")
        assert name == "rfm-L63-SkipRFM-64-seed5.safetensors"
        (tmp_path / name).write_bytes(content)
        assert rfm.load(tmp_path / name).size == 448


def test_the_attractor_turns_and_the_forecast_plays(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    open_page(page, address)

    def columns(figure: int, *glyphs: str) -> list[Any]:
        return [s["columns"] for s in figures(page)[figure]["sources"] if s["glyph"] in glyphs]

    wait_for(page, lambda: len(figures(page)) == 5)  # three components, attractor, error
    play = page.get_by_role("button", name="Play")
    for part in (play, *page.locator(".rfm-picture canvas").all()[:4]):  # all in one sight
        box = part.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 900
    solid = columns(3, "Line")
    turn = page.get_by_role("slider", name="Turn (degrees)")
    turn.focus()
    turn.press("ArrowRight")
    turned = wait_for(page, lambda: (now := columns(3, "Line")) != solid and now)
    page.get_by_label("Attractor", exact=True).select_option("x-z")
    wait_for(page, lambda: columns(3, "Line") != turned)
    turn.wait_for(state="hidden")

    def marks() -> list[float]:
        """Where vertical lines stand: the end of the forecast, and now."""
        ends = (column.items() for column in columns(0, "Segment"))
        return [x for items in ends for name, xs in items if name.endswith("_x") for x in xs]

    still = marks()
    play.click()
    places: set[float] = set()
    wait_for(page, lambda: places.update(set(marks()) - set(still)) or len(places) > 2)
    play.click()
    wait_for(page, lambda: marks() == still)
    name, content = saved(page, "Save this tab")
    assert name.endswith("-forecast.zip")
    pictures = {"attractor", "growth", *(f"component-{k}" for k in range(3))}
    assert {f"{p}.png" for p in pictures} < set(unzipped(content))
