"""Where the features lie on the tanh."""

from __future__ import annotations

from collections.abc import Iterator

import holoviews as hv
import panel as pn

from rfm_core import Features as Kind
from rfm_core import TanhRegions

from ..captions import inside as words
from ..page.picture import Picture
from ..page.text import Text
from ..plots import regions as plots
from ..results.files import Results
from ..results.records import Features, Info, Trained
from ..state.settings import Settings
from ..state.snippet import evenly, trained
from .base import Array, Drawing, View, side_by_side

STATES = {word: key for key, word in words.STATES.items()}


class FeaturesView(View):
    key = "features"
    title = "Features"
    about = "Where the features lie on the tanh, and where naive weights would put them."
    needs = (Features,)

    def build(self) -> pn.viewable.Viewable:
        self.unit = self.picks.add("unit", "Unit", {"1": 1}, 1)
        self.of = self.picks.add("of", "On", STATES, "training")
        self.zones = Picture(330, "zones")
        self.shares = Picture(240, "shares")
        self.naive = Picture(240, "naive-shares")
        self.reading = Text()
        return pn.Column(
            self.picks,
            self.reading.pane,
            self.zones.pane,
            side_by_side([self.shares.pane], [self.naive.pane]),
            sizing_mode="stretch_width",
        )

    def drawings(self, run: Results, info: Info) -> Iterator[Drawing]:
        features = run.get(Features)
        if features is None:
            return
        kind = _kind(run)
        if not features.units:
            self.reading.say(kind.no_zones)
            for picture in (self.zones, self.shares, self.naive):
                picture.clear()
            return
        self.unit.offer({str(k): k for k in range(1, len(features.units) + 1)})
        yield lambda: self._zones(features, kind)
        yield lambda: self._shares(features)
        yield lambda: self._naive(features)

    def _zones(self, features: Features, kind: type[Kind]) -> None:
        self.reading.say(words.regions_sentence(features, self.unit.value - 1, self.of.value))
        if (mine := self._mine(features)) is not None:
            naive = features.units[0].get("naive") if self.unit.value == 1 else None
            self.zones.show(plots.tanh_zones(mine, naive, kind))

    def _shares(self, features: Features) -> None:
        if (mine := self._mine(features)) is not None:
            self.shares.show(plots.feature_shares(mine, f"Features of unit {self.unit.value}"))

    def _naive(self, features: Features) -> None:
        if (naive := features.units[0].get("naive")) is not None:
            self.naive.show(plots.feature_shares(naive, "What a naive sampler would give"))

    def _mine(self, features: Features) -> TanhRegions | None:
        return features.units[self.unit.value - 1].get(self.of.value)

    def arrays(self, run: Results, info: Info) -> dict[str, Array]:
        features = run.get(Features)
        mine = self._mine(features) if features is not None and features.units else None
        if mine is None:
            return {}
        return {
            "linear": mine.linear,
            "good": mine.good,
            "saturated": mine.saturated,
            "preactivation": (mine.edges[1:] + mine.edges[:-1]) / 2,
            "density": mine.density,
        }

    @classmethod
    def python(cls, settings: Settings, selected: tuple[int, int]) -> str:
        spec = settings.model_spec()
        if spec.kind.zones(spec) is None:
            return trained(settings) + f"print({spec.kind.no_zones!r})\n"
        return (
            trained(settings)
            + evenly("states", "data.train", 2000)
            + "for number, unit in enumerate(rfm.tanh_regions(model, states), start=1):\n"
            + "    print(number, unit.overall)\n"
        )

    @classmethod
    def thumbnail(cls, run: Results) -> hv.Overlay | None:
        features = run.get(Features)
        if features is None or not features.units:
            return None
        first = features.units[0]
        return plots.tanh_zones(first["training"], first.get("naive"), _kind(run))


def _kind(run: Results) -> type[Kind]:
    trained = run.get(Trained)
    return plots.USUAL if trained is None else trained.spec.kind
