"""Colours of the widgets, served and in notebooks: those of the pictures (``plots.style``)."""

from __future__ import annotations

from typing import Any

_BOTH: dict[str, Any] = {
    "typography": {"button": {"textTransform": "none"}},
    # the help on one button lies over the next one, which must be clickable all the same
    "components": {"MuiTooltip": {"defaultProps": {"disableInteractive": True}}},
    "chart_style": "minimal",  # as served; notebooks would have boxes around legends
}
THEME: dict[str, Any] = {
    "light": {"palette": {"primary": {"main": "#0072B2"}}, **_BOTH},
    "dark": {"palette": {"primary": {"main": "#56B4E9"}}, **_BOTH},
}
