"""How far forecasts reach, over all test trajectories and realizations."""

from __future__ import annotations

from collections.abc import Iterator

import holoviews as hv
import panel as pn

from ..captions import forecast as words
from ..page.picture import Picture
from ..page.text import Text
from ..plots import density as plots
from ..results.files import Results
from ..results.records import Info, Times
from ..state.controls import OWN
from ..state.settings import Settings
from ..state.snippet import call, fit_options, specs, trained
from .base import Array, Drawing, View


class DensityView(View):
    key = "density"
    title = "Forecast times"
    about = "How far forecasts reach, over all test trajectories."
    needs = (Times,)

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

    def drawings(self, run: Results, info: Info) -> Iterator[Drawing]:
        times = run.times
        if times is not None:
            yield lambda: self._draw(info, times)

    def _draw(self, info: Info, times: Times) -> None:
        shown = self.shown
        runs = [("this run", times)]
        runs += [(pin.label, pin.run.times) for pin in shown.pins if pin.run.times is not None]
        self.picture.show(plots.density(runs, info, shown.paper, shown.selected))
        self.reading.say(words.density_sentence(info, times, shown.paper))

    def _choose(self, number: int) -> None:
        """A click on the rug chooses that trajectory."""
        run = self.shown.run
        if run is not None and run.times is not None and number < len(run.times):
            chosen = int(run.times.realization[number]), int(run.times.test[number])
            self.context.select(*chosen, show=True)

    def arrays(self, run: Results, info: Info) -> dict[str, Array]:
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

    @classmethod
    def python(cls, settings: Settings, selected: tuple[int, int]) -> str:
        s = settings
        end = (
            "mean, error = vpt.mean(), vpt.std(ddof=1) / len(vpt) ** 0.5\n"
            "print(len(vpt), mean, error)\n"
            "grid, density = rfm.density(vpt, low=0.0)\n"
        )
        if s.system == OWN:
            return trained(s) + "vpt = rfm.evaluate(model, data).vpt\n" + end
        return (
            specs(s)
            + "times = []\n"
            + f"for realization in range({s.realizations}):\n"
            + "    data = rfm.make_dataset(data_spec.replace(realization=realization))\n"
            + call(
                "    model = rfm.fit",
                ["model_spec", "data", *fit_options(s), "realization=realization"],
            )
            + "    times.append(rfm.evaluate(model, data).vpt)\n"
            + "vpt = np.concatenate(times)\n"
            + end
        )

    @classmethod
    def thumbnail(cls, run: Results) -> hv.Overlay | None:
        if run.info is None or run.times is None:
            return None
        return plots.density([("this run", run.times)], run.info)
