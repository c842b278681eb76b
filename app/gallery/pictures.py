"""Small pictures for the gallery's cards: real ones, of a run that takes a few seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ..explorer import Explorer
from ..folder import Run
from ..plots import climate, density, forecast, regions, regression
from ..plots.schematic import schematic
from ..plots.still import still

WIDTH, HEIGHT = 600, 375
QUICK: dict[str, Any] = {"system": "L63", "width": 200, "n_train": 10_000, "climate_times": 100.0}
NOTHING = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"/>'


def _forecast(run: Run) -> str | None:
    if run.info is None or (shown := run.trajectory(0, 0)) is None:
        return None
    return still(forecast.attractor(run.info, shown, "3D"), WIDTH, HEIGHT)


def _density(run: Run) -> str | None:
    if run.info is None or run.times is None:
        return None
    return still(density.density([("this run", run.times)], run.info), WIDTH, HEIGHT)


def _features(run: Run) -> str | None:
    if run.features is None:
        return None
    first = run.features.units[0]
    return still(regions.tanh_zones(first["training"], first.get("naive")), WIDTH, HEIGHT)


def _statistics(run: Run) -> str | None:
    return None if run.climate is None else still(climate.marginal(run.climate, 0), WIDTH, HEIGHT)


def _regression(run: Run) -> str | None:
    if run.regression is None:
        return None
    return still(regression.singular_values(run.regression, 0), WIDTH, HEIGHT)


def _model(run: Run) -> str | None:
    if run.trained is None or run.info is None:
        return None
    spec = run.trained.spec
    return schematic(spec, run.info.dimension, title=spec.label)


PICTURES: dict[str, Callable[[Run], str | None]] = {
    "forecast": _forecast,
    "density": _density,
    "features": _features,
    "statistics": _statistics,
    "regression": _regression,
    "model": _model,
}


class Pictures:
    """All of them, each as soon as the run has what it shows; begun with the first request."""

    def __init__(self) -> None:
        self.done: dict[str, str] = {}
        self._work: asyncio.Task[None] | None = None

    async def get(self, key: str) -> str:
        """Waits without holding up the server; an empty picture where the run gives none."""
        if self._work is None:
            self._work = asyncio.create_task(self._draw())
        while key not in self.done and not self._work.done():
            await asyncio.sleep(0.1)
        return self.done.get(key, NOTHING)

    async def _draw(self) -> None:
        explorer = Explorer(**QUICK)
        for extra in ("climate", "regression"):
            explorer.runner.want(extra)
        try:
            while True:
                explorer.runner.tick()
                run = explorer.run
                for key, draw in PICTURES.items():
                    if run is not None and key not in self.done and (svg := draw(run)):
                        self.done[key] = svg
                        await asyncio.sleep(0)
                if not explorer.runner.active:
                    return
                await asyncio.sleep(0.2)
        finally:
            explorer.close()
