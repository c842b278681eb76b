"""An equation as plain text: its source and the constants around it.

Under this text data are kept, and from it worker processes make the equation again, so that it may
stand in a script or a notebook, which they cannot import.
"""

from __future__ import annotations

import importlib
import inspect
import textwrap
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..spec import digest_of

Equation = Callable[..., Any]
CONSTANTS = (bool, int, float, str)


def text_of(function: Equation) -> dict[str, Any] | None:
    """Its source, and what it uses of what stands around it; None where that is no plain text."""
    known: dict[str, Any] | None = getattr(function, "__rfm_text__", None)
    if known is not None:
        return known
    sources: dict[str, str] = {}
    around: dict[str, Any] = {}
    try:
        _collect(function, sources, around)
        digest_of(around)
    except (OSError, TypeError, ValueError):
        return None
    return {"function": function.__name__, "sources": sources, "around": around}


def _collect(function: Equation, sources: dict[str, str], around: dict[str, Any]) -> None:
    if function.__name__ in sources:
        return
    source = textwrap.dedent(inspect.getsource(function))
    if not source.startswith("def "):
        raise TypeError("only a function with a name has a text that stands by itself")
    sources[function.__name__] = source
    code = function.__code__
    found = dict(inspect.getclosurevars(function).nonlocals)
    found |= {name: function.__globals__[name] for name in _names(code) & set(function.__globals__)}
    for name, value in found.items():
        if isinstance(value, types.ModuleType):
            around[name] = {"module": value.__name__}
        elif isinstance(value, types.FunctionType) and value.__module__ == function.__module__:
            if name != value.__name__:
                raise TypeError("a function under another name")
            _collect(value, sources, around)
        elif isinstance(value, np.ndarray):
            around[name] = {"array": value.tolist()}
        elif isinstance(value, tuple) and all(isinstance(part, CONSTANTS) for part in value):
            around[name] = {"tuple": list(value)}
        elif isinstance(value, CONSTANTS):
            around[name] = {"value": value}
        elif getattr(value, "__module__", "").startswith(("numpy", "math")):
            around[name] = {"module": value.__module__, "attribute": value.__name__}
        else:
            raise TypeError(f"{name} is no plain value")


def _names(code: types.CodeType) -> set[str]:
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def equation_of(text: Mapping[str, Any]) -> Equation:
    """The function that ``text_of`` described."""
    names: dict[str, Any] = {"__name__": "rfm_core.own_system"}
    for name, given in text["around"].items():
        if "module" in given:
            module = importlib.import_module(given["module"])
            names[name] = getattr(module, given["attribute"]) if "attribute" in given else module
        elif "array" in given:
            names[name] = np.array(given["array"])
        else:  # numba takes tuples and no lists
            names[name] = tuple(given["tuple"]) if "tuple" in given else given["value"]
    for source in text["sources"].values():
        exec(compile(source, "<a system of somebody's own>", "exec"), names)
    found: Equation = names[text["function"]]
    found.__rfm_text__ = dict(text)  # type: ignore[attr-defined]
    return found
