"""The explorer: settings, runs, views and pinned runs of one session, served or in a notebook."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import panel as pn

from rfm_core import InvalidInput, PaperRow
from rfm_core.checks import real

from .cell import Cell
from .folder import Run
from .notebook import CONNECTING, Bundle, bundle
from .pins import Pin, PinBoard
from .plan import make_plan
from .runbar import RunBar
from .runner import Runner
from .scene import Trajectory
from .server import get_shelf
from .settings import Settings
from .sidebar import Sidebar
from .stage import Stage
from .storybox import StoryBox
from .upload import Upload
from .views import VIEWS

log = logging.getLogger("rfm_explorer")
TICK_MILLISECONDS = 120
ABSENT_SECONDS = 3.0  # without a browser: a closed tab, or a network that will come back


class Explorer(pn.viewable.Viewer):
    """``Explorer(system="L96", width=256)`` in a notebook cell, or a page's content.

    Keywords are settings. Results are reachable while and after it trains: ``explorer.run`` has all
    of them, ``explorer.result`` the forecast times, ``explorer.model`` the trained model. It trains
    in a process of its own and never holds up the kernel; ``explorer.wait()`` does, until it is
    over. ``Explorer(story="ridge")`` plays a story (``app.stories``).
    """

    def __init__(
        self,
        *,
        query: Mapping[str, str] | None = None,
        hide: tuple[str, ...] = (),
        only: str = "",
        tab: str = "",
        story: str = "",
        train: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.session = uuid.uuid4().hex
        self.settings = Settings()
        self.complaints = self._begin_with(query or {}, settings)
        self.runner = Runner(self.session, get_shelf())
        self.selected = (0, self.settings.test)
        self.pins_version = 0
        self._loaded = self._waiting = False
        self._seen_at = time.monotonic()
        self._left_alone = False
        self._pump: Any = None
        self._view: pn.viewable.Viewable | None = None
        self.trained = self.settings  # as they were when the present run began
        self.stage = Stage(self, only, tab)
        self.settings.view = self.stage.visible
        self.complaints += self.stage.complaints
        self.sidebar = Sidebar(self.settings, hide)
        self.upload = Upload(self)
        self.pinboard = PinBoard(self)
        self.stories = StoryBox(self)
        self.runbar = RunBar(self)
        names = [name for name in self.settings.param if name != "name"]
        self.settings.param.watch(self._changed, names)
        if story:
            self.complaints += self.stories.open(story)
        self.runbar.say_complaints(self.complaints)
        if train and self.stories.story is None:
            self.train()

    # --- settings -------------------------------------------------------------------------

    def _begin_with(self, query: Mapping[str, str], settings: Mapping[str, Any]) -> list[str]:
        complaints = self.settings.read(query)
        if settings:
            unknown = sorted(set(settings) - set(self.settings.param))
            if unknown:
                raise InvalidInput(
                    f"{unknown[0]!r} is not a setting. Settings are: "
                    f"{', '.join(n for n in self.settings.param if n != 'name')}."
                )
            self.settings.apply(settings)
        return complaints

    def _changed(self, *events: Any) -> None:
        names = {event.name for event in events}
        if names <= {"view", "test", "column", "plane"}:
            return
        self.sidebar.mark()
        self.runbar.follow_settings()
        self.upload.follow_settings()
        if self.stage.visible == "model":
            self.stage.current.redraw()

    @property
    def paper_row(self) -> PaperRow | None:
        """The published result of the run that is shown, whatever the controls say by now."""
        return self.trained.paper_row()

    # --- results --------------------------------------------------------------------------

    @property
    def run(self) -> Run | None:
        entry = self.runner.entry
        return None if entry is None else entry.run

    @property
    def result(self) -> Any:
        """Forecast times of everything done so far (``app.scene.Times``), or None."""
        self.runner.tick()  # a cell that is run keeps the kernel from looking by itself
        return None if self.run is None else self.run.times

    @property
    def model(self) -> Any:
        """The trained model (``rfm_core.Model``), or None before there is one."""
        from rfm_core import load

        self.runner.tick()
        path = None if self.run is None else self.run.model_path
        return None if path is None else load(path, device="cpu")

    @property
    def pins(self) -> list[Pin]:
        return self.pinboard.pins

    @property
    def trajectory(self) -> Trajectory | None:
        """The one that is shown."""
        return None if self.run is None else self.run.trajectory(*self.selected)

    def wait(self, seconds: float = 600.0) -> bool:
        """Until everything that was asked for is done, at most so long; whether it is over."""
        until = time.monotonic() + real("seconds", seconds, "It is how long to wait.", 0.0, 1e6)
        while self.runner.active and self.runner.state != "paused" and time.monotonic() < until:
            self.runner.tick()
            time.sleep(0.05)
        return not self.runner.active

    # --- running --------------------------------------------------------------------------

    def train(self) -> bool:
        """Run what the settings say; a bad value is a sentence on the page, and False."""
        try:
            plan = make_plan(self.settings, self.upload, self.runner.shelf.broker)
        except InvalidInput as error:
            self.runbar.refuse(str(error))
            return False
        self.selected = (0, min(self.settings.test, self.settings.n_test - 1))
        self.trained = self.settings.copy()
        self.stage.want_extras()
        self.runner.start(plan)
        self.runbar.follow_run()
        self.wake()
        return True

    def cancel(self) -> None:
        self.runner.cancel()
        self.runbar.follow_run()
        self.wake()

    def pause(self) -> None:
        if self.runner.state == "paused":
            self.runner.resume()
            self.wake()
        else:
            self.runner.pause()
        self.runbar.follow_run()

    def wake(self) -> None:
        """Start looking at the worker; stops by itself when there is nothing to wait for.

        Not before the browser has drawn the page: widgets lose what changes until then.
        """
        if not self._loaded:
            if not self._waiting:
                self._waiting = True
                pn.state.onload(self._begin)
            return
        if self._pump is None:
            self._pump = pn.state.add_periodic_callback(self._tick, TICK_MILLISECONDS, start=False)
        if not self._pump.running:
            self._pump.start()

    def _begin(self) -> None:
        self._loaded = True
        self.wake()

    def _pause_drawing(self) -> None:
        """A notebook is about to show this: nothing may change until its page has drawn it."""
        self._loaded, self._waiting = False, True
        if self._pump is not None and self._pump.running:
            self._pump.stop()
        self.runbar.stage.say(CONNECTING)

    def _tick(self) -> None:
        try:
            self._hold_on_if_alone()
            with in_one_message():
                self.runner.tick()
                self.upload.tick()
                self.runbar.follow_run()
                self.stories.follow_run()
                self.pinboard.follow_run()
                self.stage.draw()
        except Exception:
            log.exception("the page could not be updated")
            self.runbar.refuse("Something went wrong while drawing. The log has the details.")
        if not (self.runner.active or self.upload.busy or self.stage.undrawn):
            self._pump.stop()

    def _hold_on_if_alone(self) -> None:
        """Nobody is served by a job whose tab is closed; the session itself ends only later.

        So it stands still, and goes on where it was if the network was only cut.
        """
        now = time.monotonic()
        if watched():
            self._seen_at = now
            if self._left_alone:
                self._left_alone = False
                self.runner.resume()
        elif now - self._seen_at > ABSENT_SECONDS and self.runner.state in ("queued", "running"):
            self._left_alone = True
            self.runner.pause(away=True)

    # --- looking --------------------------------------------------------------------------

    def select(self, realization: int, test: int, show: bool = False) -> None:
        """Show this test trajectory, and its tab if asked."""
        self.selected = (realization, test)
        if realization == 0:
            self.settings.test = test
        view: Any = self.stage.views["forecast"]
        if view.built:
            view.show_choice()
        if show:
            self.stage.show("forecast")
        self.wake()

    # --- layout ---------------------------------------------------------------------------

    def main(self) -> list[pn.viewable.Viewable]:
        """The middle of the page."""
        return [
            self.stories.reading.pane,
            self.runbar.layout,
            self.stage.layout(),
            self.pinboard.layout,
        ]

    def side(self) -> list[pn.viewable.Viewable]:
        """The controls; those of an own file are below the choice of the system."""
        system, *rest = self.sidebar.layout
        return [self.stories.layout, system, self.upload.layout, *rest]

    def __panel__(self) -> pn.viewable.Viewable:
        """In a notebook: controls beside pictures."""
        if self._view is None:
            wide = {"flex": "1 1 500px"}
            middle = pn.Column(*self.main(), sizing_mode="stretch_width", styles=wide)
            parts = [middle]
            if self.stage.only:
                self.runbar.buttons.visible = False
            else:
                parts.insert(0, pn.Column(*self.side(), width=320, max_height=1100, scroll=True))
            when = {"begun": self._pause_drawing, "drawn": self._begin}
            # in a narrow cell the controls are below the pictures
            wrap = {"flexWrap": "wrap-reverse", "alignItems": "flex-end"}
            self._view = Cell(*parts, sizing_mode="stretch_width", sx=wrap, **when)
        return self._view

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        return bundle(self)

    @classmethod
    def view(cls, key: str, **settings: Any) -> Explorer:
        """A single picture that trains by itself: ``Explorer.view("features", system="L63")``.

        With its sentences and a line of progress, without controls.
        """
        known = [kind.key for kind in VIEWS]
        if key not in known:
            raise InvalidInput(f"There is no view {key!r}. Views are: {', '.join(known)}.")
        return cls(only=key, **settings)

    def close(self) -> None:
        """Free everything this session holds."""
        if self._pump is not None and self._pump.running:
            self._pump.stop()
        self.pinboard.close()
        self.runner.close()
        self.upload.close()


def in_one_message() -> AbstractContextManager[None]:
    """What changes meanwhile goes to the browser together, which then draws once."""
    return pn.io.hold() if _session() is not None else nullcontext()  # a notebook does so itself


def watched() -> bool:
    """Has this session a browser? In a notebook nobody can tell, so yes."""
    session = _session()
    return session is None or session.connection_count > 0


def _session() -> Any:
    """Bokeh's, of a served page."""
    context = pn.state.curdoc.session_context if pn.state.curdoc is not None else None
    return getattr(context, "session", None)
