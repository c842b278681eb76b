"""Two settings side by side: are they the same run, and what to call each of them if not."""

from __future__ import annotations

from .controls import describe, difference
from .settings import Settings

NAMED = 3  # differences that a sentence can bear
IN_THE_LABEL = {"system", "architecture", "width", "depth", "G", "I", "sides", "left", "right"}


def same(a: Settings, b: Settings) -> bool:
    """Do they determine the same run?"""
    return a is b or not difference(a.effective(), b.effective())


def names(a: Settings, b: Settings) -> tuple[str, str]:
    """Both by their labels, with what else differs between them."""
    if a.system != b.system:
        return a.label(), b.label()
    found = difference(a.effective(), b.effective())
    if a.label() != b.label():
        found = [name for name in found if name not in IN_THE_LABEL]
    return _named(a, found), _named(b, found)


def _named(settings: Settings, differing: list[str]) -> str:
    """With what it has of these; a run without a setting is not told from another by it."""
    values = settings.effective()
    which = [name for name in differing if values.get(name) is not None]
    parts = [f"{label}: {value}" for label, value in describe(values, which[:NAMED]).items()]
    if len(which) > NAMED:
        parts.append("and more")
    return f"{settings.label()} ({'; '.join(parts)})" if parts else settings.label()
