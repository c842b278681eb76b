"""What the controls are called, what they do, and which values they offer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# name: (label, what it does and why it matters)
_CONTROLS: dict[str, tuple[str, str]] = {
    "system": (
        "System",
        "The chaotic system whose trajectories are learnt; another one brings its own good values.",
    ),
    "architecture": (
        "Architecture",
        "Skip learns the change over one step, Deep chains units, Local gives every patch of the "
        "state the same small unit, X lets these units exchange their estimates.",
    ),
    "width": (
        "Width D_r",
        "Random features in each unit; more of them fit better and cost the square of it.",
    ),
    "depth": (
        "Depth B",
        "Units in the chain, each trained in turn on what the last one left; they pay off where "
        "the time step is large.",
    ),
    "G": (
        "Patch size G",
        "Components that one local unit predicts; it must divide the dimension.",
    ),
    "I": (
        "Neighbours I",
        "Patches that a local unit sees on each side; too few hide what moves in during a step.",
    ),
    "sides": (
        "Halo",
        "The same number of neighbours on both sides, or one number for each.",
    ),
    "left": (
        "Neighbours left",
        "Patches seen on the left; in Lorenz 96 influence comes mostly from there.",
    ),
    "right": (
        "Neighbours right",
        "Patches seen on the right.",
    ),
    "exchange_left": (
        "Exchange left",
        "Left neighbours whose current estimates units after the first see: the view widens with "
        "every unit.",
    ),
    "exchange_right": (
        "Exchange right",
        "Right neighbours whose current estimates units after the first see.",
    ),
    "beta_auto": (
        "Choose β for me",
        "Take the ridge parameter with the least one-step error on training rows kept aside.",
    ),
    "beta": (
        "Ridge parameter β",
        "Weight of the penalty on large outer weights: too much blurs the fit, too little lets "
        "rounding and instabilities through.",
    ),
    "noise": (
        "Noise",
        "Standard deviation of noise added to the training data; it teaches the model to come "
        "back from states near the attractor, and limits its accuracy.",
    ),
    "noise_on": (
        "Noise on",
        "The whole series, as in the paper, or the inputs alone, which keeps the targets clean.",
    ),
    "n_train": (
        "Training pairs N",
        "Pairs of a state and the next one to learn from.",
    ),
    "dt": (
        "Time step Δt",
        "Time between two states; a longer one makes the map to be learnt more nonlinear.",
    ),
    "eps": (
        "Threshold ε",
        "Error, in standard deviations, at which a forecast counts as failed.",
    ),
    "L0": (
        "Linear up to L0",
        "Pre-activations below it lie where tanh is a straight line and the feature adds nothing.",
    ),
    "L1": (
        "Saturated from L1",
        "Pre-activations above it lie where tanh is flat and the feature is a constant.",
    ),
    "sampler": (
        "Internal weights",
        "Hit-and-run keeps every feature between L0 and L1 on the data (tight) or on their "
        "bounding box (the paper's); uniform and gaussian do not look at the data.",
    ),
    "w": (
        "Weight scale w",
        "Size of naive internal weights: large ones saturate the features, small ones leave them "
        "linear.",
    ),
    "b": (
        "Bias scale b",
        "Size of naive internal biases.",
    ),
    "standardize": (
        "Standardised directions",
        "Draw directions for inputs brought to one scale; it helps where components differ in "
        "size.",
    ),
    "taper": (
        "Taper",
        "Features take less of inputs further from their patch, falling off with this share of the "
        "halo; a wide halo then costs no resolution. 0 takes all inputs alike, as the paper does.",
    ),
    "centred": (
        "Centred features",
        "Count every tanh from its value at the mean of the data: the same functions with far less "
        "rounding, which with QR is worth four Lyapunov times on Lorenz 1963. The paper's are not.",
    ),
    "solver": (
        "Solver",
        "QR keeps all digits of the regression; normal equations, the paper's way, lose half.",
    ),
    "refine": (
        "Refinements",
        "Further passes over the data, each a regression on what rounding left of the last one. "
        "Worth a Lyapunov time and more where nothing but rounding is in the way, as on Lorenz "
        "1963; the paper has none.",
    ),
    "patches": (
        "Learn from",
        "All patches where the system looks the same everywhere, or one of them as in the paper.",
    ),
    "rows": (
        "Rows of the regression",
        "How many rows are taken, evenly, from all training pairs and patches; 0 takes as many as "
        "there are pairs. Fewer are faster.",
    ),
    "unit_weights": (
        "Weights of units",
        "Every unit draws its own internal weights, or all share the first one's as in the paper.",
    ),
    "accuracy": (
        "Accuracy of the data",
        "Exact to rounding, or integrated as the paper did, with errors of 1e-8 that cap every "
        "forecast.",
    ),
    "n_test": (
        "Test trajectories",
        "Forecasts for each realization; chaos makes single ones vary, so look at many.",
    ),
    "realizations": (
        "Realizations",
        "Times that everything is repeated with new training data, weights and tests.",
    ),
    "climate_times": (
        "Length of long runs",
        "Lyapunov times over which the statistics of truth and surrogate are compared.",
    ),
    "device": (
        "Computed on",
        "The graphics card where there is one (auto), or the processor.",
    ),
    "seed": (
        "Seed",
        "Names all random numbers: the same seed gives the same run again.",
    ),
    "test": (
        "Shown trajectory",
        "Which of the test trajectories is drawn.",
    ),
    "column": (
        "Component",
        "Which component of the state is drawn.",
    ),
    "plane": (
        "Plane",
        "Which two components of the attractor are drawn, or all three in perspective.",
    ),
    "columns": (
        "Columns",
        "Columns of your file that are components of the state; none chosen means all.",
    ),
    "time": (
        "Time column",
        "The column of your file that holds the time, from which the step is taken.",
    ),
    "series_dt": (
        "Time step of the file",
        "Time between two rows, where the file has no time column.",
    ),
    "lyapunov": (
        "Lyapunov exponent",
        "Largest Lyapunov exponent of your system; forecast times are shown in units of its "
        "inverse. 0 means unknown.",
    ),
    "estimate": (
        "Estimate it",
        "Estimate the largest Lyapunov exponent from the training part of your series.",
    ),
    "homogeneous": (
        "The same everywhere",
        "Your columns are points along a ring on which the system looks the same everywhere, so "
        "that one local unit serves all of them.",
    ),
    "key": (
        "Array",
        "Which array of your NPZ file is used.",
    ),
}
_SYMBOLS = {"sigma": "σ", "rho": "ρ", "beta": "β", "D": "D", "F": "F", "L": "L", "grid": "grid"}

LABELS = {name: label for name, (label, _) in _CONTROLS.items()}
HELP = {name: sentence for name, (_, sentence) in _CONTROLS.items()}

CHOICES: dict[str, tuple[float, ...]] = {
    "width": (
        16, 24, 32, 48, 64, 90, 128, 180, 256, 300, 360, 512, 716, 1024, 1448, 2048, 2896, 4096,
        5800, 8192, 11586, 16384,
    ),
    "depth": (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32),
    "beta": tuple(float(f"1e{power}") for power in range(-30, 1)),
    "noise": (0.0, *(float(f"{n}e{power}") for power in range(-8, 0) for n in (1, 3))),
    "n_train": (
        500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
    ),
}  # fmt: skip
_WORDS = {True: "yes", False: "no", None: "–"}


def label_of(name: str) -> str:
    """The human name of a setting; ``p.sigma`` is a parameter of the system."""
    if name.startswith("p."):
        return f"Parameter {_SYMBOLS.get(name[2:], name[2:])}"
    return LABELS.get(name, name)


def options(name: str, current: float) -> list[float]:
    """The values a slider offers: the usual ones, and the current one where it is not usual."""
    return sorted({*CHOICES[name], current})


def shown(name: str, value: Any) -> str:
    """A value as a table shows it."""
    if isinstance(value, bool) or value is None:
        return _WORDS[value]
    if name == "rows" and value == 0:
        return "as many as pairs"
    if isinstance(value, int):
        return f"{value:,}" if name != "seed" else str(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "all"
    return str(value)


def difference(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """Names of what differs between two runs (``Settings.effective``), in the order of the page."""
    names = [*_CONTROLS, *sorted({*a, *b} - set(_CONTROLS))]
    return [name for name in names if a.get(name) != b.get(name)]


def describe(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """Human names and values of these settings; a dash where a run has no such setting."""
    return {label_of(name): shown(name, values.get(name)) for name in names}
