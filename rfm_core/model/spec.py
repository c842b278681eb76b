"""What a model is: the paper's eight architectures and what goes beyond them, as one spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from ..checks import InvalidInput, Real, Whole, flag, one_of, refuse, whole
from ..spec import Spec
from .features import Features, get_features
from .locality import Scheme

PAPER_NOISE = 1e-3
LEAST_RANGE = 1e-3  # from L0 to L1: rounding must be small beside it
LEAST_TAPER = 0.05  # below it the end of a halo is out of sight: a smaller halo says it better


class Choices(NamedTuple):
    """An architecture is three choices."""

    skip: bool
    deep: bool
    local: bool


ARCHITECTURES: dict[str, Choices] = {
    "RFM": Choices(False, False, False),
    "SkipRFM": Choices(True, False, False),
    "DeepRFM": Choices(False, True, False),
    "DeepSkip": Choices(True, True, False),
    "LocalRFM": Choices(False, False, True),
    "LocalSkip": Choices(True, False, True),
    "LocalDeepRFM": Choices(False, True, True),
    "LocalDeepSkip": Choices(True, True, True),
}
SAMPLERS = ("hit-and-run", "tight", "uniform", "gaussian")
LIMITS: dict[str, Whole | Real] = {
    "width": Whole(1, 10**6, "512 to 4096 is usual."),
    "depth": Whole(1, 1000, "1 to 32 is usual."),
    "beta": Real(0, 1e12, "1e-24 to 1e-2 is usual, or 'auto'."),
    "noise": Real(0, 1e6, "The paper's is 1e-3."),
    "refine": Whole(0, 100, "0 is the paper's, 1 or 2 help."),
    "L0": Real(0, 99, "The paper's is 0.4."),
    "L1": Real(LEAST_RANGE, 100, f"It must exceed L0 by at least {LEAST_RANGE:g}; 3.5 is usual."),
    "w": Real(0, 1e12, "Scale of naive weights.", above=True),
    "b": Real(0, 1e12, "Scale of naive biases."),
    "taper": Real(LEAST_TAPER, 1e3, "0.4 is usual, None takes all inputs alike."),
    "rows": Whole(1, 10**12, "Leave it None for as many as there are training pairs."),
    "degree": Whole(1, 20, "2 to 8 is usual."),
}
OPEN = {"beta": "auto", "taper": None, "rows": None}  # what stands for a choice of the engine's


@dataclass(frozen=True)
class ModelSpec(Spec):
    """One model. The paper's names where it has them; everything is checked here, once.

    architecture     one of ``ARCHITECTURES``; a trailing X (LocalDeepSkipX) means exchange=1 unless
                     ``exchange`` says more, a trailing N adds the paper's noise
    width, depth     D_r features per unit, B units
    G, I             patch size and neighbours on each side (local); or ``left`` and ``right``
    exchange         whose current estimates units after the first see: 0 only their own (the
                     paper), or n patches on each side, or a pair (left, right)
    beta             ridge parameter, or "auto": each unit's from held-out training rows
    noise, noise_on  standard deviation, on the whole training "series" (the paper) or the "input"
    solver           "qr" (accurate) or "normal" (normal equations, the paper's)
    refine           further passes over the rows, each a regression on what the last one left: the
                     same ridge solution with less of its rounding (solver "qr")
    sampler          "tight" (hit-and-run inside the data), "hit-and-run" (inside their bounding
                     box, the paper's), or the naive "uniform" and "gaussian" of scales w and b
    standardize      draw directions for standardised inputs
    taper            (local) directions take less of inputs further from the patch: a Gaussian of
                     this standard deviation, as a share of the halo; None: of all alike
    unit_weights     "independent" draws for each unit, or the first one's "shared" by all
    patches          learn from "all" patches or from "one" (the middle one); None: "all" where the
                     data are homogeneous in space
    rows             rows of the regression, taken evenly; None: as many as there are training pairs
    features         their kind, one of ``FEATURES``: "tanh" (the paper's), "fourier", "relu", or
                     "polynomial" of the given degree as a baseline, without a width
    centred          count each feature from its value at the mean input, spend one of them in each
                     unit on a constant, and let beta penalise what features contribute instead of
                     bare weights: the same functions with far less rounding; False is the paper's
    """

    architecture: str = "SkipRFM"
    width: int = 1024
    depth: int = 1
    G: int | None = None
    I: int | None = None  # noqa: E741 - the paper's name
    left: int | None = None
    right: int | None = None
    exchange: Any = 0
    beta: float | str = "auto"
    noise: float | None = None
    noise_on: str = "series"
    solver: str = "qr"
    sampler: str = "tight"
    L0: float = 0.4
    L1: float = 3.5
    w: float = 1.0
    b: float = 1.0
    standardize: bool = False
    taper: float | None = None
    unit_weights: str = "independent"
    patches: str | None = None
    rows: int | None = None
    features: str = "tanh"
    degree: int = 3
    centred: bool = True
    refine: int = 0

    def __post_init__(self) -> None:
        put = object.__setattr__
        self._check_architecture()
        for name, limit in LIMITS.items():
            value = getattr(self, name)
            if name in OPEN and type(value) is type(OPEN[name]) and value == OPEN[name]:
                continue
            put(self, name, limit(name, value))
        if self.depth > 1 and not self.choices.deep:
            raise refuse(
                "depth", self.depth, f"1 for {self.architecture}", "Deep architectures have more."
            )
        self._check_locality()
        one_of("noise_on", self.noise_on, ("series", "input"))
        one_of("solver", self.solver, ("qr", "normal"), "'qr' is the accurate default.")
        if self.refine and self.solver != "qr":
            remedy = "Normal equations have lost what could be refined; use solver='qr'."
            raise refuse("refine", self.refine, "0 with solver='normal'", remedy)
        one_of("sampler", self.sampler, SAMPLERS, "'hit-and-run' is the paper's.")
        Real(self.L0 + LEAST_RANGE, 100, LIMITS["L1"].remedy)("L1", self.L1)
        put(self, "standardize", flag("standardize", self.standardize, "False is the paper's."))
        one_of("unit_weights", self.unit_weights, ("independent", "shared"))
        get_features(self.features)
        self._check_centred()
        one_of("patches", self.patches, (None, "all", "one"))
        if self.exchanging and self.unit_weights == "shared":
            raise refuse(
                "unit_weights", "shared", "'independent' with exchange", "Inputs differ by unit."
            )

    def _check_centred(self) -> None:
        put = object.__setattr__
        put(self, "centred", flag("centred", self.centred, "False is the paper's."))
        if "centred" not in self.kind.settings:
            put(self, "centred", False)
        if self.centred and self.width < 2:
            remedy = "One feature is the constant; use more, or centred=False."
            raise refuse("width", self.width, "at least 2 with centred=True", remedy)

    def _check_architecture(self) -> None:
        """Trailing letters stand for other fields: X for an exchange, N for noise."""
        put, name = object.__setattr__, self.architecture
        suffix = ""
        if isinstance(name, str) and name not in ARCHITECTURES:
            plain = name.removesuffix("N").removesuffix("X")
            if plain in ARCHITECTURES:
                put(self, "architecture", plain)
                suffix = name[len(plain) :]
        more = "A trailing X exchanges estimates, a trailing N adds noise 1e-3."
        one_of("architecture", self.architecture, ARCHITECTURES, more)
        if "X" in suffix and self.exchange == 0:
            put(self, "exchange", 1)
        if self.noise is None:
            put(self, "noise", PAPER_NOISE if "N" in suffix else 0.0)

    def _check_locality(self) -> None:
        put = object.__setattr__
        self._check_exchange()
        if not self.choices.local:
            for name in ("G", "I", "left", "right", "taper"):
                if getattr(self, name) is not None:
                    raise self._only_local(name, getattr(self, name))
            return
        if self.G is None:
            raise refuse("G", None, f"a patch size for {self.architecture}", "Try G=2, I=2.")
        put(self, "G", whole("G", self.G, 1, None, "It divides the dimension."))
        if self.I is not None and (self.left is not None or self.right is not None):
            raise InvalidInput("Give either I or left and right, not both: I sets both sides.")
        if self.I is None and self.left is None and self.right is None:
            raise refuse("I", None, "a number of neighbours", "Or give left and right.")
        # one form for one meaning: I where both sides are equal, left and right where they differ
        if self.I is not None:
            left = right = whole("I", self.I, 0, None, "0 means no neighbours.")
        else:
            left, right = (
                0 if side is None else whole(name, side, 0, None, "0 means no neighbours there.")
                for name, side in (("left", self.left), ("right", self.right))
            )
        put(self, "I", left if left == right else None)
        put(self, "left", None if left == right else left)
        put(self, "right", None if left == right else right)

    def _check_exchange(self) -> None:
        given = self.exchange
        pair = given if isinstance(given, (tuple, list)) else (given, given)
        if len(pair) != 2:
            raise refuse("exchange", given, "a number or a pair (left, right)", "Try 1.")
        pair = tuple(whole("exchange", side, 0, None, "0 is the paper's.") for side in pair)
        object.__setattr__(self, "exchange", pair if any(pair) else 0)
        if not any(pair):
            return
        if not self.choices.local:
            raise self._only_local("exchange", given)
        if not self.choices.deep:
            raise refuse("exchange", given, "0 unless deep", "Use LocalDeepSkip, depth >= 2.")
        if self.patches == "one":
            raise refuse("patches", "one", "'all' with exchange", "Neighbours must be estimated.")

    def _only_local(self, name: str, value: Any) -> InvalidInput:
        limit = f"left out for {self.architecture}, which is global"
        return refuse(name, value, limit, "Choose a Local architecture to use it.")

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, validated anew; what was given last counts.

        A name with a trailing N brings its noise, ``I`` takes the place of ``left`` and ``right``,
        and one of these keeps the other side as it was. Normal equations end all refinement.
        """
        if changes.get("solver") == "normal":
            changes = {"refine": 0} | changes
        if str(changes.get("architecture", "")).endswith("N"):
            changes = {"noise": None} | changes
        if changes.get("I") is not None:
            changes = {"left": None, "right": None} | changes
        elif self.choices.local and not {"left", "right"}.isdisjoint(changes):
            changes = {"I": None, "left": self.sides[0], "right": self.sides[1]} | changes
        return super().replace(**changes)

    @property
    def choices(self) -> Choices:
        return ARCHITECTURES[self.architecture]

    @property
    def kind(self) -> type[Features]:
        """The kind of features."""
        return get_features(self.features)

    @property
    def sides(self) -> tuple[int, int]:
        """Neighbouring patches seen on the left and on the right."""
        if self.I is not None:
            return self.I, self.I
        return self.left or 0, self.right or 0

    @property
    def exchanging(self) -> bool:
        """Do units see their neighbours' current estimates?"""
        return bool(self.exchange)

    @property
    def label(self) -> str:
        """As the paper would write it, for example LocalDeepSkip(2,2) 1024x4.

        Exchanging units have an X, and after the halo whose estimates they see.
        """
        name = self.architecture + "X" * self.exchanging + ("N" if self.noise else "")
        if self.choices.local:
            seen = [self.sides, self.exchange] if self.exchanging else [self.sides]
            halos = (str(a) if a == b else f"{a}|{b}" for a, b in seen)
            name += f"({self.G},{','.join(halos)})"
        depth = self.depth if self.choices.deep else None
        return f"{name} {self.kind.label(width=self.width, degree=self.degree, depth=depth)}"

    def scheme(self, dimension: int) -> Scheme:
        """The patches of a state of that dimension."""
        if not self.choices.local:
            return Scheme(dimension, dimension)
        assert self.G is not None
        scheme = Scheme(dimension, self.G, *self.sides)
        if self.exchanging:
            Scheme(dimension, self.G, *self.exchange)  # refuses what does not fit
        return scheme

    def unit_inputs(self, dimension: int) -> list[int]:
        """Inputs of each unit. Deep units also see estimates of the next state.

        In the paper every unit sees its own patch's; the first one thus sees its patch twice.
        Where units exchange, those after the first see their neighbours' too, and the first one,
        which has no estimate yet, sees the state alone.
        """
        scheme = self.scheme(dimension)
        if not self.choices.deep:
            return [scheme.inputs]
        if not self.exchanging:
            return [scheme.inputs + scheme.G] * self.depth
        wide = scheme.inputs + (sum(self.exchange) + 1) * scheme.G
        return [scheme.inputs] + [wide] * (self.depth - 1)

    def unit_widths(self, dimension: int) -> list[int]:
        """Features of each unit."""
        return [self.kind.count(self, inputs) for inputs in self.unit_inputs(dimension)]

    def size(self, dimension: int) -> int:
        """Number of weights and biases, as the paper counts them.

        A polynomial has no internal weights; its coefficients alone count. Of centred features one
        is a constant, and the centre takes the place of its internal weights.
        """
        outputs = self.scheme(dimension).G
        return sum(
            (self.kind.internal(inputs) + outputs) * width
            for inputs, width in zip(
                self.unit_inputs(dimension), self.unit_widths(dimension), strict=True
            )
        )
