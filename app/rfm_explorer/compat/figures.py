"""HoloViews' figures, taken apart: one is drawn, all others are copies of it with other data.

For ``page.picture`` and ``plots.parts``: HoloViews takes 100 to 300 ms for a figure, a copy with
new data a few.
"""

from __future__ import annotations

import json
import re
from typing import Any

import holoviews as hv
from bokeh.document import Document
from bokeh.model import Model
from bokeh.util.serialization import make_id

Element = Any  # hv.Element | hv.Overlay
_NAME = re.compile(r'"id": "(p\d+)"')


def share_options(element: hv.Element, other: hv.Element) -> hv.Element:
    """Give ``element`` the options of ``other``.

    HoloViews keeps options by the number of an element; ``element.opts`` would check them anew, at
    milliseconds each.
    """
    element.id = other.id
    return element


class Drawing:
    """What HoloViews draws of an element: a Bokeh figure, and the plots of its parts in order."""

    def __init__(self, element: Element) -> None:
        plot = hv.renderer("bokeh").get_plot(element)
        self.figure = plot.state
        self._parts = list(plot.subplots.values()) if plot.subplots else [plot]
        sources = [renderer.data_source for renderer in self.figure.renderers]
        # the place of each part's renderer among those of the figure
        self.renderers = [sources.index(part.handles["source"]) for part in self._parts]

    def columns(self, number: int, leaf: hv.Element) -> dict[str, Any]:
        """The data of ``leaf`` as HoloViews would put them into the source of that part."""
        part = self._parts[number]
        style = part.lookup_options(leaf, "style")[part.cyclic_index]
        data, _, _ = part.get_data(leaf, {}, style)
        return dict(data)


class Copies:
    """Copies of a Bokeh model with all it refers to, each with names of its own.

    ``Model.clone`` is shallow, and ``Document.from_json`` keeps the names: two copies with the same
    ones could not be in one document. So they are changed in the text.
    """

    def __init__(self, model: Model) -> None:
        document = Document()
        document.add_root(model)
        content = document.to_json(deferred=False)
        content.pop("defs", None)  # of all widgets there are: ten times the figure
        self._text = json.dumps(content)
        document.remove_root(model)

    def make(self) -> Any:
        names: dict[str, str] = {}

        def renamed(found: re.Match[str]) -> str:
            name = found[1]
            if name not in names:
                names[name] = make_id()
            return f'"id": "{names[name]}"'

        document = Document.from_json(json.loads(_NAME.sub(renamed, self._text)))
        copy = document.roots[0]
        document.remove_root(copy)
        return copy
