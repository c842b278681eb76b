"""The settings that make a given model of the engine."""

from __future__ import annotations

from typing import Any

from rfm_core import ModelSpec

from .control import OMIT
from .controls import TABLE

_CONTROLS = [c for c in TABLE if c.read or any(t.startswith("model.") for t in c.sets)]
MODEL = tuple(control.name for control in _CONTROLS)


def values_of(spec: ModelSpec) -> dict[str, Any]:
    """The settings of a model; those that do not apply to it are left out."""
    found = {}
    for control in _CONTROLS:
        value = control.read(spec) if control.read else getattr(spec, control.name)
        if value is not OMIT:
            found[control.name] = value
    return found
