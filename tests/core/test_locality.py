"""Patches and halos against a loop over the ring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfm_core.checks import InvalidInput
from rfm_core.model.locality import Scheme


@st.composite
def schemes(draw: st.DrawFn) -> Scheme:
    G, patches = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    left = draw(st.integers(0, patches - 1))
    return Scheme(G * patches, G, left, draw(st.integers(0, patches - 1 - left)))


def seen_by_loop(s: Scheme, patch: int, left: int, right: int) -> list[int]:
    seen = []
    for neighbour in range(patch - left, patch + right + 1):
        for inner in range(s.G):
            at = neighbour * s.G + inner
            while at < 0:
                at += s.dimension
            while at >= s.dimension:
                at -= s.dimension
            seen.append(at)
    return seen


@settings(deadline=None, max_examples=200, derandomize=True)
@given(schemes())
def test_indices_against_a_loop(s: Scheme) -> None:
    assert s.patches * s.G == s.dimension
    assert s.own.shape == (s.patches, s.G)
    assert s.halo.shape == (s.patches, s.inputs)
    for patch in range(s.patches):
        assert s.own[patch].tolist() == seen_by_loop(s, patch, 0, 0)
        assert s.halo[patch].tolist() == seen_by_loop(s, patch, s.left, s.right)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(schemes(), st.integers(0, 3), st.integers(0, 3))
def test_around_against_a_loop(s: Scheme, left: int, right: int) -> None:
    around = s.around(left, right)
    assert around.shape == (s.patches, (left + 1 + right) * s.G)
    for patch in range(s.patches):
        assert around[patch].tolist() == seen_by_loop(s, patch, left, right)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(schemes())
def test_every_patch_sees_the_same_shifted_and_nothing_twice(s: Scheme) -> None:
    np.testing.assert_array_equal(np.sort(s.own.ravel()), np.arange(s.dimension))
    for patch in range(s.patches):
        np.testing.assert_array_equal(s.halo[patch], (s.halo[0] + patch * s.G) % s.dimension)
        assert len(set(s.halo[patch])) == s.inputs  # a halo never meets itself on the ring
        own = s.halo[patch, s.left * s.G : (s.left + 1) * s.G]
        np.testing.assert_array_equal(own, s.own[patch])


def test_asymmetric_halo_at_both_ends_of_the_ring() -> None:
    s = Scheme(6, 1, left=2, right=1)
    assert s.halo[0].tolist() == [4, 5, 0, 1]
    assert s.halo[2].tolist() == [0, 1, 2, 3]
    assert s.halo[5].tolist() == [3, 4, 5, 0]
    mirrored = Scheme(6, 1, left=1, right=2)
    assert mirrored.halo[0].tolist() == [5, 0, 1, 2]
    assert Scheme(8, 2, 1, 0).halo.tolist() == [
        [6, 7, 0, 1],
        [0, 1, 2, 3],
        [2, 3, 4, 5],
        [4, 5, 6, 7],
    ]


def distance_by_loop(s: Scheme, left: int, right: int) -> list[float]:
    found = []
    for place in range(-left * s.G, (1 + right) * s.G):
        if place < 0:
            found.append(-place / (left * s.G))
        elif place < s.G:
            found.append(0.0)
        else:
            found.append((place - s.G + 1) / (right * s.G))
    return found


@settings(deadline=None, max_examples=100, derandomize=True)
@given(schemes(), st.integers(0, 3), st.integers(0, 3))
def test_distance_against_a_loop(s: Scheme, left: int, right: int) -> None:
    """One for each component of ``around``: 0 in the patch, rising to 1 at both ends."""
    found = s.distance(left, right)
    assert found.shape == s.around(left, right)[0].shape
    np.testing.assert_allclose(found, distance_by_loop(s, left, right), rtol=1e-15)
    before, inside, after = np.split(found, [left * s.G, (left + 1) * s.G])
    assert not inside.any()
    assert (found >= 0).all()
    for side in (before[::-1], after):  # outwards
        assert (np.diff(side, prepend=0.0) > 0).all()
        assert not len(side) or side[-1] == 1
    np.testing.assert_array_equal(s.distance(right, left), found[::-1])


def test_distance_counts_components_as_a_share_of_each_side() -> None:
    ring = Scheme(12, 1)
    assert ring.distance(2, 2).tolist() == [1, 0.5, 0, 0.5, 1]
    assert ring.distance(4, 2).tolist() == [1, 0.75, 0.5, 0.25, 0, 0.5, 1]
    pairs = Scheme(12, 2)
    assert pairs.distance(1, 1).tolist() == [1, 0.5, 0, 0, 0.5, 1]
    assert pairs.distance(2, 1).tolist() == [1, 0.75, 0.5, 0.25, 0, 0, 0.5, 1]


def test_distance_without_neighbours_on_a_side() -> None:
    pairs = Scheme(12, 2)
    assert pairs.distance(0, 0).tolist() == [0, 0]
    assert pairs.distance(1, 0).tolist() == [1, 0.5, 0, 0]
    assert pairs.distance(0, 1).tolist() == [0, 0, 0.5, 1]
    assert Scheme(5, 5).distance(0, 0).tolist() == [0] * 5


def test_one_patch_is_global() -> None:
    s = Scheme(5, 5)
    assert (s.patches, s.inputs) == (1, 5)
    assert s.halo.tolist() == s.own.tolist() == [[0, 1, 2, 3, 4]]


def test_whole_floats_and_numpy_become_ints() -> None:
    s = Scheme(np.int64(8), 2.0, np.int32(1), np.float64(1))  # type: ignore[arg-type]
    assert s == Scheme(8, 2, 1, 1)
    assert all(type(v) is int for v in (s.dimension, s.G, s.left, s.right, s.inputs, s.patches))
    assert s.halo.dtype.kind == "i"


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ((40, 3), ["G=3", "divisor of the dimension 40", "Near are 1, 2, 4."]),
        ((40, 0), ["G=0", "at least 1 and at most 40"]),
        ((40, 41), ["G=41", "at most 40", "40 components"]),
        ((40, 2.5), ["G=2.5", "whole number"]),
        ((40, True), ["G=True", "whole number"]),
        ((40, "2"), ["G='2'", "whole number"]),
        ((40, None), ["G=None", "whole number"]),
        ((40, 2, -1, 0), ["left=-1", "at least 0", "no neighbours on the left"]),
        ((40, 2, 0, -1), ["right=-1", "at least 0", "no neighbours on the right"]),
        ((0, 1), ["dimension=0", "at least 1"]),
        ((-3, 1), ["dimension=-3", "at least 1"]),
        (
            (8, 2, 2, 2),
            ["2 patches on the left", "2 on the right", "sees 10", "has 8", "at most 3"],
        ),
        ((5, 1, 3, 2), ["sees 6", "has 5", "at most 4"]),
        ((8, 8, 1, 0), ["sees 16", "has 8", "at most 0", "smaller G"]),
    ],
)
def test_refusals_name_value_limit_and_remedy(values: tuple[Any, ...], parts: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        Scheme(*values)
    for part in parts:
        assert part in str(caught.value)


def test_the_widest_halo_that_fits_is_allowed() -> None:
    assert sorted(Scheme(8, 2, 3, 0).halo[0].tolist()) == list(range(8))
    assert sorted(Scheme(8, 2, 1, 2).halo[3].tolist()) == list(range(8))
