"""How panel-material-ui looks, by value: where it does not let itself be asked."""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

from bokeh.model import Model
from bokeh.models import Axis, Legend, Plot, Title
from panel_material_ui.base import DIST_PATH

from ..plots.style import FONT

_TEXT, _MUTED, _LINE = "rgba(0, 0, 0, 0.87)", "rgba(0, 0, 0, 0.6)", "rgba(0, 0, 0, 0.22)"
# As panel-material-ui dresses a figure in the browser, in its light theme. For page.picture: what
# is so already costs neither a second layout there nor two hundred messages back.
FIGURES: dict[type[Model], dict[str, Any]] = {
    Axis: {
        **dict.fromkeys(
            ("axis_line_color", "major_tick_line_color", "minor_tick_line_color"), _LINE
        ),
        **dict.fromkeys(("axis_line_alpha", "major_tick_line_alpha", "minor_tick_line_alpha"), 0),
        "major_label_text_color": _MUTED,
        "major_label_text_font": FONT,
        "major_label_text_font_size": "0.925em",
        "axis_label_text_color": _TEXT,
        "axis_label_text_font": FONT,
        "axis_label_text_font_size": "1em",
        "axis_label_text_font_style": "normal",
        "axis_label_standoff": 12,
    },
    Legend: {
        "background_fill_color": "#fff",
        "background_fill_alpha": 0,
        "border_line_alpha": 0,
        "label_text_color": _TEXT,
        "label_text_font": FONT,
        "label_text_font_size": "0.95em",
        "title_text_color": _MUTED,
        "title_text_font": FONT,
        "title_text_font_size": "0.95em",
        "title_text_font_style": "normal",
        "spacing": 8,
        "label_standoff": 8,
        "glyph_width": 14,
        "glyph_height": 14,
    },
    Title: {
        "text_color": _TEXT,
        "text_font": FONT,
        "text_font_size": "1.05em",
        "text_font_style": "normal",
    },
    Plot: {
        "background_fill_color": "#fff",
        "border_fill_color": "#fff",
        "outline_line_color": _TEXT,
        "outline_line_alpha": 0,
    },
}

# For notebook.transport: the rule for icons, which is in the style of every widget otherwise.
ICONS = (
    ".material-icons { font-family: 'Material Icons'; font-weight: normal; font-style: normal; "
    "line-height: 1; letter-spacing: normal; text-transform: none; display: inline-block; "
    "white-space: nowrap; direction: ltr; font-feature-settings: 'liga'; }"
)


@cache
def icon_font() -> str:
    """The font whose ligatures are the icons: the page of a notebook has none, and no CDN."""
    [path] = DIST_PATH.glob("material-icons-[A-Z]*.woff2")
    data = base64.b64encode(path.read_bytes()).decode()
    source = f"url(data:font/woff2;base64,{data}) format('woff2')"
    return f"@font-face {{ font-family: 'Material Icons'; src: {source}; }}"


def dress(figure: Model) -> None:
    """Give a figure the look that the page would give it."""
    for model in figure.references():
        for kind, look in FIGURES.items():
            if isinstance(model, kind):
                model.update(**look)
