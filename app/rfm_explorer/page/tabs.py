"""What is in sight: the views in their tabs, each built when it is first seen, drawn in pieces."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import panel as pn
import panel_material_ui as pmui
from param.parameterized import Event

from ..queue.runner import Runner
from ..views import VIEWS
from ..views.base import Drawing, View
from ..views.context import Context
from ..views.take_away import TakeAwayView

DRAWING_SECONDS = 0.03  # of a tick; a piece that was begun is finished


class Tabs:
    """All views of an explorer, or the ``only`` one; ``visible`` is the key of the one in sight."""

    def __init__(self, context: Context, runner: Runner, only: str = "", tab: str = "") -> None:
        self.context, self.runner = context, runner
        kinds: tuple[type[View], ...] = (*VIEWS, TakeAwayView)
        self.views = {kind.key: kind(context) for kind in kinds}
        self.only = only if only in self.views else ""
        self.visible = self.only or (tab if tab in self.views else VIEWS[0].key)
        self.complaints = [
            f"There is no picture {key[:40]!r}. There are: {', '.join(self.views)}."
            for key in (only, tab)
            if key and key not in self.views
        ]
        self._pieces: Iterator[Drawing] = iter(())
        self._pieces_left = False
        self._tabs: Any = None

    @property
    def current(self) -> View:
        return self.views[self.visible]

    # --- drawing --------------------------------------------------------------------------

    @property
    def undrawn(self) -> bool:
        """Is something in sight not as it should be yet?"""
        return self._pieces_left or (self.current.built and self.current.stale())

    def draw(self) -> None:
        """Some pieces of what is in sight; between ticks other sessions have their turn."""
        if self.undrawn and not self._pieces_left:
            self._pieces, self._pieces_left = self.current.pieces(), True
        until = time.perf_counter() + DRAWING_SECONDS
        while self._pieces_left and time.perf_counter() < until:
            piece = next(self._pieces, None)
            if piece is None:
                self._pieces_left = False
            else:
                piece()

    def draw_at_once(self) -> None:
        """What is there already, before the page is sent: far cheaper than to change it later."""
        self.runner.tick()
        if self.current.built:
            for piece in self.current.pieces():
                piece()

    def follow_settings(self) -> None:
        """The controls were moved; most views are about what was run, not about them."""
        if self.current.follows_controls:
            self.current.redraw()

    # --- looking --------------------------------------------------------------------------

    def look_at(self, key: str) -> None:
        """Another view is in sight."""
        self.visible = key
        self._pieces_left = False  # of the one that went out of sight
        self.context.controls.view = key
        self.want_extras()
        self.context.wake()

    def want_extras(self) -> None:
        """Have the runner make what only the view in sight needs."""
        for view in self.views.values():
            if view.extra is not None:
                self.runner.unwant(view.extra.name)
        if self.current.extra is not None:
            self.runner.want(self.current.extra.name)

    def show(self, key: str) -> None:
        """Bring a view into sight."""
        if self._tabs is None:
            self.look_at(key)
        else:
            self._tabs.active = list(self.views).index(key)

    def layout(self) -> pn.viewable.Viewable:
        """Tabs, or the only view."""
        first = self.current.panel()
        self.draw_at_once()
        if self.only:
            return first
        places = [pn.Column(sizing_mode="stretch_width", margin=0) for _ in self.views]
        start = list(self.views).index(self.visible)
        places[start].append(first)
        titles = [view.title for view in self.views.values()]
        self._tabs = pmui.Tabs(
            *zip(titles, places, strict=True), active=start, sizing_mode="stretch_width"
        )

        def changed(event: Event) -> None:
            self.look_at(list(self.views)[event.new])
            if not places[event.new].objects:
                panel = self.current.panel()
                self.draw_at_once()
                places[event.new].append(panel)

        self._tabs.param.watch(changed, "active")
        return self._tabs
