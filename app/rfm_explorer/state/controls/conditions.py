"""When a control does not apply, what does not fit together, and the way back from a model.

The first kind says why not, and nothing where the control applies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rfm_core import ARCHITECTURES, InvalidInput, ModelSpec, Scheme, get_features, get_system
from rfm_core.model.sampler import NAIVE

from ..control import OMIT

if TYPE_CHECKING:
    from ..settings import Settings

OWN = "own"
NAMES = (*ARCHITECTURES, "LocalDeepRFMX", "LocalDeepSkipX")  # X: units exchange their halo


# --- when a control does not apply ---------------------------------------------------------------


def used(field: str, also: Callable[[Settings], str] = lambda s: "") -> Callable[[Settings], str]:
    """Of a setting that not all kinds of features have a use for."""

    def off(s: Settings) -> str:
        kind = get_features(s.features)
        return also(s) if field in kind.settings else f"Features “{kind.title}” do not have it."

    return off


def file_only(s: Settings) -> str:
    return "" if s.system == OWN else "Only for a file of your own."


def generated(s: Settings) -> str:
    return "Your file decides this." if s.system == OWN else ""


def inexact(s: Settings) -> str:
    if s.system != OWN and get_system(s.system).converged_in_paper:
        return "These data are converged as they are."
    return generated(s)


def deep(s: Settings) -> str:
    return "" if s.deep else "Only deep architectures have more than one unit."


def own_weights(s: Settings) -> str:
    if s.exchanging:
        return "Units that exchange have different inputs, so each needs weights of its own."
    return deep(s)


def local(s: Settings) -> str:
    return "" if s.local else "Only local architectures have patches."


def equal(s: Settings) -> str:
    return local(s) or ("" if s.sides == "equal" else "Left and right are set apart.")


def separate(s: Settings) -> str:
    return local(s) or ("" if s.sides == "separate" else "Both sides have I neighbours.")


def some_patches(s: Settings) -> str:
    return local(s) or ("Units that exchange learn from all patches." if s.exchanging else "")


def exchanging(s: Settings) -> str:
    return "" if s.exchanging else "Only architectures with an X exchange estimates."


def naive(s: Settings) -> str:
    return "" if s.sampler in NAIVE else "Hit-and-run chooses the scale itself."


def directions(s: Settings) -> str:
    return "Only hit-and-run draws directions." if s.sampler in NAIVE else ""


def by_hand(s: Settings) -> str:
    return "β is chosen automatically." if s.beta_auto else ""


def noisy(s: Settings) -> str:
    return "" if s.noise > 0 else "There is no noise."


def refinable(s: Settings) -> str:
    return "" if s.solver == "qr" else "Normal equations have lost what could be refined."


def given(s: Settings) -> str:
    return file_only(s) or ("It is estimated from your series." if s.estimate else "")


# --- what does not fit together ------------------------------------------------------------------


def sides(s: Settings, left: str, right: str = "") -> None:
    Scheme(s.dimension(), s.G, getattr(s, left), getattr(s, right) if right else 0)


def some_exchange(s: Settings) -> None:
    """The engine takes an exchange of nothing for none; here the architecture promises one."""
    sides(s, "exchange_left")
    if not (s.exchange_left or s.exchange_right):
        raise InvalidInput(
            "exchange_left=0 and exchange_right=0 exchange nothing: one of them must be at "
            f"least 1. Raise one, or choose {s.architecture.removesuffix('X')}."
        )


def homogeneous(s: Settings) -> None:
    if s.system == OWN and s.patches == "auto" and not s.homogeneous:
        raise InvalidInput(
            "patches='auto' cannot be used: one unit serves all patches only where the system "
            "looks the same everywhere, and nobody said that of your file. Say so below your "
            "file, choose 'all' to do it anyway, or choose a global architecture."
        )


# --- from a model of the engine back to the controls ---------------------------------------------


def part(number: int) -> Any:
    return lambda spec: spec.exchange[number] if spec.exchanging else OMIT


def side(number: int) -> Any:
    return lambda spec: spec.sides[number] if uneven(spec) else OMIT


def uneven(spec: ModelSpec) -> bool:
    return bool(spec.choices.local and spec.sides[0] != spec.sides[1])


def if_local(name: str, none: Any) -> Any:
    def read(spec: ModelSpec) -> Any:
        if not spec.choices.local:
            return OMIT
        value = getattr(spec, name)
        return none if value is None else value

    return read
