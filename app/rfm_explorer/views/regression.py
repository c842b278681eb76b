"""Inside the regression: singular values, the path of beta, two ways to solve it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import holoviews as hv
import panel as pn

from ..captions import inside as words
from ..page.picture import Picture
from ..page.text import Text
from ..plots import regression as plots
from ..queue.extras import Extra
from ..results.files import Results
from ..results.records import Info, Regression
from ..state.settings import Settings
from ..state.snippet import call, fit_options, made_data, specs
from .base import Array, Drawing, View, side_by_side


class RegressionView(View):
    key = "regression"
    title = "Regression"
    about = "Singular values, what β cuts off, and what each solver can still see."
    needs = (Regression,)
    extra = Extra("regression", "Inside the regression", cost=lambda first, _: first.scaled(2.5))
    waiting = (
        "Singular values, the path of beta and the two solvers are worked out after the forecast."
    )

    def build(self) -> pn.viewable.Viewable:
        self.unit = self.picks.add("unit", "Unit", {"1": 1}, 1)
        self.values, self.path = Picture(330, "singular"), Picture(330, "path")
        self.solvers = Picture(300, "solvers")
        self.values_reading, self.path_reading, self.solver_reading = Text(), Text(), Text()
        return pn.Column(
            self.picks,
            side_by_side(
                [self.values_reading.pane, self.values.pane],
                [self.path_reading.pane, self.path.pane],
            ),
            self.solver_reading.pane,
            self.solvers.pane,
            sizing_mode="stretch_width",
        )

    def drawings(self, run: Results, info: Info) -> Iterator[Drawing]:
        regression = run.get(Regression)
        assert regression is not None
        units = {str(k): k for k in range(1, len(regression.units) + 1)}
        self.unit.offer(units, visible=len(units) > 1)
        number = self.unit.value - 1
        yield lambda: self._values(regression, number)
        yield lambda: self._path(regression, number)
        yield lambda: self._solvers(regression, info)

    def _values(self, regression: Regression, number: int) -> None:
        self.values.show(plots.singular_values(regression, number))
        unit = regression.units[number]
        text = words.singular_sentence(regression, number)
        parts = {
            "data": regression.condition_data,
            "features": unit.condition_features,
            "outer weights": unit.condition_weights,
        }
        known = [f"{name} {value:.0e}" for name, value in parts.items() if math.isfinite(value)]
        if known:
            text += f"\nCondition numbers: {', '.join(known)}."
        self.values_reading.say(text)

    def _path(self, regression: Regression, number: int) -> None:
        self.path.show(plots.beta_path(regression, number))
        self.path_reading.say(words.path_sentence(regression, number))

    def _solvers(self, regression: Regression, info: Info) -> None:
        self.solvers.pane.visible = bool(regression.solvers)
        if regression.solvers:
            self.solvers.show(plots.solver_forecasts(regression, info))
        self.solver_reading.say(words.solver_sentence(regression, info))

    def arrays(self, run: Results, info: Info) -> dict[str, Array]:
        regression = run.get(Regression)
        if regression is None:
            return {}
        unit = regression.units[self.unit.value - 1]
        arrays = {
            "singular_values": unit.singular_values,
            "beta": unit.betas,
            "training_error": unit.training,
            "heldout_error": unit.heldout,
            "weights_norm": unit.norm,
            "degrees_of_freedom": unit.effective,
        }
        for solver in regression.solvers:
            arrays |= {
                f"{solver.solver}_beta": solver.betas,
                f"{solver.solver}_forecast": solver.forecast,
                f"{solver.solver}_standard_error": solver.standard_error,
                f"{solver.solver}_one_step": solver.one_step,
            }
        return arrays

    @classmethod
    def python(cls, settings: Settings, selected: tuple[int, int]) -> str:
        s = settings
        more = [] if s.beta_auto else ["betas=np.logspace(-30, 0, 31)"]
        return (
            specs(s)
            + made_data(s)
            + call("*_, fitted = rfm.fit_events", ["model_spec", "data", *fit_options(s), *more])
            + "for unit in fitted.units:\n"
            + "    print(unit.beta, unit.error)\n"
            + "    print(unit.path.betas, unit.path.heldout)\n"
            + "print(rfm.condition_numbers(fitted.model, data))\n"
        )

    @classmethod
    def thumbnail(cls, run: Results) -> hv.Overlay | None:
        regression = run.get(Regression)
        return None if regression is None else plots.singular_values(regression, 0)
