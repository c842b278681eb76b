"""One form for every refusal: what was given, what is allowed, what to do."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any


class InvalidInput(ValueError):
    """A value that the engine cannot work with; the message names value, limit and remedy."""


class Cancelled(Exception):
    """Raised inside a long computation once its cancel token is set."""


def refuse(name: str, value: Any, limit: str, remedy: str) -> InvalidInput:
    """The error to raise: ``raise refuse("width", 0, "at least 1", "try 512")``."""
    shown = repr(value)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    return InvalidInput(f"{name}={shown} cannot be used: it must be {limit}. {remedy}")


def whole(name: str, value: Any, low: int, high: int | None, remedy: str) -> int:
    """``value`` as an int within [low, high]; whole floats such as ``5e4`` are welcome."""
    limit = f"a whole number of at least {low}" + ("" if high is None else f" and at most {high}")
    if isinstance(value, bool) or not hasattr(value, "__index__") and not isinstance(value, float):
        raise refuse(name, value, limit, remedy)
    if isinstance(value, float) and not value.is_integer():
        raise refuse(name, value, limit, remedy)
    number = int(value)
    if number < low or (high is not None and number > high):
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
        number = float(value)
    except (TypeError, ValueError):
        raise refuse(name, value, limit, remedy) from None
    if isinstance(value, (bool, str)) or not math.isfinite(number):
        raise refuse(name, value, limit, remedy)
    if number < low or (above and number == low) or number > high:
        raise refuse(name, value, limit, remedy)
    return number


def one_of(name: str, value: Any, allowed: Collection[Any], remedy: str = "") -> Any:
    """``value`` if it is among ``allowed``."""
    try:
        known = value in allowed
    except TypeError:  # unhashable, so it is no name
        known = False
    if not known:
        choices = ", ".join(repr(a) for a in allowed)
        raise refuse(name, value, f"one of {choices}", remedy or "Choose one of these.")
    return value
