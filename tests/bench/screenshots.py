"""The README's pictures of the explorer, taken from the real page.

python tests/bench/screenshots.py [folder]      writes into assets/ unless told otherwise
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

from conftest import ARGUMENTS, chromium_path  # noqa: E402
from explorer import PATIENCE, server, wait_trained  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402

L96 = "system=L96&n_test=10"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "assets"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as logs, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
        with server(log=Path(logs) / "log") as address:
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            first_sight(page, address, folder)
            compared(page, address, folder)
            page.set_viewport_size({"width": 1440, "height": 1000})
            images(page, address, folder)
        browser.close()


def first_sight(page: Page, address: str, folder: Path) -> None:
    page.goto(address)
    wait_trained(page)
    page.wait_for_timeout(2000)
    page.screenshot(path=folder / "explorer.png")


def compared(page: Page, address: str, folder: Path) -> None:
    """A naive sampler pinned, hit-and-run beside it."""
    page.goto(f"{address}/?sampler=gaussian&n_train=20000&tab=density")
    wait_trained(page)
    page.get_by_role("button", name="Pin this run").click()
    page.locator("table.rfm-pins").wait_for()
    page.get_by_role("button", name="More settings").click()
    page.get_by_label("Internal weights", exact=True).click()
    page.get_by_role("menuitem", name="hit-and-run, inside the data").click()
    page.get_by_role("button", name="Train").click()
    page.locator("table.rfm-pins", has_text="Internal weights").wait_for(timeout=PATIENCE)
    wait_trained(page)
    page.wait_for_timeout(2000)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.screenshot(path=folder / "explorer-density.png")


def images(page: Page, address: str, folder: Path) -> None:
    page.goto(f"{address}/?{L96}")
    wait_trained(page)
    page.get_by_label("Toggle theme").click()
    page.wait_for_timeout(3000)
    page.screenshot(path=folder / "explorer-dark.png")


if __name__ == "__main__":
    main()
