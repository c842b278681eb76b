"""An explorer as the result of a cell: live where somebody looks on, a still picture elsewhere.

Somebody looks on where the cell was sent by a front end that could ask a question (the message has
``allow_stdin``): JupyterLab, Notebook 7 and VS Code can, nbconvert, nbclient and what is built on
them cannot. A live explorer in a file that nobody can press buttons of would be dead weight.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import panel as pn

from .picture import Picture
from .plots.still import as_link, still

if TYPE_CHECKING:
    from .explorer import Explorer
    from .views.base import View

LONGEST = 90.0  # seconds that a still picture waits for its run
WIDE, HALF = 960, 470  # pixels
OPEN_LIVE = (
    "A still picture, because the notebook was run with nobody in front of it. In JupyterLab, "
    "Notebook 7 and VS Code the same cell is live; python -m app opens the explorer alone."
)
NO_WIDGETS = (
    "A still picture: {where} shows the live one through the package jupyter_bokeh, which is not "
    "installed. pip install jupyter_bokeh, restart the kernel and run this cell again."
)
CONNECTING = (
    "Connecting this cell to Python ... Should this line stay, the notebook's page cannot talk to "
    "Panel: install pyviz_comms where JupyterLab itself runs (jupyter_bokeh for VS Code), reload "
    "the page and run the cell again."
)

_SENTENCE = re.compile(r'<div class="rfm-text plain">(.+)</div>', re.DOTALL)
Bundle = tuple[dict[str, Any], dict[str, Any]]


def bundle(explorer: Explorer) -> Bundle:
    """What a cell with this result shows, by kind of content."""
    shell = _shell()
    if shell is None:
        return {"text/plain": repr(explorer)}, {}
    where = _widgets_missing()
    if where or not _attended(shell):
        return _still(explorer, NO_WIDGETS.format(where=where) if where else OPEN_LIVE), {}
    if not pn.extension._loaded:
        pn.extension(inline=True)  # from this machine: lecture halls have no net
    found: Bundle = explorer.__panel__()._repr_mimebundle_()
    return found


def _shell() -> Any:
    """IPython's, where it belongs to a kernel and not to a terminal."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    shell = get_ipython()
    return shell if hasattr(shell, "kernel") else None


def _attended(shell: Any) -> bool:
    request = shell.kernel.get_parent("shell") or {}
    return bool(request.get("content", {}).get("allow_stdin", True))


def _widgets_missing() -> str:
    """The name of a front end that shows nothing live without a package that is not here."""
    if importlib.util.find_spec("jupyter_bokeh") is not None:
        return ""
    if "google.colab" in sys.modules:
        return "Colab"
    return "VS Code" if {"VSCODE_PID", "VSCODE_CWD"} & set(os.environ) else ""


# --- still ----------------------------------------------------------------------------------


def _still(explorer: Explorer, how: str) -> dict[str, Any]:
    """The view in sight with its sentences; no scripts, and readable in an untrusted notebook."""
    over = explorer.wait(LONGEST)
    view = explorer.stage.current
    layout = view.panel()
    explorer.stage.draw_at_once()
    explorer.runbar.follow_run()
    bar = explorer.runbar
    said = [text.text for text in (bar.link_trouble, bar.trouble, bar.lead) if text.text]
    if not over:
        said.append(
            f"The run was not over after {LONGEST:.0f} seconds, so this shows what there was then: "
            "put explorer.wait(600) into a cell before this one."
        )
    page = "".join(f"<p>{escape(words)}</p>" for words in said)
    page += "".join(_parts(layout, dict(_pictures(view)), WIDE))
    page += f'<p style="opacity: 0.8"><small>{escape(how)}</small></p>'
    style = f"max-width: {WIDE}px; font-family: system-ui, sans-serif"
    words = "\n".join([*said, how])
    return {"text/html": f'<div style="{style}">{page}</div>', "text/plain": words}


def _pictures(view: View) -> Iterator[tuple[Any, Picture]]:
    """The view's pictures by their panes."""
    for kept in vars(view).values():
        several = kept.values() if isinstance(kept, dict) else kept
        for item in several if isinstance(several, (list, type({}.values()))) else [several]:
            if isinstance(item, Picture):
                yield item.pane, item


def _parts(item: Any, pictures: dict[Any, Picture], width: int) -> Iterator[str]:
    """Pictures and sentences of a layout in its order; what can only be clicked is left out."""
    if not item.visible:
        return
    if item in pictures:
        element = pictures[item].element
        if element is not None:
            yield _image(still(element, width), width)
    elif isinstance(item, pn.pane.HTML):
        text = str(item.object)
        if text.startswith("<svg"):
            yield _image(text, width)
        elif said := _SENTENCE.fullmatch(text):  # escaped where it was made (app.text)
            yield f'<p style="margin: 8px 0; white-space: pre-line">{said[1]}</p>'
    elif isinstance(item, pn.Row):
        columns = ["".join(_parts(part, pictures, HALF)) for part in item]
        style = f"flex: 1 1 {HALF - 100}px; min-width: 0"
        inner = "".join(f'<div style="{style}">{column}</div>' for column in columns if column)
        yield f'<div style="display: flex; flex-wrap: wrap; gap: 12px">{inner}</div>'
    elif isinstance(item, pn.Column):
        for part in item:
            yield from _parts(part, pictures, width)


def _image(svg: str, width: int) -> str:
    style = f"display: block; width: 100%; max-width: {width}px; margin: 6px 0"
    return f'<img src="{as_link(svg)}" alt="" style="{style}">'
