"""One look for all pictures: colours, sizes, tools.

Colours are from Okabe and Ito's set, readable by the colour-blind and on light and dark pages
alike (the page changes its theme without a reload, so no colour may depend on it). Truth and
forecast differ in dash as well.
"""

from __future__ import annotations

from typing import Any

TRUTH = "#0072B2"
FORECAST = "#D55E00"
PAPER = "#7F7F7F"
LINEAR, GOOD, SATURATED = "#56B4E9", "#009E73", "#E69F00"
THRESHOLD = "#CC79A7"
RUN = "#D55E00"  # the current run; pinned ones follow
PINS = ("#0072B2", "#009E73", "#CC79A7", "#8A6FDF", "#B8860B", "#7F7F7F")
DIVERGING = "RdBu_r"  # for states around zero
ERRORS = "inferno"  # for absolute errors
TRUTH_LINE = {"color": TRUTH, "line_width": 4}
FORECAST_LINE = {"color": FORECAST, "line_width": 2.5, "line_dash": [8, 5]}  # truth shines through
TEXT = "#808080"  # of words inside a picture: equally readable on white and on black
TEXT_SIZE = "11pt"
FONT = '"Roboto", "Helvetica", "Arial", sans-serif'  # the page's

TOOLS = ["pan", "xbox_zoom", "reset", "save"]


def base(height: int, **more: Any) -> dict[str, Any]:
    """Options of an overlay or a single element; give xlim and ylim too, where they are known."""
    return {
        "responsive": True,
        "height": height,
        "shared_axes": False,
        "default_tools": TOOLS,
        "toolbar": "right",
        "backend_opts": {"toolbar.logo": None, "toolbar.autohide": True},
        "legend_opts": {"background_fill_alpha": 0, "border_line_alpha": 0, "location": (0, 5)},
        "show_grid": False,
        "fontscale": 1.1,
        **more,
    }


def plain(text: str, most: int = 40) -> str:
    """A stranger's text, fit for a label: short, on one line, and no formula to be typeset.

    Bokeh hands text between dollar signs or after a backslash to its formula typesetter.
    """
    words = " ".join(text.replace("$", " ").replace("\\", " ").split())
    return words if len(words) <= most else words[: most - 1] + "…"
