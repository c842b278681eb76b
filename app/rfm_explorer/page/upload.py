"""A user's own series: taken from the browser, capped, looked at by a worker, never by the server.

File and column names are a stranger's text; they appear in native inputs and in ``Text``, nowhere
else. The file on the server's disk has a name of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import panel as pn
import panel_material_ui as pmui
from param.parameterized import Event

from rfm_core import InvalidInput, ModelSpec
from rfm_core.run.tasks import Task, TaskFailed, TaskProgress

from ..queue.estimate import Sizes
from ..state.controls import CONTROLS, FILE, OWN
from ..state.settings import Settings
from .kept_files import KEPT, KEPT_MINUTES, KeptFile
from .picker import FilePicker
from .sidebar import Controls
from .text import Text

if TYPE_CHECKING:
    from rfm_core.run import ScheduledTask

    from ..queue.runner import Runner

MOST_MEGABYTES = 50
FILES = 3  # of a session; a run that is shown can still be asked for its long-time statistics
INSPECTION_GB = 1.5
INSPECTION_SECONDS = 20.0
SEARCH_SECONDS = 60.0  # for a model that suits
WORDS_BEFORE = (
    "CSV, TSV, TXT, NPY or NPZ: one row for each time, equal steps, one column for each component. "
    f"At most {MOST_MEGABYTES} MB. The file stays on this server while the page is open and "
    f"{KEPT_MINUTES} minutes longer, so that a reload finds it; nobody else can."
)
NO_FILE = "There is no file yet. Choose one, or choose a system instead."
PROGRESS = '<progress aria-label="Looking at the file" style="width: 220px"></progress>'
REMEMBERED = (*FILE, "file_name", "series_dimension")


class Upload:
    """What appears for "My own data".

    ``changed`` is called when something is known that was not, ``wake`` when there is something to
    wait for, ``kept``, where there is one, with the name under which a reload finds the file.
    """

    def __init__(
        self,
        settings: Settings,
        runner: Runner,
        changed: Callable[[], None],
        wake: Callable[[], None],
    ) -> None:
        self.settings = settings
        self.runner = runner
        self.changed, self.wake = changed, wake
        self.kept: Callable[[str], None] | None = None
        self.found: dict[str, Any] | None = None
        self._files: list[KeptFile] = []  # the last is in use; runs may still need the others
        self._job: ScheduledTask | None = None
        self.layout = pn.Column(sizing_mode="stretch_width", margin=0, visible=False)
        settings.param.watch(self._other_key, "key")
        self.follow_settings()

    def _build(self) -> None:
        """The widgets, made when somebody first wants them."""
        self.picker = FilePicker(
            self._offered,
            self._came,
            self.receive,
            self._lost,
            accept=".csv,.tsv,.txt,.dat,.npy,.npz",
            sizing_mode="stretch_width",
            margin=(5, 10),
        )
        self.reading = Text(WORDS_BEFORE, "small")
        self.trouble = Text("", "error", margin=(4, 10))
        self.stop = pmui.Button(
            label="Stop", icon="stop", variant="outlined", size="small", margin=(5, 10)
        )
        self.stop.on_click(lambda _: self.stop_looking())
        self.progress = pn.Column(pn.pane.HTML(PROGRESS), self.stop, visible=False, margin=0)
        self.controls = Controls(self.settings, ("file",), ())
        self.choices = pn.Column(self.controls.fields, visible=False, sizing_mode="stretch_width")
        self.layout.objects = [
            self.picker, self.reading.pane, self.progress, self.trouble.pane, self.choices,
        ]  # fmt: skip

    @property
    def busy(self) -> bool:
        """Is a worker looking at the file?"""
        return self._job is not None

    def follow_settings(self) -> None:
        self.layout.visible = self.settings.system == OWN
        if self.settings.system != OWN:
            return
        if not self.layout.objects:
            self._build()
        if self._files:
            self._files[-1].settings = {name: getattr(self.settings, name) for name in REMEMBERED}

    # --- what the rest of the app needs ---------------------------------------------------

    def sizes(self) -> Sizes:
        """Of the data as the worker found them."""
        if self.found is None:
            raise InvalidInput(NO_FILE)
        rows = int(self.found["rows"])
        test = max(2, rows // 5)
        columns = len(self.settings.columns) or self.settings.series_dimension
        series = columns if self.settings.separate else 1
        return Sizes(
            system=None,
            dimension=self.settings.dimension(),
            pairs=max(1, rows - test) * series,
            trajectories=series,
            n_test=self.settings.n_test,
            steps=min(3000, test // 2),
        )

    def data(self, settings: Settings) -> dict[str, Any]:
        """What the job is told."""
        if not self._files or self.found is None:
            raise InvalidInput(NO_FILE)
        options = settings.series_options()
        return {
            "series": {"file": str(self._files[-1].path), "name": settings.file_name, **options}
        }

    def find(self, name: str) -> None:
        """The file that this browser gave before it loaded the page anew, if it is still here."""
        kept = KEPT.find(name)
        if kept is None or kept.found is None:
            if kept is not None:
                KEPT.leave(kept)
            self._tell("")
            return
        self._files.append(kept)
        if not self.layout.objects:
            self._build()
        self.settings.param.update(**kept.settings)
        self._show(kept.found)
        self._tell(name)

    def close(self) -> None:
        """Stop looking; the file in use stays a while, for a page that comes back."""
        self._stop()
        self._keep(1)
        for kept in self._files:
            KEPT.leave(kept, at_once=self.kept is None or kept.found is None)
        self._files.clear()

    def _tell(self, name: str) -> None:
        if self.kept is not None:
            self.kept(name)

    def _keep(self, most: int) -> None:
        """Give up all but the latest so many."""
        while len(self._files) > most:
            KEPT.leave(self._files.pop(0), at_once=True)

    # --- from the browser to the worker ---------------------------------------------------

    def _offered(self, name: str, size: int) -> bool:
        """A file was chosen: what was said about the last one is over."""
        self._stop()
        self.found = None
        self.choices.visible = False
        self.trouble.say("")
        self.reading.say(WORDS_BEFORE)
        self.settings.param.update(
            file_name=name, columns=[], time=None, key="", series_dimension=0, separate=False
        )
        if size > MOST_MEGABYTES * 1_000_000:
            self.trouble.say(
                f"{name} has {size / 1e6:.0f} MB; {MOST_MEGABYTES} MB are the most. "
                "Leave out columns or rows, or use rfm_core.load_series in Python."
            )
            return False
        if size == 0:
            self.trouble.say(
                f"{name} is empty: it must hold at least 20 rows of numbers. Was it saved "
                "completely?"
            )
            return False
        self._say_busy(f"{name} is on its way.")
        return True

    def _came(self, count: int) -> None:
        self._say_busy(f"{self.settings.file_name} is on its way: {count / 1e6:.1f} MB so far.")

    def _lost(self, name: str) -> None:
        self._say_busy("")
        self._say_found()
        self.trouble.say(f"{name} could not be read: it has changed or is gone. Choose it again.")

    def receive(self, content: bytes, name: str) -> None:
        """Keep the file under a name of ours and have it looked at."""
        if not self._offered(name[:200], len(content)):
            return
        self._files.append(KEPT.add(content))
        self._keep(FILES)
        self._tell(self._files[-1].name)
        self._inspect()

    def _inspect(self) -> None:
        arguments = {"file": str(self._files[-1].path), "name": self.settings.file_name}
        if self.settings.key:
            arguments["key"] = self.settings.key
        task = Task("inspect", "explorer.inspect", arguments)
        self._submit(task, INSPECTION_SECONDS, f"{self.settings.file_name} is being read.")

    def search(self, far: bool) -> None:
        """Have a worker find the model that suits the file; once more: stop it."""
        if self._job is not None:
            self.stop_looking()
            return
        try:
            arguments = {"data": self.data(self.settings), "seed": self.settings.seed, "far": far}
        except InvalidInput as error:
            self.trouble.say(str(error))
            return
        task = Task("recommend", "explorer.recommend", arguments)
        self._submit(task, SEARCH_SECONDS, "Looking for a model that suits these data.")
        self.changed()

    def _submit(self, task: Task, seconds: float, words: str) -> None:
        self.trouble.say("")
        try:
            self._job = self.runner.runs.submit(task, INSPECTION_GB, seconds)
        except InvalidInput as error:  # a server with very little memory, or one that is closing
            self._say_busy("")
            self.trouble.say(str(error))
            return
        self._say_busy(words)
        self.wake()

    def stop_looking(self) -> None:
        """Somebody does not want to wait any longer."""
        reading = self.found is None
        self._stop()
        self._say_found()
        if reading:
            self.trouble.say("Stopped. Choose a file to go on.")
        self.changed()

    def _stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
            self._job = None
        if self.layout.objects:
            self.picker.stop()
            self._say_busy("")

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
            self._say_busy("")
            self._say_found()
            if isinstance(event, TaskFailed):
                self.trouble.say(event.reason)
            elif "model" in event.result:
                self._take(ModelSpec.from_dict(event.result["model"]))
            else:
                self._show(event.result)
            self.changed()
            return

    # --- what is said and asked -----------------------------------------------------------

    def _say_busy(self, words: str) -> None:
        if words:
            self.reading.say(words)
        self.progress.visible = bool(words)

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
        self.found = self._files[-1].found = found
        self._say_found()
        self._offer(found)
        self.choices.visible = True
        self.settings.series_dimension = max(1, int(found["components"]))
        self.follow_settings()

    def _offer(self, found: dict[str, Any]) -> None:
        """What can be chosen of it."""
        names = [str(name) for name in found["columns"]]
        keys = [str(key) for key in found.get("arrays") or []]
        time = CONTROLS["time"]
        special = [(time.text(value), word) for value, word in (time.choices or {}).items()]
        self.controls.hidden = {
            *(["key"] if len(keys) < 2 else []),
            *(["time"] if not names else []),
            *(["columns", "separate"] if len(names) < 2 else []),
        }
        self.controls.offer("key", [(key, key) for key in keys])
        self.controls.offer("time", [*special, *((name, name) for name in names)])
        self.controls.offer("columns", [(name, name) for name in names])

    def _other_key(self, event: Event) -> None:
        if event.new and self.found is not None and event.new in self.found.get("arrays", []):
            self._inspect()
