"""Inside the regression: singular values, the path of beta, two ways to solve it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import panel as pn

from .. import words_inside as words
from ..picture import Picture
from ..plots import regression as plots
from ..scene import Info, Regression
from ..text import Text
from .base import Array, Drawing, View, side_by_side

if TYPE_CHECKING:
    from ..folder import Run


class RegressionView(View):
    key = "regression"
    title = "Regression"
    needs = ("regression",)
    extra = "regression"

    def build(self) -> pn.viewable.Viewable:
        self.unit = self.select("Unit", [1], 1)
        self.values, self.path = Picture(330, "singular"), Picture(330, "path")
        self.solvers = Picture(300, "solvers")
        self.values_reading, self.path_reading, self.solver_reading = Text(), Text(), Text()
        return pn.Column(
            self.unit,
            side_by_side(
                [self.values_reading.pane, self.values.pane],
                [self.path_reading.pane, self.path.pane],
            ),
            self.solver_reading.pane,
            self.solvers.pane,
            sizing_mode="stretch_width",
        )

    def drawings(self, run: Run, info: Info) -> Iterator[Drawing]:
        regression = run.regression
        if regression is None:
            self.say_empty(
                "Singular values, the path of beta and the two solvers are worked out after the "
                "forecast."
            )
            return
        self.say_empty("")
        units = list(range(1, len(regression.units) + 1))
        self.offer(self.unit, units)
        self.unit.visible = len(units) > 1
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

    def arrays(self, run: Run, info: Info) -> dict[str, Array]:
        regression = run.regression
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
