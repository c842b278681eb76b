"""The controls on the page, made from their table: one input for each that applies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import panel as pn
from param.parameterized import Event

from rfm_core import get_system

from ..state.control import Control
from ..state.controls import GROUPS, MORE, TABLE
from ..state.settings import Settings
from .fields import Field, Fields, Options, Section, State

HIDES = {"main": ("model",), "more": MORE, "system": ("system", "parameters")}  # in links


class Controls:
    """Some of the settings as inputs, both ways: what is shown is what the settings have."""

    def __init__(self, settings: Settings, groups: Sequence[str], hidden: Collection[str]) -> None:
        self.settings, self.groups, self.hidden = settings, groups, hidden
        self.offered: dict[str, Options] = {}  # choices that only a file knows
        self.notes: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        self._taking = False
        self.fields = Fields(self._sections(), self._edited)
        settings.param.watch(self._changed, [name for name in settings.param if name != "name"])
        self.refresh()

    def refresh(self) -> None:
        """Everything as the settings have it now."""
        self.fields.arrange(self._sections())
        off, wrong = self.settings.disabled(), self.settings.problems() | self._refused
        self.fields.show(
            {
                control.name: State(
                    text=control.text(value),
                    shown=control.short(value),
                    options=self.offered.get(control.name),
                    off=off.get(control.name, ""),
                    problem=wrong.get(control.name, ""),
                    note=self.notes.get(control.name, ""),
                    hidden=self._hides(control),
                )
                for control in self._controls()
                for value in [self.settings.value(control.name)]
            }
        )

    def offer(self, name: str, options: Options) -> None:
        """Choices that came with a file."""
        self.offered[name] = options
        self.refresh()

    def note(self, notes: Mapping[str, str]) -> None:
        """Sentences below some of the inputs, such as what was chosen for them."""
        if dict(notes) != self.notes:
            self.notes = dict(notes)
            self.refresh()

    def _controls(self) -> list[Control]:
        return [c for c in self.settings.controls() if c.group in self.groups]

    def _hides(self, control: Control) -> bool:
        if control.name.startswith("p."):
            return "parameters" in self.hidden or control.name in self.hidden
        return control.name in self.hidden or control.group in self.hidden

    def _edited(self, name: str, text: str, final: bool) -> None:
        if name not in {control.name for control in self._controls()}:
            return  # of a system that was left a moment ago
        self._taking = True
        try:
            refused = self.settings.edit(name, text)
        finally:
            self._taking = False
        self._refused = {name: refused} if refused else {}
        self.refresh()

    def _changed(self, *events: Event) -> None:
        if not self._taking:
            self._refused = {}
            self.refresh()

    def _sections(self) -> list[Section]:
        found = []
        for group in self.groups:
            of_group = [c for c in self._controls() if c.group == group]
            parameters = [c for c in of_group if c.name.startswith("p.")]
            rest = [_field(c) for c in of_group if c not in parameters]
            found.append(Section(rest, title=GROUPS[group], folded=group in MORE))
            if parameters:
                title = f"Parameters of {get_system(self.settings.system).title}"
                found.append(Section([_field(c) for c in parameters], title=title, look="pairs"))
        return found


def _field(control: Control) -> Field:
    kinds = {"choice": "choice", "flag": "switch", "list": "many", "any": "choice"}
    kind: Any = "slider" if control.steps else kinds.get(control.kind, "number")
    options = [(control.text(v), words) for v, words in (control.choices or {}).items()]
    steps = tuple(control.short(step) for step in control.steps)
    return Field(control.name, control.label, kind, control.help, control.unit, options, steps)


class Sidebar:
    """The system first, what belongs to it (an upload, say), then all other controls."""

    def __init__(self, settings: Settings, hidden: Collection[str] = ()) -> None:
        self.settings = settings
        hidden = expand(hidden)
        self.system = Controls(settings, ("system",), hidden)
        self.others = Controls(settings, ("model", *MORE), hidden)

    @property
    def layout(self) -> list[pn.viewable.Viewable]:
        return [self.system.fields, self.others.fields]

    def tell(self, name: str, note: str) -> None:
        """A sentence below an input."""
        self.others.note({name: note} if note else {})


def expand(hidden: Collection[str]) -> set[str]:
    """Names of controls and of groups of them, as links give them."""
    names: set[str] = set()
    for name in hidden:
        names |= set(HIDES.get(name, (name,)))
    return names


def unknown(hidden: Collection[str]) -> list[str]:
    """What a link asks to hide and nothing here is called."""
    known = {*HIDES, *GROUPS, "parameters", *(control.name for control in TABLE)}
    return [name for name in hidden if name not in known and not name.startswith("p.")]
