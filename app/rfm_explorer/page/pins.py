"""Pinned runs: they stay on the pictures, and a table shows only what differs between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import numpy as np
import panel as pn

from ..plots.style import PINS, RUN
from ..queue.run import Run
from ..queue.runner import Runner
from ..results.records import Times
from ..state.controls import describe, difference
from ..state.settings import Settings
from .fields import Picks

MOST = len(PINS)
NOBODY: dict[str, Pin | None] = {"choose": None}


@dataclass(eq=False)
class Pin:
    """A run that is kept for comparison."""

    label: str
    colour: str
    run: Run
    settings: Settings  # as they were at its start
    holder: str

    @property
    def times(self) -> Times | None:
        return self.run.times


class PinBoard:
    """``refuse`` says why something cannot be; ``changed`` is called when other runs are pinned."""

    def __init__(
        self, runner: Runner, refuse: Callable[[str], None], changed: Callable[[], None]
    ) -> None:
        self.runner, self._refuse, self._changed = runner, refuse, changed
        self.pins: list[Pin] = []
        self._shown: Times | None = None
        self._withheld = False
        self.layout = pn.Column(sizing_mode="stretch_width", visible=False, margin=(10, 10))

    def withhold(self, withheld: bool) -> None:
        """Keep the table back while a story's question is open."""
        self._withheld = withheld
        self.layout.visible = bool(self.pins) and not withheld

    def _build(self) -> None:
        """The table and its menu, made with the first pin."""
        self.table = pn.pane.HTML("", sizing_mode="stretch_width", stylesheets=[STYLE])
        choices = Picks(self._forget, margin=(5, 0))
        self.forget = choices.add("forget", "Unpin", NOBODY, None)
        self.layout.objects = [self.table, choices]

    def pin(self) -> None:
        """Keep the present run; the oldest pin gives way when there are too many."""
        run = self.runner.run
        if run is not None and any(pin.run is run for pin in self.pins):
            self._refuse("This run is pinned already. Change something and train again.")
        else:
            self.keep()

    def keep(self) -> None:
        """The same for a story, which may be told twice."""
        run, plan = self.runner.run, self.runner.plan
        if run is None or plan is None or run.times is None:
            return
        if any(pin.run is run for pin in self.pins):
            return
        if len(self.pins) == MOST:
            self._drop(self.pins[0])
        colour = next(c for c in PINS if c not in {pin.colour for pin in self.pins})
        holder = f"{self.runner.session}-pin-{run.key}"
        self.runner.runs.hold(plan.identity, holder)
        self.pins.append(Pin(plan.settings.label(), colour, run, plan.settings, holder))
        self._show()

    def _forget(self, name: str) -> None:
        if self.forget.value is not None:
            self._drop(self.forget.value)
            self._show()

    def _drop(self, pin: Pin) -> None:
        self.pins.remove(pin)
        self.runner.runs.let_go(pin.run, pin.holder)

    def close(self) -> None:
        for pin in list(self.pins):
            self._drop(pin)

    def _show(self) -> None:
        if not self.layout.objects:
            self._build()
        self.withhold(self._withheld)
        numbered = {f"{k}. {pin.label}": pin for k, pin in enumerate(self.pins, 1)}
        self.forget.offer({**NOBODY, **numbered})
        self.forget.set(None)
        self.refresh()
        self._changed()

    def follow_run(self) -> None:
        """New figures of the present run belong into the table."""
        if self.pins and self._times is not self._shown:
            self.refresh()

    @property
    def _times(self) -> Times | None:
        return None if self.runner.run is None else self.runner.run.times

    def refresh(self) -> None:
        """The table: the present run first, then the pinned ones."""
        self._shown, plan = self._times, self.runner.plan
        rows = [("this run", RUN, plan.settings.effective(), self._times)] if plan else []
        rows += [(pin.label, pin.colour, pin.settings.effective(), pin.times) for pin in self.pins]
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
