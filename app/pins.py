"""Pinned runs: they stay on the pictures, and a table shows only what differs between them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from .controls import describe, difference
from .plots.style import PINS, RUN
from .scene import Times
from .shelf import Entry

if TYPE_CHECKING:
    from .explorer import Explorer

MOST = len(PINS)


@dataclass(eq=False)
class Pin:
    """A run that is kept for comparison."""

    label: str
    colour: str
    entry: Entry
    values: dict[str, Any]  # Settings.effective at its start
    holder: str

    @property
    def times(self) -> Times | None:
        return self.entry.run.times


class PinBoard:
    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.pins: list[Pin] = []
        self._shown: Times | None = None
        self.layout = pn.Column(sizing_mode="stretch_width", visible=False, margin=(10, 10))

    def _build(self) -> None:
        """The table and its menu, made with the first pin."""
        self.table = pn.pane.HTML("", sizing_mode="stretch_width", stylesheets=[STYLE])
        self.forget = pmui.Select(label="Unpin", options={"choose": None}, size="small", width=220)
        self.forget.param.watch(self._forget, "value")
        self.layout.objects = [self.table, self.forget]

    def pin(self) -> None:
        """Keep the present run; the oldest pin gives way when there are too many."""
        explorer = self.explorer
        entry = explorer.runner.entry
        if entry is None or entry.run.times is None:
            return
        if any(pin.entry is entry for pin in self.pins):
            explorer.runbar.refuse("This run is pinned already. Change something and train again.")
            return
        if len(self.pins) == MOST:
            self._drop(self.pins[0])
        colour = next(c for c in PINS if c not in {pin.colour for pin in self.pins})
        holder = f"{explorer.session}-pin-{id(entry)}"
        explorer.runner.shelf.hold(explorer.runner.plan.identity, holder)  # type: ignore[union-attr]
        self.pins.append(
            Pin(explorer.trained.label(), colour, entry, explorer.trained.effective(), holder)
        )
        self._show()

    def _forget(self, event: Any) -> None:
        if event.new is not None:
            self._drop(self.pins[event.new])
            self._show()

    def _drop(self, pin: Pin) -> None:
        self.pins.remove(pin)
        self.explorer.runner.shelf.let_go(pin.entry, pin.holder)

    def close(self) -> None:
        for pin in list(self.pins):
            self._drop(pin)

    def _show(self) -> None:
        if not self.layout.objects:
            self._build()
        self.explorer.pins_version += 1
        self.layout.visible = bool(self.pins)
        self.forget.param.update(
            options={"choose": None, **{p.label: k for k, p in enumerate(self.pins)}}, value=None
        )
        self.refresh()
        self.explorer.wake()

    def follow_run(self) -> None:
        """New figures of the present run belong into the table."""
        now = self.explorer.result
        if self.pins and now is not self._shown:
            self.refresh()

    def refresh(self) -> None:
        """The table: the present run first, then the pinned ones."""
        explorer = self.explorer
        self._shown = explorer.result
        rows = [("this run", RUN, explorer.trained.effective(), explorer.result)]
        rows += [(pin.label, pin.colour, pin.values, pin.times) for pin in self.pins]
        names: list[str] = []
        for _, _, values, _ in rows[1:]:
            names += [n for n in difference(rows[0][2], values) if n not in names]
        heads = list(describe(rows[0][2], names))
        lines = ["<tr><th>run</th><th>forecast time</th>" + cells("th", heads) + "</tr>"]
        for label, colour, values, times in rows:
            swatch = f'<span class="swatch" style="background:{colour}"></span>'
            body = cells("td", [figure(times), *describe(values, names).values()])
            lines.append(f"<tr><td>{swatch}{escape(label)}</td>{body}</tr>")
        self.table.object = f'<table class="rfm-pins">{"".join(lines)}</table>'


def cells(tag: str, texts: list[str]) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)


def figure(times: Times | None) -> str:
    """Mean and standard error."""
    if times is None or not len(times):
        return "–"
    vpt = np.asarray(times.vpt)
    if len(vpt) < 2:
        return f"{vpt.mean():.1f} (n = 1)"
    return f"{vpt.mean():.1f} ± {vpt.std(ddof=1) / np.sqrt(len(vpt)):.1f} (n = {len(vpt)})"


STYLE = """
table.rfm-pins { border-collapse: collapse; font-size: 14px; }
.rfm-pins th, .rfm-pins td { text-align: left; padding: 4px 14px 4px 0; }
.rfm-pins th { font-weight: 600; opacity: 0.75; }
.rfm-pins tr + tr { border-top: 1px solid rgba(127, 127, 127, 0.35); }
.rfm-pins .swatch { display: inline-block; width: 12px; height: 12px; margin-right: 8px;
  border-radius: 3px; vertical-align: -1px; }
"""
