"""Parts of the Python code, with rfm_core alone, that gives what a view shows.

Each view puts its own together (``View.python``). Bad settings are refused with the engine's words.
File and column names appear only as string literals.
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from rfm_core import DataSpec, ModelSpec

from .controls import OWN
from .settings import Settings

LINE = 88
_SERIES_DEFAULTS = {"eps": 0.5, "n_test": 20, "homogeneous": False, "estimate": False}


def whole(code: str) -> str:
    """A part of a view with the imports that it needs."""
    numpy = "import numpy as np\n\n" if "np." in code else ""
    return f"{numpy}import rfm_core as rfm\n\n{code}"


def trained(s: Settings, realization: int = 0) -> str:
    """Data and model, up to a variable of each name."""
    more = [*fit_options(s)] + ([f"realization={realization}"] if realization else [])
    spec = f"data_spec.replace(realization={realization})" if realization else "data_spec"
    return specs(s) + made_data(s, spec) + call("model = rfm.fit", ["model_spec", "data", *more])


def specs(s: Settings) -> str:
    """What determines data and model; of an own series the data themselves."""
    first = _series(s) if s.system == OWN else _data_spec(s.data_spec())
    return first + model_spec(s.model_spec())


def made_data(s: Settings, spec: str = "data_spec") -> str:
    return "" if s.system == OWN else f"data = rfm.make_dataset({spec})\n"


def evenly(name: str, source: str, most: int) -> str:
    """At most so many states of an array, evenly."""
    return (
        f"{name} = {source}.reshape(-1, data.dimension)\n"
        f"at = np.linspace(0, len({name}) - 1, min(len({name}), {most}))\n"
        f"{name} = {name}[at.round().astype(int)]\n"
    )


def fit_options(s: Settings) -> list[str]:
    options = [f"seed={s.seed}"] if s.seed else []
    return options + ([f"device={s.device!r}"] if s.device != "auto" else [])


def _data_spec(spec: DataSpec) -> str:
    """Only what is not as usual, or as it follows from the rest (the length of tests, say)."""
    usual = DataSpec(spec.system)
    parameters = dict(sorted(set(spec.parameters) - set(usual.parameters)))
    chosen: dict[str, Any] = {"parameters": parameters} if parameters else {}
    for field in fields(DataSpec):
        if field.name not in ("system", "parameters"):
            usual, value = DataSpec(spec.system, **chosen), getattr(spec, field.name)
            if value != getattr(usual, field.name):
                chosen[field.name] = value
    given = [repr(spec.system), *(f"{name}={value!r}" for name, value in chosen.items())]
    return call("data_spec = rfm.DataSpec", given)


def model_spec(spec: ModelSpec) -> str:
    usual = ModelSpec(spec.architecture, G=spec.G, I=spec.I, left=spec.left, right=spec.right)
    given = [repr(spec.architecture + "X" * spec.exchanging)]
    given += [f"width={spec.width}"] if "width" in spec.kind.settings else []
    for field in fields(ModelSpec):
        value = getattr(spec, field.name)
        local = field.name in ("G", "I", "left", "right") and value is not None
        # one form for all models: a kind of features that is never centred need not say so
        implied = field.name == "centred" and "centred" not in spec.kind.settings
        if (
            field.name not in ("architecture", "width")
            and not implied
            and (local or value != getattr(usual, field.name))
        ):
            given.append(f"{field.name}={value!r}")
    return call("model_spec = rfm.ModelSpec", given)


def _series(s: Settings) -> str:
    given = [repr(s.file_name)]
    found = s.series_options()
    found["time"] = _column(found.get("time"))
    if "columns" in found:
        found["columns"] = [_column(column) for column in found["columns"]]
    for name, value in found.items():
        if value != _SERIES_DEFAULTS.get(name):
            given.append(f"{name}={value!r}")
    return call("data = rfm.load_series", given)


def _column(name: Any) -> Any:
    """The app says "column 2" where a file names no columns; the engine counts from 0."""
    match = re.fullmatch(r"column ([1-9][0-9]{0,5})", name) if isinstance(name, str) else None
    return int(match[1]) - 1 if match else name


def call(function: str, arguments: list[str]) -> str:
    """A call on one line if it fits, otherwise one line an argument."""
    line = f"{function}({', '.join(arguments)})\n"
    if len(line) <= LINE + 1:
        return line
    indent = " " * (len(function) - len(function.lstrip()))
    inner = "".join(f"{indent}    {argument},\n" for argument in arguments)
    return f"{function}(\n{inner}{indent})\n"
