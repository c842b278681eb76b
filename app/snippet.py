"""Python code with rfm_core alone that gives what a view shows."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from rfm_core import SYSTEMS, DataSpec, ModelSpec

from .settings import OWN, Settings

LINE = 88
_SERIES_DEFAULTS = {"eps": 0.5, "n_test": 20, "homogeneous": False, "estimate": False}


def snippet(settings: Settings, view: str, shown: tuple[int, int] = (0, 0)) -> str:
    """The code of a view; ``shown`` is the realization and the test trajectory looked at.

    Bad settings are refused with the engine's words. File and column names appear only as string
    literals.
    """
    realization, test = shown
    make = {
        "density": lambda: _density(settings),
        "features": lambda: _features(settings),
        "statistics": lambda: _statistics(settings),
        "regression": lambda: _regression(settings),
        "model": lambda: _model(settings),
    }
    code = make[view]() if view in make else _forecast(settings, realization, test)
    numpy = "import numpy as np\n" if "np." in code else ""
    blank = "\n" if numpy else ""
    return f"{numpy}{blank}import rfm_core as rfm\n\n{code}"


def _forecast(s: Settings, realization: int, test: int) -> str:
    return _trained(s, realization) + (
        f"times = rfm.evaluate(model, data)  # of all test trajectories\n"
        f"print(times.summary())\n\n"
        f"test = {test}  # the one shown\n"
        f"truth = data.test[test]\n"
        f"forecast = model.forecast(data.test[:, 0], len(truth) - 1)[test]\n"
        f"error = rfm.forecast_error(forecast, truth, data.std)\n"
        f"print(times.vpt[test], times.unit)\n"
    )


def _density(s: Settings) -> str:
    end = (
        "mean, error = vpt.mean(), vpt.std(ddof=1) / len(vpt) ** 0.5\n"
        "print(len(vpt), mean, error)\n"
        "grid, density = rfm.density(vpt, low=0.0)\n"
    )
    if s.system == OWN:
        return _trained(s) + "vpt = rfm.evaluate(model, data).vpt\n" + end
    many = ["model_spec", "data", *_fit_options(s), "realization=realization"]
    return (
        _specs(s)
        + "times = []\n"
        + f"for realization in range({s.realizations}):\n"
        + "    data = rfm.make_dataset(data_spec.replace(realization=realization))\n"
        + _call("    model = rfm.fit", many)
        + "    times.append(rfm.evaluate(model, data).vpt)\n"
        + "vpt = np.concatenate(times)\n"
        + end
    )


def _evenly(name: str, source: str, most: int) -> str:
    return (
        f"{name} = {source}.reshape(-1, data.dimension)\n"
        f"at = np.linspace(0, len({name}) - 1, min(len({name}), {most}))\n"
        f"{name} = {name}[at.round().astype(int)]\n"
    )


def _features(s: Settings) -> str:
    return (
        _trained(s)
        + _evenly("states", "data.train", 2000)
        + "for number, unit in enumerate(rfm.tanh_regions(model, states), start=1):\n"
        + "    print(number, unit.overall)\n"
    )


def _statistics(s: Settings) -> str:
    """Ten runs of truth and surrogate; of a wide state some columns, pooled if all are alike."""
    pooled = s.homogeneous if s.system == OWN else SYSTEMS[s.system].homogeneous
    most = 16 if pooled else 12
    some = min(s.dimension(), most)
    chosen = f"columns = np.linspace(0, data.dimension, {some}, endpoint=False).astype(int)\n"
    pick = "[..., columns]" if s.dimension() > most else ""
    flat = ".reshape(-1, 1)" if pooled else f".reshape(-1, {some})"
    truth = "data.test" if s.system == OWN else "rfm.make_dataset(true_runs).train[:, 2:]"
    return (
        _trained(s)
        + "per_step = data.dt * (data.lyapunov or 1.0)\n"
        + f"steps = int(np.ceil({s.climate_times!r} / (10 * per_step)))\n"
        + "transient = int(np.ceil(5.0 / per_step))\n"
        + _evenly("starts", "data.test", 10)
        + (chosen if pick else "")
        + f"surrogate = model.forecast(starts, transient + steps)[:, transient + 1 :]{pick}\n"
        + ("" if s.system == OWN else _TRUE_RUNS)
        + f"truth = {truth}{pick}\n"
        + f"truth, surrogate = truth{flat}, surrogate{flat}\n"
        + "surrogate = surrogate[np.isfinite(surrogate).all(axis=1)]\n"
        + "w2 = rfm.wasserstein2(truth, surrogate)\n"
        + "print(w2)\n"
    )


_TRUE_RUNS = """\
true_runs = data_spec.replace(
    realization=1_000_001, trajectories=10, n_train=10 * (steps + 1), n_test=0
)
"""


def _regression(s: Settings) -> str:
    more = [] if s.beta_auto else ["betas=np.logspace(-30, 0, 31)"]
    return (
        _specs(s)
        + ("" if s.system == OWN else "data = rfm.make_dataset(data_spec)\n")
        + _call("*_, fitted = rfm.fit_events", ["model_spec", "data", *_fit_options(s), *more])
        + "for unit in fitted.units:\n"
        + "    print(unit.beta, unit.error)\n"
        + "    print(unit.path.betas, unit.path.heldout)\n"
        + "print(rfm.condition_numbers(fitted.model, data))\n"
    )


def _model(s: Settings) -> str:
    return _model_spec(s.model_spec()) + (
        f"print(model_spec.label, model_spec.size(dimension={s.dimension()}))\n"
    )


def _trained(s: Settings, realization: int = 0) -> str:
    """Data and model, up to a variable of each name."""
    more = [*_fit_options(s)] + ([f"realization={realization}"] if realization else [])
    data = "data_spec"
    if realization:
        data = f"data_spec.replace(realization={realization})"
    made = "" if s.system == OWN else f"data = rfm.make_dataset({data})\n"
    return _specs(s) + made + _call("model = rfm.fit", ["model_spec", "data", *more])


def _specs(s: Settings) -> str:
    first = _series(s) if s.system == OWN else _data_spec(s.data_spec())
    return first + _model_spec(s.model_spec())


def _fit_options(s: Settings) -> list[str]:
    options = [f"seed={s.seed}"] if s.seed else []
    return options + ([f"device={s.device!r}"] if s.device != "auto" else [])


def _data_spec(spec: DataSpec) -> str:
    usual = DataSpec(spec.system)
    names = ("n_train", "dt", "n_test", "seed", "accuracy", "eps")
    changes = [name for name in names if getattr(spec, name) != getattr(usual, name)]
    given = [repr(spec.system), *(f"{name}={getattr(spec, name)!r}" for name in changes)]
    changed = dict(sorted(set(spec.parameters) - set(usual.parameters)))
    if changed:
        given.append(f"parameters={changed!r}")
    return _call("data_spec = rfm.DataSpec", given)


def _model_spec(spec: ModelSpec) -> str:
    usual = ModelSpec(spec.architecture, G=spec.G, I=spec.I, left=spec.left, right=spec.right)
    given = [repr(spec.architecture + "X" * spec.exchanging), f"width={spec.width}"]
    for field in fields(ModelSpec):
        value = getattr(spec, field.name)
        local = field.name in ("G", "I", "left", "right") and value is not None
        if field.name not in ("architecture", "width") and (
            local or value != getattr(usual, field.name)
        ):
            given.append(f"{field.name}={value!r}")
    return _call("model_spec = rfm.ModelSpec", given)


def _series(s: Settings) -> str:
    given = [repr(s.file_name)]
    found = s.series_options()
    found["time"] = _column(found["time"])
    found["columns"] = [_column(c) for c in found["columns"] or []] or None
    for name, value in found.items():
        if value != _SERIES_DEFAULTS.get(name):
            given.append(f"{name}={value!r}")
    return _call("data = rfm.load_series", given)


def _column(name: Any) -> Any:
    """The app says "column 2" where a file names no columns; the engine counts from 0."""
    match = re.fullmatch(r"column ([1-9][0-9]{0,5})", name) if isinstance(name, str) else None
    return int(match[1]) - 1 if match else name


def _call(function: str, arguments: list[str]) -> str:
    """On one line if it fits, otherwise one line an argument."""
    line = f"{function}({', '.join(arguments)})\n"
    if len(line) <= LINE + 1:
        return line
    indent = " " * (len(function) - len(function.lstrip()))
    inner = "".join(f"{indent}    {argument},\n" for argument in arguments)
    return f"{function}(\n{inner}{indent})\n"
