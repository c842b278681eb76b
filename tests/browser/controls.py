"""What the control contract reads off a page: every input, the address, the code, the model."""

from __future__ import annotations

import re
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer import PATIENCE, wait_trained
from rfm_explorer.page.address import PAGE_KEYS
from rfm_explorer.state.control import Control
from rfm_explorer.state.settings import Settings

import rfm_core as rfm

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

READ = """() => {
  const found = {};
  const walk = (node) => {
    for (const box of node.querySelectorAll("[data-field]")) {
      const input = box.querySelector("input[type=text], select, input[type=checkbox]");
      const range = box.querySelector("input[type=range]");
      found[box.dataset.field] = {
        text: input.type === "checkbox" ? String(input.checked) : input.value,
        range: range == null ? null : range.getAttribute("aria-valuetext"),
        off: box.hidden,
        problem: box.querySelector(".problem").textContent,
      };
    }
    for (const element of node.querySelectorAll("*")) if (element.shadowRoot) walk(element.shadowRoot);
  };
  walk(document);
  return found;
}"""  # noqa: E501


def query(page: Page) -> dict[str, str]:
    """What the address says, without what only the page itself needs."""
    pairs = urllib.parse.parse_qsl(urllib.parse.urlsplit(page.url).query)
    return {name: value for name, value in pairs if name not in PAGE_KEYS}


def settings(page: Page) -> Settings:
    """As the address says word for word, also where values do not fit together yet."""
    found, told = Settings(), query(page)
    found.choose_system(told["system"])
    for name, text in told.items():
        assert found.edit(name, text) == "", page.url
    return found


def disagreements(page: Page) -> list[str]:
    """Inputs that show something else than the address says; all of the sidebar, at once."""
    told, seen = settings(page), page.evaluate(READ)
    off, wrong = told.disabled(), []
    for control in told.controls():
        name = control.name
        if control.group in ("", "file") or name not in seen:
            continue
        shown, value = seen[name], told.value(name)
        if shown["off"] != (name in off):
            wrong.append(f"{name} is {'hidden' if shown['off'] else 'there'}")
        elif name not in off and shown["text"] not in (control.text(value), control.short(value)):
            wrong.append(f"{name} shows {shown['text']}, the address says {control.text(value)}")
        elif name not in off and shown["range"] not in (None, control.short(value)):
            wrong.append(f"{name}'s slider says {shown['range']}, the address {value}")
    return wrong


def agree(page: Page, what: str) -> None:
    """Everything that is shown is what the address says, once the page has settled."""
    wrong: list[str] = []
    for _ in range(PATIENCE // 50):
        wrong = disagreements(page)
        if not wrong:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{what}: {wrong}")


def changed(page: Page, name: str, before: Any, what: str) -> Any:
    """The address has another value for it than before, and the page agrees with the address."""
    for _ in range(PATIENCE // 50):
        value = settings(page).value(name)
        if value != before:
            agree(page, what)
            return value
        page.wait_for_timeout(50)
    raise AssertionError(f"{what}: the address still says {before!r}; {page.evaluate(READ)[name]}")


def box(page: Page, name: str) -> Locator:
    """Where a control stands."""
    found = page.locator(f'[data-field="{name}"]')
    found.evaluate(
        """(box) => { const fold = box.closest("details"); if (fold) fold.open = true;
           box.scrollIntoView({block: "center", behavior: "instant"}); }"""
    )
    return found


def trained_as_shown(page: Page) -> None:
    """Train, and compare what the worker was given with the address and with the code shown.

    The saved model carries the specs that the worker received.
    """
    page.get_by_role("button", name="Train", exact=True).click()
    page.get_by_role("button", name="Cancel", disabled=False).wait_for(timeout=PATIENCE)
    wait_trained(page)
    trouble = page.locator(".rfm-text.error", has_text=re.compile(r"\w"))
    assert trouble.all_inner_texts() == []
    told = settings(page)
    page.get_by_role("tab", name="Take away").click()
    page.locator(".rfm-text.code", has_text="rfm.ModelSpec").wait_for(timeout=PATIENCE)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the model").click()
    model = rfm.load(Path(download.value.path()))
    assert model.spec == told.model_spec()
    assert rfm.DataSpec.from_dict(model.origin["data"]) == told.data_spec()
    assert model.origin["seed"] == told.seed
    names: dict[str, Any] = {}
    lines = page.locator(".rfm-text.code").inner_text()
    exec(lines.split("data = rfm.make_dataset", 1)[0], names)  # the specs, without training
    if "model_spec" not in names:
        start = lines.index("model_spec = ")
        exec(lines[start : lines.index("model = rfm.fit")], names)
    assert names["data_spec"] == told.data_spec()
    assert names["model_spec"] == told.model_spec()
    page.get_by_role("tab", name="Model", exact=True).click()


def another(told: Settings, control: Control) -> list[str]:
    """Texts of other values that fit everything else, near the present one and cheap to run."""
    value, found = told.value(control.name), []
    candidates: list[Any]
    if control.steps:
        low = control.steps[: max(3, len(control.steps) // 2)]
        candidates = [*low, *control.steps]
    elif control.kind == "whole":
        candidates = [value + 1, value * 2, value - 1, value // 2, value + 2, value + 3]
    else:
        # near, because systems leave every bound for parameters far from their own
        candidates = [value * 1.1, value * 0.9, value * 1.05, value + 0.25, value + 0.5]
        candidates = [float(f"{v:.6g}") for v in candidates]
    for candidate in candidates:
        trial, text = told.copy(), control.text(candidate)
        if candidate != value and trial.edit(control.name, text) == "" and not trial.problems():
            found.append(text)
    return found
