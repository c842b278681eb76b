"""A user's own series: taken from the browser, capped, looked at by a worker, never by the server.

File and column names are a stranger's text; they appear in widgets that escape them and in
``Text``, nowhere else. The file on the server's disk has a name of ours.
"""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import panel as pn
import panel_material_ui as pmui

from rfm_core import InvalidInput, ModelSpec
from rfm_core.tasks import Task, TaskFailed, TaskProgress

from .estimate import Sizes
from .folder import new_folder
from .settings import OWN, Settings
from .sidebar import Control
from .text import Text

if TYPE_CHECKING:
    from .broker import Job
    from .explorer import Explorer

MOST_MEGABYTES = 50
FILES = 3  # of a session; a run that is shown can still be asked for its long-time statistics
INSPECTION_GB = 1.5
INSPECTION_SECONDS = 20.0
SEARCH_SECONDS = 60.0  # for a model that suits
WORDS_BEFORE = (
    "CSV, TSV, TXT, NPY or NPZ: one row for each time, equal steps, one column for each component. "
    f"At most {MOST_MEGABYTES} MB. The file stays on this server until you leave the page."
)
NO_TIME = {"find it": None, "there is none": False}


class Upload:
    """The controls that appear for "My own data"."""

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.settings = explorer.settings
        self.found: dict[str, Any] | None = None
        self._files: list[Path] = []  # the last is the one in use; runs may still need the others
        self._job: Job | None = None
        self.layout = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        self.follow_settings()

    def _build(self) -> None:
        """The widgets, made when somebody first wants them."""
        self.input = pmui.FileInput(
            label="Choose a file",
            accept=".csv,.tsv,.txt,.dat,.npy,.npz",
            chunk_size=1_000_000,
            sizing_mode="stretch_width",
            margin=(5, 10),
        )
        self.input.param.watch(self._received, "value")
        self.reading = Text(WORDS_BEFORE, "small")
        self.trouble = Text("", "error")
        self.key = pmui.Select(label="Array", options=[], size="small", visible=False)
        self.key.param.watch(self._other_key, "value")
        self.columns = pmui.MultiChoice(label="Columns", options=[], visible=False)
        self.columns.param.watch(self._choose_columns, "value")
        self.time = pmui.Select(label="Time column", options=NO_TIME, size="small", visible=False)
        self.time.param.watch(self._choose_time, "value")
        names = ("series_dt", "lyapunov", "estimate", "homogeneous")
        self.controls = {name: Control(self.settings, name) for name in names}
        rest = [control.widget for control in self.controls.values()]
        self.choices = pn.Column(
            self.key, self.columns, self.time, *rest, visible=False, sizing_mode="stretch_width"
        )
        for widget in (self.key, self.columns, self.time):
            widget.param.update(sizing_mode="stretch_width", margin=(5, 10))
        self.layout.objects = [self.input, self.reading.pane, self.trouble.pane, self.choices]

    @property
    def busy(self) -> bool:
        return self._job is not None

    def follow_settings(self) -> None:
        self.layout.visible = self.settings.system == OWN
        if self.settings.system != OWN:
            return
        if not self.layout.objects:
            self._build()
        off = self.settings.disabled()
        for name, control in self.controls.items():
            control.mark(off.get(name, ""), "", False)

    # --- what the rest of the app needs ---------------------------------------------------

    def sizes(self) -> Sizes:
        """Of the data as the worker found them."""
        if self.found is None:
            raise InvalidInput("There is no file yet. Choose one, or choose a system instead.")
        rows = int(self.found["rows"])
        test = max(2, rows // 5)
        return Sizes(
            system=None,
            dimension=self.settings.dimension(),
            pairs=max(1, rows - test),
            trajectories=1,
            n_test=self.settings.n_test,
            steps=min(3000, test // 2),
        )

    def data(self, settings: Settings) -> dict[str, Any]:
        """What the job is told."""
        if not self._files or self.found is None:
            raise InvalidInput("There is no file yet. Choose one, or choose a system instead.")
        options = settings.series_options()
        return {"series": {"file": str(self._files[-1]), "name": settings.file_name, **options}}

    def close(self) -> None:
        """Stop looking and delete the files."""
        self._stop_looking()
        self._keep(0)

    def _stop_looking(self) -> None:
        if self._job is not None:
            self._job.cancel()
            self._job = None

    def _keep(self, most: int) -> None:
        """Delete all but the latest so many."""
        while len(self._files) > most:
            shutil.rmtree(self._files.pop(0).parent, ignore_errors=True)

    # --- from the browser to the worker ---------------------------------------------------

    def _received(self, event: Any) -> None:
        content, name = event.new, self.input.filename
        if not content:
            return
        if isinstance(content, list):  # several were dropped at once
            content, name = content[0], name[0] if isinstance(name, list) else name
        self.receive(bytes(content), str(name or "file"))

    def receive(self, content: bytes, name: str) -> None:
        """Keep the file under a name of ours and have it looked at."""
        self._stop_looking()
        self.found = None
        self.choices.visible = False
        if len(content) > MOST_MEGABYTES * 1_000_000:
            self.trouble.say(
                f"This file has {len(content) / 1e6:.0f} MB; {MOST_MEGABYTES} MB are the most. "
                "Leave out columns or rows, or use rfm_core.load_series in Python."
            )
            return
        file = new_folder() / "upload"
        file.write_bytes(content)
        self._files.append(file)
        self._keep(FILES)
        self.settings.param.update(
            file_name=name[:200], columns=[], time=None, key="", series_dimension=0
        )
        self._inspect()

    def _inspect(self) -> None:
        arguments = {"file": str(self._files[-1]), "name": self.settings.file_name}
        if self.settings.key:
            arguments["key"] = self.settings.key
        task = Task("inspect", "app.inspect", arguments)
        self._submit(task, INSPECTION_SECONDS, "The file is being read.")

    def search(self, far: bool) -> None:
        """Have a worker find the model that suits the file; once more: stop it."""
        if self._job is not None:
            self._stop_looking()
            self._say_found()
            self.explorer.runbar.follow_settings()
            return
        try:
            arguments = {"data": self.data(self.settings), "seed": self.settings.seed, "far": far}
        except InvalidInput as error:
            self.trouble.say(str(error))
            return
        task = Task("recommend", "app.recommend", arguments)
        self._submit(task, SEARCH_SECONDS, "Looking for a model that suits these data.")
        self.explorer.runbar.follow_settings()

    def _submit(self, task: Task, seconds: float, words: str) -> None:
        broker = self.explorer.runner.shelf.broker
        self.trouble.say("")
        try:
            self._job = broker.submit(f"upload-{uuid.uuid4().hex}", task, INSPECTION_GB, seconds)
        except InvalidInput as error:  # a server with very little memory, or one that is closing
            self.trouble.say(str(error))
            return
        self.reading.say(words)
        self.explorer.wake()

    def tick(self) -> None:
        """Has the worker read it, or found a model?"""
        if self._job is None:
            return
        for event in self._job.take():
            if isinstance(event, TaskProgress):
                if event.progress.stage == "halo":
                    tried = round(event.progress.done)
                    self.reading.say(
                        f"Looking for a model that suits; halos tried so far: {tried}."
                    )
                continue
            self._job = None
            if isinstance(event, TaskFailed):
                self._say_found()
                self.trouble.say(event.reason)
            elif "model" in event.result:
                self._take(ModelSpec.from_dict(event.result["model"]))
            else:
                self._show(event.result)
            self.explorer.runbar.follow_settings()
            return

    def _say_found(self) -> None:
        self.reading.say(WORDS_BEFORE if self.found is None else str(self.found["message"]))

    def _take(self, spec: ModelSpec) -> None:
        if self.settings.system != OWN:  # somebody has gone on to something else
            return
        self.settings.apply_model(spec)
        words = str(self.found["message"]) if self.found else ""
        if spec.choices.local:
            left, right = (side * (spec.G or 1) for side in spec.sides)
            words += (
                f" What comes next at a place depends on {left} components to its left and {right}"
                " to its right, as far as these data show."
            )
        self.reading.say(f"{words} {spec.label} was set: press Train.")

    def _show(self, found: dict[str, Any]) -> None:
        self.found = found
        names = [str(name) for name in found["columns"]]
        self._say_found()
        keys = [str(key) for key in found.get("arrays") or []]
        self.key.param.update(options=keys, visible=len(keys) > 1)
        with_time = {**NO_TIME, **{name: name for name in names}}
        self.time.param.update(options=with_time, value=self.settings.time, visible=bool(names))
        self.columns.param.update(options=names, value=[], visible=len(names) > 1)
        self.choices.visible = True
        self.settings.series_dimension = max(1, int(found["components"]))

    def _choose_columns(self, event: Any) -> None:
        self.settings.columns = list(event.new or [])

    def _choose_time(self, event: Any) -> None:
        self.settings.time = event.new

    def _other_key(self, event: Any) -> None:
        if event.new and event.new != self.settings.key and event.old:
            self.settings.key = event.new
            self._inspect()
