"""Words on the page. Everything goes through ``html.escape``: column and file names are strangers'.

Panel's own text panes run scripts that they are given; this is the only one the app uses for words
that are not constants of ours.
"""

from __future__ import annotations

from html import escape
from typing import Any

import panel as pn


class Text:
    """A paragraph of plain text."""

    def __init__(self, text: str = "", kind: str = "plain", **layout: Any) -> None:
        self._kind = kind
        self._text = ""
        layout = {"sizing_mode": "stretch_width", "margin": (0, 10), **layout}
        self.pane = pn.pane.HTML("", stylesheets=[STYLE], **layout)
        self.say(text)

    @property
    def text(self) -> str:
        return self._text

    def say(self, text: str) -> None:
        """Show this instead; line breaks are kept. An empty text takes no room.

        It is not made invisible: then Bokeh lays out every figure on the page again, a second of a
        slow browser's time.
        """
        if text == self._text and self.pane.object:
            return
        self._text = text
        self.pane.object = f'<div class="rfm-text {self._kind}">{escape(text)}</div>'


STYLE = """
:host { min-height: 0; }
.rfm-text:empty { display: none; }
.rfm-text { white-space: pre-line; line-height: 1.45; overflow-wrap: anywhere; }
.rfm-text.plain { font-size: 15px; }
.rfm-text.lead { font-size: 18px; }
.rfm-text.small { font-size: 13px; opacity: 0.8; }
.rfm-text.hint { font-size: 12px; opacity: 0.75; margin-top: -4px; }
.rfm-text.code { font-family: ui-monospace, monospace; font-size: 13px; white-space: pre-wrap; }
.rfm-text.warning { font-size: 14px; border-left: 4px solid #E69F00; padding-left: 10px; }
.rfm-text.error { font-size: 14px; border-left: 4px solid #D55E00; padding-left: 10px; }
.rfm-text.story { font-size: 16px; border-left: 4px solid #009E73; padding-left: 12px; }
"""
