"""Links: they give exactly the same settings, and no text in them breaks the page."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rfm_explorer.state.controls import OWN
from rfm_explorer.state.settings import SHARED, Settings, recommended

from rfm_core import SYSTEMS


def made(**changes: Any) -> Settings:
    s = Settings()
    s.apply(changes)
    return s


def test_a_link_has_only_what_differs() -> None:
    assert Settings().query() == {"system": "L63", "seed": "0"}
    s = made(system="L96", width=300, parameters={"F": 8.0}, seed=3)
    assert s.query() == {"system": "L96", "p.F": "8", "width": "300", "seed": "3"}


@pytest.mark.parametrize(
    "changes",
    [
        {"dt": 0.1 + 0.2, "eps": 1 / 3, "L1": 2.0000000000000004},
        {"beta_auto": False, "beta": 5e-324, "solver": "normal", "standardize": True},
        {"system": "L96", "parameters": {"D": 36, "F": 8.1}, "sides": "separate", "left": 5},
        {"system": "KS", "noise": 0.0, "beta_auto": True, "test": 4},
        {"system": "Roessler", "seed": 2**63, "rows": 10**12, "realizations": 500},
        {"architecture": "DeepSkip", "depth": 32, "unit_weights": "shared", "device": "cpu"},
    ],
)
def test_a_link_gives_exactly_the_same_settings(changes: dict[str, Any]) -> None:
    s = made(**changes)
    again = made(system="KS", width=77)
    assert again.read(s.query()) == []
    assert {n: getattr(again, n) for n in SHARED} == {n: getattr(s, n) for n in SHARED}


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"width": "nan"}, "width=nan"),
        ({"width": "512.5"}, "a whole number"),
        ({"width": "-4"}, "at least 1"),
        ({"beta": "-1"}, "beta=-1"),
        ({"beta": "1e999"}, "a number"),
        ({"seed": "9" * 5000}, "seed=999"),
        ({"n_train": "１２３"}, "a whole number"),
        ({"dt": ["0.1", "0.2"]}, "a number"),
        ({"solver": "<script>"}, "one of qr, normal"),
        ({"beta_auto": "perhaps"}, "true or false"),
        ({"system": "L64"}, "one of L63"),
        ({"system": OWN, "width": "300"}, "a link cannot carry"),
        ({"wIdth": "5"}, "no setting"),
        ({"p.gamma": "5"}, "no setting"),
        ({"parameters": "{}"}, "no setting"),
        ({"device": "cuda:7"}, "one of auto, cpu"),
        ({"system": "L96", "G": "7"}, "divisor"),
        ({"L0": "9"}, "must exceed L0"),
        ({"test": "20"}, "at most 19"),
    ],
)
def test_a_bad_value_is_named_and_replaced(query: dict[str, Any], words: str) -> None:
    s = Settings()
    told = s.read(query)
    assert len(told) == 1
    assert words in told[0]
    assert "9" * 41 not in told[0]
    assert s.problems() == {}
    usual = recommended(query["system"] if query.get("system") in SYSTEMS else "L63")
    known = [name for name in query if name in usual and name not in ("system", "width")]
    assert all(getattr(s, name) == usual[name] for name in known)


def test_good_values_beside_bad_ones_are_kept() -> None:
    s = Settings()
    told = s.read(
        {"system": "L96", "left": "50", "L0": "9", "p.F": "8.5", "width": "300", "x": "1"}
    )
    assert len(told) == 3
    assert (s.parameters["F"], s.width, s.left, s.L0) == (8.5, 300, 4, 0.4)


def test_the_keys_of_the_page_are_left_alone() -> None:
    s = made(view="density")
    assert s.read({"hide": "more,G", "view": "features", "only": "forecast"}) == []
    assert s.view == "density"
    assert "view" not in s.query()


texts = st.one_of(
    st.text(max_size=60),
    st.integers().map(str),
    st.floats().map(repr),
    st.sampled_from(["own", "KS", "L96", "auto", "true", "LocalDeepSkipX", "separate", "1e-30"]),
    st.lists(st.text(max_size=3), max_size=2),
    st.none(),
)
keys = st.one_of(st.sampled_from([*SHARED, "p.F", "p.D", "p.L", "p.grid"]), st.text(max_size=60))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.dictionaries(keys, texts, max_size=6))
def test_no_link_breaks_the_page(query: dict[str, Any]) -> None:
    s = Settings()
    told = s.read(query)
    assert s.problems() == {}
    s.model_spec()
    s.data_spec()
    assert all(isinstance(sentence, str) and len(sentence) < 600 for sentence in told)
    again = Settings()
    assert again.read(s.query()) == []
    assert again.query() == s.query()
