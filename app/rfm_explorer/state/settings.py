"""The whole state of an experiment, without a widget: what is learnt, by what, what is looked at.

Values may be wrong for each other while somebody edits them: ``problems`` says which and why, and
the specs refuse. Values that do not apply (``disabled``) are kept but do not count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import param

from rfm_core import DataSpec, InvalidInput, ModelSpec, PaperRow, get_features, get_system
from rfm_core import recommended as recommended_model

from . import links, published, specs, validity
from .control import OMIT, Control, Unreadable, refusal
from .controls import CONTROLS, FILE, OWN, TABLE, parameter_control, some_exchange


class Settings(param.Parameterized):
    """A parameter for each of ``controls.TABLE``, and what belongs to no control."""

    parameters = param.Dict(default=dict(get_system(CONTROLS["system"].default).parameters))
    view = param.String("forecast")
    file_name = param.String("")
    series_dimension = param.Integer(0)  # as many columns as the file has; 0: no file yet

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, **values: Any) -> None:
        _offer(type(self))
        super().__init__(**values)

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
        _offer(self)
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
        off = self.disabled()
        found = {c.name: getattr(self, c.name) for c in TABLE if c.group and c.name not in off}
        if self.system == OWN:
            more = {"file_name": self.file_name, "series_dimension": self.series_dimension}
        else:
            more = {f"p.{key}": value for key, value in self.parameters.items()}
        return found | more

    def label(self) -> str:
        """Short, for example L63 SkipRFM 512; a file's name is a stranger's text."""
        system = self.system if self.system != OWN else self.file_name[:24] or "own data"
        depth = self.depth if self.deep else None
        sizes = get_features(self.features).label(width=self.width, degree=self.degree, depth=depth)
        halo = str(self.I) if self.sides == "equal" else f"{self.left}|{self.right}"
        where = f"({self.G},{halo})" if self.local else ""
        noisy = "N" if self.noise else ""
        return f"{system} {self.architecture}{noisy}{where} {sizes}"

    # --- one control at a time ----------------------------------------------------------------

    def control(self, name: str) -> Control:
        """Of a setting, or of a parameter of the system (``p.sigma``)."""
        if name.startswith("p."):
            return parameter_control(self.system, name[2:])
        return CONTROLS[name]

    def controls(self) -> list[Control]:
        """All that there are for this system, in the order of the page."""
        first, *others = TABLE
        keys = () if self.system == OWN else self.parameters
        return [first, *(self.control(f"p.{key}") for key in keys), *others]

    def value(self, name: str) -> Any:
        return self.parameters[name[2:]] if name.startswith("p.") else getattr(self, name)

    def edit(self, name: str, text: str) -> str:
        """Take what was typed or chosen; otherwise why not, and everything stays as it was."""
        control, before = self.control(name), self.value(name)
        try:
            if text in ("+step", "-step"):  # an arrow key
                value = control.nudged(before, text == "+step")
            else:
                value = control.parse(text)
            control.check(value)
        except (Unreadable, InvalidInput):
            return refusal(control, control.text(value) if "step" in text else text, before)
        if name == "system":
            if value != before:
                self.choose_system(str(value))
        elif name.startswith("p."):
            self.parameters = {**self.parameters, name[2:]: value}
        else:
            _offer(self)
            self.param.update(**{name: value})
        return ""

    # --- specs of the engine ------------------------------------------------------------------

    def fields(self, spec: str) -> dict[str, Any]:
        """What the controls that apply set of one of the engine's specs ("model", "data", ...)."""
        off, found = self.disabled(), {}
        parts: dict[str, dict[int, Any]] = {}
        for control in TABLE:
            for target in () if control.name in off else control.sets:
                kind, field, *part = target.split(".")
                value = control.write(getattr(self, control.name))
                if kind != spec or value is OMIT or (control.zero and value == 0):
                    continue
                if part:
                    parts.setdefault(field, {})[int(part[0])] = value
                else:
                    found[field] = value
        return found | {name: tuple(got[k] for k in sorted(got)) for name, got in parts.items()}

    def data_spec(self) -> DataSpec:
        """The data of a known system; refused with the engine's words."""
        if self.system == OWN:
            raise InvalidInput("Your own series is a file, not a system. Choose a system instead.")
        CONTROLS["n_test"].check(self.n_test)  # forecasts are compared with tests
        return DataSpec(**self.fields("data"), parameters=self.parameters)

    def series_options(self) -> dict[str, Any]:
        """How the user's own file is to be read, as ``rfm_core.load_series`` takes it."""
        return self.fields("series")

    def model_spec(self) -> ModelSpec:
        """The model, checked against the dimension; refused with the engine's words."""
        if self.exchanging:
            some_exchange(self)
        spec = ModelSpec(**self.fields("model"))
        spec.scheme(self.dimension())  # refuses patches that do not fit
        return spec

    def job(self) -> dict[str, Any]:
        """What a worker is told beside data and model: seed, device, realizations, ..."""
        return self.fields("job")

    def dimension(self) -> int:
        """Components of the state."""
        if self.system == OWN:
            if not (self.columns or self.series_dimension):
                raise InvalidInput("There is no file yet. Give one, or choose a system.")
            return 1 if self.separate else len(self.columns) or self.series_dimension
        system = get_system(self.system)
        return system.dimension(system.resolve(self.parameters))

    @property
    def deep(self) -> bool:
        return "Deep" in self.architecture

    @property
    def local(self) -> bool:
        return bool(self.architecture.startswith("Local"))

    @property
    def exchanging(self) -> bool:
        return bool(self.architecture.endswith("X"))

    # --- what fits and what applies -----------------------------------------------------------

    def problems(self) -> dict[str, str]:
        """Why a value cannot be used, for each control with such a value."""
        return validity.problems(self)

    def disabled(self) -> dict[str, str]:
        """Why a control does not apply, for each that does not."""
        return {control.name: why for control in TABLE if (why := control.off(self))}

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
            return recommended_model(self.data_spec(), far=far)
        except InvalidInput:
            return None

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
        return links.write(self)

    def read(self, given: Mapping[str, Any]) -> list[str]:
        """Set everything from a link; sentences on what could not be used."""
        return links.read(self, given)


def _offer(to: Settings | type[Settings]) -> None:
    """A script may have added systems and kinds of features since the last time."""
    for name in ("system", "features"):
        to.param[name].objects = list(CONTROLS[name].choices or ())


for _control in TABLE:
    Settings.param.add_parameter(_control.name, _control.parameter())

# A file stays with the page it was given to; the tab is the page's own affair.
SHARED = ("parameters", *(name for name in CONTROLS if name not in FILE))


def recommended(system: str) -> dict[str, Any]:
    """Every shared value as somebody who knows the system would set it."""
    found: dict[str, Any] = {name: CONTROLS[name].default for name in SHARED[1:]}
    found |= {"system": system, "parameters": {}}
    if system == OWN:
        return found | {"eps": 0.5}
    known = get_system(system)
    found |= {"dt": known.dt, "n_train": known.n_train, "eps": known.eps}
    found["parameters"] = dict(known.parameters)
    found |= specs.values_of(recommended_model(system))
    quick = dataclasses.asdict(known.quick)  # what keeps a first run short
    return found | {name: size for name, size in quick.items() if size is not None}
