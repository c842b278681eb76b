"""Truth and forecast: curves or space-time images, the attractor, the growth of the error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from .. import words
from ..picture import Picture
from ..plots import forecast as plots
from ..scene import Info, Trajectory
from ..text import Text
from .base import Array, Drawing, View, side_by_side

if TYPE_CHECKING:
    from ..folder import Run

PLAY_MILLISECONDS = 100
LIVE_SECONDS = 0.5  # between two drawings of a growing forecast
REST_SECONDS = 2.0  # and of what is below it: a browser draws longer than a worker forecasts
OTHERS = 6  # further tests in the picture of the error
PLAY_SECONDS = 15.0  # for one trajectory


class ForecastView(View):
    key = "forecast"
    title = "Forecast"
    needs = ("live", "times")

    def build(self) -> pn.viewable.Viewable:
        settings = self.explorer.settings
        self._drawn_at = self._rest_drawn_at = 0.0
        self.curves = [Picture(170, f"component-{k}") for k in range(5)]
        self.images = {which: Picture(210, which) for which in ("truth", "forecast", "error")}
        self.attractor = Picture(420, "attractor")
        self.growth = Picture(420, "growth")
        self.reading = Text()
        self.growth_reading = Text()
        self.test = pmui.IntSlider(
            label="Test trajectory",
            start=0,
            end=max(1, settings.n_test - 1),
            value=settings.test,
            width=260,
            size="small",
        )
        self.test.param.watch(self._choose_test, "value_throttled")
        self.plane = self.select("Attractor", ["x-z"], "x-z")
        self.angle = pmui.IntSlider(
            label="Turn (degrees)", start=0, end=360, step=5, value=300, width=200, size="small"
        )
        self.angle.param.watch(lambda _: self.redraw(), "value")
        self.play = pmui.Toggle(label="Play", icon="play_arrow", width=110, size="small")
        self.play.param.watch(self._play, "value")
        self._cursor: float | None = None
        self._player: object = None
        self.curve_column = pn.Column(
            *(p.pane for p in self.curves), sizing_mode="stretch_width", margin=0
        )
        self.image_column = pn.Column(
            *(p.pane for p in self.images.values()), sizing_mode="stretch_width", visible=False
        )
        lower = side_by_side(
            [pmui.FlexBox(self.plane, self.angle), self.attractor.pane],
            [self.growth_reading.pane, self.growth.pane],
        )
        self.attractor_column: Any = lower[0]
        return pn.Column(
            pmui.FlexBox(self.test, self.play, align_items="center"),
            self.reading.pane,
            self.curve_column,
            self.image_column,
            lower,
            sizing_mode="stretch_width",
            margin=0,
        )

    # --- drawing --------------------------------------------------------------------------

    def stale(self) -> bool:
        """While the forecast grows, not at every piece: browser and worker need the processor."""
        run = self.explorer.run
        growing = run is not None and run.times is None
        if growing and time.perf_counter() - self._drawn_at < LIVE_SECONDS:
            return False
        return super().stale()

    def shown(self, run: Run) -> Trajectory | None:
        """The chosen trajectory; the live one while the forecast is under way."""
        realization, test = self.explorer.selected
        found = run.trajectory(realization, test)
        return found if found is not None else run.live

    def drawings(self, run: Run, info: Info) -> Iterator[Drawing]:
        self.test.end = max(1, info.n_test - 1)
        trajectory = self.shown(run)
        if trajectory is None:
            return
        self.curve_column.visible = not info.spatial
        self.image_column.visible = info.spatial
        flat = info.dimension in (2, 3)
        self.attractor_column.visible = flat
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
            yield partial(self._growth, info, trajectory)
        self.reading.say(words.forecast_sentence(info, trajectory))
        self.growth_reading.say(words.error_sentence(info, trajectory))

    def _curve(self, picture: Picture, info: Info, shown: Trajectory, column: int) -> None:
        picture.show(plots.components(info, shown, column, cursor=self._cursor))

    def _image(self, picture: Picture, info: Info, shown: Trajectory, which: str) -> None:
        picture.show(plots.space_time(info, shown, which))

    def _attractor(self, info: Info, shown: Trajectory) -> None:
        options = plots.planes(info)
        self.offer(self.plane, options)
        self.angle.visible = self.plane.value == "3D"
        self.attractor.show(
            plots.attractor(
                info, shown, self.plane.value, azimuth=float(self.angle.value), upto=self._cursor
            )
        )

    def _growth(self, info: Info, shown: Trajectory) -> None:
        run = self.explorer.run
        others: list[Trajectory | None] = []
        if run is not None and shown.done and not info.spatial:  # images are large to read
            tests = [k for k in range(min(info.n_test, OTHERS + 1)) if k != shown.test]
            others = [run.trajectory(shown.realization, k) for k in tests[:OTHERS]]
        pins = []
        for pin in self.explorer.pins:
            known, trajectory = pin.entry.run.info, pin.entry.run.trajectory(0, shown.test)
            if known is not None and trajectory is not None and pin.entry.run is not run:
                pins.append((pin.label, known, trajectory))
        together = [shown, *(other for other in others if other is not None)]
        self.growth.show(plots.error_growth(info, together, pins=pins))

    # --- choosing and playing -------------------------------------------------------------

    def _choose_test(self, event: object) -> None:
        self.explorer.select(0, int(self.test.value))

    def show_choice(self) -> None:
        """Follow a choice that was made elsewhere."""
        self.test.value = self.explorer.selected[1]
        self.redraw()

    def _play(self, event: object) -> None:
        if self.play.value:
            self._cursor = 0.0
            self._player = pn.state.add_periodic_callback(self._advance, PLAY_MILLISECONDS)
        else:
            self._stop()

    def _advance(self) -> None:
        run = self.explorer.run
        trajectory = None if run is None else self.shown(run)
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

    def arrays(self, run: Run, info: Info) -> dict[str, Array]:
        shown = self.shown(run)
        if shown is None:
            return {}
        return {
            "time": np.arange(len(shown.truth)) * info.per_step,
            "truth": shown.truth,
            "forecast": shown.forecast,
            "error": shown.error,
        }
