"""The settings that make a given model of the engine."""

from __future__ import annotations

from typing import Any

from rfm_core import ModelSpec

_ALIKE = (
    "width", "noise", "solver", "sampler", "L0", "L1", "w", "b", "standardize", "unit_weights",
    "centred", "refine",
)  # fmt: skip
MODEL = (
    *_ALIKE, "architecture", "depth", "G", "sides", "I", "left", "right", "exchange_left",
    "exchange_right", "taper", "patches", "rows", "beta_auto", "beta", "noise_on",
)  # fmt: skip


def values_of(spec: ModelSpec) -> dict[str, Any]:
    """The settings of a tanh model; those that do not apply to it are left out."""
    found = {name: getattr(spec, name) for name in _ALIKE}
    found["architecture"] = spec.architecture + "X" * spec.exchanging
    found["rows"] = spec.rows or 0
    found["beta_auto"] = spec.beta == "auto"
    if spec.noise:
        found["noise_on"] = spec.noise_on
    if spec.beta != "auto":
        found["beta"] = spec.beta
    if spec.choices.deep:
        found["depth"] = spec.depth
    if spec.choices.local:
        left, right = spec.sides
        found |= {"G": spec.G, "taper": spec.taper or 0.0, "patches": spec.patches or "auto"}
        found["sides"] = "equal" if left == right else "separate"
        found |= {"I": left} if left == right else {"left": left, "right": right}
    if spec.exchanging:
        found |= dict(zip(("exchange_left", "exchange_right"), spec.exchange, strict=True))
    return found
