"""One form for every refusal: what was given, what is allowed, what to do."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection
from typing import Any


class InvalidInput(ValueError):
    """A value that the engine cannot work with; the message names value, limit and remedy."""


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
    return InvalidInput(f"{name}={shown} cannot be used: it must be {limit}. {remedy}")


def whole(name: str, value: Any, low: int, high: int | None, remedy: str) -> int:
    """``value`` as an int within [low, high]; whole floats such as ``5e4`` are welcome."""
    limit = f"a whole number of at least {low}" + ("" if high is None else f" and at most {high}")
    plain = _number(value)
    try:
        number = math.floor(plain)
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
    limit = "a finite number"
    if low > -math.inf:
        limit += f" {'above' if above else 'of at least'} {low:g}"
    if high < math.inf:
        limit += f" {'and' if low > -math.inf else 'of'} at most {high:g}"
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
