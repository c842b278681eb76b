"""The last tab: the model, the link and the Python code that gives the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

import panel as pn
import panel_material_ui as pmui

from rfm_core import InvalidInput

from ..page.export import Download, Saved, stem
from ..page.text import Text
from ..results.files import Results
from ..results.records import Info, Trained
from . import VIEWS
from .base import Drawing, View

CODES = {view.title: view for view in VIEWS}


class TakeAwayView(View):
    key = "take-away"
    title = "Take away"
    needs = (Trained,)

    def build(self) -> pn.viewable.Viewable:
        self.of = self.picks.add("of", "Python for", CODES, VIEWS[0])
        self.code = Text("", "code", margin=(8, 10))
        self.copy = pmui.Button(label="Copy the code", icon="content_copy", variant="outlined")
        # the pane is looked for: as an argument Panel would keep it, and its page, for ever
        self.copy.js_on_click(
            code="""
            const models = Array.from(source.document.all_models);
            const pane = models.find((m) => String(m.text ?? "").includes("rfm-text code"));
            const page = new DOMParser().parseFromString(pane.text, "text/html");
            const once = page.body.textContent;  // Panel escapes what it sends
            const code = new DOMParser().parseFromString(once, "text/html").body.textContent;
            navigator.clipboard.writeText(code);
            """,
        )
        self.model = Download("Save the model", self._model, "The trained model as a file")
        self.python_file = Download("Save the code", self._python, "The code below as a file")
        self.link = Text(
            "The address of this page is the link to what you see: settings, seed and tab. "
            "Every tab has a button below its pictures that saves all of it in one archive. "
            'Load a saved model with rfm_core.load("the-file.safetensors").',
        )
        return pn.Column(
            self.link.pane,
            self.picks,
            pmui.FlexBox(self.copy, self.python_file, self.model, align_items="center"),
            self.code.pane,
            sizing_mode="stretch_width",
        )

    def take_away(self) -> list[pn.viewable.Viewable]:
        return []  # this tab is nothing else

    def drawings(self, run: Results, info: Info) -> Iterator[Drawing]:
        yield lambda: self.code.say(self._text())

    def _text(self) -> str:
        shown, view = self.shown, self.of.value
        return str(view.snippet(shown.settings, shown.selected))

    def _python(self) -> Saved:
        name = f"{stem(self.shown.settings)}-{self.of.value.key}.py"
        return Saved(name, {name: self._text().encode()})

    def _model(self) -> Saved:
        shown = self.shown
        path = None if shown.run is None else shown.run.model_path
        if path is None:
            raise InvalidInput("There is no trained model yet. Press Train, and save it then.")
        name = f"{stem(shown.settings)}.safetensors"
        return Saved(name, {name: path.read_bytes()})
