"""The last tab: the model, the link and the Python code that gives the same numbers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

import panel as pn
import panel_material_ui as pmui

from .scene import Info
from .snippet import snippet
from .takeaway import download, safe_name
from .text import Text
from .views.base import Drawing, View

if TYPE_CHECKING:
    from .folder import Run

CODES = {
    "the forecast": "forecast",
    "forecast times": "density",
    "the features": "features",
    "long-time statistics": "statistics",
    "the regression": "regression",
}


class TakeHomeView(View):
    key = "take-away"
    title = "Take away"
    needs = ("trained",)

    def build(self) -> pn.viewable.Viewable:
        self.of = self.select("Python for", CODES, "forecast")
        self.code = Text("", "code", margin=(8, 10))
        self.copy = pmui.Button(label="Copy the code", icon="content_copy", variant="outlined")
        # the pane is looked for: as an argument Panel would keep it, and its page, for ever
        self.copy.js_on_click(
            code="""
            const models = Array.from(source.document._all_models.values());
            const pane = models.find((m) => String(m.text ?? "").includes("rfm-text code"));
            const page = new DOMParser().parseFromString(pane.text, "text/html");
            const once = page.body.textContent;  // Panel escapes what it sends
            const code = new DOMParser().parseFromString(once, "text/html").body.textContent;
            navigator.clipboard.writeText(code);
            """,
        )
        self.model = download("Model", "model.safetensors", self._model, "The trained model")
        self.model.param.update(variant="outlined", icon="download")
        self.python = download("Code as a file", "rfm_view.py", self._python, "The same as a file")
        self.python.param.update(variant="outlined", icon="download")
        self.link = Text(
            "The address of this page is the link to what you see: settings, seed and tab. "
            "Every picture has PNG, SVG, CSV and NPZ below it. "
            'Load the model with rfm_core.load("model.safetensors").',
        )
        return pn.Column(
            self.link.pane,
            pmui.FlexBox(self.of, self.model, self.copy, self.python, align_items="center"),
            self.code.pane,
            sizing_mode="stretch_width",
        )

    def take_away(self) -> list[pn.viewable.Viewable]:
        return []  # this tab is nothing else

    def drawings(self, run: Run, info: Info) -> Iterator[Drawing]:
        yield self._show

    def _show(self) -> None:
        self.model.filename = f"{safe_name(self.explorer.trained.label())}.safetensors"
        self.code.say(self._text())

    def _text(self) -> str:
        return snippet(self.explorer.trained, self.of.value, shown=self.explorer.selected)

    def _python(self) -> io.BytesIO:
        return io.BytesIO(self._text().encode())

    def _model(self) -> io.BytesIO:
        path = None if self.explorer.run is None else self.explorer.run.model_path
        return io.BytesIO(b"" if path is None else path.read_bytes())
