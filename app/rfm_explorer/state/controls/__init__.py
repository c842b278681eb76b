"""The one table of controls: every setting of an experiment, declared once.

To add one, add an entry to one of these files; where it sets a new field of the engine, that field
is the other file to touch. The order is that of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rfm_core import SYSTEMS, get_system
from rfm_core.checks import Real, Whole

from ..control import Control, in_words
from .conditions import NAMES, OWN, some_exchange
from .data import DATA_CONTROLS, RUN_CONTROLS, SYSTEM_CONTROLS
from .file import FILE_CONTROLS
from .inside import FEATURE_CONTROLS, REGRESSION_CONTROLS
from .model import MODEL_CONTROLS

__all__ = [
    "CONTROLS",
    "FILE",
    "GROUPS",
    "MORE",
    "NAMES",
    "OWN",
    "TABLE",
    "describe",
    "difference",
    "label_of",
    "parameter_control",
    "shown",
    "some_exchange",
]

GROUPS = {  # of the page, and what they are called there
    "system": "",
    "file": "",
    "model": "Model",
    "data": "Data and tests",
    "features": "Features",
    "regression": "Regression",
    "run": "Run",
}
MORE = ("data", "features", "regression", "run")  # folded
TABLE = (
    *SYSTEM_CONTROLS,
    *MODEL_CONTROLS,
    *DATA_CONTROLS,
    *FEATURE_CONTROLS,
    *REGRESSION_CONTROLS,
    *RUN_CONTROLS,
    *FILE_CONTROLS,
)
CONTROLS = {control.name: control for control in TABLE}
FILE = tuple(control.name for control in TABLE if control.group == "file")


def parameter_control(system: str, key: str) -> Control:
    """The control of one of the system's own parameters; ``p.sigma`` in links."""
    known = get_system(system)
    whole = key in known.whole_parameters
    low, high = known.limits.get(key, (-1e6, 1e6))
    remedy = f"The usual value is {known.parameters[key]:g}."
    return Control(
        name=f"p.{key}",
        label=known.symbol(key),
        help="",
        default=known.parameters[key],
        kind="whole" if whole else "real",
        limits=Whole(int(low), int(high), remedy) if whole else Real(low, high, remedy),
        group="system",
        sets=("data.parameters",),
    )


def label_of(name: str) -> str:
    """The human name of a setting; ``p.sigma`` is a parameter of the system."""
    if name.startswith("p."):
        symbols = (system.symbols.get(name[2:]) for system in SYSTEMS.values())
        return f"Parameter {next(filter(None, symbols), name[2:])}"
    return CONTROLS[name].label if name in CONTROLS else name


def shown(name: str, value: object) -> str:
    """A value as a table shows it."""
    control = CONTROLS.get(name)
    return in_words(name, value) if control is None or value is None else control.words(value)


def difference(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """Names of what differs between two runs (``Settings.effective``), in the order of the page."""
    names = [*CONTROLS, *sorted({*a, *b} - set(CONTROLS))]
    return [name for name in names if a.get(name) != b.get(name)]


def describe(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """Human names and values of these settings; a dash where a run has no such setting."""
    return {label_of(name): shown(name, values.get(name)) for name in names}
