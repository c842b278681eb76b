"""A visitor's own file in a real browser."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from explorer import LIGHT, PATIENCE, choose, open_page, wait_for

import rfm_core as rfm

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


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


def said(page: Page, kind: str = "") -> str:
    """What stands below the choice of a file."""
    texts = page.locator(f".sidebar .rfm-text{kind}").all_inner_texts()
    return " ".join(text for text in texts if text)


def test_messages_belong_to_the_file_just_chosen(page: Page, address: str, tmp_path: Path) -> None:
    open_page(page, address, LIGHT)
    choose(page, "System", "My own data")
    picker = page.get_by_label("Choose a file")

    def give(name: str, content: bytes) -> None:
        (tmp_path / name).write_bytes(content)
        picker.set_input_files(tmp_path / name)

    rows = b"\n".join(b"%d,%d" % (7 * k % 23, 5 * k % 19) for k in range(300))
    give("untimed.csv", b"x,y\n" + rows)
    wait_for(page, lambda: "Fill in 'Time step of the file'" in said(page))
    give("empty.csv", b"")
    wait_for(page, lambda: "empty.csv is empty" in said(page, ".error"))
    assert "Time step of the file'" not in said(page)
    page.get_by_role("textbox", name="Time step of the file").wait_for(state="hidden")
    give("photo.jpg", b"\xff\xd8")
    wait_for(page, lambda: "photo.jpg has the extension" in said(page, ".error"))
    assert "empty" not in said(page, ".error")
    timed = b"\n".join(b"%.1f,%d" % (0.1 * k, 7 * k % 23) for k in range(300))
    for name in ("one.csv", "two.csv"):  # the same bytes under another name
        give(name, b"t,x\n" + timed)
        page.locator(".rfm-text", has_text=f"{name} SkipRFM").wait_for()  # what Train would do
        wait_for(page, lambda: "It has one component" in said(page))
        assert not said(page, ".error")


def test_columns_as_series_of_their_own(page: Page, address: str, tmp_path: Path) -> None:
    open_page(page, address, LIGHT)
    choose(page, "System", "My own data")
    file = tmp_path / "pair.csv"
    rows = (f"{0.1 * k:.1f},{(7 * k) % 23},{(5 * k) % 19}" for k in range(400))
    file.write_text("t,first,second\n" + "\n".join(rows))
    page.get_by_label("Choose a file").set_input_files(file)
    wait_for(page, lambda: "2 columns beside the time are taken as the components" in said(page))
    page.get_by_role("switch", name="Columns are series of their own").check()
    page.locator(".rfm-text", has_text="1,536 parameters").wait_for()  # (1 + 1 + 1) * 512
    page.get_by_role("button", name="Train").click()
    page.locator(".rfm-text.lead", has_text="learned pair").wait_for(timeout=PATIENCE)


def test_waiting_for_a_file_can_be_stopped(page: Page, address: str, tmp_path: Path) -> None:
    open_page(page, address, LIGHT)
    choose(page, "System", "My own data")
    large = tmp_path / "large.csv"
    large.write_bytes(b"t,x\n" + b"".join(b"%d,%d\n" % (k, 7 * k % 23) for k in range(4_000_000)))
    page.get_by_label("Choose a file").set_input_files(large)
    page.get_by_role("progressbar", name="Looking at the file").wait_for()
    page.get_by_role("button", name="Stop", exact=True).click()
    wait_for(page, lambda: "Stopped." in said(page, ".error"))
    page.get_by_role("progressbar", name="Looking at the file").wait_for(state="hidden")
    small = tmp_path / "small.csv"
    small.write_text("t,x\n" + "\n".join(f"{0.1 * k:.1f},{7 * k % 23}" for k in range(300)))
    page.get_by_label("Choose a file").set_input_files(small)
    wait_for(page, lambda: "300 rows" in said(page))
    assert not said(page, ".error")
    too_large = tmp_path / "too-large.csv"
    with too_large.open("wb") as out:
        out.truncate(60_000_000)
    page.get_by_label("Choose a file").set_input_files(too_large)
    wait_for(page, lambda: "60 MB; 50 MB are the most" in said(page, ".error"))
