"""Long runs: marginal histograms, Wasserstein distances, power spectra."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import holoviews as hv
import numpy as np
import panel as pn

from rfm_core import SYSTEMS

from ..captions import inside as words
from ..page.picture import Picture
from ..page.text import Text
from ..plots import climate as plots
from ..queue.extras import Extra
from ..results.files import Results
from ..results.records import Climate, Info
from ..state.controls import OWN
from ..state.settings import Settings
from ..state.snippet import evenly, trained
from .base import Array, Drawing, View, side_by_side


class ClimateView(View):
    key = "statistics"
    title = "Long-time statistics"
    about = "Does the surrogate live on the same attractor? Histograms, spectra, distances."
    needs = (Climate,)
    extra = Extra(
        "climate",
        "Long runs",
        cost=lambda first, settings: first.with_forecast(settings.climate_times),
        options=lambda settings: {"times": settings.climate_times},
    )
    waiting = (
        "Truth and surrogate are run for long, to compare where they spend their time. "
        "This comes after the forecast."
    )

    def build(self) -> pn.viewable.Viewable:
        self.column = self.picks.add("column", "Component", {}, None)
        self.marginal = Picture(340, "marginal")
        self.spectrum = Picture(340, "spectrum")
        self.reading = Text()
        self.spectrum_reading = Text()
        return pn.Column(
            self.picks,
            side_by_side(
                [self.reading.pane, self.marginal.pane],
                [self.spectrum_reading.pane, self.spectrum.pane],
            ),
            sizing_mode="stretch_width",
        )

    def drawings(self, run: Results, info: Info) -> Iterator[Drawing]:
        climate = run.get(Climate)
        assert climate is not None
        numbers = {name: k for k, name in enumerate(distinct(climate.columns))}
        self.column.offer(numbers, visible=len(numbers) > 1)
        yield lambda: self._marginal(info, climate)
        yield lambda: self._spectrum(info, climate)

    def _marginal(self, info: Info, climate: Climate) -> None:
        column = self.column.value
        text = words.climate_sentence(info, climate, column)
        if column < climate.sinkhorn.size and np.isfinite(climate.sinkhorn[column]):
            text += (
                f" By Sinkhorn's algorithm, as in the paper, it is {climate.sinkhorn[column]:.2g}."
            )
        self.reading.say(text)
        if climate.edges.size:
            self.marginal.show(plots.marginal(climate, column))

    def _spectrum(self, info: Info, climate: Climate) -> None:
        self.spectrum_reading.say(words.spectrum_sentence(info, climate))
        if climate.frequency.size:
            self.spectrum.show(plots.spectrum(climate))

    def arrays(self, run: Results, info: Info) -> dict[str, Array]:
        climate = run.get(Climate)
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

    @classmethod
    def python(cls, settings: Settings, selected: tuple[int, int]) -> str:
        """Ten runs of both; of a wide state some columns, pooled if all are alike."""
        s, own = settings, settings.system == OWN
        pooled = s.homogeneous if own else SYSTEMS[s.system].homogeneous
        most = 16 if pooled else 12
        some = min(s.dimension(), most)
        chosen = f"columns = np.linspace(0, data.dimension, {some}, endpoint=False).astype(int)\n"
        pick = "[..., columns]" if s.dimension() > most else ""
        flat = ".reshape(-1, 1)" if pooled else f".reshape(-1, {some})"
        truth = "data.test" if own else "rfm.make_dataset(true_runs).train[:, 2:]"
        return (
            trained(s)
            + "per_step = data.dt * (data.lyapunov or 1.0)\n"
            + f"steps = int(np.ceil({s.climate_times!r} / (10 * per_step)))\n"
            + "transient = int(np.ceil(5.0 / per_step))\n"
            + evenly("starts", "data.test", 10)
            + (chosen if pick else "")
            + f"surrogate = model.forecast(starts, transient + steps)[:, transient + 1 :]{pick}\n"
            + ("" if own else _TRUE_RUNS)
            + f"truth = {truth}{pick}\n"
            + f"truth, surrogate = truth{flat}, surrogate{flat}\n"
            + "surrogate = surrogate[np.isfinite(surrogate).all(axis=1)]\n"
            + "w2 = rfm.wasserstein2(truth, surrogate)\n"
            + "print(w2)\n"
        )

    @classmethod
    def thumbnail(cls, run: Results) -> hv.Overlay | None:
        climate = run.get(Climate)
        return None if climate is None else plots.marginal(climate, 0)


_TRUE_RUNS = """\
true_runs = data_spec.replace(
    realization=1_000_001, trajectories=10, n_train=10 * (steps + 1), n_test=0
)
"""


def distinct(names: Iterable[str]) -> list[str]:
    """Names to choose among: a stranger may call two columns alike."""
    names = list(names)
    if len(set(names)) == len(names):
        return names
    return [f"{k}: {name}" for k, name in enumerate(names, 1)]
