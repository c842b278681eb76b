"""Model specs: the paper's sizes, one form for one meaning, and every refusal in words."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rfm_core.checks import InvalidInput
from rfm_core.data.generate import DataSpec
from rfm_core.model.spec import ARCHITECTURES, LEAST_RANGE, LEAST_TAPER, SAMPLERS, ModelSpec
from rfm_core.paper.tables import TABLES, PaperRow, paper_rows, published
from rfm_core.spec import Spec

DIMENSION = {"L63": 3, "L96": 40, "KS": 512}

# ---- the paper


def row_name(row: PaperRow) -> str:
    return f"{row.table}-{row.architecture}-{row.G}-{row.I}-{row.width}x{row.depth}"


@pytest.mark.parametrize("row", paper_rows(), ids=row_name)
def test_size_of_every_published_model(row: PaperRow) -> None:
    spec = row.model_spec()
    assert spec.size(DIMENSION[row.system]) == row.model_size
    assert spec.noise == (1e-3 if row.architecture.endswith("N") else 0.0)
    assert spec.architecture == row.architecture.removesuffix("N")
    assert (spec.width, spec.depth, spec.G, spec.I) == (row.width, row.depth, row.G, row.I)
    assert spec.beta == row.beta
    assert (spec.solver, spec.sampler) == ("normal", "hit-and-run")
    assert (spec.centred, spec.taper) == (False, None)


def test_the_paper_has_all_its_tables() -> None:
    rows = paper_rows()
    assert len(rows) == 135
    assert set(Counter(row.table for row in rows)) == set(TABLES)
    assert {row.architecture.removesuffix("N") for row in rows} == set(ARCHITECTURES)
    assert len(set(rows)) == 135
    for row in rows:
        assert row.vpt_min <= row.vpt_median <= row.vpt_max
        assert row.data_spec().n_train == row.n_train


def test_published_finds_a_row_by_its_model() -> None:
    row = published("L63", "SkipRFM", 1024)
    assert row is not None
    assert (row.vpt_mean, row.model_size) == (10.5, 7168)
    assert published("L63", "SkipRFM", 1000) is None


# ---- sizes beyond the paper, as measured in the notes

LOCAL = {"architecture": "LocalSkip"}
WIDE = {"architecture": "LocalDeepSkip", "G": 1, "left": 4, "right": 2}
EXCHANGING = WIDE | {"exchange": (2, 1)}
PAIRS = {"architecture": "LocalDeepSkip", "G": 8, "I": 1, "exchange": 1}


@pytest.mark.parametrize(
    ("dimension", "values", "size"),
    [
        (40, EXCHANGING | {"width": 1024, "depth": 1}, 9_216),
        (40, EXCHANGING | {"width": 1024, "depth": 2}, 22_528),
        (40, EXCHANGING | {"width": 1024, "depth": 4}, 49_152),
        (40, EXCHANGING | {"width": 2048, "depth": 2}, 45_056),
        (40, EXCHANGING | {"width": 1024, "depth": 4, "left": 2, "right": 1}, 36_864),
        (40, WIDE | {"width": 1024, "depth": 2}, 20_480),
        (512, PAIRS | {"width": 1024, "depth": 1}, 33_792),
        (512, PAIRS | {"width": 1024, "depth": 2}, 92_160),
        (512, PAIRS | {"width": 1024, "depth": 3}, 150_528),
        (512, PAIRS | {"width": 2048, "depth": 2}, 184_320),
        (40, LOCAL | {"width": 1024, "G": 2, "I": 2}, 13_312),
        (40, LOCAL | {"width": 2048, "G": 1, "I": 5}, 26_624),
        (40, LOCAL | {"width": 1024, "G": 1, "left": 6, "right": 2}, 11_264),
        (40, LOCAL | {"width": 4096, "G": 1, "left": 6, "right": 3}, 49_152),
        (512, LOCAL | {"width": 4096, "G": 8, "I": 2}, 200_704),
        (3, {"architecture": "DeepSkip", "width": 716, "depth": 8}, 57_280),
        (3, {"features": "polynomial", "degree": 6}, 252),
        (3, {"features": "polynomial", "degree": 8}, 495),
    ],
)
def test_sizes_of_the_notes(dimension: int, values: dict[str, Any], size: int) -> None:
    assert ModelSpec(**values).size(dimension) == size


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize(("width", "depth"), [(1, 1), (100, 1), (33, 5)])
def test_size_is_the_formula_of_the_paper(name: str, width: int, depth: int) -> None:
    deep, local = "Deep" in name, name.startswith("Local")
    if depth > 1 and not deep:
        return
    halo = {"G": 4, "I": 1} if local else {}
    plain: dict[str, Any] = halo | {"centred": False}
    spec = ModelSpec(name, width=width, depth=depth, **plain)
    inputs, own = (12, 4) if local else (20, 20)
    expected = ((inputs + own) + own + 1) * width * depth if deep else (inputs + own + 1) * width
    assert spec.size(20) == expected
    assert spec.unit_inputs(20) == [inputs + own if deep else inputs] * depth
    assert spec.choices == ("Skip" in name, deep, local)
    if width > 1:  # the constant of centred features is counted like any other feature
        assert spec.replace(centred=True).size(20) == expected


def test_exchanging_units_see_more_after_the_first() -> None:
    spec = ModelSpec("LocalDeepSkip", G=2, left=3, right=1, depth=3, exchange=(1, 0), width=10)
    assert spec.unit_inputs(40) == [10, 14, 14]
    assert spec.unit_widths(40) == [10, 10, 10]
    polynomial = spec.replace(features="polynomial", degree=2)
    assert polynomial.unit_widths(40) == [66, 120, 120]
    assert polynomial.size(40) == 2 * (66 + 120 + 120)


# ---- names, noise, labels


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_a_trailing_n_is_noise(name: str) -> None:
    halo = {"G": 2, "I": 1} if name.startswith("Local") else {}
    noisy = ModelSpec(name + "N", **halo)  # type: ignore[arg-type]
    assert (noisy.architecture, noisy.noise) == (name, 1e-3)
    assert noisy == ModelSpec(name, noise=1e-3, **halo)  # type: ignore[arg-type]
    assert ModelSpec(name, **halo).noise == 0.0  # type: ignore[arg-type]
    assert ModelSpec(name + "N", noise=0.5, **halo).noise == 0.5  # type: ignore[arg-type]
    assert noisy.label.startswith(name + "N")


def test_an_x_before_it_exchanges() -> None:
    halo = {"G": 2, "I": 1, "depth": 2}
    plain = ModelSpec("LocalDeepSkip", **halo)  # type: ignore[arg-type]
    named = ModelSpec("LocalDeepSkipX", **halo)  # type: ignore[arg-type]
    assert named == plain.replace(exchange=1) == plain.replace(architecture="LocalDeepSkipX")
    assert named.architecture == "LocalDeepSkip"
    assert ModelSpec("LocalDeepSkipX", exchange=(0, 2), **halo).exchange == (0, 2)  # type: ignore[arg-type]
    both = ModelSpec("LocalDeepSkipXN", **halo)  # type: ignore[arg-type]
    assert both == named.replace(noise=1e-3) == named.replace(architecture="LocalDeepSkipN")
    for name, word in (("DeepSkipX", "global"), ("LocalSkipX", "unless deep"), ("RFMNX", "one of")):
        with pytest.raises(InvalidInput, match=word):
            ModelSpec(name, **({"G": 2, "I": 1} if "Local" in name else {}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "label"),
    [
        (ModelSpec("SkipRFM", width=512), "SkipRFM 512"),
        (ModelSpec("DeepSkipN", width=512, depth=4), "DeepSkipN 512x4"),
        (ModelSpec("SkipRFM", width=512, centred=False), "SkipRFM 512"),
        (ModelSpec("LocalDeepSkip", G=2, I=2, width=1024, depth=4), "LocalDeepSkip(2,2) 1024x4"),
        (ModelSpec("LocalSkip", G=1, left=6, right=3), "LocalSkip(1,6|3) 1024"),
        (
            ModelSpec("LocalDeepSkip", G=8, I=1, depth=2, exchange=1),
            "LocalDeepSkipX(8,1,1) 1024x2",
        ),
        (
            ModelSpec("LocalDeepRFMXN", G=1, left=4, right=2, depth=3, exchange=(2, 1), width=512),
            "LocalDeepRFMXN(1,4|2,2|1) 512x3",
        ),
        (ModelSpec("RFM", features="polynomial", degree=4), "RFM polynomial degree 4"),
    ],
)
def test_labels(spec: ModelSpec, label: str) -> None:
    assert spec.label == label


# ---- one form for one meaning, dictionaries, digests


def local(**values: Any) -> ModelSpec:
    return ModelSpec(**({"architecture": "LocalDeepSkip", "G": 2, "depth": 2} | values))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (local(I=2), local(left=2, right=2)),
        (local(I=0), local(left=0)),
        (local(left=3), local(left=3, right=0)),
        (local(I=1, exchange=1), local(I=1, exchange=[1, 1])),
        (local(I=1, exchange=(0, 0)), local(I=1)),
        (local(I=1, exchange=0.0), local(I=1)),
        (ModelSpec(exchange=(0, 0)), ModelSpec()),
        (ModelSpec(exchange=np.int64(0)), ModelSpec()),
        (ModelSpec(width=512.0), ModelSpec(width=512)),  # type: ignore[arg-type]
        (ModelSpec(beta=0), ModelSpec(beta=-0.0)),
        (ModelSpec(noise=None), ModelSpec(noise=0)),
        (ModelSpec("RFMN"), ModelSpec("RFM", noise=1e-3)),
        (ModelSpec(standardize=np.True_), ModelSpec(standardize=True)),  # type: ignore[arg-type]
        (local(I=1, taper=1), local(I=1, taper=np.float64(1.0))),
        (
            ModelSpec(features="polynomial", width=1, centred=True),
            ModelSpec(features="polynomial", width=1, centred=False),
        ),
    ],
)
def test_the_same_model_has_one_form(one: ModelSpec, other: ModelSpec) -> None:
    assert one == other
    assert hash(one) == hash(other)
    assert one.to_dict() == other.to_dict()
    assert one.digest() == other.digest()


def test_numpy_scalars_are_welcome_and_become_plain() -> None:
    spec = ModelSpec(
        np.str_("LocalDeepSkip"),
        width=np.int64(512),
        depth=np.uint8(3),
        G=np.int32(2),
        left=np.int16(2),
        right=torch.tensor(1),  # type: ignore[arg-type]
        exchange=(np.int64(1), np.float64(2)),
        beta=np.float64(1e-16),
        noise=np.float32(0.5),  # type: ignore[arg-type]
        standardize=np.bool_(True),  # type: ignore[arg-type]
        taper=np.float32(0.5),  # type: ignore[arg-type]
        rows=np.float64(2e5),  # type: ignore[arg-type]
    )
    plain = spec.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert [type(plain[k]) for k in ("width", "depth", "G", "left", "right", "rows")] == [int] * 6
    assert [type(plain[k]) for k in ("beta", "noise", "taper")] == [float] * 3
    assert plain["standardize"] is True
    assert plain["exchange"] == [1, 2]


small = st.integers(0, 3)
positive = st.floats(1e-6, 1e6)


@st.composite
def specs(draw: st.DrawFn) -> ModelSpec:
    name = draw(st.sampled_from(list(ARCHITECTURES)))
    _, deep, is_local = ARCHITECTURES[name]
    features, centred = draw(st.sampled_from(["tanh", "polynomial"])), draw(st.booleans())
    least = 2 if centred and features == "tanh" else 1
    values: dict[str, Any] = {
        "architecture": name + draw(st.sampled_from(["", "N"])),
        "width": draw(st.integers(least, 10**6)),
        "beta": draw(st.sampled_from(["auto", 0.0, 1e-24, 1e-300, 5e-324, 1e12]) | st.floats(0, 1)),
        "noise": draw(st.none() | st.floats(0, 1e6)),
        "noise_on": draw(st.sampled_from(["series", "input"])),
        "solver": draw(st.sampled_from(["qr", "normal"])),
        "sampler": draw(st.sampled_from(SAMPLERS)),
        "L0": draw(st.floats(0, 9)),
        "L1": draw(st.floats(9.1, 100)),
        "w": draw(positive),
        "b": draw(positive | st.just(0.0)),
        "standardize": draw(st.booleans()),
        "rows": draw(st.none() | st.integers(1, 10**12)),
        "features": features,
        "degree": draw(st.integers(1, 20)),
        "centred": centred,
    }
    if deep:
        values["depth"] = draw(st.integers(1, 1000))
    exchange = draw(small | st.tuples(small, small)) if deep and is_local else 0
    if is_local:
        values |= {"G": draw(st.integers(1, 64)), "exchange": exchange}
        values["taper"] = draw(st.none() | st.floats(LEAST_TAPER, 1e3))
        values |= draw(
            st.one_of(
                st.fixed_dictionaries({"I": small}),
                st.fixed_dictionaries({"left": small, "right": small}),
                st.fixed_dictionaries({"left": small}),
                st.fixed_dictionaries({"right": small}),
            )
        )
    if exchange in (0, (0, 0)):
        values["unit_weights"] = draw(st.sampled_from(["independent", "shared"]))
        values["patches"] = draw(st.sampled_from([None, "all", "one"]))
    return ModelSpec(**values)


@settings(deadline=None, max_examples=300, derandomize=True)
@given(specs())
def test_dictionaries_and_json_bring_the_spec_back(spec: ModelSpec) -> None:
    plain = spec.to_dict()
    assert (plain["kind"], plain["schema"]) == ("ModelSpec", 1)
    assert ModelSpec.from_dict(plain) == spec
    again = ModelSpec.from_dict(json.loads(json.dumps(plain)))
    assert again == spec
    assert again.digest() == spec.digest()
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    assert spec.digest() == hashlib.sha256(text.encode()).hexdigest()[:32]
    assert spec.replace() == spec


@settings(deadline=None, max_examples=150, derandomize=True)
@given(specs(), specs())
def test_digests_tell_specs_apart(one: ModelSpec, other: ModelSpec) -> None:
    assert (one.digest() == other.digest()) == (one == other)


def test_every_field_counts_in_the_digest() -> None:
    base = local(I=1, unit_weights="independent")
    changes: dict[str, Any] = {
        "architecture": "LocalDeepRFM",
        "width": 1023,
        "depth": 3,
        "G": 4,
        "I": 2,
        "left": 2,
        "right": 3,
        "exchange": 1,
        "beta": 1e-19,
        "noise": 1e-4,
        "noise_on": "input",
        "solver": "normal",
        "sampler": "uniform",
        "L0": 0.3,
        "L1": 3.4,
        "w": 2.0,
        "b": 2.0,
        "standardize": True,
        "taper": 0.4,
        "unit_weights": "shared",
        "patches": "all",
        "rows": 1000,
        "features": "polynomial",
        "degree": 4,
        "centred": False,
        "refine": 1,
    }
    assert set(changes) == set(base.to_dict()) - {"kind", "schema"}
    digests = {base.replace(**{name: value}).digest() for name, value in changes.items()}
    assert len(digests) == len(changes)
    refined = base.replace(refine=2)
    assert refined.replace(solver="normal") == base.replace(solver="normal")
    with pytest.raises(InvalidInput, match="refine=2"):
        refined.replace(solver="normal", refine=2)
    assert base.digest() not in digests


def test_specs_cannot_be_changed_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        ModelSpec().width = 5  # type: ignore[misc]


# ---- replace


def test_replace_validates_anew() -> None:
    assert ModelSpec(width=100).replace(width=200).width == 200
    with pytest.raises(InvalidInput, match="width=0"):
        ModelSpec().replace(width=0)
    with pytest.raises(InvalidInput, match="depth=4"):
        ModelSpec("DeepSkip", depth=4).replace(architecture="SkipRFM")


def test_replace_with_a_noisy_name_brings_the_noise() -> None:
    assert ModelSpec("SkipRFM").replace(architecture="SkipRFMN").noise == 1e-3
    assert ModelSpec("SkipRFM", noise=0.2).replace(architecture="DeepSkipN").noise == 1e-3
    assert ModelSpec("SkipRFM").replace(architecture="SkipRFMN", noise=0.1).noise == 0.1
    assert ModelSpec("SkipRFMN").replace(width=7).noise == 1e-3
    assert ModelSpec("SkipRFM", noise=0.2).replace(architecture="DeepSkip").noise == 0.2


def test_replace_changes_the_halo_whichever_way_it_was_given() -> None:
    for spec in (local(I=2), local(left=2, right=2)):
        assert spec.replace(left=4).sides == (4, 2)
        assert spec.replace(right=0).sides == (2, 0)
        assert spec.replace(I=1).sides == (1, 1)
    assert local(left=4, right=2).replace(I=1) == local(I=1)
    assert local(left=4, right=2).replace(left=2) == local(I=2)
    gone = {"G": None, "I": None, "left": None, "right": None, "taper": None}
    tapered = local(I=2, taper=0.4)
    assert tapered.replace(architecture="DeepSkip", **gone) == ModelSpec("DeepSkip", depth=2)
    into = ModelSpec("DeepSkip", depth=2).replace(architecture="LocalDeepSkip", G=2, left=3)
    assert into == local(left=3)
    with pytest.raises(InvalidInput, match="either I or left and right"):
        local(I=2).replace(I=3, left=4)


# ---- refusals: the value, the limit, the remedy

DEEP = {"architecture": "LocalDeepSkip", "G": 2, "I": 1, "depth": 2}
REFUSED: list[tuple[dict[str, Any], list[str]]] = [
    ({"architecture": "Skip"}, ["architecture='Skip'", "one of 'RFM', 'SkipRFM'", "trailing N"]),
    ({"architecture": "SkipRFMNN"}, ["architecture='SkipRFMNN'", "one of"]),
    ({"architecture": "N"}, ["architecture='N'", "one of"]),
    ({"architecture": None}, ["architecture=None", "one of"]),
    ({"architecture": ["RFM"]}, ["architecture=['RFM']", "one of"]),
    ({"architecture": 3}, ["architecture=3", "one of"]),
    ({"depth": 2}, ["depth=2", "1 for SkipRFM", "Deep architectures"]),
    ({"architecture": "LocalRFM", "G": 1, "I": 1, "depth": 3}, ["depth=3", "1 for LocalRFM"]),
    ({"width": 0}, ["width=0", "at least 1 and at most 1000000", "512 to 4096"]),
    ({"width": -5}, ["width=-5", "at least 1"]),
    ({"width": 10**7}, ["width=10000000", "at most 1000000"]),
    ({"width": 512.5}, ["width=512.5", "whole number"]),
    ({"width": "512"}, ["width='512'", "whole number"]),
    ({"width": True}, ["width=True", "whole number"]),
    ({"width": np.True_}, ["width=np.True_", "whole number"]),
    ({"width": None}, ["width=None", "whole number"]),
    ({"width": float("nan")}, ["width=nan", "whole number"]),
    ({"width": np.array([5, 6])}, ["width=array([5, 6])", "whole number"]),
    ({"architecture": "DeepRFM", "depth": 0}, ["depth=0", "at least 1", "1 to 32"]),
    ({"architecture": "DeepRFM", "depth": 1001}, ["depth=1001", "at most 1000"]),
    ({"architecture": "DeepRFM", "depth": True}, ["depth=True", "whole number"]),
    ({"G": 2}, ["G=2", "left out for SkipRFM, which is global", "Choose a Local"]),
    ({"I": 2}, ["I=2", "left out for SkipRFM", "Choose a Local"]),
    ({"left": 0}, ["left=0", "left out for SkipRFM", "Choose a Local"]),
    ({"right": 1}, ["right=1", "left out for SkipRFM", "Choose a Local"]),
    ({"taper": 0.4}, ["taper=0.4", "left out for SkipRFM, which is global", "Choose a Local"]),
    ({"exchange": 1}, ["exchange=1", "left out for SkipRFM", "Choose a Local"]),
    ({"exchange": (0, 1)}, ["exchange=(0, 1)", "left out for SkipRFM", "Choose a Local"]),
    ({"exchange": 1, "patches": "one"}, ["exchange=1", "left out for SkipRFM"]),
    ({"exchange": None}, ["exchange=None", "whole number", "0 is the paper's"]),
    ({"exchange": ""}, ["exchange=''", "whole number"]),
    ({"exchange": False}, ["exchange=False", "whole number"]),
    ({"architecture": "LocalSkip"}, ["G=None", "a patch size for LocalSkip", "Try G=2, I=2"]),
    ({"architecture": "LocalSkip", "G": 2}, ["I=None", "a number of neighbours", "left and right"]),
    (DEEP | {"G": 0}, ["G=0", "at least 1", "divides the dimension"]),
    (DEEP | {"G": "2"}, ["G='2'", "whole number"]),
    (DEEP | {"G": False}, ["G=False", "whole number"]),
    (DEEP | {"I": -1}, ["I=-1", "at least 0", "0 means no neighbours"]),
    (DEEP | {"I": True}, ["I=True", "whole number"]),
    (DEEP | {"I": 1.5}, ["I=1.5", "whole number"]),
    (DEEP | {"left": 1}, ["either I or left and right, not both"]),
    (DEEP | {"right": 0}, ["either I or left and right, not both"]),
    (DEEP | {"I": None, "left": -2}, ["left=-2", "at least 0", "no neighbours there"]),
    (DEEP | {"I": None, "right": "1"}, ["right='1'", "whole number"]),
    (DEEP | {"I": None, "left": False}, ["left=False", "whole number"]),
    (DEEP | {"I": None, "left": ""}, ["left=''", "whole number"]),
    (DEEP | {"taper": 0}, ["taper=0", "at least 0.05 and at most 1000", "0.4 is usual, None"]),
    (DEEP | {"taper": 0.049}, ["taper=0.049", "at least 0.05"]),
    (DEEP | {"taper": -0.4}, ["taper=-0.4", "at least 0.05"]),
    (DEEP | {"taper": 1001}, ["taper=1001", "at most 1000"]),
    (DEEP | {"taper": float("nan")}, ["taper=nan", "finite number"]),
    (DEEP | {"taper": float("inf")}, ["taper=inf", "finite number"]),
    (DEEP | {"taper": "0.4"}, ["taper='0.4'", "finite number"]),
    (DEEP | {"taper": True}, ["taper=True", "finite number"]),
    (DEEP | {"exchange": -1}, ["exchange=-1", "at least 0", "0 is the paper's"]),
    (DEEP | {"exchange": (1, 2, 3)}, ["exchange=(1, 2, 3)", "pair (left, right)", "Try 1"]),
    (DEEP | {"exchange": ()}, ["exchange=()", "pair (left, right)"]),
    (DEEP | {"exchange": (1, "1")}, ["exchange='1'", "whole number"]),
    (DEEP | {"exchange": True}, ["exchange=True", "whole number"]),
    (DEEP | {"exchange": np.array([1, 2])}, ["exchange=array([1, 2])", "whole number"]),
    (
        {"architecture": "LocalSkip", "G": 2, "I": 1, "exchange": 1},
        ["exchange=1", "0 unless deep", "Use LocalDeepSkip"],
    ),
    (
        DEEP | {"exchange": 1, "unit_weights": "shared"},
        ["unit_weights='shared'", "'independent' with exchange", "Inputs differ"],
    ),
    (
        DEEP | {"exchange": 1, "patches": "one"},
        ["patches='one'", "'all' with exchange", "Neighbours must be estimated"],
    ),
    ({"beta": float("nan")}, ["beta=nan", "finite number of at least 0", "1e-24 to 1e-2"]),
    ({"beta": "Auto"}, ["beta='Auto'", "finite number", "or 'auto'"]),
    ({"beta": np.array([1.0, 2.0])}, ["beta=array([1., 2.])", "finite number"]),
    ({"beta": float("inf")}, ["beta=inf", "finite number"]),
    ({"beta": -1e-9}, ["beta=-1e-09", "at least 0"]),
    ({"beta": "1e-9"}, ["beta='1e-9'", "finite number"]),
    ({"beta": None}, ["beta=None", "finite number"]),
    ({"beta": True}, ["beta=True", "finite number"]),
    ({"beta": 1j}, ["beta=1j", "finite number"]),
    ({"beta": 2e12}, ["beta=2000000000000.0", "at most 1e+12"]),
    ({"noise": -1e-3}, ["noise=-0.001", "at least 0", "The paper's is 1e-3"]),
    ({"noise": float("nan")}, ["noise=nan", "finite number"]),
    ({"noise": "a bit"}, ["noise='a bit'", "finite number"]),
    ({"noise_on": "output"}, ["noise_on='output'", "'series', 'input'"]),
    ({"solver": "svd"}, ["solver='svd'", "'qr', 'normal'", "accurate default"]),
    ({"refine": 1, "solver": "normal"}, ["refine=1", "0 with solver='normal'", "use solver='qr'"]),
    ({"refine": -1}, ["refine=-1", "at least 0", "1 or 2 help"]),
    ({"solver": None}, ["solver=None", "'qr', 'normal'"]),
    ({"sampler": "hit and run"}, ["sampler='hit and run'", "'hit-and-run', 'tight'", "paper's"]),
    ({"L0": -0.1}, ["L0=-0.1", "at least 0 and at most 99", "paper's is 0.4"]),
    ({"L0": 100}, ["L0=100", "at most 99"]),
    ({"L1": 0.4}, ["L1=0.4", "at least 0.401 and at most 100", "must exceed L0 by at least 0.001"]),
    ({"L1": 0.3}, ["L1=0.3", "at least 0.401"]),
    ({"L0": 2.0, "L1": 2.0000001}, ["L1=2.0000001", "at least 2.001"]),
    ({"L0": 5.0}, ["L1=3.5", "at least 5.001", "must exceed L0"]),
    ({"L1": 101}, ["L1=101", "at most 100"]),
    ({"L1": "3.5"}, ["L1='3.5'", "finite number"]),
    ({"w": 0}, ["w=0", "above 0"]),
    ({"b": -1}, ["b=-1", "at least 0"]),
    ({"standardize": 1}, ["standardize=1", "True or False", "False is the paper's"]),
    ({"standardize": "yes"}, ["standardize='yes'", "True or False"]),
    ({"standardize": None}, ["standardize=None", "True or False"]),
    ({"unit_weights": "own"}, ["unit_weights='own'", "'independent', 'shared'"]),
    ({"features": "sine"}, ["features='sine'", "'tanh', 'polynomial'", "must be registered"]),
    ({"centred": 1}, ["centred=1", "True or False", "False is the paper's"]),
    ({"centred": None}, ["centred=None", "True or False"]),
    ({"centred": True, "width": 1}, ["width=1", "at least 2", "One feature is the constant"]),
    ({"width": 1}, ["width=1", "at least 2 with centred=True", "or centred=False"]),
    ({"centred": 1, "features": "polynomial"}, ["centred=1", "True or False"]),
    ({"degree": 0}, ["degree=0", "at least 1 and at most 20", "2 to 8"]),
    ({"degree": 21}, ["degree=21", "at most 20"]),
    ({"patches": "some"}, ["patches='some'", "None, 'all', 'one'"]),
    ({"rows": 0}, ["rows=0", "at least 1", "Leave it None"]),
    ({"rows": 1.5}, ["rows=1.5", "whole number"]),
]


def refused_name(values: Any) -> str:
    return "-".join(map(str, values)) if isinstance(values, dict) else ""


@pytest.mark.parametrize(("values", "parts"), REFUSED, ids=refused_name)
def test_refusals_name_value_limit_and_remedy(values: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        ModelSpec(**values)
    for part in parts:
        assert part in str(caught.value)
    assert str(caught.value).rstrip().endswith(".")


@pytest.mark.parametrize(
    ("spec", "dimension", "parts"),
    [
        (local(G=3, I=1), 40, ["G=3", "divisor of the dimension 40", "Near are 1, 2, 4"]),
        (local(G=64, I=0), 40, ["G=64", "at most 40", "40 components"]),
        (local(G=8, I=3), 40, ["3 patches on the left and 3", "sees 56", "has 40", "at most 4"]),
        (local(G=8, I=0, exchange=(3, 2)), 40, ["sees 48", "has 40", "at most 4"]),
    ],
)
def test_a_halo_that_does_not_fit_is_refused(
    spec: ModelSpec, dimension: int, parts: list[str]
) -> None:
    for ask in (spec.scheme, spec.size, spec.unit_inputs):
        with pytest.raises(InvalidInput) as caught:
            ask(dimension)
        for part in parts:
            assert part in str(caught.value)


def test_polynomials_are_never_centred_once_more() -> None:
    """Monomials are centred and have a constant: asking for it, or not, is one and the same."""
    for asked in (True, False):
        assert not ModelSpec(features="polynomial", centred=asked).centred
    assert not ModelSpec(features="polynomial").centred
    assert ModelSpec().centred
    assert not ModelSpec().replace(features="polynomial").centred


def test_the_least_range_is_allowed() -> None:
    assert ModelSpec(L0=0.0, L1=LEAST_RANGE).L1 == LEAST_RANGE
    assert ModelSpec(L0=99, L1=100).L0 == 99


def test_tapers_from_the_least_to_the_largest_come_back_from_dictionaries() -> None:
    for name in ("LocalRFM", "LocalSkip", "LocalDeepRFM", "LocalDeepSkip"):
        for taper in (None, LEAST_TAPER, 0.4, 1e3):
            spec = ModelSpec(name, G=2, I=1, taper=taper)
            assert spec.taper == taper
            assert spec.to_dict()["taper"] == taper
            assert ModelSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec


GOOD = ModelSpec().to_dict()


@pytest.mark.parametrize(
    ("plain", "parts"),
    [
        (GOOD | {"widht": 5}, ["ModelSpec has no field 'widht'", "Its fields are: architecture"]),
        (GOOD | {1: 5}, ["has no field '1'"]),
        (GOOD | {"schema": 2}, ["schema=2", "must be 1", "another version"]),
        (GOOD | {"schema": "1"}, ["schema='1'", "must be 1"]),
        (GOOD | {"kind": "DataSpec"}, ["kind='DataSpec'", "'ModelSpec'"]),
        (GOOD | {"width": "many"}, ["width='many'"]),
        (DataSpec("L63").to_dict(), ["kind='DataSpec'", "'ModelSpec'"]),
        (None, ["values=None", "a dictionary", "to_dict"]),
        ([("width", 5)], ["a dictionary"]),
        ("{}", ["values='{}'", "a dictionary"]),
    ],
)
def test_dictionaries_that_are_refused(plain: Any, parts: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        ModelSpec.from_dict(plain)
    for part in parts:
        assert part in str(caught.value)


def test_a_dictionary_may_leave_fields_out() -> None:
    assert ModelSpec.from_dict({}) == ModelSpec()
    assert ModelSpec.from_dict({"architecture": "RFMN", "width": 7}) == ModelSpec("RFMN", width=7)


@dataclass(frozen=True)
class Needy(Spec):
    must: int
    inner: tuple[int, ...] = ()


def test_a_dictionary_may_not_leave_out_what_is_needed() -> None:
    assert Needy.from_dict({"must": 1, "inner": [1, 2]}) == Needy(1, (1, 2))
    with pytest.raises(InvalidInput, match=r"Needy cannot be made: .*'must'"):
        Needy.from_dict({"inner": [1]})
