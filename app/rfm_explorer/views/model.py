"""The architecture as a drawing that follows the controls."""

from __future__ import annotations

from collections.abc import Iterator

import panel as pn

from rfm_core import InvalidInput

from ..page.text import Text
from ..plots.schematic import schematic, schematic_words
from ..results.files import Results
from ..results.records import Info
from ..state.settings import Settings
from ..state.snippet import model_spec
from .base import Drawing, View


class ModelView(View):
    """Follows the controls, not the run: it shows what Train would make."""

    key = "model"
    title = "Model"
    about = "What the model reads, through which units it goes, and what comes out."
    follows_controls = True

    def build(self) -> pn.viewable.Viewable:
        self.drawing = pn.pane.HTML("", sizing_mode="stretch_width", min_height=300)
        self.reading = Text()
        self.follow()
        return pn.Column(self.reading.pane, self.drawing, sizing_mode="stretch_width")

    def follow(self) -> None:
        """Draw what the controls say."""
        settings = self.context.controls
        try:
            spec, dimension = settings.model_spec(), settings.dimension()
            picture = schematic(spec, dimension, title=spec.label)
        except InvalidInput as error:
            self.reading.say(str(error))
            return
        self.drawing.object = picture
        self.reading.say(schematic_words(spec, dimension))

    def drawings(self, run: Results, info: Info) -> Iterator[Drawing]:
        yield self.follow

    def drawn_files(self) -> dict[str, bytes]:
        return {"model.svg": str(self.drawing.object).encode()}

    @classmethod
    def python(cls, settings: Settings, selected: tuple[int, int]) -> str:
        return model_spec(settings.model_spec()) + (
            f"print(model_spec.label, model_spec.size(dimension={settings.dimension()}))\n"
        )

    @classmethod
    def thumbnail(cls, run: Results) -> str | None:
        if run.trained is None or run.info is None:
            return None
        spec = run.trained.spec
        return schematic(spec, run.info.dimension, title=spec.label)
