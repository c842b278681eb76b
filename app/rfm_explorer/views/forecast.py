"""Truth and forecast: curves or space-time images, the attractor, the growth of the error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import holoviews as hv
import numpy as np
import panel as pn
import panel_material_ui as pmui

from ..captions import forecast as words
from ..page.picture import Picture
from ..page.text import Text
from ..plots import forecast as plots
from ..results.files import Results
from ..results.records import Info, Times, Trajectory
from ..state.settings import Settings
from ..state.snippet import trained
from .base import Array, Drawing, View, side_by_side

PLAY_MILLISECONDS = 100
LIVE_SECONDS = 0.5  # between two drawings of a growing forecast
REST_SECONDS = 2.0  # and of what is below it: a browser draws longer than a worker forecasts
OTHERS = 6  # further tests in the picture of the error
PLAY_SECONDS = 15.0  # for one trajectory
ANGLES = {str(angle): float(angle) for angle in range(0, 361, 5)}


class ForecastView(View):
    key = "forecast"
    title = "Forecast"
    about = "Truth and forecast over time and in the space of states, and how the error grows."
    needs = (Trajectory, Times)

    def build(self) -> pn.viewable.Viewable:
        self._drawn_at = self._rest_drawn_at = 0.0
        self._cursor: float | None = None
        self._player: object = None
        self.curves = [Picture(120, f"component-{k}") for k in range(5)]
        self.images = {which: Picture(210, which) for which in ("truth", "forecast", "error")}
        self.attractor = Picture(420, "attractor")
        self.growth = Picture(320, "growth")
        self.reading, self.growth_reading = Text(), Text()
        test = self.shown.selected[1]
        self.test = self.picks.add("test", "Test trajectory", {str(test): test}, test, slider=True)
        self.plane = self.picks.add("plane", "Attractor", {}, None)
        self.angle = self.picks.add("angle", "Turn (degrees)", ANGLES, 300.0, slider=True)
        self.play = pmui.Toggle(label="Play", icon="play_arrow", width=110, size="small")
        self.play.param.watch(self._play, "value")
        across = {"sizing_mode": "stretch_width", "margin": 0}
        self.curve_column = pn.Column(*(p.pane for p in self.curves), **across)
        self.image_column = pn.Column(
            *(p.pane for p in self.images.values()), visible=False, **across
        )
        beside = side_by_side([self.curve_column, self.image_column], [self.attractor.pane])
        self.attractor_column = beside[1]
        return pn.Column(
            self.reading.pane,
            pmui.FlexBox(self.picks, self.play, align_items="end", justify_content="space-between"),
            beside,
            self.growth_reading.pane,
            self.growth.pane,
            **across,
        )

    # --- drawing --------------------------------------------------------------------------

    def stale(self) -> bool:
        """While the forecast grows, not at every piece: browser and worker need the processor."""
        run = self.shown.run
        growing = run is not None and run.times is None
        if growing and time.perf_counter() - self._drawn_at < LIVE_SECONDS:
            return False
        return super().stale()

    def trajectory(self, run: Results) -> Trajectory | None:
        """The chosen one; the live one while the forecast is under way."""
        found = run.trajectory(*self.shown.selected)
        return found if found is not None else run.live

    def drawings(self, run: Results, info: Info) -> Iterator[Drawing]:
        self.test.set(self.shown.selected[1])  # it may have been chosen elsewhere
        self.test.offer({str(k): k for k in range(info.n_test)}, visible=info.n_test > 1)
        trajectory = self.trajectory(run)
        if trajectory is None:
            return
        flat = info.dimension in (2, 3)
        self.curve_column.visible = not info.spatial
        self.image_column.visible = info.spatial
        self.play.visible = not info.spatial
        self.attractor_column.visible = flat
        sides = plots.planes(info) if flat else []
        self.plane.offer({side: side for side in sides}, visible=flat)
        self.angle.offer(ANGLES, visible=flat and self.plane.value == plots.SOLID)
        self._drawn_at = time.perf_counter()
        if info.spatial:
            for which, picture in self.images.items():
                yield partial(self._image, picture, info, trajectory, which)
        else:
            for column, picture in enumerate(self.curves):
                if column < info.dimension:
                    yield partial(self._curve, picture, info, trajectory, column)
                else:
                    picture.clear()
        if trajectory.done or self._drawn_at - self._rest_drawn_at > REST_SECONDS:
            self._rest_drawn_at = self._drawn_at
            if flat:
                yield partial(self._attractor, info, trajectory)
            yield partial(self._growth, run, info, trajectory)
        self.reading.say(words.forecast_sentence(info, trajectory))
        self.growth_reading.say(words.error_sentence(info, trajectory))

    def _curve(self, picture: Picture, info: Info, shown: Trajectory, column: int) -> None:
        picture.show(plots.components(info, shown, column, cursor=self._cursor))

    def _image(self, picture: Picture, info: Info, shown: Trajectory, which: str) -> None:
        picture.show(plots.space_time(info, shown, which))

    def _attractor(self, info: Info, shown: Trajectory) -> None:
        seen = {"azimuth": self.angle.value, "upto": self._cursor}
        self.attractor.show(plots.attractor(info, shown, self.plane.value, **seen))

    def _growth(self, run: Results, info: Info, shown: Trajectory) -> None:
        others: list[Trajectory | None] = []
        if shown.done and not info.spatial:  # images are large to read
            tests = [k for k in range(min(info.n_test, OTHERS + 1)) if k != shown.test]
            others = [run.trajectory(shown.realization, k) for k in tests[:OTHERS]]
        pins = []
        for pin in self.shown.pins:
            known, trajectory = pin.run.info, pin.run.trajectory(0, shown.test)
            if known is not None and trajectory is not None and pin.run is not run:
                pins.append((pin.label, known, trajectory))
        together = [shown, *(other for other in others if other is not None)]
        self.growth.show(plots.error_growth(info, together, pins=pins))

    # --- choosing and playing -------------------------------------------------------------

    def picked(self, name: str) -> None:
        if name == "test":
            self.context.select(0, self.test.value)
        else:
            self.redraw()

    def _play(self, event: object) -> None:
        if self.play.value:
            self._cursor = 0.0
            self._player = pn.state.add_periodic_callback(self._advance, PLAY_MILLISECONDS)
        else:
            self._stop()

    def _advance(self) -> None:
        run = self.shown.run
        trajectory = None if run is None else self.trajectory(run)
        if run is None or run.info is None or trajectory is None or self._cursor is None:
            self.play.value = False
            return
        info = run.info
        known = int(np.isfinite(trajectory.forecast[:, 0]).sum()) * info.per_step
        self._cursor += known * PLAY_MILLISECONDS / 1000 / PLAY_SECONDS
        if self._cursor >= known:
            self.play.value = False
            return
        if info.dimension in (2, 3):
            self._attractor(info, trajectory)
        if not info.spatial:
            for column in range(info.dimension):
                self._curve(self.curves[column], info, trajectory, column)

    def _stop(self) -> None:
        if self._player is not None:
            self._player.stop()  # type: ignore[attr-defined]
            self._player = None
        self._cursor = None
        self.redraw()

    # --- taking away ----------------------------------------------------------------------

    def arrays(self, run: Results, info: Info) -> dict[str, Array]:
        shown = self.trajectory(run)
        if shown is None:
            return {}
        return {
            "time": np.arange(len(shown.truth)) * info.per_step,
            "truth": shown.truth,
            "forecast": shown.forecast,
            "error": shown.error,
        }

    @classmethod
    def python(cls, settings: Settings, selected: tuple[int, int]) -> str:
        realization, test = selected
        return trained(settings, realization) + (
            f"times = rfm.evaluate(model, data)  # of all test trajectories\n"
            f"print(times.summary())\n\n"
            f"test = {test}  # the one shown\n"
            f"truth = data.test[test]\n"
            f"forecast = model.forecast(data.test[:, 0], len(truth) - 1)[test]\n"
            f"error = rfm.forecast_error(forecast, truth, data.std)\n"
            f"print(times.vpt[test], times.unit)\n"
        )

    @classmethod
    def thumbnail(cls, run: Results) -> hv.Overlay | None:
        trajectory = run.trajectory(0, 0)
        if run.info is None or trajectory is None:
            return None
        return plots.attractor(run.info, trajectory, plots.SOLID)
