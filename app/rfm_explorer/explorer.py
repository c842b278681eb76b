"""The explorer: settings, runs, views and pinned runs of one session, served or in a notebook."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from param.parameterized import Event

from rfm_core import InvalidInput, Model, Times, load
from rfm_core.checks import real

from .notebook.bundle import Bundle, before_connection, bundle
from .notebook.transport import Cell
from .page.pins import Pin, PinBoard
from .page.runbar import RunBar
from .page.sidebar import Sidebar
from .page.storybox import StoryBox
from .page.tabs import Tabs
from .page.theme import THEME
from .page.upload import Upload
from .queue.plan import make_plan
from .queue.run import Run
from .queue.runner import Runner
from .queue.shared import get_run_cache
from .results.records import Trained, Trajectory
from .state.settings import Settings
from .views import EXTRAS, VIEWS
from .views.context import Context, Pinned, Shown
from .views.forecast import ForecastView

log = logging.getLogger("rfm_explorer")
TICK_MILLISECONDS = 120
ABSENT_SECONDS = 3.0  # without a browser: a closed tab, or a network that will come back


class Explorer(pn.viewable.Viewer):
    """``Explorer(system="L96", width=256)`` in a notebook cell, or a page's content.

    Keywords are settings. Results are reachable while and after it trains: ``explorer.run`` has all
    of them, ``explorer.result`` the forecast times, ``explorer.model`` the trained model. It trains
    in a process of its own and never holds up the kernel; ``explorer.wait()`` does, until it is
    over. ``Explorer(story="ridge")`` plays a story (``rfm_explorer.state.stories``) and asks
    before it tells the ``answer``.
    """

    begun = param.Integer(0, doc="How many runs this page has begun.")

    def __init__(
        self,
        *,
        query: Mapping[str, str] | None = None,
        hide: tuple[str, ...] = (),
        only: str = "",
        tab: str = "",
        story: str = "",
        answer: bool = False,
        train: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.session = uuid.uuid4().hex
        self.settings = Settings()
        self.complaints = self._begin_with(query or {}, settings)
        self.runner = Runner(self.session, get_run_cache())
        self.selected = (0, self.settings.test)
        self._loaded = self._waiting = self._woken = False
        self._seen_at = time.monotonic()
        self._left_alone = False
        self._pump: Any = None
        self._view: pn.viewable.Viewable | None = None
        self._drawn: dict[str, Settings] = {}  # of the run that each view shows
        self.pinboard = PinBoard(self.runner, lambda why: self.runbar.refuse(why), self.wake)
        context = Context(self._shown, self.settings, wake=self.wake, select=self.select)
        self.tabs = Tabs(context, self.runner, only, tab)
        self.settings.view = self.tabs.visible
        self.complaints += self.tabs.complaints
        self.sidebar = Sidebar(self.settings, hide)
        self.upload = Upload(
            self.settings, self.runner, lambda: self.runbar.follow_settings(), self.wake
        )
        self.stories = StoryBox(
            self.settings,
            self.runner,
            self.pinboard,
            train=self.train,
            show=self.tabs.show,
            withhold=self._withhold,
        )
        self.runbar = RunBar(
            self.settings,
            self.runner,
            self.upload,
            train=self.train,
            pause=self.pause,
            cancel=self.cancel,
            pin=self.pinboard.pin,
            bare=bool(self.tabs.only),
        )
        names = [name for name in self.settings.param if name != "name"]
        self.settings.param.watch(self._changed, names)
        if story:
            self.complaints += self.stories.open(story, answer)
        self.runbar.say_complaints(self.complaints)
        if train and self.stories.story is None:
            self.train()

    def __repr__(self) -> str:
        said = f"Explorer {self.settings.label()}, seed {self.settings.seed}: {self.runner.state}"
        run = self.run
        if run is None or run.times is None or run.info is None:
            return said
        return f"{said}, {run.times.vpt.mean():.1f} {run.info.unit} on average"

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

    def _changed(self, *events: Event) -> None:
        names = {event.name for event in events}
        if names <= {"view", "test"}:
            return
        self.runbar.follow_settings()
        self.upload.follow_settings()
        self.tabs.follow_settings()
        self.stories.follow_settings()

    @property
    def trained(self) -> Settings:
        """As they were when the present run began, whatever the controls say by now."""
        return self.settings if self.runner.plan is None else self.runner.plan.settings

    def beta_in_use(self) -> str:
        """The ridge parameters of the present run, which may have been chosen for us."""
        trained = None if self.run is None else self.run.trained
        if trained is None:
            return ""
        found = dict.fromkeys(f"{unit.beta:.1e}".replace(".0e", "e") for unit in trained.units)
        return f"in use: {', '.join(found)}"

    @property
    def tab(self) -> str:
        """The one in sight; empty where there is only one picture."""
        return "" if self.tabs.only else self.tabs.visible

    @property
    def up_to_date(self) -> bool:
        """Is the present run the one that the controls describe?"""
        return self.trained.effective() == self.settings.effective()

    def restore(self, query: Mapping[str, str], tab: str, *, run: bool, file: str = "") -> None:
        """Everything as a link says; ``run``: with its results, which may be kept from before.

        ``file`` is the name under which an own file was kept.
        """
        if file:
            self.upload.find(file)
        self.runbar.say_complaints(self.settings.read(query))
        if tab in self.tabs.views and tab != self.tabs.visible and not self.tabs.only:
            self.tabs.show(tab)
        if run and (self.run is None or not self.up_to_date):
            self.train()
        elif self.selected != (0, self.settings.test):
            self.select(0, self.settings.test)

    # --- results --------------------------------------------------------------------------

    @property
    def run(self) -> Run | None:
        return self.runner.run

    @property
    def result(self) -> Times | None:
        """Forecast times of everything done so far (``results.records.Times``), or None."""
        self.runner.tick()  # a cell that is run keeps the kernel from looking by itself
        return None if self.run is None else self.run.times

    @property
    def model(self) -> Model | None:
        """The trained model (``rfm_core.Model``), or None before there is one."""
        self.runner.tick()
        path = None if self.run is None else self.run.model_path
        return None if path is None else load(path, device="cpu")

    @property
    def pins(self) -> list[Pin]:
        return self.pinboard.pins

    def _shown(self) -> Shown:
        """What views are about."""
        pins = tuple(Pinned(pin.label, pin.run) for pin in self.pins)
        return Shown(self.run, self.trained, self.selected, pins)

    @property
    def trajectory(self) -> Trajectory | None:
        """The one that is shown."""
        return None if self.run is None else self.run.trajectory(*self.selected)

    @property
    def settled(self) -> bool:
        """Is there a run, and is it over?"""
        return self.run is not None and not self.runner.active

    def wait(self, seconds: float = 600.0) -> bool:
        """Until everything that was asked for is done, at most so long; whether it is over."""
        until = time.monotonic() + real("seconds", seconds, "It is how long to wait.", 0.0, 1e6)
        while self._going_on and self.runner.state != "paused" and time.monotonic() < until:
            self.runner.tick()
            self.stories.follow_run()
            time.sleep(0.05)
        return not self._going_on

    @property
    def _going_on(self) -> bool:
        """Does something happen by itself? Between two acts of a story nothing runs."""
        return self.runner.active or self.stories.busy

    # --- running --------------------------------------------------------------------------

    def train(self) -> bool:
        """Run what the settings say; a bad value is a sentence on the page, and False."""
        try:
            plan = make_plan(self.settings, self.upload, self.runner.runs.scheduler, EXTRAS)
        except InvalidInput as error:
            self.runbar.refuse(str(error))
            return False
        self.selected = (0, min(self.settings.test, self.settings.n_test - 1))
        self.tabs.want_extras()
        self.runner.start(plan)
        self.begun += 1
        self.runbar.follow_run()
        self.wake()
        return True

    def _withhold(self, withheld: bool) -> None:
        """Figures that would give away the answer to a story's question."""
        self.runbar.withheld = withheld
        self.pinboard.withhold(withheld)
        self.runbar.follow_run()

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

        Not before the browser has drawn the page: widgets lose what changes until then. Whoever
        calls this while it looks, such as a story that goes on, has another look after this one.
        """
        self._woken = True
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

    def _tick(self) -> None:
        self._woken = False
        try:
            self._hold_on_if_alone()
            with in_one_message():
                self.runner.tick()
                self.upload.tick()
                self.runbar.follow_run()
                self.stories.follow_run()
                self.pinboard.follow_run()
                self.tabs.draw()
                self._note_what_is_shown()
        except Exception:
            log.exception("the page could not be updated")
            self.runbar.refuse("Something went wrong while drawing. The log has the details.")
        left = self._going_on or self.upload.busy or self.tabs.undrawn
        if not (left or self._woken) and self._pump is not None and self._pump.running:
            self._pump.stop()

    def _note_what_is_shown(self) -> None:
        """Pictures stay until there are newer ones: they may be of another run than the last."""
        view, run, plan = self.tabs.current, self.run, self.runner.plan
        if run is not None and run.info is not None and plan is not None and view.built:
            there = [run.version(kind) for kind in view.needs or (Trained,)]
            if any(there) and not self.tabs.undrawn:
                self._drawn[view.key] = plan.settings
        self.sidebar.tell("beta_auto", self.beta_in_use() if self.settings.beta_auto else "")
        self.runbar.shown = self._drawn.get(view.key)
        self.runbar.show_mark()

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
        if show:
            self.tabs.show(ForecastView.key)
        self.wake()

    # --- layout ---------------------------------------------------------------------------

    def main(self) -> list[pn.viewable.Viewable]:
        """The middle of the page."""
        return [
            self.stories.layout,
            self.runbar.layout,
            self.tabs.layout(),
            self.pinboard.layout,
        ]

    def side(self) -> list[pn.viewable.Viewable]:
        """The controls; those of an own file are below the choice of the system."""
        system, *rest = self.sidebar.layout
        return [self.stories.choice, system, self.upload.layout, *rest]

    def sight(self, answered: bool = False) -> tuple[list[str], pn.viewable.Viewable]:
        """For a still picture: sentences and the view as they are now, a story's answer too."""
        if answered:
            self.stories.answer()
        layout = self.tabs.current.panel()
        self.tabs.draw_at_once()
        self.runbar.follow_run()
        bar = self.runbar
        texts = (bar.link_trouble, bar.trouble, self.stories.reading, bar.lead)
        return [text.text for text in texts if text.text], layout

    def __panel__(self) -> pn.viewable.Viewable:
        return self.cell(before_connection(self))

    def cell(self, until: str, place: str = "") -> Cell:
        """For a notebook: controls beside pictures, and HTML until they come (see ``Cell``)."""
        if self._view is None:
            wide = {"flex": "1 1 500px"}
            middle = pn.Column(*self.main(), sizing_mode="stretch_width", styles=wide)
            parts = [middle]
            if self.tabs.only:
                self.runbar.buttons.visible = False
            else:
                parts.insert(0, pn.Column(*self.side(), width=320, max_height=1100, scroll=True))
            # in a narrow cell the controls are below the pictures
            wrap = {"flexWrap": "wrap-reverse", "alignItems": "flex-end"}
            look = {"theme_config": THEME, "sizing_mode": "stretch_width", "sx": wrap}
            self._view = pmui.Row(*parts, **look)
        when = {"begun": self._pause_drawing, "drawn": self._begin}
        return Cell(self._view, until, place=place, **when)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
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
