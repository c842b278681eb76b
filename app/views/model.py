"""The architecture as a drawing that follows the controls."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

import panel as pn
import panel_material_ui as pmui

from rfm_core import InvalidInput

from ..plots.schematic import schematic, schematic_words
from ..scene import Info
from ..takeaway import download
from ..text import Text
from .base import Drawing, View

if TYPE_CHECKING:
    from ..folder import Run


class ModelView(View):
    """Follows the controls, not the run: it shows what Train would make."""

    key = "model"
    title = "Model"

    def build(self) -> pn.viewable.Viewable:
        self.drawing = pn.pane.HTML("", sizing_mode="stretch_width", min_height=300)
        self.reading = Text()
        self.follow()
        return pn.Column(self.reading.pane, self.drawing, sizing_mode="stretch_width")

    def take_away(self) -> list[pn.viewable.Viewable]:
        def content() -> io.BytesIO:
            return io.BytesIO(str(self.drawing.object).encode())

        why = "Save the drawing as SVG"
        return [pmui.FlexBox(download("SVG", "rfm-model.svg", content, why), justify_content="end")]

    def follow(self) -> None:
        """Draw what the controls say."""
        settings = self.explorer.settings
        try:
            spec, dimension = settings.model_spec(), settings.dimension()
            picture = schematic(spec, dimension, title=spec.label)
        except InvalidInput as error:
            self.reading.say(str(error))
            return
        self.drawing.object = picture
        self.reading.say(schematic_words(spec, dimension))

    def drawings(self, run: Run, info: Info) -> Iterator[Drawing]:
        yield self.follow
