"""panel-material-ui still looks as ``rfm_explorer.compat.look`` says."""

from __future__ import annotations

import re
from pathlib import Path

import panel_material_ui
import pytest
from rfm_explorer.compat.look import FIGURES, ICONS, icon_font

SOURCE = (Path(panel_material_ui.__file__).parent / "utils.js").read_text(encoding="utf-8")
DRESSING = SOURCE[SOURCE.index("function apply_bokeh_theme(") :]
SECTIONS = {"Axis": '"Axis"', "Legend": '"Legend"', "Title": '"Title"', "Plot": '"Figure"'}


def section(kind: str) -> str:
    """What is done to models of this kind."""
    [part] = re.findall(
        rf"model_type\.endsWith\({SECTIONS[kind]}\)(.*?)(?:\}} else if \(model_type|\n\}}\n)",
        DRESSING,
        flags=re.DOTALL,
    )
    return part


@pytest.mark.parametrize("kind", FIGURES, ids=lambda kind: kind.__name__)
def test_figures_come_as_the_browser_would_dress_them(kind: type) -> None:
    part = section(kind.__name__)
    # "normal" is what Bokeh has by itself, "bold" and boxes are of another chart style than ours
    known = {*FIGURES[kind], "major_label_text_font_style", "label_text_font_style"}
    known |= {"border_line_color", "background_fill_alpha", "border_fill_alpha"}
    found = set(re.findall(r"model_props\.(\w+) =", part))
    problem = (
        f"panel-material-ui dresses {kind.__name__} otherwise than compat.look.FIGURES says: every "
        "figure would be laid out twice and answer with a message for each (page.picture)"
    )
    assert found - known == set(), problem
    for name, value in FIGURES[kind].items():
        assigned = " ".join(re.findall(rf"model_props\.{name} = (.*)", part))
        if isinstance(value, int) or str(value).endswith("em") or value == "normal":
            assert str(value) in assigned, f"{name} = {assigned}: {problem}"
        else:  # a colour or font of the theme
            assert assigned, f"{name}: {problem}"


def test_icons_have_their_font() -> None:
    assert "url(data:font/woff2;base64," in icon_font(), "no icons in notebooks"
    assert "Material Icons" in ICONS
