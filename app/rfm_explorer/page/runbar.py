"""Train, pause, cancel; what it will cost, how far it is, what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import panel as pn
import panel_material_ui as pmui

from rfm_core import InvalidInput
from rfm_core.paper.tables import paper_rows

from ..captions import forecast as words
from ..queue.estimate import duration
from ..queue.plan import estimate_of
from ..queue.runner import Runner
from ..state.controls import OWN
from ..state.settings import Settings
from .progress import ProgressBar
from .staleness import mark
from .text import Text

if TYPE_CHECKING:
    from .upload import Upload

Action = Callable[[], object]
LIT = {"outline": "3px solid #E69F00", "outlineOffset": "2px"}


class RunBar:
    """Above the pictures: buttons, progress, and sentences. ``bare``: of a single picture."""

    def __init__(
        self,
        settings: Settings,
        runner: Runner,
        upload: Upload,
        *,
        train: Action,
        pause: Action,
        cancel: Action,
        pin: Action,
        bare: bool = False,
    ) -> None:
        self.settings, self.runner, self.upload = settings, runner, upload
        self.shown: Settings | None = None  # of the run that the pictures in sight show
        self.withheld = False  # the sentence on the run, while a story's question is open
        self._marked: object = None
        self.train = pmui.Button(
            label="Train", icon="play_arrow", color="primary", variant="contained", width=120
        )
        self.pause = pmui.Button(label="Pause", icon="pause", variant="outlined", width=120)
        self.cancel = pmui.Button(label="Cancel", icon="stop", variant="outlined", width=120)
        self.pin = pmui.Button(label="Pin this run", icon="push_pin", variant="outlined", width=150)
        self.usual, self.far, self.paper = (
            pmui.Button(label="", variant="text", icon=icon, size="small", margin=(0, 5))
            for icon in ("thumb_up", "travel_explore", "menu_book")
        )
        for button, action in (
            (self.train, train),
            (self.pause, pause),
            (self.cancel, cancel),
            (self.pin, pin),
        ):
            button.on_click(lambda _, action=action: action())
        self.paper.on_click(self._set_paper)
        self.usual.on_click(lambda _: self._set_recommended(False))
        self.far.on_click(lambda _: self._set_recommended(True))
        self.bar = ProgressBar("Progress of the training")
        self.stage = Text("", "small")
        self.cost = Text("", "small")
        self.mark = Text("", "warning", margin=(4, 10))
        self.lead = Text("", "lead", margin=(6, 10))
        self.trouble = Text("", "error", margin=(4, 10))
        self.link_trouble = Text("", "warning", margin=(4, 10))
        self.buttons = pmui.FlexBox(
            self.train,
            self.pause,
            self.cancel,
            self.pin,
            align_items="center",
            gap="6px",
        )
        self.offers = pmui.FlexBox(
            Text("Set the values of", "small", sizing_mode=None, align="center").pane,
            self.usual,
            self.far,
            self.paper,
            align_items="center",
        )
        self.layout = pn.Column(
            self.link_trouble.pane,
            self.buttons,
            self.offers,
            self.cost.pane,
            self.bar.pane,
            self.stage.pane,
            self.trouble.pane,
            self.mark.pane,
            self.lead.pane,
            sizing_mode="stretch_width",
            margin=0,
        )
        if bare:
            for item in (self.pin, self.offers, self.cost.pane):
                item.visible = False
        self.follow_settings()
        self.follow_run()

    # --- before the start -----------------------------------------------------------------

    def follow_settings(self) -> None:
        """Size, time and memory of what Train would do; the paper's row, what is recommended."""
        self._marked = None
        settings = self.settings
        self.show_mark()
        self._offer_paper()
        self._offer_recommended()
        try:
            if problems := settings.problems():
                raise InvalidInput(next(iter(problems.values())))
            size = settings.model_spec().size(settings.dimension())
            cost = estimate_of(settings, self.upload)
            runs = 1 if settings.system == OWN else settings.realizations
        except InvalidInput as error:
            self.cost.say(str(error))
            return
        there = self.runner.runs.scheduler.memory_gb
        text = (
            f"{settings.label()}: {size:,} parameters{self._paper_size()}. "
            f"Takes about {duration(runs * cost.seconds)} and {cost.memory_gb:.2g} GB of memory."
        )
        if cost.memory_gb > there:
            text += f" This server has {there:.2g} GB for jobs: it will not fit."
        self.cost.say(text)

    def _paper_size(self) -> str:
        """The best published one on this system, for comparison."""
        rows = [row for row in paper_rows() if row.system == self.settings.system]
        if not rows:
            return ""
        best = max(rows, key=lambda row: row.vpt_mean)
        return f" (the paper's best on this system has {best.model_size:,})"

    def _offer_paper(self) -> None:
        settings = self.settings
        row = settings.paper_row() if settings.system != OWN else None
        nearest = row or (settings.nearest_paper_row() if settings.system != OWN else None)
        self.paper.visible = nearest is not None
        self._row = nearest
        if nearest is None:
            return
        depth = f"x{nearest.depth}" if nearest.depth > 1 else ""
        model = f"{nearest.architecture} {nearest.width}{depth}"
        figure = f"{nearest.vpt_mean} ± {nearest.vpt_std}"
        lead = "Paper" if row else "Nearest in the paper"
        self.paper.param.update(
            label=f"{lead}: {model}, {figure}", disabled=settings.is_paper_faithful()
        )

    def _offer_recommended(self) -> None:
        """The models that the engine recommends for these data; off where they are set already.

        Those for a file are not known until a worker has looked for them.
        """
        settings, upload = self.settings, self.upload
        for button, lead, far in ((self.usual, "Recommended", False), (self.far, "Furthest", True)):
            if settings.system == OWN:
                stop = upload.busy and not far  # one button is enough for that
                label = "Stop looking" if stop else f"{lead}: find it from these data"
                off = upload.found is None or (upload.busy and far)
                button.param.update(label=label, disabled=off)
                continue
            spec = settings.recommended_spec(far)
            label = f"{lead}: none"
            if spec is not None:
                name = spec.architecture + "X" * spec.exchanging
                label = f"{lead}: {name} {spec.width}" + f"x{spec.depth}" * (spec.depth > 1)
            taken = spec is None or settings.is_recommended(far)
            button.param.update(label=label, disabled=taken)

    def _set_recommended(self, far: bool) -> None:
        if self.settings.system == OWN:
            self.upload.search(far)
        else:
            self.settings.apply_recommended(far)

    def _set_paper(self, event: object) -> None:
        if self._row is not None:
            self.settings.apply_paper(self._row)

    # --- while it runs --------------------------------------------------------------------

    def follow_run(self) -> None:
        """Buttons, progress and the sentence that says what is seen."""
        runner = self.runner
        active = runner.active
        self.pause.param.update(
            disabled=not active,
            label="Resume" if runner.state == "paused" else "Pause",
            icon="play_arrow" if runner.state == "paused" else "pause",
        )
        self.cancel.disabled = not active
        run = runner.run
        ready = run is not None and run.times is not None
        self.pin.disabled = not ready
        text, fraction, left = runner.progress
        self.bar.show(fraction, active)
        if runner.state == "paused":
            text = f"Paused. {text}"
        if left is not None and active:
            text += f", about {duration(left)} left"
        self.stage.say(text)
        if runner.state == "failed":
            self.trouble.say(runner.message)
        elif active:
            self.trouble.say("")
        elif runner.state == "cancelled":
            self.stage.say(runner.message)
        if self.withheld:
            self.lead.say("")
        elif run is not None and run.info is not None and run.trained is not None and run.times:
            paper = None if runner.plan is None else runner.plan.settings.paper_row()
            self.lead.say(words.first_sight(run.info, run.trained, run.times, paper))
        self.show_mark()

    def show_mark(self) -> None:
        """Say where pictures, training and controls do not agree, and light up Train."""
        plan = self.runner.plan
        now = (id(self.shown), id(plan), self.runner.active)
        if now == self._marked:
            return
        self._marked = now
        training = None if plan is None else plan.settings
        found = mark(self.shown, training, self.settings, self.runner.active)
        self.mark.say(found.words)
        self.train.sx = LIT if found.press_train else {}

    def refuse(self, why: str) -> None:
        self.trouble.say(why)

    def say_complaints(self, complaints: list[str]) -> None:
        self.link_trouble.say("\n".join(complaints))
