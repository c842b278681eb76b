"""The control contract: whatever is moved, what is shown is what is said, and what is run.

Generated from the table of controls, so that a new one is covered without a new test. Every control
is moved on every system on which it applies: by mouse, by keys, typed; after each move all inputs
agree with the address, and after each round the worker has received just that.
"""

from __future__ import annotations

import os
import signal
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from controls import agree, another, box, changed, disagreements, settings, trained_as_shown
from explorer import PATIENCE, wait_trained
from rfm_explorer.state.control import Control
from rfm_explorer.state.controls import TABLE
from rfm_explorer.state.settings import Settings
from rfm_explorer.state.stories import BY_KEY

from rfm_core import SYSTEMS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SMALL = {"n_train": "500", "width": "16", "n_test": "1", "climate_times": "20", "rows": "400"}
PLAIN = {"beta_auto": "false", "noise": "1e-3"}
NAIVE = {**PLAIN, "sampler": "gaussian", "solver": "normal"}
POWERS = {**PLAIN, "features": "polynomial", "degree": "2"}
SIDES = {"G": "2", "I": "1", "left": "1", "right": "1", "taper": "0.5", "sides": "separate"}
LOCAL = {**SIDES, "exchange_left": "1", "exchange_right": "1", "depth": "2"}
# together they make every control apply
FIELD = {"p.grid": "64", "p.L": "22"}  # a field that is cheap to make
BASES: dict[str, list[dict[str, str]]] = {
    name: [
        {**PLAIN, "architecture": "DeepSkip", "depth": "2"},
        {**NAIVE, "architecture": "SkipRFM"},
        {**POWERS, "architecture": "SkipRFM"},
    ]
    if not system.homogeneous
    else [
        {**LOCAL, **PLAIN, **small, "architecture": "LocalDeepSkipX"},
        {**LOCAL, **NAIVE, **small, "architecture": "LocalDeepSkip", "sides": "equal"},
        {**SIDES, **POWERS, **small, "architecture": "LocalSkip", "sides": "equal"},
    ]
    for name, system in SYSTEMS.items()
    for small in [{k: v for k, v in FIELD.items() if k[2:] in system.parameters}]
}


def open_page(page: Page, address: str, query: dict[str, str]) -> None:
    page.goto(f"{address}/?{urllib.parse.urlencode({**query, 'tab': 'model'})}")
    wait_trained(page)
    agree(page, "opened by a link")


def moved(page: Page, control: Control, how: str) -> None:
    """By one means, back and forth where that is cheap."""
    told = settings(page)
    name, before = control.name, told.value(control.name)
    place = box(page, name)
    what = f"{name} by {how}"
    if control.steps:
        handle = place.get_by_role("slider")
        if how == "keys":
            handle.focus()
            page.keyboard.press("ArrowRight")
            now = changed(page, name, before, what)
            page.keyboard.press("ArrowLeft")
            changed(page, name, now, what)
        else:
            low = [n for n, step in enumerate(control.steps) if step != before]
            at = low[len(low) // 4]
            bounds = handle.bounding_box()
            assert bounds is not None
            thumb = 16.0  # the track ends half a thumb before the input does
            share = at / (len(control.steps) - 1)
            x = bounds["x"] + thumb / 2 + share * (bounds["width"] - thumb)
            page.mouse.click(x, bounds["y"] + bounds["height"] / 2)
            assert changed(page, name, before, what) == control.steps[at]
    elif control.kind == "flag":
        switch = place.get_by_role("switch")
        if how == "keys":
            switch.focus()
            page.keyboard.press("Space")
        else:
            switch.click()
        now = changed(page, name, before, what)
        switch.click()  # as it was: others depend on it
        changed(page, name, now, what)
    elif control.kind == "choice":
        menu = place.get_by_role("combobox")
        fitting = [v for v in control.choices or () if _fits(told, name, v)]
        if how == "keys":
            menu.focus()
            page.keyboard.press("ArrowDown" if before != [*control.choices][-1] else "ArrowUp")
        else:
            menu.select_option(str(next(v for v in fitting if v != before)))
        changed(page, name, before, what)
        menu.select_option(str(before))
        for _ in range(PATIENCE // 50):
            if settings(page).value(name) == before:
                break
            page.wait_for_timeout(50)
        agree(page, what)
    else:
        field = place.get_by_role("textbox")
        field.focus()
        page.keyboard.press("ArrowUp" if how == "keys" else "ArrowDown")
        refused = place.locator(".problem:not(:empty)")
        for _ in range(PATIENCE // 50):
            if settings(page).value(name) != before or refused.count():
                break
            page.wait_for_timeout(50)
        agree(page, what)
        if settings(page).problems() or refused.count():  # G must divide the dimension, say
            field.fill(control.text(before))
            field.press("Enter")
            for _ in range(PATIENCE // 50):
                if not refused.count():
                    break
                page.wait_for_timeout(50)
            agree(page, what)


def _fits(told: object, name: str, value: object) -> bool:
    trial = told.copy()  # type: ignore[attr-defined]
    setattr(trial, name, value)
    return not trial.problems()


def typed(page: Page, control: Control) -> None:
    """Enter twice in a row, Tab, Escape; then what cannot be used."""
    name, told = control.name, settings(page)
    field = box(page, name).get_by_role("textbox")
    good = another(told, control)
    assert good, f"nothing else fits for {name}"
    value = told.value(name)
    ends = zip((good * 3)[:3], ("Enter", "Enter", "Tab"), strict=True)
    field.click()
    for text, key in ends:
        if control.parse(text) == value:
            continue
        if key == "Tab":  # by which one also comes here: then all of it is selected
            page.keyboard.press("Shift+Tab")
            page.keyboard.press("Tab")
        else:
            page.keyboard.press("Control+a")
        page.keyboard.type(text)
        page.keyboard.press(key)
        value = changed(page, name, value, f"{name} typed, {key}")
        assert value == control.parse(text)
    field.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("77777")
    page.keyboard.press("Escape")
    assert field.input_value() in (control.text(value), control.short(value))
    for bad in ("abc", "", "-1e300"):
        field.fill(bad)
        field.press("Enter")
        problem = box(page, name).locator(".problem")
        page.wait_for_function(
            "([node, text]) => node.textContent.includes(text)",
            arg=[problem.element_handle(), f"“{bad}”" if bad else "Nothing was typed"],
            timeout=PATIENCE,
        )
        assert "it must be" in problem.inner_text()
        agree(page, f"{name} refused")
        assert settings(page).value(name) == value


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_control(page: Page, address: str, system: str) -> None:
    seen: set[str] = set()
    for number, base in enumerate(BASES[system]):
        open_page(page, address, {"system": system, **SMALL, **base})
        told = settings(page)
        off = told.disabled()
        now = [c for c in told.controls() if c.group not in ("", "file") and c.name not in off]
        new = [c for c in now if c.name not in seen and c.name not in ("system", "architecture")]
        for how in ("mouse", "keys"):
            for control in new:
                moved(page, control, how)
        for control in new:
            if control.kind in ("whole", "real"):
                typed(page, control)
        assert settings(page).problems() == {}
        seen |= {c.name for c in now}
        if number == 0 or system == "L63":
            trained_as_shown(page)
    usual = {c.name for c in settings(page).controls() if c.group not in ("", "file")}
    spatial = SYSTEMS[system].homogeneous
    local = {"G", "sides", "I", "left", "right", "exchange_left", "exchange_right", "taper",
             "patches"}  # fmt: skip
    converged = {"accuracy"} if SYSTEMS[system].rhs is None else set()
    assert seen == usual - converged - (set() if spatial else local)


def test_a_late_answer_leaves_a_selection(page: Page, address: str, log: Path) -> None:
    """Who comes back by Tab and types, replaces; even if the last answer came in between."""
    open_page(page, address, {"system": "L63", **SMALL})
    field = box(page, "width").get_by_role("textbox")
    server = int(log.with_suffix(".pid").read_text())
    field.fill("24")
    os.kill(server, signal.SIGSTOP)
    try:
        for key in ("Enter", "Shift+Tab", "Tab"):
            page.keyboard.press(key)
    finally:
        os.kill(server, signal.SIGCONT)
    assert changed(page, "width", 16, "width answered late") == 24
    page.keyboard.type("32")
    page.keyboard.press("Enter")
    assert changed(page, "width", 24, "width typed over it") == 32


def test_systems_and_architectures(page: Page, address: str) -> None:
    """By mouse and keys: each of them, and what then applies."""
    open_page(page, address, {"system": "L63", **SMALL})
    for name in ("architecture", "system"):
        [control] = [c for c in TABLE if c.name == name]
        menu = box(page, name).get_by_role("combobox")
        first, *others = control.choices or ()
        menu.select_option(first)
        agree(page, name)
        for value in others:
            before = settings(page).value(name)
            menu.focus()
            page.keyboard.press("ArrowDown")
            if value == "own":  # which no link can carry
                page.get_by_text("Choose a file").first.wait_for(timeout=PATIENCE)
                return
            assert changed(page, name, before, f"{name} by keys") == value


def test_buttons_set_what_they_say(page: Page, address: str) -> None:
    for system in SYSTEMS:
        open_page(page, address, {"system": system, **SMALL, "beta_auto": "false"})
        published = settings(page).nearest_paper_row() is not None
        for start in ("Furthest", "paper", "Recommended"):
            before = page.url
            button = page.get_by_role("button", name=start)  # whatever stands around that word
            if start == "paper" and not published:
                assert button.count() == 0
                continue
            button.click()
            page.wait_for_function("(url) => location.href !== url", arg=before, timeout=PATIENCE)
            agree(page, start)
            told = settings(page)
            if start == "Furthest":
                assert told.is_recommended(far=True)
            elif start == "Recommended":
                assert told.is_recommended()
            else:
                assert told.is_paper_faithful()


def test_sliders_by_touch(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, has_touch=True)
    page = context.new_page()
    open_page(page, address, {"system": "L63", **SMALL, **BASES["L63"][0]})
    for control in TABLE:
        if control.steps:
            before = settings(page).value(control.name)
            handle = box(page, control.name).get_by_role("slider")
            bounds = handle.bounding_box()
            assert bounds is not None
            x = bounds["x"] + 0.6 * bounds["width"]
            page.touchscreen.tap(x, bounds["y"] + bounds["height"] / 2)
            changed(page, control.name, before, f"{control.name} by touch")
    context.close()


def test_a_link_with_everything(page: Page, address: str) -> None:
    """Every control at once by link, then by a reload of its own address."""
    link = {"system": "L96", "p.F": "8.5", **SMALL, **BASES["L96"][0]}
    open_page(page, address, link)
    told = settings(page)
    for name, text in link.items():
        assert told.value(name) == told.control(name).parse(text)
    page.reload()
    wait_trained(page)
    agree(page, "reloaded")
    assert settings(page).values() == told.values()
    assert not disagreements(page)


def test_back_and_forward(page: Page, address: str) -> None:
    """Settled changes one by one, then all the way back and forth: the page goes along."""
    open_page(page, address, {"system": "L63", **SMALL, **BASES["L63"][0]})
    been = [settings(page).values()]
    for name, text in (("width", "24"), ("depth", "3"), ("dt", "0.02"), ("p.rho", "30")):
        before = settings(page).value(name)
        field = box(page, name).get_by_role("textbox")
        field.fill(text)
        field.press("Enter")
        assert changed(page, name, before, f"{name} typed") == float(text)
        been.append(settings(page).values())
    for way, wanted in (("back", been[-2::-1]), ("forward", been[1:])):
        for values in wanted:
            page.go_back() if way == "back" else page.go_forward()
            for _ in range(PATIENCE // 50):
                if settings(page).values() == values:
                    break
                page.wait_for_timeout(50)
            assert settings(page).values() == values
            agree(page, way)


def test_a_story_sets_what_it_says(page: Page, address: str) -> None:
    story = BY_KEY["linear"]
    page.goto(f"{address}/?story={story.key}")
    told = Settings()
    told.apply(story.settings)  # the second run, once the first is pinned
    for _ in range(PATIENCE // 50):
        page.wait_for_timeout(50)
        if "sampler" in page.url and settings(page).effective() == told.effective():
            break
    assert settings(page).effective() == told.effective()
    agree(page, "the story's second run")
