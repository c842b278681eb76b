"""Refusals: what is welcome, what is not, and that the words say why."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rfm_core.checks import InvalidInput, flag, one_of, real, refuse, whole

NO_NUMBERS = [
    None,
    "5",
    "",
    b"5",
    True,
    False,
    np.True_,
    np.array(True),
    5j,
    np.complex64(5),
    np.complex128(5),
    [5],
    (5,),
    {5},
    {},
    np.array([5]),
    np.array([5.0, 6.0]),
    np.array(["5"]),
    np.str_("5"),
    np.datetime64("2020-01-01"),
    torch.tensor([5]),
    memoryview(b"5"),
    object,
    math.nan,
    math.inf,
    -math.inf,
    np.float32("nan"),
    np.array(np.inf),
    torch.tensor(math.nan),
]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize(
    "check",
    [lambda v: whole("depth", v, 1, 9, "Try 2."), lambda v: real("beta", v, "Try 2.", 1, 9)],
    ids=["whole", "real"],
)
def test_what_is_no_number(value: Any, check: Callable[[Any], Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        check(value)
    assert repr(value)[:70] in str(caught.value)
    assert "of at least 1 and at most 9" in str(caught.value)
    assert str(caught.value).endswith("Try 2.")


FIVES = [5, 5.0, np.int64(5), np.uint8(5), np.float64(5), np.float32(5), np.float16(5)]
FIVES += [np.longdouble(5), np.array(5), np.array(5.0), torch.tensor(5), torch.tensor(5.0)]
FIVES += [Fraction(5)]


@pytest.mark.parametrize("value", FIVES, ids=lambda v: f"{type(v).__name__}-{v!r}")
def test_numbers_of_every_make(value: Any) -> None:
    found = whole("depth", value, 5, 5, "")
    assert found == 5
    assert type(found) is int
    number = real("beta", value, "", 5, 5)
    assert number == 5.0
    assert type(number) is float


@settings(derandomize=True)
@given(st.integers(-50, 50), st.integers(-20, 20), st.integers(0, 20))
def test_whole_accepts_exactly_its_range(value: int, low: int, span: int) -> None:
    if low <= value <= low + span:
        assert whole("n", value, low, low + span, "") == value
        assert whole("n", float(value), low, low + span, "") == value
    else:
        with pytest.raises(InvalidInput, match=f"n={value} .* {low} and at most {low + span}"):
            whole("n", value, low, low + span, "")


@pytest.mark.parametrize("value", [0.5, 1 - 2**-53, -0.5, Fraction(1, 3), np.float32(2.5), 1e-300])
def test_whole_refuses_fractions(value: Any) -> None:
    with pytest.raises(InvalidInput, match="a whole number of at least -9"):
        whole("n", value, -9, None, "")


def test_whole_without_an_upper_limit_takes_any_int() -> None:
    assert whole("n", 10**400, 0, None, "") == 10**400
    assert whole("n", 5e4, 0, None, "") == 50_000
    assert whole("n", 1e300, 0, None, "") == int(1e300)
    with pytest.raises(InvalidInput, match=r"at least 3\. Take more"):
        whole("n", 2, 3, None, "Take more.")


@settings(derandomize=True)
@given(st.floats(-10, 10), st.floats(-5, 5), st.floats(0, 5), st.booleans())
def test_real_accepts_exactly_its_range(value: float, low: float, span: float, above: bool) -> None:
    high = low + span
    if (low < value if above else low <= value) and value <= high:
        assert real("x", value, "", low, high, above) == value
    else:
        with pytest.raises(InvalidInput):
            real("x", value, "", low, high, above)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({}, "must be a finite number. Try 1."),
        ({"low": 0}, "must be a finite number of at least 0. Try 1."),
        ({"low": 0, "above": True}, "must be a finite number above 0. Try 1."),
        ({"high": 3}, "must be a finite number of at most 3. Try 1."),
        (
            {"low": 1e-9, "high": 3},
            "must be a finite number of at least 1e-09 and at most 3. Try 1.",
        ),
    ],
)
def test_real_says_its_limits(limits: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        real("dt", math.nan, "Try 1.", **limits)
    assert str(caught.value) == f"dt=nan cannot be used: it {said}"


def test_the_ends_of_a_range() -> None:
    assert real("x", 0, "", 0) == 0
    assert real("x", 5e-324, "", 0, above=True) == 5e-324
    with pytest.raises(InvalidInput, match="above 0"):
        real("x", 0.0, "", 0, above=True)
    assert math.copysign(1, real("x", -0.0, "", 0)) == 1  # one zero, one digest


@pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000, Fraction(10**400, 3)], ids="abcd")
def test_numbers_too_large_for_a_float(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"x=.* cannot be used: it must be a finite number"):
        real("x", value, "")
    with pytest.raises(InvalidInput, match="at most 9"):
        whole("x", value, 0, 9, "")


def test_decimals_are_left_to_their_owner() -> None:
    with pytest.raises(InvalidInput, match="Decimal"):
        real("x", Decimal("0.1"), "")


@pytest.mark.parametrize("value", [True, np.True_, np.array(True), torch.tensor(True)], ids=repr)
def test_flag_takes_truth_of_every_make(value: Any) -> None:
    assert flag("skip", value, "") is True
    assert flag("skip", ~value if value is not True else False, "") is False


@pytest.mark.parametrize("value", [0, 1, 1.0, "True", "", None, [], [True], np.array([True])])
def test_flag_refuses_what_only_resembles_truth(value: Any) -> None:
    with pytest.raises(InvalidInput, match=r"skip=.* must be True or False\. Try True\."):
        flag("skip", value, "Try True.")


def test_one_of_gives_back_what_it_knows() -> None:
    assert one_of("solver", "qr", ("qr", "normal")) == "qr"
    assert one_of("patches", None, (None, "all")) is None
    assert one_of("solver", np.str_("qr"), {"qr": 1}) == "qr"


@pytest.mark.parametrize(
    "value",
    [
        "QR",
        "",
        None,
        1,
        math.nan,
        ["qr"],
        {"qr"},
        {"qr": 1},
        np.array(["qr"]),
        np.array(["qr", "x"]),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "allowed", [("qr", "normal"), {"qr": 1, "normal": 2}], ids=["tuple", "dict"]
)
def test_one_of_refuses_the_rest(value: Any, allowed: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        one_of("solver", value, allowed)
    assert f"solver={value!r} cannot be used" in str(caught.value)
    assert "one of 'qr', 'normal'. Choose one of these." in str(caught.value)
    with pytest.raises(InvalidInput, match="'qr' is accurate"):
        one_of("solver", value, allowed, "'qr' is accurate.")


def test_refusals_stay_short_and_are_value_errors() -> None:
    error = refuse("rows", list(range(1000)), "few", "Take less.")
    assert isinstance(error, ValueError)
    assert str(error).startswith("rows=[0, 1, 2")
    assert "... cannot be used: it must be few. Take less." in str(error)
    assert len(str(error)) < 160
    assert "rows=<int> cannot" in str(refuse("rows", 10**5000, "few", ""))
