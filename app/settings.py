"""The whole state of an experiment, without a widget: what is learnt, by what, what is looked at.

Values may be wrong for each other while somebody edits them: ``problems`` says which and why, and
the specs refuse. Values that do not apply (``disabled``) are kept but do not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import param
import torch

from rfm_core import (
    ARCHITECTURES,
    SAMPLERS,
    SYSTEMS,
    DataSpec,
    InvalidInput,
    ModelSpec,
    PaperRow,
    get_system,
)
from rfm_core import recommended as recommended_model
from rfm_core.checks import whole

from . import published, query, specs, validity
from .controls import CHOICES, HELP, LABELS, describe, difference, label_of, options, shown
from .query import RESERVED
from .validity import FILE

__all__ = [
    "CHOICES", "HELP", "LABELS", "NAMES", "OWN", "RESERVED", "SHARED", "Settings", "describe",
    "difference", "label_of", "options", "recommended", "shown",
]  # fmt: skip

OWN = "own"
NAMES = (*ARCHITECTURES, "LocalDeepRFMX", "LocalDeepSkipX")  # X: units exchange their halo
# Beyond the model that the engine recommends: what keeps a first run short.
_QUICK: dict[str, dict[str, Any]] = {"KS": {"n_train": 20_000, "n_test": 10}, OWN: {"eps": 0.5}}


@cache
def devices() -> tuple[str, ...]:
    return ("auto", "cpu", "cuda") if torch.cuda.is_available() else ("auto", "cpu")


def _choice(default: str, *allowed: str) -> Any:
    return param.Selector(default=default, objects=list(allowed))


class Settings(param.Parameterized):
    """Names are those of links; ``controls`` has their labels and what they do."""

    system = _choice("L63", *SYSTEMS, OWN)
    parameters = param.Dict(default=dict(SYSTEMS["L63"].parameters))
    architecture = _choice("SkipRFM", *NAMES)
    width = param.Integer(512)
    depth = param.Integer(2)
    G = param.Integer(2)
    I = param.Integer(2)  # noqa: E741 - the paper's name
    sides = _choice("equal", "equal", "separate")
    left = param.Integer(2)
    right = param.Integer(2)
    exchange_left = param.Integer(2)
    exchange_right = param.Integer(1)
    beta_auto = param.Boolean(True)
    beta = param.Number(1e-16)
    noise = param.Number(0.0)
    noise_on = _choice("input", "input", "series")
    n_train = param.Integer(50_000)
    dt = param.Number(0.01)
    eps = param.Number(0.3)
    L0 = param.Number(0.4)
    L1 = param.Number(3.5)
    sampler = _choice("tight", *SAMPLERS)
    w = param.Number(1.0)
    b = param.Number(1.0)
    standardize = param.Boolean(False)
    taper = param.Number(0.0)  # 0: none
    centred = param.Boolean(True)
    solver = _choice("qr", "qr", "normal")
    refine = param.Integer(2)
    patches = _choice("auto", "auto", "all", "one")
    rows = param.Integer(0)
    unit_weights = _choice("independent", "independent", "shared")
    accuracy = _choice("fine", "fine", "paper")
    n_test = param.Integer(20)
    realizations = param.Integer(1)
    climate_times = param.Number(200.0)
    device = _choice("auto", *devices())
    seed = param.Integer(0)
    test = param.Integer(0)
    column = param.Integer(0)
    plane = param.String("x-z", regex=r"[A-Za-z0-9-]{1,12}")
    view = param.String("forecast")
    file_name = param.String("")
    columns = param.List(default=[])
    time = param.Parameter(default=None)  # a name or an index, None: look for it, False: none
    series_dt = param.Number(0.0)  # 0: from the file
    series_dimension = param.Integer(0)  # as many columns as the file has; 0: no file yet
    lyapunov = param.Number(0.0)  # 0: unknown
    estimate = param.Boolean(False)
    homogeneous = param.Boolean(False)
    key = param.String("")

    def values(self) -> dict[str, Any]:
        """Every value; a dictionary that ``apply`` takes back."""
        found = {name: getattr(self, name) for name in self.param if name != "name"}
        return {**found, "parameters": dict(self.parameters), "columns": list(self.columns)}

    def apply(self, changes: Mapping[str, Any]) -> None:
        """These values, and the recommended ones of their system for all others, in one go.

        Seed, device and tab stay as they are unless they are named.
        """
        usual = recommended(changes.get("system", self.system))
        kept = {"seed": self.seed, "device": self.device}
        parameters = {**usual["parameters"], **changes.get("parameters", {})}
        before = self.values()
        try:
            self.param.update(**{**usual, **kept, **changes, "parameters": parameters})
        except (ValueError, TypeError) as error:  # a value of the wrong kind, or no such setting
            self.param.update(**before)
            raise InvalidInput(f"{error} Nothing was changed.") from None

    def copy(self) -> Settings:
        """The same values, on their own from now on."""
        return type(self)(**self.values())

    def choose_system(self, name: str) -> None:
        """Another system with the values recommended for it."""
        self.apply({"system": name})

    def recommended(self, system: str | None = None) -> dict[str, Any]:
        """The values recommended for a system, by default for this one."""
        return recommended(system or self.system)

    def effective(self) -> dict[str, Any]:
        """What determines the run: the values that apply, the system's parameters one by one."""
        off = {*self.disabled(), "parameters", "view", "test", "column", "plane"}
        if self.system != OWN:
            off |= {"file_name", "series_dimension"}
        found = {name: value for name, value in self.values().items() if name not in off}
        if self.system != OWN:
            found |= {f"p.{key}": value for key, value in self.parameters.items()}
        return found

    def label(self) -> str:
        """Short, for example L63 SkipRFM 512; a file's name is a stranger's text."""
        system = self.system if self.system != OWN else self.file_name[:24] or "own data"
        depth = f"x{self.depth}" if self.deep else ""
        halo = str(self.I) if self.sides == "equal" else f"{self.left}|{self.right}"
        where = f"({self.G},{halo})" if self.local else ""
        noisy = "N" if self.noise else ""
        return f"{system} {self.architecture}{noisy}{where} {self.width}{depth}"

    # --- specs of the engine ------------------------------------------------------------------

    def data_spec(self) -> DataSpec:
        """The data of a known system; refused with the engine's words."""
        if self.system == OWN:
            raise InvalidInput("Your own series is a file, not a system. Choose a system instead.")
        return DataSpec(
            system=self.system,
            n_train=self.n_train,
            dt=self.dt,
            n_test=whole("n_test", self.n_test, 1, 10_000, "20 is usual."),
            seed=self.seed,
            parameters=self.parameters,
            accuracy="fine" if self.system == "KS" else self.accuracy,
            eps=self.eps,
        )

    def series_options(self) -> dict[str, Any]:
        """How the user's own file is to be read, as ``rfm_core.load_series`` takes it."""
        return {
            "columns": list(self.columns) or None,
            "time": self.time,
            "dt": self.series_dt or None,
            "key": self.key or None,
            "lyapunov": self.lyapunov or None,
            "estimate": self.estimate and not self.lyapunov,
            "eps": self.eps,
            "homogeneous": self.homogeneous,
            "n_test": self.n_test,
        }

    def model_spec(self) -> ModelSpec:
        """The model, checked against the dimension; refused with the engine's words."""
        given: dict[str, Any] = {
            "depth": self.depth if self.deep else 1,
            "beta": "auto" if self.beta_auto else self.beta,
            "noise_on": self.noise_on if self.noise else "series",
            "unit_weights": "independent" if self.exchanging else self.unit_weights,
            "rows": self.rows or None,
            "refine": self.refine if self.solver == "qr" else 0,
        }
        for name in ("width", "noise", "solver", "sampler", "L0", "L1", "standardize", "centred"):
            given[name] = getattr(self, name)
        if self.sampler in ("uniform", "gaussian"):
            given |= {"w": self.w, "b": self.b}
        if self.local:
            given |= {"G": self.G, "patches": None if self.patches == "auto" else self.patches}
            sides = ("I",) if self.sides == "equal" else ("left", "right")
            given |= {name: getattr(self, name) for name in sides}
            given["taper"] = self.taper or None
        if self.exchanging:
            given |= {"exchange": (self.exchange_left, self.exchange_right), "patches": "all"}
            self.check_exchange()
        spec = ModelSpec(self.architecture, **given)
        spec.scheme(self.dimension())  # refuses patches that do not fit
        return spec

    def dimension(self) -> int:
        """Components of the state."""
        if self.system == OWN:
            if not (self.columns or self.series_dimension):
                raise InvalidInput("There is no file yet. Give one, or choose a system.")
            return len(self.columns) or self.series_dimension
        system = get_system(self.system)
        return system.dimension(system.resolve(self.parameters))

    def check_exchange(self) -> None:
        if not (self.exchange_left or self.exchange_right):
            raise InvalidInput(
                "exchange_left=0 and exchange_right=0 exchange nothing: one of them must be at "
                f"least 1. Raise one, or choose {self.architecture.removesuffix('X')}."
            )

    @property
    def deep(self) -> bool:
        return "Deep" in self.architecture

    @property
    def local(self) -> bool:
        return self.architecture.startswith("Local")

    @property
    def exchanging(self) -> bool:
        return self.architecture.endswith("X")

    # --- what fits and what applies -----------------------------------------------------------

    def problems(self) -> dict[str, str]:
        """Why a value cannot be used, for each control with such a value."""
        return validity.problems(self)

    def disabled(self) -> dict[str, str]:
        """Why a control does not apply, for each that does not."""
        return validity.disabled(self)

    def nearest(self, name: str) -> list[int]:
        """Values that fit the dimension: patch sizes, neighbours on a side, test trajectories."""
        return validity.nearest(self, name)

    # --- the paper ----------------------------------------------------------------------------

    def paper_row(self) -> PaperRow | None:
        """The published result of this model on these data, whatever it was solved with."""
        return published.row_of(self)

    def nearest_paper_row(self) -> PaperRow | None:
        """The published result that is most like this; None for systems that have none."""
        return published.nearest_row(self)

    def apply_paper(self, row: PaperRow) -> None:
        """Everything as in that row of the paper."""
        self.apply(published.values_of(row))

    def is_paper_faithful(self) -> bool:
        """Is everything as in a row of the paper?"""
        return published.is_faithful(self)

    # --- what is recommended ------------------------------------------------------------------

    def recommended_spec(self, far: bool = False) -> ModelSpec | None:
        """The engine's model for these data; None for a file, and for data that are refused."""
        try:
            spec = recommended_model(self.data_spec(), far=far)
        except InvalidInput:
            return None
        return spec.replace(patches="all") if spec.exchanging else spec  # as ``model_spec`` says it

    def is_recommended(self, far: bool = False) -> bool:
        """Is this model that one, on accurate data?"""
        try:
            accurate = self.data_spec().accuracy == "fine"
            return accurate and self.model_spec() == self.recommended_spec(far)
        except InvalidInput:
            return False

    def apply_recommended(self, far: bool = False) -> None:
        """That model, and accurate data of the same system; all else stays."""
        spec = self.recommended_spec(far)
        if spec is not None:
            self.apply_model(spec, accuracy="fine")

    def apply_model(self, spec: ModelSpec, **more: Any) -> None:
        """This model on the same data, and ``more``, in one go."""
        usual = self.recommended()
        usual = {name: usual[name] for name in specs.MODEL}
        self.param.update(**{**usual, **specs.values_of(spec), **more})

    # --- links --------------------------------------------------------------------------------

    def query(self) -> dict[str, str]:
        """The link to this: what differs from the recommended values, the system and the seed."""
        return query.write(self)

    def read(self, given: Mapping[str, Any]) -> list[str]:
        """Set everything from a link; sentences on what could not be used."""
        return query.read(self, given)


def recommended(system: str) -> dict[str, Any]:
    """Every shared value as somebody who knows the system would set it."""
    found = {name: p.default for name, p in Settings.param.objects().items()}
    found = {name: found[name] for name in SHARED} | {"system": system, "parameters": {}}
    if system != OWN:
        known = get_system(system)
        found |= {"dt": known.dt, "n_train": known.n_train, "eps": known.eps}
        found["parameters"] = dict(known.parameters)
        found |= specs.values_of(recommended_model(system))
    return found | _QUICK.get(system, {})


# A file stays with the page it was given to; the tab is the page's own affair.
SHARED = tuple(
    name
    for name in Settings.param
    if name not in ("name", "view", "file_name", "series_dimension", *FILE)
)
