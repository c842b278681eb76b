"""Stories on the page: a question, two runs, and, when it is asked for, the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from ..queue.run import Run
from ..queue.runner import Runner
from ..results.records import Features
from ..state.compare import names
from ..state.settings import Settings
from ..state.stories import BY_KEY, STORIES, Numbers, Story
from .fields import Field, Fields, Section, State
from .pins import PinBoard
from .text import Text

FIELD = Field(
    "story",
    "Story",
    "choice",
    help="Presets that teach one point each: two runs, one question.",
    options=[("", "Explore freely"), *((story.key, story.title) for story in STORIES)],
)


class StoryBox:
    """Runs the first setting, pins it, runs the second, and reads the two when asked to.

    ``act`` is "against" while the first run is under way, then "story", then "ready", "told" once
    somebody has asked for the answer. ``train`` runs what the settings say, or is False; ``show``
    brings a view into sight; ``withhold`` keeps figures of the second run back, or gives them.
    """

    def __init__(
        self,
        settings: Settings,
        runner: Runner,
        pinboard: PinBoard,
        train: Callable[[], bool],
        show: Callable[[str], None],
        withhold: Callable[[bool], None],
    ) -> None:
        self.settings, self.runner, self.pinboard = settings, runner, pinboard
        self._train, self._show, self._withhold = train, show, withhold
        self.story: Story | None = None
        self.act = ""
        self._first: tuple[Run, Settings] | None = None
        self._at_once = False  # the answer, without a button
        self._own_change = False
        self.choice = Fields([Section([FIELD])], lambda name, key, final: self._choose(key))
        self.choice.margin = (5, 0)
        self.reading = Text("", "story", margin=(8, 10))
        self.button = pmui.Button(
            label="Show the answer", icon="visibility", variant="outlined", visible=False
        )
        self.button.on_click(lambda _: self.answer())
        self.choice.show({FIELD.name: State("")})
        self.layout = pn.Column(
            self.reading.pane, self.button, sizing_mode="stretch_width", margin=0
        )

    def open(self, key: str, answer: bool = False) -> list[str]:
        """Begin with this story, and tell its ``answer`` without being asked; or why not."""
        if key not in BY_KEY:
            return [f"There is no story {key[:40]!r}. There are: {', '.join(BY_KEY)}."]
        self._choose(key, answer)
        return []

    def close(self) -> None:
        """Back to exploring freely."""
        self._choose("")

    @property
    def busy(self) -> bool:
        """Does it go on by itself as soon as the present run is over?"""
        return self.act in ("against", "story")

    def _choose(self, key: str, answer: bool = False) -> None:
        self.story, self.act, self._at_once = BY_KEY.get(key), "", answer
        self.choice.show({FIELD.name: State(self.story.key if self.story else "")})
        self.button.visible = False
        self._withhold(False)
        self.reading.say(self.story.before if self.story else "")
        if self.story is not None:
            self.act = "against" if self._run(self.story.against) else ""

    def _run(self, values: dict[str, Any]) -> bool:
        self._own_change = True
        try:
            self.settings.apply(values)
        finally:
            self._own_change = False
        return self._train()

    def follow_settings(self) -> None:
        """What somebody sets by hand is no part of a story: it is over, and so is its reading."""
        if self.story is not None and not self._own_change:
            self.close()

    def follow_run(self) -> None:
        """On to the next act when a run has ended."""
        story, runner = self.story, self.runner
        if story is None or not self.busy or runner.active:
            return
        if runner.state != "done" or runner.run is None or runner.run.times is None:
            self.act = ""  # cancelled or failed: the page says so already
            self._withhold(False)
            return
        if self.act == "against":
            assert runner.plan is not None
            self._first = runner.run, runner.plan.settings
            self.pinboard.keep()
            self._withhold(not self._at_once)
            self._show(story.view)
            self.act = "story" if self._run(story.settings) else ""
        else:
            self.act = "ready"
            self.button.visible = not self._at_once
            if self._at_once:
                self.answer()

    def answer(self) -> None:
        """Read the two runs, if both are there."""
        run, plan = self.runner.run, self.runner.plan
        if self.story is None or self.act != "ready" or not (self._first and run and plan):
            return
        first, settings = self._first
        numbers = [_numbers(one) for one in (run, first)]
        if numbers[0] is not None and numbers[1] is not None:
            told = self.story.told(numbers[0], numbers[1], names(settings, plan.settings))
            self.reading.say(f"{self.story.before}\n{told}")
        self.act = "told"
        self.button.visible = False
        self._withhold(False)


def _numbers(run: Run) -> Numbers | None:
    if run.info is None or run.times is None:
        return None
    return Numbers.of(run.info, run.times, run.trained, run.get(Features))
