"""Stories on the page: a question, two runs, and what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import panel_material_ui as pmui

from .folder import Run
from .stories import BY_KEY, STORIES, Numbers, Story
from .text import Text

if TYPE_CHECKING:
    from .explorer import Explorer

FREE = "Explore freely"


class StoryBox:
    """Runs the first setting, pins it, runs the second, and reads the two."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.story: Story | None = None
        self.act = ""  # "against" while the first run is under way, then "story", then "told"
        self._first: Run | None = None
        self.choice = pmui.Select(
            label="Story",
            options={FREE: "", **{story.title: story.key for story in STORIES}},
            value="",
            size="small",
            sizing_mode="stretch_width",
            margin=(10, 10, 5, 10),
            description="Presets that teach one point each: two runs, one question.",
        )
        self.choice.param.watch(self._choose, "value")
        self.layout = self.choice
        self.reading = Text("", "story", margin=(8, 10))

    def open(self, key: str) -> list[str]:
        """Begin with this story; or why not."""
        if key not in BY_KEY:
            return [f"There is no story {key[:40]!r}. There are: {', '.join(BY_KEY)}."]
        self.choice.value = key
        return []

    def _choose(self, event: Any) -> None:
        chosen = BY_KEY.get(event.new)
        self.story, self.act = chosen, ""
        if chosen is None:
            self.reading.say("")
            return
        self.reading.say(chosen.before)
        self.explorer.settings.apply(chosen.against)
        if self.explorer.train():
            self.act = "against"

    def follow_run(self) -> None:
        """On to the next act when a run has ended."""
        story, runner = self.story, self.explorer.runner
        run = self.explorer.run
        if story is None or self.act not in ("against", "story") or runner.active:
            return
        if runner.state != "done" or run is None or run.times is None:
            self.act = ""  # cancelled or failed: the page says so already
            return
        if self.act == "against":
            self._first = run
            self.explorer.pinboard.pin()
            self.explorer.settings.apply(story.settings)
            self.explorer.stage.show(story.view)
            self.act = "story" if self.explorer.train() else ""
        else:
            self.act = "told"
            numbers = [self._numbers(r) for r in (run, self._first)]
            if numbers[0] is not None and numbers[1] is not None:
                self.reading.say(f"{story.before}\n{story.told(numbers[0], numbers[1])}")

    @staticmethod
    def _numbers(run: Run | None) -> Numbers | None:
        if run is None or run.info is None or run.times is None:
            return None
        return Numbers.of(run.info, run.times, run.trained, run.features)
