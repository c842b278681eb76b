"""Settings as the query of a link, and back; whatever a link holds, reading it never raises."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import param

from rfm_core import SYSTEMS

from .validity import limits, unseen

if TYPE_CHECKING:
    from .settings import Settings

RESERVED = frozenset({"hide", "view", "only"})  # the page's own keys
LONGEST = 40  # characters of a value, both to be read and to be shown
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


class _Unreadable(Exception):
    """Says what the value should have been."""


def write(s: Settings) -> dict[str, str]:
    """What differs from the system's recommended values; the system and the seed always."""
    usual = s.recommended()
    found = {"system": _text(s.system)}
    for key, value in s.parameters.items():
        if value != usual["parameters"].get(key):
            found[f"p.{key}"] = _text(value)
    for name, value in usual.items():
        if name not in ("system", "parameters", "seed") and getattr(s, name) != value:
            found[name] = _text(getattr(s, name))
    return found | {"seed": _text(s.seed)}


def read(s: Settings, given: Mapping[str, Any]) -> list[str]:
    """Set everything from a link. One sentence for each value that could not be used."""
    texts = {clip(key): _plain(value) for key, value in given.items() if key not in RESERVED}
    told: list[str] = []
    system = _system(s, texts.pop("system", None), told)
    usual = s.recommended(system)
    found: dict[str, Any] = {}
    for key, text in texts.items():
        known = usual["parameters"] if key.startswith("p.") else usual
        name = key.removeprefix("p.")
        if name not in known or key in ("parameters", "p.parameters"):
            told.append(f"The link names {key!r}, which is no setting of {system}: it was ignored.")
            continue
        try:
            kind = param.Number() if key.startswith("p.") else s.param[name]
            found[key] = _value(kind, text, known[name])
        except _Unreadable as wanted:
            told.append(_replaced(key, text, f"it should be {wanted}.", known[name]))
    trial = type(s)()
    _settle(trial, system, found, texts, told)
    s.apply({**trial.values(), "view": s.view})
    return told


def clip(value: Any) -> str:
    """At most so many characters of it, as something to show."""
    text = value if isinstance(value, str) else _safe(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _settle(
    trial: Settings, system: str, found: dict[str, Any], texts: dict[str, str], told: list[str]
) -> None:
    """Apply what was found; what does not fit goes back to the default, with the reason."""

    def wrong_with(values: dict[str, Any]) -> dict[str, str]:
        parts = {key[2:]: value for key, value in values.items() if key.startswith("p.")}
        plain = {key: value for key, value in values.items() if not key.startswith("p.")}
        trial.apply({"seed": 0, "device": "auto", **plain, "system": system, "parameters": parts})
        return {**unseen(trial), **limits(trial), **trial.problems()}

    usual = trial.recommended(system)
    while wrong := wrong_with(found):
        # a value that is fine by itself may not fit a default: then the one whose absence helps
        blamed = [key for key in found if key in wrong] or [
            min(found, key=lambda k: len(wrong_with({o: v for o, v in found.items() if o != k})))
        ]
        for key in blamed:
            known = usual["parameters"][key[2:]] if key.startswith("p.") else usual[key]
            reason = wrong.get(key) or next(iter(wrong.values()))
            told.append(_replaced(key, texts[key], reason, known))
            del found[key]


def _system(s: Settings, text: str | None, told: list[str]) -> str:
    default = str(s.param["system"].default)
    if text is None or text in SYSTEMS:
        return text or default
    if text == "own":
        told.append(
            "The link is about somebody's own file, which a link cannot carry. "
            f"{default} is shown instead; give the file to see the rest."
        )
    else:
        known = ", ".join(SYSTEMS)
        told.append(_replaced("system", text, f"it should be one of {known}.", default))
    return default


def _value(kind: Any, text: str, usual: Any) -> Any:
    """The value that the text stands for, of the kind of that setting."""
    if isinstance(kind, param.Boolean):
        if text.lower() not in _FLAGS:
            raise _Unreadable("true or false")
        return _FLAGS[text.lower()]
    if isinstance(kind, param.Selector):
        if text not in kind.objects:
            raise _Unreadable("one of " + ", ".join(map(str, kind.objects)))
        return text
    if isinstance(kind, param.String):
        if not re.fullmatch(str(kind.regex), text):
            raise _Unreadable(f"a name such as {usual}")
        return text
    number = _number(text)
    if isinstance(kind, param.Integer):
        if number is None or number != int(number):
            raise _Unreadable("a whole number")
        return int(number)
    if number is None:
        raise _Unreadable("a number")
    return int(number) if isinstance(usual, int) and number == int(number) else float(number)


def _number(text: str) -> float | int | None:
    if _WHOLE.fullmatch(text):
        return int(text)
    if len(text) > LONGEST or not _REAL.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _plain(value: Any) -> str:
    """The text of a value, also where a library hands over lists or bytes."""
    while isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) else _safe(value)


def _safe(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # whatever a stranger's object does
        return f"<{type(value).__name__}>"


def _replaced(key: str, text: str, reason: str, usual: Any) -> str:
    return f"{key}={clip(text)} in the link was not used: {reason} It is {_text(usual)} now."
