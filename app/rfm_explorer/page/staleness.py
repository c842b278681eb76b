"""Do the pictures show what the controls say? If not, a sentence that says who says what."""

from __future__ import annotations

from typing import NamedTuple

from ..state.compare import names, same
from ..state.settings import Settings


class Mark(NamedTuple):
    words: str = ""
    press_train: bool = False


def mark(
    shown: Settings | None, training: Settings | None, controls: Settings, active: bool
) -> Mark:
    """``shown``: of the run in the pictures; ``training``: of the last one begun, which may be it.

    Nothing where all of them agree.
    """
    if training is None:
        return Mark()
    if shown is None:
        if not active or same(training, controls):
            return Mark()
        old, new = names(training, controls)
        return Mark(f"{old} is being trained; the controls say {new}: press Train.", True)
    drawn = same(shown, training)
    if same(shown, controls):
        if drawn or not active:
            return Mark()
        old, between = names(shown, training)
        return Mark(f"The pictures show {old}, as the controls say; {between} is being trained.")
    old, new = names(shown, controls)
    if drawn or not active:
        return Mark(f"The pictures show {old}; the controls say {new}: press Train.", True)
    if same(training, controls):
        return Mark(f"The pictures still show {old}, until there are some of {new}.")
    between, _ = names(training, controls)
    return Mark(
        f"The pictures show {old}; {between} is being trained; the controls say {new}: "
        "press Train.",
        True,
    )
