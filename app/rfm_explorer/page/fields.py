"""Labelled inputs as one light component: the sidebar's controls, and the choices inside views.

A page has dozens of inputs. As native elements of one component they cost the server one model, and
the browser brings mouse, keys, touch and screen readers. Python holds the state: the browser sends
what somebody typed or chose as text, and shows what comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import panel as pn
import param
from param.parameterized import Event

HERE = Path(__file__).parent
Kind = Literal["choice", "switch", "number", "slider", "text", "many"]
Options = Sequence[tuple[str, str]]  # the text that is sent, and the words that are shown
Edited = Callable[[str, str, bool], None]  # name, text, and whether the hand has let go


@dataclass(frozen=True)
class Field:
    """What does not change of one input."""

    name: str
    label: str
    kind: Kind
    help: str = ""
    unit: str = ""
    options: Options = ()
    steps: Sequence[str] = ()  # texts of the values that a slider stops at, ascending


@dataclass(frozen=True)
class Section:
    """Inputs that belong together; ``look``: "" below each other, "pairs" or "inline"."""

    fields: Sequence[Field]
    title: str = ""
    folded: bool = False
    look: Literal["", "pairs", "inline"] = ""


@dataclass(frozen=True)
class State:
    """What one input shows now."""

    text: str  # exactly
    shown: str | None = None  # while nobody edits it, where that is shorter
    options: Options | None = None  # instead of the field's
    off: str = ""  # why it does not apply: it is hidden, and listed with this sentence
    problem: str = ""
    note: str = ""
    hidden: bool = False
    locked: bool = False


class Fields(pn.custom.JSComponent):
    """``show`` puts a state on the page; ``edited`` is called with what somebody does there."""

    sections = param.List(default=[])
    # of every field, and the number of the last edit that they take into account: together, or a
    # browser would show for a moment the old state as the answer to what was just typed
    told = param.Dict(default={"answered": 0, "state": {}})
    edit = param.Dict(default={})

    _esm = HERE / "fields.js"
    _stylesheets = [HERE / "fields.css"]  # noqa: RUF012 - as Panel declares it

    def __init__(self, sections: Sequence[Section], edited: Edited, **layout: Any) -> None:
        self._edited = edited
        self._states: dict[str, State] = {}
        layout = {"sizing_mode": "stretch_width", "margin": 0, **layout}
        super().__init__(sections=_plain(sections), **layout)
        self.param.watch(self._take, "edit")

    def arrange(self, sections: Sequence[Section]) -> None:
        """Other fields; nothing happens where they are the same."""
        self.sections = _plain(sections)

    def show(self, states: Mapping[str, State]) -> None:
        """These fields as they are now; others stay."""
        self._states |= states
        self.told = {"answered": self.edit.get("number", 0), "state": self.state}

    @property
    def state(self) -> dict[str, dict[str, Any]]:
        """What the browser is told of every field."""
        return {name: _state(state) for name, state in self._states.items()}

    def _take(self, event: Event) -> None:
        edit = event.new
        self._edited(str(edit["name"]), str(edit["text"]), bool(edit["final"]))
        # also where nothing came of it: what was typed must give way to what is
        self.show({})


class Pick:
    """One choice or slider of ``Picks``: ``value`` is one of the values of ``options``."""

    def __init__(self, picks: Picks, name: str, options: Mapping[str, Any], value: Any) -> None:
        self._picks, self._name = picks, name
        self.options, self.value, self.visible = dict(options), value, True

    def set(self, value: Any) -> None:
        """Show another value, chosen elsewhere; nobody is told."""
        if value != self.value:
            self.value = value
            self._picks.refresh()

    def offer(self, options: Mapping[str, Any], visible: bool = True) -> None:
        """Other options; the first of them is chosen where the present value is not among them."""
        if dict(options) == self.options and visible == self.visible:
            return
        self.options, self.visible = dict(options), visible
        if self.value not in self.options.values():
            self.value = next(iter(self.options.values()), None)
        self._picks.refresh()

    def state(self) -> State:
        words = next((w for w, v in self.options.items() if v == self.value), "")
        offered = [(word, word) for word in self.options]
        return State(words, options=offered, hidden=not self.visible)


class Picks(Fields):
    """A row of choices: ``unit = picks.add("unit", "Unit", {"1": 1}, 1)``, then ``unit.value``."""

    def __init__(self, changed: Callable[[str], None], **layout: Any) -> None:
        self._changed = changed
        self._picks: dict[str, tuple[Field, Pick]] = {}
        super().__init__([], self._pick, **layout)

    def add(
        self, name: str, label: str, options: Mapping[str, Any], value: Any, slider: bool = False
    ) -> Pick:
        """Options are words and what they stand for; a slider's words are ascending numbers."""
        pick = Pick(self, name, options, value)
        steps = tuple(options) if slider else ()
        field = Field(name, label, "slider" if slider else "choice", steps=steps)
        self._picks[name] = field, pick
        self.refresh()
        return pick

    def refresh(self) -> None:
        fields = []
        for field, pick in self._picks.values():
            moving = field.kind == "slider"
            fields.append(replace(field, steps=tuple(pick.options)) if moving else field)
        self.arrange([Section(fields, look="inline")])
        self.show({name: pick.state() for name, (_, pick) in self._picks.items()})

    def _pick(self, name: str, text: str, final: bool) -> None:
        _, pick = self._picks[name]
        if text not in pick.options:
            problem = f"{text[:40]!r} is none of the choices here."
            self.show({name: replace(pick.state(), problem=problem)})
            return
        if pick.options[text] != pick.value:
            pick.value = pick.options[text]
            self.refresh()
            self._changed(name)


def _plain(sections: Sequence[Section]) -> list[dict[str, Any]]:
    return [asdict(section) for section in sections]


def _state(state: State) -> dict[str, Any]:
    said = {name: value for name, value in asdict(state).items() if value not in ("", None, False)}
    return {"text": "", **said}
