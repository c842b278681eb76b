"""Notebooks to be read in the browser: their text, formulas and code, without what they give."""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from ...compat.pages import DIST_DIR
from .look import page

PACKAGE = files("rfm_explorer")
# in the package where it is installed, at the top of the repository where it is worked on: the same
# files (see setup.py)
FOLDERS = (PACKAGE / "notebooks", PACKAGE / ".." / ".." / "notebooks")
TYPESET = """
for (const place of document.querySelectorAll(".math")) {
  const displayMode = place.classList.contains("block");
  katex.render(place.textContent, place, {displayMode, output: "mathml", throwOnError: false});
  if (displayMode) { place.tabIndex = 0 }  // keys must reach what is too wide
}
"""


@cache
def notebooks() -> dict[str, Traversable]:
    """By name, in their order."""
    folder = next(folder for folder in FOLDERS if folder.is_dir())
    found = {file.name: file for file in folder.iterdir() if file.name.endswith(".ipynb")}
    return {name.removesuffix(".ipynb"): found[name] for name in sorted(found)}


@cache
def cells(name: str) -> list[dict[str, Any]]:
    found = json.loads(notebooks()[name].read_text(encoding="utf-8"))["cells"]
    return [{"kind": cell["cell_type"], "text": "".join(cell["source"])} for cell in found]


def title(name: str) -> str:
    """The first heading."""
    return cells(name)[0]["text"].splitlines()[0].removeprefix("# ")


def summary(name: str) -> str:
    """What follows it, without the marks of Markdown."""
    text = cells(name)[0]["text"].split("\n\n", 1)[1].split("\n\n")[0]
    return re.sub(r"[*`]|\$[^$]*\$", "", " ".join(text.split()))


def sections(name: str) -> list[str]:
    texts = (cell["text"] for cell in cells(name) if cell["kind"] == "markdown")
    return [line[3:] for text in texts for line in text.splitlines() if line.startswith("## ")]


@cache
def body(name: str) -> str:
    """HTML of all cells; Markdown of ours, yet no HTML in it is let through."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    dollarmath_plugin(markdown, double_inline=True)
    parts = []
    for cell in cells(name):
        if cell["kind"] == "markdown":
            parts.append(markdown.render(cell["text"]))
        else:
            parts.append(f'<pre tabindex="0"><code>{escape(cell["text"])}</code></pre>')
    return re.sub(r'href="([\w-]+)\.ipynb"', r'href="\1"', "\n".join(parts))


@cache
def katex() -> str:
    """Where Panel's server has it, as seen from a notebook's page."""
    [script] = DIST_DIR.glob("bundled/katex/*/dist/katex.min.js")
    return f"../../static/extensions/panel/{script.relative_to(DIST_DIR).as_posix()}"


def notebook_page(name: str, once: str) -> str:
    """The whole page; ``once`` is the word by which the browser knows our script."""
    links = (
        f'<p class="links"><a class="button" href="{name}.ipynb" download>Download to run it</a> '
        '<a href="../../gallery">All of the gallery</a></p>'
    )
    note = "<p>Text and code only: in JupyterLab each cell shows its picture below it.</p>"
    scripts = f'<script src="{katex()}" nonce="{once}"></script>'
    scripts += f'<script nonce="{once}">{TYPESET}</script>'
    content = f'<main class="reading">{links}{note}{body(name)}{links}</main>{scripts}'
    return page(title(name), content)
