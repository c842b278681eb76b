"""What all views have in common: built on first sight, drawn picture by picture, taken away."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from ..scene import Info
from ..takeaway import export_buttons
from ..text import Text

if TYPE_CHECKING:
    from ..explorer import Explorer
    from ..folder import Run

Array = np.ndarray
Drawing = Callable[[], None]


class View:
    """One tab. ``needs`` are the kinds of results whose change makes it draw again."""

    key = ""
    title = ""
    needs: tuple[str, ...] = ()
    extra = ""  # the stage that makes what this view shows, where training alone does not

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self._layout: pn.viewable.Viewable | None = None
        self._drawn: Any = None
        self._empty = Text("", "plain")
        self._offering = False

    # --- to be filled in ------------------------------------------------------------------

    def build(self) -> pn.viewable.Viewable:
        """The widgets and panes, made once."""
        raise NotImplementedError

    def drawings(self, run: Run, info: Info) -> Iterator[Drawing]:
        """One small piece of drawing after the other: the event loop breathes between them."""
        raise NotImplementedError

    def arrays(self, run: Run, info: Info) -> dict[str, Array]:
        """What can be taken away of this view."""
        return {}

    def take_away(self) -> list[pn.viewable.Viewable]:
        """Buttons below the pictures."""
        return [export_buttons(self)]

    # --- what the explorer calls ----------------------------------------------------------

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
        run = self.explorer.run
        info = None if run is None else run.info
        if run is None or info is None:
            return
        yield from self.drawings(run, info)

    def redraw(self) -> None:
        """Something that is looked at was changed by hand."""
        self._drawn = None
        self.explorer.wake()

    def _state(self) -> Any:
        run = self.explorer.run
        if run is None:
            return None
        versions = tuple(run.versions.get(kind, 0) for kind in ("info", *self.needs))
        return (id(run), versions, self.explorer.pins_version)

    # --- help for the ones below ----------------------------------------------------------

    def say_empty(self, text: str) -> None:
        self._empty.say(text)

    def select(self, label: str, options: Any, value: Any, **more: Any) -> pmui.Select:
        """A small choice that redraws this view."""
        widget = pmui.Select(
            label=label, options=options, value=value, size="small", width=190, **more
        )
        widget.param.watch(lambda _: None if self._offering else self.redraw(), "value")
        return widget

    def offer(self, widget: pmui.Select, options: list[Any]) -> None:
        """Other options while drawing: what follows draws the first of them, nothing twice."""
        if list(widget.options) != options:
            self._offering = True
            widget.param.update(options=options, value=options[0])
            self._offering = False

    def csv(self) -> io.BytesIO:
        """All arrays of equal length side by side, several tables one below the other."""
        run = self.explorer.run
        arrays = {} if run is None or run.info is None else self.arrays(run, run.info)
        return io.BytesIO(as_csv(arrays).encode())

    def npz(self) -> io.BytesIO:
        run = self.explorer.run
        arrays = {} if run is None or run.info is None else self.arrays(run, run.info)
        out = io.BytesIO()
        np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
        out.seek(0)
        return out


def as_csv(arrays: dict[str, Array]) -> str:
    """Columns of one length make a table; matrices get a column for each of theirs."""
    tables: dict[int, dict[str, Array]] = {}
    for name, array in arrays.items():
        values = np.atleast_1d(np.asarray(array))
        flat = values.reshape(len(values), -1)
        columns = (
            {name: flat[:, 0]}
            if values.ndim == 1
            else {f"{name}_{k}": flat[:, k] for k in range(flat.shape[1])}
        )
        tables.setdefault(len(values), {}).update(columns)
    parts = []
    for table in tables.values():
        lines = [",".join(_cell(name) for name in table)]
        lines += [
            ",".join(_cell(value) for value in row) for row in zip(*table.values(), strict=True)
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _cell(value: Any) -> str:
    """Floats as they are; text so that no spreadsheet takes it for a formula."""
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    text = str(value)
    if text[:1] in "=+-@\t\r" and not text.lstrip("+-").replace(".", "").isdigit():
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text


def side_by_side(*columns: Sequence[pn.viewable.Viewable]) -> pn.Row:
    """Columns of equal width; one below the other where the page is narrow."""
    look: dict[str, Any] = {"margin": 0, "sizing_mode": "stretch_width"}
    parts = (pn.Column(*column, styles={"flex": "1 1 400px"}, **look) for column in columns)
    return pn.Row(*parts, styles={"flex-wrap": "wrap"}, **look)
