"""Which settings fit together, which do not apply, and what would fit."""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial
from typing import TYPE_CHECKING, Any

from rfm_core import SYSTEMS, DataSpec, InvalidInput, ModelSpec, Scheme
from rfm_core.checks import real, whole

if TYPE_CHECKING:
    from .settings import Settings

FILE = ("columns", "time", "series_dt", "lyapunov", "estimate", "homogeneous", "key")
_LOCAL = ("G", "I", "sides", "left", "right", "patches", "taper")
_GENERATED = ("n_train", "dt", "accuracy", "realizations")
_NAIVE = ("uniform", "gaussian")


def disabled(s: Settings) -> dict[str, str]:
    """Why a control does not apply, for each that does not."""
    off: dict[str, str] = {}

    def unless(applies: bool, why: str, *names: str) -> None:
        if not applies:
            off.update((name, why) for name in names if name not in off)

    own = s.system == "own"
    unless(own, "Only for a file of your own.", *FILE)
    unless(not own, "Your file decides this.", *_GENERATED)
    unless(s.system != "KS", "These data are converged as they are.", "accuracy")
    unless(not s.estimate, "It is estimated from your series.", "lyapunov")
    unless(s.deep, "Only deep architectures have more than one unit.", "depth", "unit_weights")
    unless(s.local, "Only local architectures have patches.", *_LOCAL)
    unless(s.sides == "equal", "Left and right are set apart.", "I")
    unless(s.sides == "separate", "Both sides have I neighbours.", "left", "right")
    why = "Only architectures with an X exchange estimates."
    unless(s.exchanging, why, "exchange_left", "exchange_right")
    why = "Units that exchange have different inputs, so each needs weights of its own."
    unless(not s.exchanging, why, "unit_weights")
    unless(not s.exchanging, "Units that exchange learn from all patches.", "patches")
    unless(not s.beta_auto, "β is chosen automatically.", "beta")
    unless(s.solver == "qr", "Normal equations have lost what could be refined.", "refine")
    unless(s.noise > 0, "There is no noise.", "noise_on")
    unless(s.sampler in _NAIVE, "Hit-and-run chooses the scale itself.", "w", "b")
    unless(s.sampler not in _NAIVE, "Only hit-and-run draws directions.", "standardize")
    return off


def problems(s: Settings) -> dict[str, str]:
    """Why a value cannot be used, for each control with such a value.

    Not for what is looked at: it follows the results, and must not keep anybody from a run.
    """
    off = disabled(s)
    found = {name: why for name, why in limits(s).items() if name not in off}
    check = _Checks(found, off)
    if not any(name.startswith("p.") for name in found):
        check("system", s.dimension)
        if "system" not in found:
            _check_patches(s, check)
    if not found:  # whatever else the engine refuses
        check("architecture", s.model_spec)
        check("system", lambda: s.system == "own" or s.data_spec())
    return found


def limits(s: Settings) -> dict[str, str]:
    """Why a value cannot be used whatever the others are, also where it does not apply."""
    found: dict[str, str] = {}
    check = _Checks(found)
    for name in ("width", "noise", "beta", "refine", "w", "b"):
        check(name, partial(ModelSpec, **{name: getattr(s, name)}))
    check("depth", lambda: ModelSpec("DeepSkip", depth=s.depth))
    check("rows", lambda: s.rows == 0 or ModelSpec(rows=s.rows))
    check("taper", lambda: s.taper == 0 or ModelSpec("LocalSkip", G=1, I=1, taper=s.taper))
    check("L0", lambda: ModelSpec(L0=s.L0, L1=100))
    check("L1", lambda: "L0" in found or ModelSpec(L0=s.L0, L1=s.L1))
    for name in ("I", "left", "right", "exchange_left", "exchange_right"):
        check(name, partial(whole, name, getattr(s, name), 0, 10_000, "0 is the least."))
    check("G", lambda: whole("G", s.G, 1, 10_000, "It divides the dimension."))
    check("n_test", lambda: whole("n_test", s.n_test, 1, 10_000, "20 is usual."))
    few = "More take long; 500 are the paper's."
    check("realizations", lambda: whole("realizations", s.realizations, 1, 10_000, few))
    usual = "200 is usual."
    check("climate_times", lambda: real("climate_times", s.climate_times, usual, 20, 100_000))
    check("eps", lambda: real("eps", s.eps, "0.3 to 0.5 is usual.", 0, above=True))
    check("seed", lambda: DataSpec(seed=s.seed))
    if s.system in SYSTEMS:
        for name in ("n_train", "dt"):
            check(name, partial(DataSpec, s.system, **{name: getattr(s, name)}))
        for key, value in s.parameters.items():
            check(f"p.{key}", partial(DataSpec, s.system, parameters={key: value}))
    return found


def unseen(s: Settings) -> dict[str, str]:
    """Why something cannot be looked at: there are not so many tests or components."""
    found: dict[str, str] = {}
    check = _Checks(found)
    check("test", lambda: whole("test", s.test, 0, max(s.n_test, 1) - 1, "0 is the first."))
    check("column", lambda: whole("column", s.column, 0, s.dimension() - 1, "0 is the first."))
    return found


class _Checks:
    """Collects refusals by the name of the control, the first one of each."""

    def __init__(self, found: dict[str, str], off: Container[str] = ()) -> None:
        self.found, self.off = found, off

    def __call__(self, name: str, make: Callable[[], Any]) -> None:
        if name in self.off or name in self.found:
            return
        try:
            make()
        except InvalidInput as error:
            self.found[name] = str(error)


def _check_patches(s: Settings, check: _Checks) -> None:
    if not s.local:
        return
    size, found = s.dimension(), check.found
    check("G", lambda: Scheme(size, s.G))
    if "G" in found:
        return
    check("I", lambda: Scheme(size, s.G, s.I, s.I))
    check("left", lambda: Scheme(size, s.G, s.left, 0))
    check("right", lambda: "left" in found or Scheme(size, s.G, s.left, s.right))
    check("exchange_left", lambda: Scheme(size, s.G, s.exchange_left, 0))
    if "exchange_left" not in found:
        check("exchange_right", lambda: Scheme(size, s.G, s.exchange_left, s.exchange_right))
    check("exchange_left", s.check_exchange)
    check("patches", lambda: _check_homogeneous(s))


def _check_homogeneous(s: Settings) -> None:
    if s.system == "own" and s.patches == "auto" and not s.homogeneous:
        raise InvalidInput(
            "patches='auto' cannot be used: one unit serves all patches only where the system "
            "looks the same everywhere, and nobody said that of your file. Say so below your "
            "file, choose 'all' to do it anyway, or choose a global architecture."
        )


def nearest(s: Settings, name: str) -> list[int]:
    """Values that fit: patch sizes, neighbours on a side, components, test trajectories."""
    if name == "test":
        return list(range(max(1, s.n_test)))
    try:
        size = s.dimension()
    except InvalidInput:
        return []
    if name == "column":
        return list(range(size))
    if name == "G":
        return [g for g in range(1, size + 1) if size % g == 0]
    if s.G < 1 or size % s.G:
        return []
    others = size // s.G - 1  # patches beside a patch's own
    most = {
        "I": others // 2,
        "left": others - max(0, s.right),
        "right": others - max(0, s.left),
        "exchange_left": others - max(0, s.exchange_right),
        "exchange_right": others - max(0, s.exchange_left),
    }
    return list(range(most[name] + 1))
