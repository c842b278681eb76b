"""How far forecasts reach, over all test trajectories and realizations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import panel as pn

from .. import words
from ..picture import Picture
from ..plots import density as plots
from ..scene import Info
from ..text import Text
from .base import Array, Drawing, View

if TYPE_CHECKING:
    from ..folder import Run


class DensityView(View):
    key = "density"
    title = "Forecast times"
    needs = ("times",)

    def build(self) -> pn.viewable.Viewable:
        self.picture = Picture(420, "density")
        self.picture.on_tap(plots.RUG, self._choose)
        self.reading = Text()
        self.hint = Text(
            "Each mark below the curve is one test trajectory: click one to see its forecast.",
            "small",
        )
        return pn.Column(
            self.reading.pane, self.picture.pane, self.hint.pane, sizing_mode="stretch_width"
        )

    def drawings(self, run: Run, info: Info) -> Iterator[Drawing]:
        if run.times is None:
            return
        yield self._draw

    def _draw(self) -> None:
        explorer = self.explorer
        run = explorer.run
        assert run is not None
        assert run.times is not None
        assert run.info is not None
        runs = [("this run", run.times)]
        runs += [(pin.label, pin.times) for pin in explorer.pins if pin.times is not None]
        paper = explorer.paper_row
        element = plots.density(runs, run.info, paper, explorer.selected)
        self.picture.show(element)
        self.reading.say(words.density_sentence(run.info, run.times, paper))

    def _choose(self, number: int) -> None:
        """A click on the rug chooses that trajectory."""
        run = self.explorer.run
        if run is not None and run.times is not None and number < len(run.times):
            chosen = int(run.times.realization[number]), int(run.times.test[number])
            self.explorer.select(*chosen, show=True)

    def arrays(self, run: Run, info: Info) -> dict[str, Array]:
        times = run.times
        if times is None:
            return {}
        return {
            "realization": times.realization,
            "test": times.test,
            "vpt": times.vpt,
            "censored": times.censored.astype(int),
            "diverged": times.diverged.astype(int),
        }
