"""A progress bar that has a name: the one of panel-material-ui has none for screen readers."""

from __future__ import annotations

from html import escape

import panel as pn


class ProgressBar:
    """It keeps its place when nothing is under way, so that what is below stays where it is."""

    def __init__(self, name: str) -> None:
        self._name = escape(name, quote=True)
        self.pane = pn.pane.HTML(
            "", sizing_mode="stretch_width", margin=(2, 10), height=8, stylesheets=[STYLE]
        )

    def show(self, fraction: float | None, active: bool) -> None:
        """So much is done; None: nobody knows."""
        share = "" if fraction is None else f' value="{round(100 * fraction)}"'
        bar = f'<progress max="100" aria-label="{self._name}"{share}></progress>'
        self.pane.object = f"<div>{bar if active else ''}</div>"


STYLE = """
progress { display: block; width: 100%; height: 6px; border: 0; border-radius: 3px;
  overflow: hidden; appearance: none; -webkit-appearance: none;
  --track: rgba(127, 127, 127, 0.35); --done: var(--panel-primary-color, #0072B2);
  background: var(--track); }
progress::-webkit-progress-bar { background: var(--track); }
progress::-webkit-progress-value { background: var(--done); }
progress::-moz-progress-bar { background: var(--done); }
progress:indeterminate { animation: rfm-wait 1.6s linear infinite; background: linear-gradient(
  90deg, var(--track) 30%, var(--done) 50%, var(--track) 70%) 0 / 200% 100%; }
progress:indeterminate::-webkit-progress-bar { background: transparent; }
@keyframes rfm-wait { from { background-position: 150% 0; } to { background-position: -50% 0; } }
"""
