"""Small pictures for the gallery's cards: real ones, of a run that takes a few seconds."""

from __future__ import annotations

import asyncio
from typing import Any

from ...explorer import Explorer
from ...plots.still import still
from ...results.files import Results
from ...views import EXTRAS, VIEWS, View

WIDTH, HEIGHT = 600, 375
QUICK: dict[str, Any] = {"system": "L63", "width": 200, "n_train": 10_000, "climate_times": 100.0}
NOTHING = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"/>'


def picture(view: type[View], run: Results) -> str | None:
    """The view's thumbnail as SVG, once the run has what it shows."""
    found = view.thumbnail(run)
    return found if found is None or isinstance(found, str) else still(found, WIDTH, HEIGHT)


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
        for extra in EXTRAS:
            explorer.runner.want(extra.name)
        try:
            while True:
                explorer.runner.tick()
                run = explorer.run
                for view in [view for view in VIEWS if view.key not in self.done]:
                    if run is not None and (svg := picture(view, run)):
                        self.done[view.key] = svg
                        await asyncio.sleep(0)
                if not explorer.runner.active:
                    return
                await asyncio.sleep(0.2)
        finally:
            explorer.close()
