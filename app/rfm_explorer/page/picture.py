"""A picture on the page that takes new data without being drawn again.

HoloViews turns an overlay into a Bokeh figure in 100 to 300 ms, which is too long for an event loop
that a class shares. But pictures keep their elements (see ``plots``), so all that have the same
ones are drawn from one template: HoloViews makes it once for the whole process, every session gets
a copy, and new data go straight into the data sources of that copy in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import holoviews as hv
import numpy as np
from bokeh.models import AllIndices, SaveTool, UnionRenderers

from ..compat.figures import Copies, Drawing
from ..compat.look import dress
from ..compat.pages import RedrawnPane

Element = Any  # hv.Element | hv.Overlay
Tapped = Callable[[int], None]
OTHER_GLYPHS = ("nonselection_glyph", "selection_glyph", "muted_glyph", "hover_glyph")


class Picture:
    """One overlay in a pane; ``show`` draws the next one over it."""

    def __init__(self, height: int, name: str = "") -> None:
        self.height, self.name = height, name
        self.stem = "rfm"  # of the file that the toolbar saves
        self.element: Element | None = None  # what is shown
        self._template: _Template | None = None
        self._sources: list[Any] = []
        self._tapped: tuple[str, Tapped] | None = None
        self.pane = PicturePane(
            None,
            sizing_mode="stretch_width",
            min_height=height,
            css_classes=["rfm-picture", f"rfm-picture-{name}"],
        )
        self.pane.picture = self

    def show(self, element: Element) -> None:
        """Put ``element`` on the page: its data only, where its parts are those already there."""
        self.element = element
        template = _template(_Key(element))
        if template is self._template and self._sources:
            self._fill(template, self.pane.object)
        else:
            self._template = template
            self.pane.object = self.copy()

    def clear(self) -> None:
        """Back to nothing."""
        self.element, self._template, self._sources = None, None, []
        self.pane.object = None

    def on_tap(self, label: str, tapped: Tapped) -> None:
        """Have a click on a point of the part with that label told, by its number."""
        self._tapped = (label, tapped)

    def copy(self) -> Any:
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
        leaves = enumerate(_leaves(self.element))
        for source, (number, leaf) in zip(self._sources, leaves, strict=True):
            columns = template.columns(number, leaf)
            if not _same(columns, source.data):  # truth, while its forecast grows
                source.data = columns
        for tool in figure.toolbar.tools:
            if isinstance(tool, SaveTool):
                tool.filename = f"{self.stem}-{self.name}"
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


class PicturePane(RedrawnPane):
    picture: Picture

    def again(self) -> Any:
        return self.picture.copy()


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
        drawing = Drawing(element)
        figure = drawing.figure
        self.columns, self.renderers = drawing.columns, drawing.renderers
        # what all renderers can share, and what nothing here needs: half of a figure's models
        everything, policy = AllIndices(), UnionRenderers()
        for renderer in figure.renderers:
            renderer.view.filter = everything
            renderer.update(**dict.fromkeys(OTHER_GLYPHS, None))
            source = renderer.data_source
            source.update(data={name: [] for name in source.data}, selection_policy=policy)
        dress(figure)
        self.copy = Copies(figure).make


@lru_cache(maxsize=256)
def _template(key: _Key) -> _Template:
    return _Template(key.element)


def _leaves(element: Any) -> Iterator[Any]:
    if isinstance(element, hv.Overlay):
        for part in element:
            yield from _leaves(part)
    else:
        yield element


def _same(new: dict[str, Any], old: dict[str, Any]) -> bool:
    return new.keys() == old.keys() and all(
        isinstance(values, np.ndarray)
        and isinstance(old[name], np.ndarray)
        and values.dtype == old[name].dtype
        and np.array_equal(values, old[name], equal_nan=values.dtype.kind == "f")
        for name, values in new.items()
    )


def _plot_options(element: Element) -> dict[str, Any]:
    return dict(element.opts.get("plot", backend="bokeh").kwargs)
