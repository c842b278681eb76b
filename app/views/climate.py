"""Long runs: marginal histograms, Wasserstein distances, power spectra."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import panel as pn

from .. import words_inside as words
from ..picture import Picture
from ..plots import climate as plots
from ..scene import Climate, Info
from ..text import Text
from .base import Array, Drawing, View, side_by_side

if TYPE_CHECKING:
    from ..folder import Run


class ClimateView(View):
    key = "statistics"
    title = "Long-time statistics"
    needs = ("climate",)
    extra = "climate"

    def build(self) -> pn.viewable.Viewable:
        self.column = self.select("Component", [], None)
        self.marginal = Picture(340, "marginal")
        self.spectrum = Picture(340, "spectrum")
        self.reading = Text()
        self.spectrum_reading = Text()
        return pn.Column(
            self.column,
            side_by_side(
                [self.reading.pane, self.marginal.pane],
                [self.spectrum_reading.pane, self.spectrum.pane],
            ),
            sizing_mode="stretch_width",
        )

    def drawings(self, run: Run, info: Info) -> Iterator[Drawing]:
        climate = run.climate
        if climate is None:
            self.say_empty(
                "Truth and surrogate are run for long, to compare where they spend their time. "
                "This comes after the forecast."
            )
            return
        self.say_empty("")
        names = list(climate.columns)
        self.offer(self.column, names)
        self.column.visible = len(names) > 1
        yield lambda: self._marginal(info, climate)
        yield lambda: self._spectrum(info, climate)

    def _marginal(self, info: Info, climate: Climate) -> None:
        column = self._column(climate)
        text = words.climate_sentence(info, climate, column)
        if column < climate.sinkhorn.size and np.isfinite(climate.sinkhorn[column]):
            text += (
                f" By Sinkhorn's algorithm, as in the paper, it is {climate.sinkhorn[column]:.2g}."
            )
        self.reading.say(text)
        if climate.edges.size:
            self.marginal.show(plots.marginal(climate, column))

    def _column(self, climate: Climate) -> int:
        return climate.columns.index(self.column.value)

    def _spectrum(self, info: Info, climate: Climate) -> None:
        self.spectrum_reading.say(words.spectrum_sentence(info, climate))
        if climate.frequency.size:
            self.spectrum.show(plots.spectrum(climate))

    def arrays(self, run: Run, info: Info) -> dict[str, Array]:
        climate = run.climate
        if climate is None:
            return {}
        return {
            "edges": climate.edges.T,
            "truth": climate.truth.T,
            "surrogate": climate.surrogate.T,
            "w2": climate.w2,
            "w2_true": climate.w2_true,
            "sinkhorn": climate.sinkhorn,
            "frequency": climate.frequency,
            "power_truth": climate.power_truth,
            "power_surrogate": climate.power_surrogate,
        }
