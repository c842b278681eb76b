"""A picture on the page that takes new data without being drawn again.

HoloViews turns an overlay into a Bokeh figure in 100 to 300 ms, which is too long for an event loop
that a class shares. But pictures keep their elements (see ``app.plots``), so all that have the same
ones are drawn from one template: HoloViews makes it once for the whole process, every session gets
a copy, and new data go straight into the data sources of that copy in a few milliseconds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import holoviews as hv
import numpy as np
import panel as pn
import param
from bokeh.document import Document
from bokeh.model import Model
from bokeh.models import AllIndices, Axis, Plot, UnionRenderers
from bokeh.models.annotations import Legend, Title
from bokeh.util.serialization import make_id

from .plots.style import FONT

Element = Any  # hv.Element | hv.Overlay
Tapped = Callable[[int], None]
_NAME = re.compile(r'"id": "(p\d+)"')
TEXT, MUTED, LINE = "rgba(0, 0, 0, 0.87)", "rgba(0, 0, 0, 0.6)", "rgba(0, 0, 0, 0.22)"
# as panel_material_ui dresses a figure in the browser, in its light theme: what is so already
# costs neither a second layout there nor two hundred messages back
LIGHT: dict[type[Model], dict[str, Any]] = {
    Axis: {
        **dict.fromkeys(
            ("axis_line_color", "major_tick_line_color", "minor_tick_line_color"), LINE
        ),
        **dict.fromkeys(("axis_line_alpha", "major_tick_line_alpha", "minor_tick_line_alpha"), 0),
        "major_label_text_color": MUTED,
        "major_label_text_font": FONT,
        "major_label_text_font_size": "0.925em",
        "axis_label_text_color": TEXT,
        "axis_label_text_font": FONT,
        "axis_label_text_font_size": "1em",
        "axis_label_text_font_style": "normal",
        "axis_label_standoff": 12,
    },
    Legend: {
        "background_fill_color": "#fff",
        "background_fill_alpha": 0,
        "border_line_alpha": 0,
        "label_text_color": TEXT,
        "label_text_font": FONT,
        "label_text_font_size": "0.95em",
        "title_text_color": MUTED,
        "title_text_font": FONT,
        "title_text_font_size": "0.95em",
        "title_text_font_style": "normal",
        "spacing": 8,
        "label_standoff": 8,
        "glyph_width": 14,
        "glyph_height": 14,
    },
    Title: {
        "text_color": TEXT,
        "text_font": FONT,
        "text_font_size": "1.05em",
        "text_font_style": "normal",
    },
    Plot: {
        "background_fill_color": "#fff",
        "border_fill_color": "#fff",
        "outline_line_color": TEXT,
        "outline_line_alpha": 0,
    },
}
OTHER_GLYPHS = ("nonselection_glyph", "selection_glyph", "muted_glyph", "hover_glyph")


class Picture:
    """One overlay in a pane; ``show`` draws the next one over it."""

    def __init__(self, height: int, name: str = "") -> None:
        self.height = height
        self.element: Element | None = None  # what is shown
        self._template: _Template | None = None
        self._sources: list[Any] = []
        self._tapped: tuple[str, Tapped] | None = None
        self.pane = _Pane(
            None,
            sizing_mode="stretch_width",
            min_height=height,
            css_classes=["rfm-picture", f"rfm-picture-{name}"],
        )
        self.pane.again = self._copy

    def show(self, element: Element) -> None:
        """Put ``element`` on the page: its data only, where its parts are those already there."""
        self.element = element
        template = _template(_Key(element))
        if template is self._template and self._sources:
            self._fill(template, self.pane.object)
        else:
            self._template = template
            self.pane.object = self._copy()

    def clear(self) -> None:
        """Back to nothing."""
        self.element, self._template, self._sources = None, None, []
        self.pane.object = None

    def on_tap(self, label: str, tapped: Tapped) -> None:
        """Have a click on a point of the part with that label told, by its number."""
        self._tapped = (label, tapped)

    def _copy(self) -> Model:
        """A new figure with the present data."""
        assert self._template is not None
        figure = self._template.copy()
        self._sources = [
            figure.renderers[number].data_source for number in self._template.renderers
        ]
        self._fill(self._template, figure)
        if self._tapped is not None:
            self._listen(*self._tapped)
        return figure

    def _fill(self, template: _Template, figure: Any) -> None:
        assert self.element is not None
        leaves = list(_leaves(self.element))
        for source, part, leaf in zip(self._sources, template.parts, leaves, strict=True):
            columns = _columns(part, leaf)
            if not _same(columns, source.data):  # truth, while its forecast grows
                source.data = columns
        options = _plot_options(self.element)
        for axis in ("x", "y"):
            low, high = options[f"{axis}lim"]
            span = getattr(figure, f"{axis}_range")
            span.update(start=low, end=high, reset_start=low, reset_end=high)

    def _listen(self, label: str, tapped: Tapped) -> None:
        assert self.element is not None
        for source, leaf in zip(self._sources, _leaves(self.element), strict=True):
            if leaf.label == label:
                source.selected.on_change(
                    "indices", lambda attribute, old, new: tapped(new[0]) if new else None
                )


class _Pane(pn.pane.Bokeh):
    """Shown a second time, as an explorer in a further cell is, it has a figure of its own.

    A Bokeh figure belongs to one document. The newest view is the live one.
    """

    again: Callable[[], Model]
    object: Any

    def _get_model(self, doc: Any, root: Any = None, parent: Any = None, comm: Any = None) -> Any:
        shown = self.object
        if root is not None and shown is not None and shown.document not in (None, doc):
            with param.discard_events(self):
                self.object = self.again()
        return super()._get_model(doc, root, parent, comm)


class _Key:
    """An element as the key of its template: what its parts are, not what they hold."""

    def __init__(self, element: Element) -> None:
        self.element = element
        parts = tuple(
            (type(leaf).__name__, leaf.label, *((d.name, d.label) for d in leaf.dimensions()))
            for leaf in _leaves(element)
        )
        words = tuple(
            sorted((k, v) for k, v in _plot_options(element).items() if isinstance(v, str))
        )
        self._parts = (parts, words)

    def __hash__(self) -> int:
        return hash(self._parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._parts == other._parts


class _Template:
    """What HoloViews made of an element, without its data; never shown itself."""

    def __init__(self, element: Element) -> None:
        plot = hv.renderer("bokeh").get_plot(element)
        self.parts = list(plot.subplots.values()) if plot.subplots else [plot]
        figure = plot.state
        sources = [renderer.data_source for renderer in figure.renderers]
        self.renderers = [sources.index(part.handles["source"]) for part in self.parts]
        # what all renderers can share, and what nothing here needs: half of a figure's models
        everything, policy = AllIndices(), UnionRenderers()
        for renderer in figure.renderers:
            renderer.view.filter = everything
            renderer.update(**dict.fromkeys(OTHER_GLYPHS, None))
        for source in sources:
            source.update(data={name: [] for name in source.data}, selection_policy=policy)
        for model in figure.references():
            for kind, look in LIGHT.items():
                if isinstance(model, kind):
                    model.update(**look)
        document = Document()
        document.add_root(figure)
        self._json = json.dumps(document.to_json(deferred=False))

    def copy(self) -> Any:
        """One with names of its own, since two of them may be in one document."""
        names: dict[str, str] = {}

        def renamed(found: re.Match[str]) -> str:
            name = found[1]
            if name not in names:
                names[name] = make_id()
            return f'"id": "{names[name]}"'

        document = Document.from_json(json.loads(_NAME.sub(renamed, self._json)))
        figure = document.roots[0]
        document.remove_root(figure)
        return figure


@lru_cache(maxsize=256)
def _template(key: _Key) -> _Template:
    return _Template(key.element)


def _leaves(element: Any) -> Iterator[Any]:
    if isinstance(element, hv.Overlay):
        for part in element:
            yield from _leaves(part)
    else:
        yield element


def _columns(part: Any, leaf: Any) -> dict[str, Any]:
    """The leaf's data in the columns of its plot's source, as HoloViews itself would put them."""
    style = part.lookup_options(leaf, "style")[part.cyclic_index]
    data, _, _ = part.get_data(leaf, {}, style)
    return dict(data)


def _same(new: dict[str, Any], old: dict[str, Any]) -> bool:
    return new.keys() == old.keys() and all(
        isinstance(values, np.ndarray)
        and isinstance(old[name], np.ndarray)
        and values.dtype == old[name].dtype
        and np.array_equal(values, old[name], equal_nan=values.dtype.kind == "f")
        for name, values in new.items()
    )


def _plot_options(element: Element) -> dict[str, Any]:
    return dict(hv.Store.lookup_options("bokeh", element, "plot").kwargs)
