"""Settings: specs, what applies, what fits, the paper's rows, links."""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields, replace
from inspect import signature
from types import ModuleType
from typing import Any

import pytest
from rfm_explorer.state import control, controls, links, published, specs, validity
from rfm_explorer.state import settings as settings_module
from rfm_explorer.state.controls import (
    CONTROLS,
    GROUPS,
    NAMES,
    OWN,
    TABLE,
    describe,
    difference,
    shown,
)
from rfm_explorer.state.settings import Settings

from rfm_core import SYSTEMS, DataSpec, InvalidInput, ModelSpec, load_series, paper_rows
from rfm_core import recommended as recommended_spec


def made(**changes: Any) -> Settings:
    s = Settings()
    s.apply(changes)
    return s


# --- specs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("system", SYSTEMS)
def test_recommended_values_fit_and_give_specs(system: str) -> None:
    s = made(system=system)
    assert s.problems() == {}
    assert s.data_spec().system == system
    assert s.model_spec().size(s.dimension()) > 0
    assert s.label().startswith(system)


def test_the_first_sight_is_the_best_known_of_lorenz_63() -> None:
    s = Settings()
    assert s.model_spec() == ModelSpec("SkipRFM", width=512, refine=2)
    assert s.data_spec() == DataSpec("L63", n_test=20)
    assert s.label() == "L63 SkipRFM 512"


@pytest.mark.parametrize("name", NAMES)
def test_every_architecture_gives_its_spec(name: str) -> None:
    s = made(system="L96", architecture=name, depth=3)
    spec = s.model_spec()
    assert spec.architecture == name.removesuffix("X")
    assert spec.depth == (3 if "Deep" in name else 1)
    assert spec.exchanging == name.endswith("X")
    assert spec.choices.local == name.startswith("Local")
    assert s.problems() == {}


def test_an_uneven_halo_and_its_exchange() -> None:
    s = made(system="L96", architecture="LocalDeepSkipX", sides="separate", left=4, right=2, G=1)
    spec = s.model_spec()
    assert spec.sides == (4, 2)
    assert spec.exchange == (2, 1)
    assert s.label() == "L96 LocalDeepSkipX(1,4|2) 512x3"


def test_values_that_do_not_apply_do_not_count() -> None:
    s = made(G=7, depth=-3, beta=-1.0, w=-2.0, exchange_left=-1)
    assert s.problems() == {}
    assert s.model_spec() == Settings().model_spec()
    assert s.effective() == Settings().effective()


def test_own_data_have_options_instead_of_a_spec() -> None:
    s = made(system=OWN, file_name="a.csv", columns=["x", "y"], series_dt=0.5, lyapunov=0.9)
    assert s.dimension() == 2
    found = s.series_options()
    assert (found["columns"], found["dt"], found["lyapunov"]) == (["x", "y"], 0.5, 0.9)
    assert found["eps"] == 0.5
    with pytest.raises(InvalidInput, match="Choose a system"):
        s.data_spec()
    with pytest.raises(InvalidInput, match="no file yet"):
        made(system=OWN).dimension()


@pytest.mark.parametrize(
    "module", [settings_module, control, controls, published, specs, links, validity]
)
def test_no_page_is_needed(module: ModuleType) -> None:
    tree = ast.parse(inspect.getsource(module))
    names = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    names += [str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    assert not {name.split(".")[0] for name in names} & {"panel", "bokeh", "holoviews"}


# --- what applies, what fits -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "off", "on"),
    [
        (
            {},
            {"depth", "G", "I", "taper", "patches", "exchange_left", "beta", "noise_on", "w"},
            {"width"},
        ),
        ({"architecture": "DeepSkip"}, {"G"}, {"depth", "unit_weights"}),
        ({"system": "L96"}, {"I", "patches"}, {"left", "right", "depth", "G", "taper"}),
        ({"system": "L96", "architecture": "LocalSkip"}, {"depth"}, {"patches"}),
        (
            {"system": "L96", "architecture": "LocalDeepSkipX"},
            {"unit_weights", "patches"},
            {"exchange_left", "exchange_right", "depth"},
        ),
        ({"beta_auto": False}, set(), {"beta"}),
        ({"noise": 1e-3}, set(), {"noise_on"}),
        ({"sampler": "gaussian"}, {"standardize"}, {"w", "b"}),
        ({"solver": "normal"}, {"refine"}, {"solver"}),
        ({"system": "KS"}, {"accuracy"}, {"n_train", "dt"}),
        ({"system": OWN}, {"n_train", "dt", "accuracy", "realizations"}, {"columns", "eps"}),
    ],
)
def test_what_does_not_apply_is_named(changes: dict[str, Any], off: set[str], on: set[str]) -> None:
    found = made(**changes).disabled()
    assert off <= set(found)
    assert not on & set(found)
    assert all(why.endswith(".") for why in found.values())


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"width": 0}, {"width": "at least 1"}),
        ({"L0": 3.5}, {"L1": "must exceed L0"}),
        ({"width": 1}, {"width": "at least 2"}),
        ({"system": "L96", "G": 7}, {"G": "divisor of the dimension 40"}),
        ({"system": "L96", "G": 8, "sides": "equal", "I": 3}, {"I": "at most 4 neighbouring"}),
        (
            {"system": "L96", "G": 2, "left": 15, "right": 15},
            {"right": "at most 19 neighbouring"},
        ),
        (
            {
                "system": "L96",
                "architecture": "LocalDeepSkipX",
                "exchange_left": 0,
                "exchange_right": 0,
            },
            {"exchange_left": "at least 1"},
        ),
        ({"n_test": 0}, {"n_test": "at least 1"}),
        ({"dt": 0.0, "eps": -1.0}, {"dt": "at least 1e-06", "eps": "above 0"}),
        ({"system": "L96", "parameters": {"D": 3}}, {"p.D": "at least 4"}),
        ({"noise": float("nan")}, {"noise": "finite"}),
        (
            {"system": OWN, "series_dimension": 8, "architecture": "LocalSkip", "I": 1},
            {"patches": "nobody said that"},
        ),
        ({"system": OWN}, {"system": "no file yet"}),
    ],
)
def test_every_control_that_does_not_fit_is_named(
    changes: dict[str, Any], wrong: dict[str, str]
) -> None:
    found = made(**changes).problems()
    assert set(found) == set(wrong)
    for name, words in wrong.items():
        assert words in found[name]


def test_what_is_looked_at_keeps_nobody_from_a_run() -> None:
    assert made(test=15, n_test=10).problems() == {}


def test_a_wrong_value_changes_nothing() -> None:
    s = made(width=300)
    with pytest.raises(InvalidInput, match="Nothing was changed"):
        s.apply({"width": "wide"})
    with pytest.raises(InvalidInput, match="Nothing was changed"):
        s.apply({"wide": 3})
    assert s.width == 300


def test_a_new_system_is_one_change() -> None:
    s, calls = made(seed=5), []
    s.param.watch(lambda *events: calls.append(len(events)), [n for n in s.param if n != "name"])
    s.choose_system("KS")
    assert len(calls) == 1
    assert s.seed == 5
    assert s.parameters == dict(SYSTEMS["KS"].parameters)


# --- words -----------------------------------------------------------------------------------


def test_every_control_is_declared_once_and_whole() -> None:
    assert len(CONTROLS) == len(TABLE)
    beside = {"name", "parameters", "view", "file_name", "series_dimension"}
    assert set(CONTROLS) == set(Settings.param) - beside
    for one in TABLE:
        assert one.label
        assert one.help.endswith(".")
        assert one.group in (*GROUPS, "")
        assert Settings.param[one.name].doc == one.help
        assert one.parse(one.text(one.default)) == one.default
        assert list(one.steps) == sorted(set(one.steps))
        assert not one.steps or one.default in one.steps
        for step in one.steps:
            assert one.parse(one.short(step)) == step


def test_every_control_of_the_engine_names_a_field_of_it() -> None:
    known = {
        "model": {f.name for f in fields(ModelSpec)},
        "data": {f.name for f in fields(DataSpec)},
        "series": set(signature(load_series).parameters),
        "job": {"seed", "device", "realizations", "climate_times"},
    }
    for one in TABLE:
        for target in one.sets:
            kind, field, *_ = target.split(".")
            assert field in known[kind], one.name


# --- typed and chosen ------------------------------------------------------------------------


@pytest.mark.parametrize("one", [c for c in TABLE if c.kind in ("whole", "real")])
def test_what_cannot_be_used_is_said_and_the_last_good_value_kept(one: control.Control) -> None:
    s = Settings()
    before = s.value(one.name)
    for text in ("", "  ", "wide", "nan", "inf", "1e999", "-1e300", "9" * 50, "<b>1</b>"):
        said = s.edit(one.name, text)
        assert "it must be" in said
        assert said.endswith("stays.")
        assert one.words(before) in said
        assert s.value(one.name) == before


def test_what_is_typed_is_taken_as_people_write_it() -> None:
    s = Settings()
    for text, value in (("300", 300), (" 5e2 ", 500), ("10,000", 10_000), ("50\u202f000", 50_000)):
        assert s.edit("n_train", text) == ""
        assert s.n_train == value
    assert s.edit("p.rho", "30") == ""
    assert s.parameters["rho"] == 30.0
    assert s.edit("p.rho", "1e9").startswith("“1e9” cannot be used")
    assert s.parameters["rho"] == 30.0
    assert s.edit("system", "L96") == ""
    assert s.label() == "L96 LocalDeepSkipX(1,4|2) 512x3"
    assert s.edit("beta_auto", "false") == ""
    assert s.model_spec().beta == s.beta


def test_arrow_keys_go_on_by_one_or_a_tenth_and_stop_at_the_bounds() -> None:
    s = Settings()
    assert s.edit("seed", "+step") == ""
    assert s.edit("dt", "-step") == ""
    assert (s.seed, s.dt) == (1, 0.009)
    s.seed = 0
    assert "“-1” cannot be used" in s.edit("seed", "-step")
    assert s.seed == 0


def test_only_what_differs_is_described() -> None:
    a, b = made(), made(architecture="DeepSkip", width=1024, parameters={"rho": 30.0}, test=3)
    names = difference(a.effective(), b.effective())
    assert names == ["architecture", "width", "depth", "unit_weights", "p.rho"]
    assert list(describe(b.effective(), names).values()) == [
        "DeepSkip", "1,024", "2", "drawn anew", "30",
    ]  # fmt: skip
    assert describe(a.effective(), ["depth", "p.rho"]) == {"Depth B": "–", "Parameter ρ": "28"}
    assert shown("beta_auto", True) == "yes"


# --- the paper -------------------------------------------------------------------------------


def test_every_published_row_can_be_repeated_faithfully() -> None:
    s = Settings()
    for row in paper_rows():
        s.apply_paper(row)
        assert s.problems() == {}
        assert s.model_spec() == row.model_spec()
        assert s.data_spec() == row.data_spec(n_test=s.n_test)
        assert s.noise_on == "series"  # whoever adds noise to a row adds the paper's
        assert s.is_paper_faithful()
        assert s.paper_row() == s.nearest_paper_row() == row


def test_the_published_row_is_shown_for_better_methods_too() -> None:
    s = Settings()
    row = s.paper_row()
    assert row is not None
    assert (row.architecture, row.width, row.vpt_mean) == ("SkipRFM", 512, 10.1)
    assert not s.is_paper_faithful()


@pytest.mark.parametrize("changes", [{"dt": 0.1}, {"eps": 0.5}, {"parameters": {"rho": 30.0}}])
def test_another_problem_has_no_published_row(changes: dict[str, Any]) -> None:
    s = made(**changes)
    assert s.paper_row() is None
    assert s.nearest_paper_row() is not None


def test_systems_that_the_paper_does_not_have() -> None:
    assert made(system="Halvorsen").nearest_paper_row() is None


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_a_system_comes_with_the_model_the_engine_recommends(system: str) -> None:
    s = made(system=system)
    spec = recommended_spec(system)
    assert s.model_spec() == spec == s.recommended_spec()
    assert s.is_recommended()
    assert not s.is_recommended(far=True)


@pytest.mark.parametrize(
    "data",
    [
        {"system": "L63"},
        {"system": "L63", "dt": 0.1},
        {"system": "L96", "parameters": {"D": 40, "F": 8.0}},
        {"system": "KS", "parameters": {"L": 100.0, "grid": 256}},
    ],
)
@pytest.mark.parametrize("far", [False, True])
def test_back_from_the_paper_to_what_is_recommended(data: dict[str, Any], far: bool) -> None:
    """For the data as they are, not as the system's usual ones; what is looked at stays."""
    s = made(**data, seed=5, n_test=3, test=1, realizations=2)
    row = s.nearest_paper_row()
    assert row is not None
    before = s.data_spec()
    s.apply_paper(row)
    s.param.update(dt=before.dt, parameters=before.parameter_values, n_test=3, realizations=2)
    assert not s.is_recommended(far)
    s.apply_recommended(far)
    assert s.is_recommended(far)
    assert s.problems() == {}
    wanted = recommended_spec(before, far=far)
    assert s.model_spec() == wanted
    assert (s.accuracy, s.seed, s.n_test, s.realizations) == ("fine", 5, 3, 2)
    assert s.data_spec().dt == before.dt
    assert s.data_spec().parameters == before.parameters


def test_nothing_is_recommended_for_what_is_refused_or_unknown() -> None:
    for s in (made(system=OWN), made(dt=-1.0)):
        before = s.values()
        assert s.recommended_spec() is None
        assert not s.is_recommended()
        s.apply_recommended()
        assert s.values() == before


def test_a_system_of_a_users_own_is_one_of_the_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    clone = replace(SYSTEMS["L96"], name="Mine", title="My own ring")
    monkeypatch.setitem(SYSTEMS, "Mine", clone)
    s = made(system="Mine", width=64)
    assert s.problems() == {}
    assert s.data_spec().system == "Mine"
    assert s.model_spec().exchanging
    assert shown("system", "Mine") == "My own ring"
    again = Settings()
    assert again.read(s.query()) == []
    assert again.label() == s.label()
