"""Settings as the query of a link, and back; whatever a link holds, reading it never raises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rfm_core import SYSTEMS

from .control import Unreadable, clip
from .controls import OWN
from .validity import limits, unseen

if TYPE_CHECKING:
    from .settings import Settings

RESERVED = frozenset({"hide", "view", "only"})  # the page's own keys


def write(s: Settings) -> dict[str, str]:
    """What differs from the system's recommended values; the system and the seed always."""
    usual = s.recommended()
    usual |= {f"p.{key}": value for key, value in usual.pop("parameters").items()}
    found = {}
    for control in s.controls():
        name = control.name
        always = name in ("system", "seed")
        if always or (name in usual and s.value(name) != usual[name]):
            found[name] = control.text(s.value(name))
    return found


def read(s: Settings, given: Mapping[str, Any]) -> list[str]:
    """Set everything from a link. One sentence for each value that could not be used."""
    texts = {clip(key): _plain(value) for key, value in given.items() if key not in RESERVED}
    told: list[str] = []
    trial = s.copy()  # with its file, which no link names
    system = _system(s, texts.pop("system", None), told)
    trial.choose_system(system)
    usual = s.recommended(system)
    usual |= {f"p.{key}": value for key, value in usual.pop("parameters").items()}
    found: dict[str, Any] = {}
    for key, text in texts.items():
        if key not in usual:
            told.append(f"The link names {key!r}, which is no setting of {system}: it was ignored.")
            continue
        control = trial.control(key)
        try:
            found[key] = control.parse(text)
        except Unreadable as wanted:
            told.append(_replaced(key, text, f"it should be {wanted}.", control.text(usual[key])))
    _settle(trial, usual, found, texts, told)
    s.apply({**trial.values(), "view": s.view})
    return told


def _settle(
    trial: Settings,
    usual: dict[str, Any],
    found: dict[str, Any],
    texts: dict[str, str],
    told: list[str],
) -> None:
    """Apply what was found; what does not fit goes back to the default, with the reason."""

    def wrong_with(values: dict[str, Any]) -> dict[str, str]:
        parts = {key[2:]: value for key, value in values.items() if key.startswith("p.")}
        plain = {key: value for key, value in values.items() if not key.startswith("p.")}
        trial.apply({"seed": 0, "device": "auto", **plain, "parameters": parts})
        return {**unseen(trial), **limits(trial), **trial.problems()}

    while wrong := wrong_with(found):
        # a value that is fine by itself may not fit a default: then the one whose absence helps
        blamed = [key for key in found if key in wrong] or [
            min(found, key=lambda k: len(wrong_with({o: v for o, v in found.items() if o != k})))
        ]
        for key in blamed:
            reason = wrong.get(key) or next(iter(wrong.values()))
            known = trial.control(key).text(usual[key])
            told.append(_replaced(key, texts[key], reason, known))
            del found[key]


def _system(s: Settings, text: str | None, told: list[str]) -> str:
    default = str(s.param["system"].default)
    if text is None or text in SYSTEMS or (text == OWN and s.series_dimension):
        return text or default  # where it is about a file, the page has it
    if text == OWN:
        told.append(
            "The link is about somebody's own file, which a link cannot carry. "
            f"{default} is shown instead; give the file to see the rest."
        )
    else:
        known = ", ".join(SYSTEMS)
        told.append(_replaced("system", text, f"it should be one of {known}.", default))
    return default


def _plain(value: object) -> str:
    """The text of a value, also where a library hands over lists or bytes."""
    while isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) else clip(value)


def _replaced(key: str, text: str, reason: str, usual: str) -> str:
    return f"{key}={clip(text)} in the link was not used: {reason} It is {usual} now."
