"""Colours of the widgets, served and in notebooks: those of the pictures (``plots.style``)."""

from __future__ import annotations

from typing import Any

LIGHT, DARK = "#0072B2", "#56B4E9"
BAR = {"light": LIGHT, "dark": "#003A5C"}  # below white letters
NARROW = 900  # pixels; below it the controls lie over the page (``WIDE`` in browser.js)


def _theme(mode: str, primary: str) -> dict[str, Any]:
    focus = {"outline": f"3px solid {primary}", "outlineOffset": "-3px"}
    on_primary = {"outline": "3px solid currentColor", "outlineOffset": "-5px"}
    return {
        "palette": {"primary": {"main": primary}},
        "typography": {"button": {"textTransform": "none"}},
        "breakpoints": {"values": {"xs": 0, "sm": NARROW, "md": 1000, "lg": 1200, "xl": 1536}},
        "components": {
            # the help on one button lies over the next one, which must be clickable all the same
            "MuiTooltip": {"defaultProps": {"disableInteractive": True}},
            "MuiLinearProgress": {"defaultProps": {"aria-label": "The server is busy"}},
            # where it lies over the page, it stays below the bar with the button that closes it
            "MuiDrawer": {"defaultProps": {"ModalProps": {"disablePortal": True}}},
            # the only papers here are the drawer, a dialog where it lies over the page, and the bar
            "MuiPaper": {"defaultProps": {"role": "group", "aria-label": "Controls"}},
            "MuiAppBar": {"defaultProps": {"role": "banner", "aria-label": "Title"},
                          "styleOverrides": {"root": {
                "backgroundColor": BAR[mode], "backgroundImage": "none", "color": "#ffffff",
                "& .MuiButtonBase-root.Mui-focusVisible": on_primary,
                "& a:focus-visible": {"outline": "3px solid #ffffff", "outlineOffset": "2px"},
            }}},
            "MuiButtonBase": {"styleOverrides": {"root": {
                "&.Mui-focusVisible": focus,
                "@media (prefers-reduced-motion: reduce)": {"transition": "none !important"},
            }}},
            "MuiButton": {"styleOverrides": {
                "contained": {"&.Mui-focusVisible": on_primary},
            }},
        },
        "chart_style": "minimal",  # as served; notebooks would have boxes around legends
    }  # fmt: skip


THEME: dict[str, Any] = {"light": _theme("light", LIGHT), "dark": _theme("dark", DARK)}
# until the widgets are there, and for what the browser draws itself
CSS = """
html[data-theme="light"] { color-scheme: light; background-color: #ffffff; }
html[data-theme="dark"] { color-scheme: dark; background-color: #121212; }
html[data-theme="dark"]:not([data-drawn]) body { background-color: #121212 !important; }
html[data-theme="dark"]:not([data-drawn]) body > :not(#loader) { visibility: hidden; }
:focus-visible { outline: 3px solid var(--panel-primary-color); }
"""
# Before anything is drawn: the theme that the link says, that was chosen here, or that the system
# prefers. panel-material-ui follows ``data-theme`` of the document.
TEMPLATE = """{% extends "base.html" %}{% block preamble %}{{ super() }}<script>
(() => {
  let kept = null
  try { kept = localStorage.getItem("rfm-dark") } catch { /* not allowed to */ }
  const said = new URLSearchParams(location.search).get("dark") ?? kept
  const prefers = window.matchMedia("(prefers-color-scheme: dark)").matches
  const dark = said === null ? prefers : said !== "0"
  document.documentElement.dataset.theme = dark ? "dark" : "light"
})()
</script>{% endblock %}"""
SX = {"& .title": {"fontSize": "24px"}}
