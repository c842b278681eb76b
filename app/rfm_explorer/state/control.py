"""What a control is: a value with its name, words, bounds, and the field of the engine it sets.

Settings, inputs on the page, links, refusals, snippets and tables of differences are all made from
such declarations (``state.controls`` has them).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import param

from rfm_core import ModelSpec
from rfm_core.checks import Real, Whole

if TYPE_CHECKING:
    from .settings import Settings

Kind = Literal["whole", "real", "flag", "choice", "list", "any"]
LONGEST = 40  # characters of a value, both to be read and to be shown
OMIT = object()  # the engine's own default stays
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_THOUSANDS = re.compile(r"[0-9]{1,3}([,\u202f][0-9]{3})+")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_WORDS = {True: "yes", False: "no", None: "–"}


class Unreadable(ValueError):
    """A text that is no such value; says what it should have been."""


def _always(settings: Settings) -> str:
    return ""


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True, kw_only=True)
class Control:
    """One setting; its name is its key in links, too.

    kind     what its values are
    group    where it stands on the page; "" if not among the controls
    sets     fields of the engine, for example "model.width"; "job" is what a worker is told beside
             the specs of data and model. Two may set parts of one field: "model.exchange.0"
    limits   bounds of a number, where possible the engine's own
    zero     what 0 stands for, where it means that the engine (or nobody) decides
    steps    values that a slider stops at; others can be typed
    choices  values and the words for them; of kind "any" those that are no plain text
    off      why it does not apply, empty where it does
    fits     raises where a value that is fine by itself does not go with the others
    write    from its value to the field's, or OMIT
    read     from a model of the engine to its value, or OMIT; by default its field
    """

    name: str
    label: str
    help: str
    default: Any
    kind: Kind
    group: str = ""
    sets: tuple[str, ...] = ()
    limits: Whole | Real | None = None
    zero: str = ""
    usual: str = ""  # a remedy in the page's words, instead of that of the limits
    steps: tuple[float, ...] = ()
    choices: Mapping[Any, str] | None = None
    unit: str = ""
    off: Callable[[Settings], str] = _always
    fits: Callable[[Settings], object] | None = None
    write: Callable[[Any], Any] = _as_it_is
    read: Callable[[ModelSpec], Any] | None = None

    def parameter(self) -> param.Parameter:
        """What ``Settings`` has for it."""
        words: dict[str, Any] = {"label": self.label, "doc": self.help}
        if self.kind == "choice":
            return param.Selector(default=self.default, objects=list(self.choices or ()), **words)
        if self.kind == "list":
            return param.List(default=list(self.default), **words)
        kinds = {"whole": param.Integer, "real": param.Number, "flag": param.Boolean}
        return kinds.get(self.kind, param.Parameter)(default=self.default, **words)

    # --- text ----------------------------------------------------------------------------------

    def parse(self, text: str) -> Any:
        """The value that a text stands for, typed or in a link."""
        text = text.strip()
        if self.kind == "flag":
            if text.lower() not in _FLAGS:
                raise Unreadable("true or false")
            return _FLAGS[text.lower()]
        if self.kind == "choice":
            return self._choice(text)
        if self.kind == "list":
            return self._list(text)
        if self.kind == "any":
            words = {word: value for value, word in (self.choices or {}).items()}
            return words.get(text, text)
        number = _number(text)
        if self.kind == "whole":
            if number is None or number != int(number):
                raise Unreadable("a whole number")
            return int(number)
        if number is None:
            raise Unreadable("a number")
        return float(number)

    def _choice(self, text: str) -> Any:
        known = {str(value): value for value in self.choices or ()}
        if text not in known:
            raise Unreadable("one of " + ", ".join(known))
        return known[text]

    def _list(self, text: str) -> list[str]:
        try:
            found = json.loads(text or "[]")
        except ValueError:
            raise Unreadable("a list of names") from None
        if not isinstance(found, list):
            raise Unreadable("a list of names")
        return [str(name) for name in found]

    def text(self, value: Any) -> str:
        """The value as links and inputs have it: ``parse`` takes it back exactly."""
        if self.kind == "list":
            return json.dumps(list(value))
        if self.kind == "any":
            return (self.choices or {}).get(value, str(value))
        if isinstance(value, bool):
            return "true" if value else "false"
        return value if isinstance(value, str) else repr(value).removesuffix(".0")

    def short(self, value: Any) -> str:
        """As an input shows it while nobody edits it."""
        exact = self.text(value)
        if isinstance(value, float) and len(exact) > 8:
            return f"{value:.6g}"
        return exact

    def words(self, value: Any) -> str:
        """As a table or a sentence has it."""
        if self.choices is not None and value in self.choices:
            return self.choices[value]
        if self.zero and value == 0 and value is not False:
            return self.zero
        return in_words(self.name, value)

    # --- bounds --------------------------------------------------------------------------------

    def check(self, value: Any) -> None:
        """Refuse what can be used in no circumstances."""
        if self.limits is None or (self.zero and value == 0):
            return
        self.limits(self.name, value)

    @property
    def expected(self) -> str:
        """What a value must be, and what is usual, in words."""
        if self.kind == "flag":
            return "yes or no."
        if self.choices is not None:
            return f"one of {', '.join(self.choices.values())}."
        bounds = self.limits.words if self.limits else "a number"
        zero = f", or 0 ({self.zero})" if self.zero else ""
        usual = self.usual or (self.limits.remedy if self.limits else "")
        return f"{bounds}{zero}. {usual}".strip()

    def nudged(self, value: float, up: bool) -> float:
        """The next value in a direction, for the arrow keys: a tenth of it, or 1."""
        if self.kind == "whole":
            step: float = 1
        else:
            step = abs(value) / 10 or 0.1
        moved = value + step if up else value - step
        return moved if self.kind == "whole" else float(f"{moved:.6g}")


def in_words(name: str, value: object) -> str:
    """A value as a table shows it."""
    if isinstance(value, bool) or value is None:
        return _WORDS[value]
    if isinstance(value, int):
        return f"{value:,}" if name != "seed" else str(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "all"
    return str(value)


def clip(value: object) -> str:
    """At most so many characters of it, as something to show."""
    try:
        text = str(value)
    except Exception:  # whatever a stranger's object does
        text = f"<{type(value).__name__}>"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _number(text: str) -> float | int | None:
    if _THOUSANDS.fullmatch(text):
        text = re.sub(r"[,\u202f]", "", text)
    if _WHOLE.fullmatch(text):
        return int(text)
    if len(text) > LONGEST or not _REAL.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def refusal(control: Control, text: str, kept: Any) -> str:
    """Why a text was not taken, and what stays."""
    what = f"“{clip(text.strip())}” cannot be used" if text.strip() else "Nothing was typed"
    return f"{what}: it must be {control.expected} {control.words(kept)} stays."
