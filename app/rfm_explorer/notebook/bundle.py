"""An explorer as the result of a cell: live where somebody looks on, a still picture elsewhere.

A live explorer in a file that nobody can press buttons of would be dead weight.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from html import escape
from typing import Any, Protocol

import panel as pn

from ..page.picture import PicturePane
from ..plots.still import as_link, still
from .extension import attended, load_if_needed, shell, widgets_missing
from .transport import Cell

LONGEST = 90.0  # seconds that a still picture waits for its run
WIDE, HALF = 960, 470  # pixels
OPEN_LIVE = (
    "A still picture, because the notebook was run with nobody in front of it. In JupyterLab, "
    "Notebook 7 and VS Code the same cell is live; python -m rfm_explorer opens the explorer alone."
)
NO_WIDGETS = (
    "A still picture: {where} shows the live one through the package jupyter_bokeh, which is not "
    "installed. pip install jupyter_bokeh, restart the kernel and run this cell again."
)
NOT_CONNECTED = (
    "If this stays, run the cell again: the page was loaded anew or the kernel was restarted. If "
    "that does not help, run rfm_explorer.extension() in a cell above, or install pyviz_comms "
    "where JupyterLab itself runs (jupyter_bokeh for VS Code) and reload the page."
)
CONNECTING = f"Connecting this cell to Python ... {NOT_CONNECTED}"
STILL = f"A still picture until this cell is connected to Python. {NOT_CONNECTED}"

_SENTENCE = re.compile(r'<div class="rfm-text plain">(.+)</div>', re.DOTALL)
Bundle = tuple[dict[str, Any], dict[str, Any]]


class Shows(Protocol):
    """What a cell can show."""

    @property
    def settled(self) -> bool:
        """Is there something to see that will not change by itself?"""

    def wait(self, seconds: float) -> bool:
        """Until it is settled, at most so long."""

    def sight(self, answered: bool = False) -> tuple[list[str], pn.viewable.Viewable]:
        """Sentences and the view as they are now; ``answered``: with the answer of a story."""

    def cell(self, until: str, place: str = "") -> Cell:
        """The live one."""


def bundle(explorer: Shows) -> Bundle:
    """What a cell with this result shows, by kind of content."""
    if shell() is None:
        return {"text/plain": repr(explorer)}, {}
    where = widgets_missing()
    if where or not attended():
        return _waited_for(explorer, NO_WIDGETS.format(where=where) if where else OPEN_LIVE), {}
    load_if_needed()
    place, until = f"rfm-{uuid.uuid4().hex}", before_connection(explorer)
    found: Bundle = explorer.cell(until, place)._repr_mimebundle_()
    data, metadata = found
    # also outside of what scripts draw: a notebook that is not trusted runs none
    data["text/html"] = f'<div id="{place}">{until}</div>{data["text/html"]}'
    return data, metadata


def before_connection(explorer: Shows) -> str:
    """What a live cell shows until it is connected to Python, and when it no longer is."""
    if not explorer.settled:
        return f"<p>{escape(CONNECTING)}</p>"
    return _still(*explorer.sight(), STILL)["text/html"]


# --- still ----------------------------------------------------------------------------------


def _waited_for(explorer: Shows, how: str) -> dict[str, str]:
    over = explorer.wait(LONGEST)
    said, layout = explorer.sight(answered=True)  # nobody is there to ask for it
    if not over:
        said.append(
            f"The run was not over after {LONGEST:.0f} seconds, so this shows what there was then: "
            "put explorer.wait(600) into a cell before this one."
        )
    return _still(said, layout, how)


def _still(said: list[str], layout: pn.viewable.Viewable, how: str) -> dict[str, str]:
    """A view with its sentences; no scripts, and readable in an untrusted notebook."""
    page = "".join(f"<p>{escape(words)}</p>" for words in said)
    page += "".join(_parts(layout, WIDE))
    page += f'<p style="opacity: 0.8"><small>{escape(how)}</small></p>'
    style = f"max-width: {WIDE}px; font-family: system-ui, sans-serif"
    words = "\n".join([*said, how])
    return {"text/html": f'<div style="{style}">{page}</div>', "text/plain": words}


def _parts(item: Any, width: int) -> Iterator[str]:
    """Pictures and sentences of a layout in its order; what can only be clicked is left out."""
    if not item.visible:
        return
    if isinstance(item, PicturePane):
        element = item.picture.element
        if element is not None:
            yield _image(still(element, width), width)
    elif isinstance(item, pn.pane.HTML):
        text = str(item.object)
        if text.startswith("<svg"):
            yield _image(text, width)
        elif said := _SENTENCE.fullmatch(text):  # escaped where it was made (page.text)
            yield f'<p style="margin: 8px 0; white-space: pre-line">{said[1]}</p>'
    elif isinstance(item, pn.Row):
        columns = ["".join(_parts(part, HALF)) for part in item]
        style = f"flex: 1 1 {HALF - 100}px; min-width: 0"
        inner = "".join(f'<div style="{style}">{column}</div>' for column in columns if column)
        yield f'<div style="display: flex; flex-wrap: wrap; gap: 12px">{inner}</div>'
    elif isinstance(item, pn.Column):
        for part in item:
            yield from _parts(part, width)


def _image(svg: str, width: int) -> str:
    style = f"display: block; width: 100%; max-width: {width}px; margin: 6px 0"
    return f'<img src="{as_link(svg)}" alt="" style="{style}">'
