"""Where the features lie on the tanh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import panel as pn
import panel_material_ui as pmui

from .. import words_inside as words
from ..picture import Picture
from ..plots import regions as plots
from ..scene import Features, Info
from ..text import Text
from .base import Array, Drawing, View, side_by_side

if TYPE_CHECKING:
    from ..folder import Run

STATES = {"training data": "training", "test data": "test", "the forecast": "forecast"}


class FeaturesView(View):
    key = "features"
    title = "Features"
    needs = ("features",)

    def build(self) -> pn.viewable.Viewable:
        self.unit = self.select("Unit", [1], 1)
        self.of = self.select("On", STATES, "training")
        self.zones = Picture(330, "zones")
        self.shares = Picture(240, "shares")
        self.naive = Picture(240, "naive-shares")
        self.reading = Text()
        return pn.Column(
            pmui.FlexBox(self.unit, self.of),
            self.reading.pane,
            self.zones.pane,
            side_by_side([self.shares.pane], [self.naive.pane]),
            sizing_mode="stretch_width",
        )

    def drawings(self, run: Run, info: Info) -> Iterator[Drawing]:
        features = run.features
        if features is None:
            return
        units = list(range(1, len(features.units) + 1))
        self.offer(self.unit, units)
        yield lambda: self._zones(features)
        yield lambda: self._shares(features)
        yield lambda: self._naive(features)

    def _zones(self, features: Features) -> None:
        mine = self._mine(features)
        if mine is None:
            self.reading.say(f"There is nothing to see of {self._of_words()} in this run.")
            return
        naive = features.units[0].get("naive") if self.unit.value == 1 else None
        self.zones.show(plots.tanh_zones(mine, naive))
        self.reading.say(words.regions_sentence(features, self.unit.value - 1, self.of.value))

    def _shares(self, features: Features) -> None:
        mine = self._mine(features)
        if mine is not None:
            self.shares.show(plots.feature_shares(mine, f"Features of unit {self.unit.value}"))

    def _naive(self, features: Features) -> None:
        naive = features.units[0].get("naive")
        if naive is not None:
            self.naive.show(plots.feature_shares(naive, "What a naive sampler would give"))

    def _mine(self, features: Features):  # type: ignore[no-untyped-def]
        return features.units[self.unit.value - 1].get(self.of.value)

    def _of_words(self) -> str:
        return next(words for words, key in STATES.items() if key == self.of.value)

    def arrays(self, run: Run, info: Info) -> dict[str, Array]:
        features = run.features
        mine = None if features is None else self._mine(features)
        if mine is None:
            return {}
        middle = (mine.edges[1:] + mine.edges[:-1]) / 2
        return {
            "linear": mine.linear,
            "good": mine.good,
            "saturated": mine.saturated,
            "preactivation": middle,
            "density": mine.density,
        }
