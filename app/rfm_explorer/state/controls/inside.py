"""Inside the model: its features and its regression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rfm_core import FEATURES, ModelSpec
from rfm_core.model.spec import LIMITS as MODEL

from ..control import OMIT, Control
from .conditions import (
    directions,
    homogeneous,
    if_local,
    local,
    naive,
    own_weights,
    refinable,
    some_patches,
    used,
)


class Kinds(Mapping[str, str]):
    """Names and titles of all kinds of features there are now: a script may add its own."""

    def __getitem__(self, name: str) -> str:
        return FEATURES[name].title

    def __iter__(self) -> Iterator[str]:
        return iter(FEATURES)

    def __len__(self) -> int:
        return len(FEATURES)


FEATURE_CONTROLS = (
    Control(
        name="features",
        label="Kind of features",
        help="The functions that a unit is a weighted sum of. "
        + " ".join(f"{kind.title}: {kind.about}." for kind in FEATURES.values()),
        default=ModelSpec().features,
        kind="choice",
        choices=Kinds(),
        group="features",
        sets=("model.features",),
    ),
    Control(
        name="degree",
        label="Degree",
        help="The highest power in a polynomial; the number of monomials grows fast with it.",
        default=3,
        kind="whole",
        limits=MODEL["degree"],
        group="features",
        sets=("model.degree",),
        off=used("degree"),
    ),
    Control(
        name="sampler",
        label="Internal weights",
        help="Hit-and-run keeps every feature between L0 and L1 on the data (tight) or on their "
        "bounding box (the paper's); uniform and gaussian do not look at the data.",
        default="tight",
        kind="choice",
        choices={
            "tight": "hit-and-run, inside the data",
            "hit-and-run": "hit-and-run, bounding box (paper)",
            "uniform": "uniform (naive)",
            "gaussian": "gaussian (naive)",
        },
        group="features",
        sets=("model.sampler",),
        off=used("sampler"),
    ),
    Control(
        name="L0",
        label="Linear up to L0",
        help="Pre-activations below it lie where tanh is a straight line and the feature adds "
        "nothing. What it is to other features stands with their kind.",
        default=0.4,
        kind="real",
        limits=MODEL["L0"],
        group="features",
        sets=("model.L0",),
        off=used("L0"),
    ),
    Control(
        name="L1",
        label="Saturated from L1",
        help="Pre-activations above it lie where tanh is flat and the feature is a constant. "
        "What it is to other features stands with their kind.",
        default=3.5,
        kind="real",
        limits=MODEL["L1"],
        group="features",
        sets=("model.L1",),
        off=used("L1"),
        fits=lambda s: ModelSpec(L0=s.L0, L1=s.L1),
    ),
    Control(
        name="w",
        label="Weight scale w",
        help="Size of naive internal weights: large ones saturate the features, small ones leave "
        "them linear.",
        default=1.0,
        kind="real",
        limits=MODEL["w"],
        group="features",
        sets=("model.w",),
        off=used("w", naive),
    ),
    Control(
        name="b",
        label="Bias scale b",
        help="Size of naive internal biases.",
        default=1.0,
        kind="real",
        limits=MODEL["b"],
        group="features",
        sets=("model.b",),
        off=used("b", naive),
    ),
    Control(
        name="standardize",
        label="Standardised directions",
        help="Draw directions for inputs brought to one scale; it helps where components differ "
        "in size.",
        default=False,
        kind="flag",
        group="features",
        sets=("model.standardize",),
        off=used("standardize", directions),
    ),
    Control(
        name="taper",
        label="Taper",
        help="Features take less of inputs further from their patch, falling off with this share "
        "of the halo; a wide halo then costs no resolution. 0 takes all inputs alike, as the "
        "paper does.",
        default=0.0,
        kind="real",
        limits=MODEL["taper"],
        zero="all inputs alike",
        usual="0.4 is usual.",
        group="features",
        sets=("model.taper",),
        off=used("taper", local),
        read=if_local("taper", 0.0),
    ),
    Control(
        name="centred",
        label="Centred features",
        help="Count every feature from its value at the mean of the data: the same functions with "
        "far less rounding, which with QR is worth four Lyapunov times on Lorenz 1963. The paper's "
        "are not.",
        default=True,
        kind="flag",
        group="features",
        sets=("model.centred",),
        off=used("centred"),
    ),
)
REGRESSION_CONTROLS = (
    Control(
        name="solver",
        label="Solver",
        help="QR keeps all digits of the regression; normal equations, the paper's way, lose half.",
        default="qr",
        kind="choice",
        choices={"qr": "QR", "normal": "normal equations (paper)"},
        group="regression",
        sets=("model.solver",),
    ),
    Control(
        name="refine",
        label="Refinements",
        help="Further passes over the data, each a regression on what rounding left of the last "
        "one. Worth a Lyapunov time and more where nothing but rounding is in the way, as on "
        "Lorenz 1963; the paper has none.",
        default=2,
        kind="whole",
        limits=MODEL["refine"],
        group="regression",
        sets=("model.refine",),
        off=refinable,
    ),
    Control(
        name="patches",
        label="Learn from",
        help="All patches where the system looks the same everywhere, or one of them as in the "
        "paper.",
        default="auto",
        kind="choice",
        choices={"auto": "what suits the system", "all": "all patches", "one": "one patch (paper)"},
        group="regression",
        sets=("model.patches",),
        off=some_patches,
        fits=homogeneous,
        write=lambda patches: OMIT if patches == "auto" else patches,
        read=if_local("patches", "auto"),
    ),
    Control(
        name="rows",
        label="Rows of the regression",
        help="How many rows are taken, evenly, from all training pairs and patches; 0 takes as "
        "many as there are pairs. Fewer are faster.",
        default=0,
        kind="whole",
        limits=MODEL["rows"],
        zero="as many as pairs",
        usual="10,000 to 100,000 is usual.",
        group="regression",
        sets=("model.rows",),
        read=lambda spec: spec.rows or 0,
    ),
    Control(
        name="unit_weights",
        label="Weights of units",
        help="Every unit draws its own internal weights, or all share the first one's as in the "
        "paper.",
        default="independent",
        kind="choice",
        choices={"independent": "drawn anew", "shared": "shared (paper)"},
        group="regression",
        sets=("model.unit_weights",),
        off=used("unit_weights", own_weights),
    ),
)
