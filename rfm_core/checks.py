"""One form for every refusal: what was given, what is allowed, what to do."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any


class InvalidInput(ValueError):
    """A value that the engine cannot work with; the message names value, limit and remedy.

    ``field`` is the name of what was given, where one thing is to blame.
    """

    field: str = ""


class Cancelled(Exception):
    """Raised inside a long computation once its cancel token is set."""


def refuse(name: str, value: Any, limit: str, remedy: str) -> InvalidInput:
    """The error to raise: ``raise refuse("width", 0, "at least 1", "try 512")``."""
    try:
        shown = repr(value)
    except ValueError:  # Python does not print whole numbers of more than 4300 digits
        shown = f"<{type(value).__name__}>"
    if len(shown) > 80:
        shown = shown[:77] + "..."
    error = InvalidInput(f"{name}={shown} cannot be used: it must be {limit}. {remedy}")
    error.field = name
    return error


@dataclass(frozen=True)
class Whole:
    """Bounds of a whole number, declared once for whoever checks, asks for or explains it."""

    low: int
    high: int | None
    remedy: str

    @property
    def words(self) -> str:
        most = "" if self.high is None else f" and at most {self.high}"
        return f"a whole number of at least {self.low}{most}"

    def __call__(self, name: str, value: Any) -> int:
        """``value`` as an int within the bounds; whole floats such as ``5e4`` are welcome."""
        return whole(name, value, self.low, self.high, self.remedy)


@dataclass(frozen=True)
class Real:
    """Bounds of a finite number; ``above``: the lower one is left out."""

    low: float
    high: float
    remedy: str
    above: bool = False

    @property
    def words(self) -> str:
        text = "a finite number"
        if self.low > -math.inf:
            text += f" {'above' if self.above else 'of at least'} {self.low:g}"
        if self.high < math.inf:
            text += f" {'and' if self.low > -math.inf else 'of'} at most {self.high:g}"
        return text

    def __call__(self, name: str, value: Any) -> float:
        """``value`` as a float within the bounds."""
        return real(name, value, self.remedy, self.low, self.high, self.above)


def whole(name: str, value: Any, low: int, high: int | None, remedy: str) -> int:
    """``value`` as an int within [low, high]; whole floats such as ``5e4`` are welcome."""
    limit = Whole(low, high, remedy).words
    plain = _number(value)
    try:
        number: int = math.floor(plain)
    except (TypeError, ValueError, OverflowError):  # no number, NaN, infinity
        raise refuse(name, value, limit, remedy) from None
    if number != plain or number < low or (high is not None and number > high):
        raise refuse(name, value, limit, remedy)
    return number


def real(
    name: str,
    value: Any,
    remedy: str,
    low: float = -math.inf,
    high: float = math.inf,
    above: bool = False,
) -> float:
    """``value`` as a finite float in [low, high], or in (low, high] with ``above=True``."""
    limit = Real(low, high, remedy, above).words
    try:
        number = float(_number(value)) + 0.0  # -0.0 and 0.0 are one value
    except (TypeError, OverflowError):
        raise refuse(name, value, limit, remedy) from None
    if not math.isfinite(number):
        raise refuse(name, value, limit, remedy)
    if number < low or (above and number == low) or number > high:
        raise refuse(name, value, limit, remedy)
    return number


def _number(value: Any) -> Any:
    """``value`` out of its numpy or torch wrapping where it is one real number, otherwise None."""
    if getattr(value, "ndim", None) == 0:
        value = value.item()
    return value if not isinstance(value, bool) and isinstance(value, numbers.Real) else None


def flag(name: str, value: Any, remedy: str) -> bool:
    """``value`` as a bool; 0, 1 and words are no answers to yes or no."""
    plain = value.item() if getattr(value, "ndim", None) == 0 else value
    if not isinstance(plain, bool):
        raise refuse(name, value, "True or False", remedy)
    return plain


def one_of(name: str, value: Any, allowed: Collection[Any], remedy: str = "") -> Any:
    """``value`` if it is among ``allowed``."""
    try:
        known = value in dict.fromkeys(allowed)
    except TypeError:  # unhashable, as lists and arrays are, so it is no name
        known = False
    if not known:
        choices = ", ".join(repr(a) for a in allowed)
        raise refuse(name, value, f"one of {choices}", remedy or "Choose one of these.")
    return value
