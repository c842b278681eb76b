"""HoloViews and Bokeh still are as ``rfm_explorer.compat.figures`` takes them."""

from __future__ import annotations

import gc
from typing import Any

import holoviews as hv
import numpy as np
import pytest
from bokeh.document import Document
from bokeh.models import ColumnDataSource
from bokeh.plotting import figure
from rfm_explorer.compat.figures import Copies, Drawing, share_options
from rfm_explorer.plots.parts import Axes

AXES = Axes("contract", "x", "y", (0.0, 3.0), (0.0, 3.0))
KINDS = {  # of elements that the pictures are made of
    "Curve": lambda n: AXES.curve("a", np.arange(n), np.arange(n)),
    "Scatter": lambda n: AXES.scatter("a", np.arange(n), np.arange(n)),
    "Segments": lambda n: AXES.segments("a", [(0, 0, k, k) for k in range(n)]),
    "Rectangles": lambda n: AXES.rectangles("a", [(0, 0, k, k) for k in range(n)]),
    "Labels": lambda n: AXES.words("a", [(k, k, f"word {k}") for k in range(n)]),
}


def test_an_element_can_share_the_options_of_another() -> None:
    known = hv.Curve([]).opts(color="#123456", line_width=7)
    element = share_options(hv.Curve([1, 2, 3]), known)
    del known
    gc.collect()
    options = element.opts.get("style", backend="bokeh").kwargs
    assert options["color"] == "#123456", (
        "HoloViews no longer keeps options by Element.id: plots.parts gives every element of every "
        "picture its look by compat.figures.share_options"
    )
    drawn = hv.renderer("bokeh").get_plot(element).state.renderers[0].glyph
    assert (drawn.line_color, drawn.line_width) == ("#123456", 7)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_those_that_holoviews_would_draw(kind: str) -> None:
    small, large = (AXES.overlay([KINDS[kind](n)], 100) for n in (2, 5))
    leaf = next(iter(large))
    template, expected = Drawing(small), Drawing(large)
    source = expected.figure.renderers[expected.renderers[0]].data_source
    columns = template.columns(0, leaf)
    problem = (
        f"the data of hv.{kind} are put into a figure in another way than compat.figures.Drawing "
        "does: page.picture would show new data wrongly in a figure that is already on the page"
    )
    assert set(columns) == set(source.data), problem
    for name, values in columns.items():
        np.testing.assert_array_equal(values, source.data[name], err_msg=problem)


def test_parts_keep_their_order() -> None:
    parts: list[Any] = [AXES.curve(label, [0, 1], [0, k]) for k, label in enumerate("abc")]
    drawing = Drawing(AXES.overlay(parts, 100))
    sources = [drawing.figure.renderers[n].data_source for n in drawing.renderers]
    ends = [source.data[AXES.dims[1].name][-1] for source in sources]
    assert ends == [0, 1, 2], (
        "the subplots of HoloViews' overlay are no longer in the order of its elements: "
        "page.picture would put the data of one curve into another"
    )


def test_copies_have_names_of_their_own() -> None:
    original = figure(width=300, tools="pan,reset")
    original.line([1, 2], [3, 4], color="#abcdef")
    copies = Copies(original)
    document = Document()
    for _ in range(2):
        document.add_root(copies.make())
    document.validate()
    roots = (original, *document.roots)
    names = [model.id for root in roots for model in root.references()]
    problem = (
        "Bokeh writes the names of models otherwise than compat.figures.Copies looks for them: "
        "two pictures of one kind could not be on one page (page.picture)"
    )
    assert len(set(names)) == len(names) == 3 * len(original.references()), problem
    for copy in document.roots:
        assert copy.renderers[0].glyph.line_color == "#abcdef"
        assert isinstance(copy.renderers[0].data_source, ColumnDataSource)
        assert copy.renderers[0].data_source.data["y"] == [3, 4]
        assert copy.toolbar.tools[0] in copy.references()
    assert original.document is None
