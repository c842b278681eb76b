"""Which settings can be used, and why others cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rfm_core import InvalidInput
from rfm_core.checks import whole

from .controls import OWN, TABLE

if TYPE_CHECKING:
    from .settings import Settings

FIELDS = {t.split(".")[1]: c.name for c in reversed(TABLE) for t in c.sets}  # and their controls


def problems(s: Settings) -> dict[str, str]:
    """Why a value cannot be used, for each control with such a value.

    Not for what is looked at: it follows the results, and must not keep anybody from a run.
    """
    off = s.disabled()
    found = {name: why for name, why in limits(s).items() if name not in off}
    found.pop("test", None)
    if any(name.startswith("p.") for name in found):
        return found
    try:
        s.dimension()
    except InvalidInput as error:
        return found | {"system": str(error)}
    for control in TABLE:
        if control.fits and control.name not in off and control.name not in found:
            try:
                control.fits(s)
            except InvalidInput as error:
                found[control.name] = str(error)
                break  # others may only follow from it
    if not found:  # whatever else the engine refuses
        try:
            s.model_spec()
            if s.system != OWN:
                s.data_spec()
        except InvalidInput as error:
            name = FIELDS.get(error.field, "architecture")
            found[name if name not in off else "architecture"] = str(error)
    return found


def limits(s: Settings) -> dict[str, str]:
    """Why a value cannot be used whatever the others are, also where it does not apply."""
    found: dict[str, str] = {}
    for control in s.controls():
        try:
            control.check(s.value(control.name))
        except InvalidInput as error:
            found[control.name] = str(error)
    return found


def unseen(s: Settings) -> dict[str, str]:
    """Why something cannot be looked at: there are not so many tests."""
    try:
        whole("test", s.test, 0, max(s.n_test, 1) - 1, "0 is the first.")
    except InvalidInput as error:
        return {"test": str(error)}
    return {}
