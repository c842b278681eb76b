"""What a view is: one tab, declared once.

Tabs, gallery, single pictures, downloads, code to take away, stills in notebooks and the work that
a run does for it all follow from the declaration (see ``View``) and the list in ``views``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import holoviews as hv
import numpy as np
import panel as pn

from ..page.export import Download, archive, stem
from ..page.fields import Picks
from ..page.picture import PicturePane
from ..page.text import Text
from ..queue.extras import Extra
from ..results.files import Results
from ..results.records import Info
from ..state.settings import Settings
from ..state.snippet import whole
from .context import Context, Shown

__all__ = ["Array", "Drawing", "View", "side_by_side"]

Array = np.ndarray
Drawing = Callable[[], None]


class View:
    """One tab: declare the attributes, fill in the methods, and add it to ``views.VIEWS``."""

    key = ""  # in links: ?view=<key>, ?tab=<key>
    title = ""  # of the tab
    about = ""  # one sentence, for the gallery
    needs: tuple[type, ...] = ()  # kinds of results whose change makes it draw again
    extra: Extra | None = None  # the work that makes them, where training alone does not
    waiting = ""  # what is said until that work is done
    follows_controls = False  # shows what Train would run, not what was run

    def __init__(self, context: Context) -> None:
        self.context = context
        self.picks = Picks(lambda name: self.picked(name))
        self._layout: pn.viewable.Viewable | None = None
        self._drawn: object = None
        self._empty = Text("", "plain")

    # --- to be filled in ------------------------------------------------------------------

    def build(self) -> pn.viewable.Viewable:
        """The widgets and panes, made once; ``self.picks`` holds small choices."""
        raise NotImplementedError

    def drawings(self, run: Results, info: Info) -> Iterator[Drawing]:
        """One small piece of drawing after the other: the event loop breathes between them."""
        raise NotImplementedError

    def arrays(self, run: Results, info: Info) -> dict[str, Array]:
        """The numbers behind the pictures in sight, to be taken away."""
        return {}

    def drawn_files(self) -> dict[str, bytes]:
        """Pictures that are no figures: the browser cannot export those itself."""
        return {}

    @classmethod
    def python(cls, settings: Settings, selected: tuple[int, int]) -> str:
        """Code that gives the same numbers, from parts of ``state.snippet``; no imports."""
        raise NotImplementedError

    @classmethod
    def thumbnail(cls, run: Results) -> hv.Overlay | str | None:
        """For the gallery: a picture or an SVG; None while the run has not what it shows."""
        raise NotImplementedError

    def take_away(self) -> list[pn.viewable.Viewable]:
        """Below the pictures: everything in one archive."""
        why = "Pictures as PNG and SVG, their numbers as CSV and NPZ, and the code, in one archive"
        return [Download("Save this tab", lambda: archive(self, self.shown), why, pictures=True)]

    def picked(self, name: str) -> None:
        """Another choice was made in ``self.picks``."""
        self.redraw()

    # --- what the page calls --------------------------------------------------------------

    @classmethod
    def snippet(cls, settings: Settings, selected: tuple[int, int] = (0, 0)) -> str:
        """The whole code, as it is shown and saved."""
        return whole(cls.python(settings, selected))

    @property
    def shown(self) -> Shown:
        """What this view is about."""
        now = self.context.now()
        return replace(now, settings=self.context.controls) if self.follows_controls else now

    @property
    def built(self) -> bool:
        return self._layout is not None

    def panel(self) -> pn.viewable.Viewable:
        """The tab's content."""
        if self._layout is None:
            body = self.build()
            self._layout = pn.Column(
                self._empty.pane, body, *self.take_away(), sizing_mode="stretch_width", margin=0
            )
        return self._layout

    def stale(self) -> bool:
        """Whether something changed since the last drawing."""
        return self._state() != self._drawn

    def pieces(self) -> Iterator[Drawing]:
        """Everything to be drawn now."""
        self._drawn = self._state()
        run = self.shown.run
        info = None if run is None else run.info
        if run is None or info is None:
            return
        for pane in [] if self._layout is None else self._layout.select(PicturePane):
            pane.picture.stem = stem(self.shown.settings)
        absent = self.extra is not None and any(run.get(kind) is None for kind in self.needs)
        self._empty.say(self.waiting if absent else "")
        if not absent:
            yield from self.drawings(run, info)

    def redraw(self) -> None:
        """Something that is looked at was changed by hand."""
        self._drawn = None
        self.context.wake()

    def _state(self) -> object:
        shown = self.shown
        if shown.run is None:
            return None
        kinds = (Info, *self.needs)
        pins = tuple((p.label, id(p.run), *map(p.run.version, kinds)) for p in shown.pins)
        return id(shown.run), tuple(map(shown.run.version, kinds)), shown.selected, pins


def side_by_side(*columns: Sequence[pn.viewable.Viewable], width: int = 400) -> pn.Row:
    """Columns of equal width; one below the other where they would be narrower than ``width``."""
    look: dict[str, Any] = {"margin": 0, "sizing_mode": "stretch_width"}
    parts = (pn.Column(*column, styles={"flex": f"1 1 {width}px"}, **look) for column in columns)
    return pn.Row(*parts, styles={"flex-wrap": "wrap"}, **look)
