"""Features against numpy and against products written out."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rfm_core.checks import InvalidInput
from rfm_core.model.features import Features
from rfm_core.model.features.polynomial import MOST_MONOMIALS, Monomials
from rfm_core.model.features.tanh import Tanh
from rfm_core.model.spec import ModelSpec

Array = np.ndarray


def tanh_features(inputs: int = 4, width: int = 9) -> tuple[Tanh, Array, Array]:
    rng = np.random.default_rng(0)
    W, b = rng.normal(size=(width, inputs)), rng.normal(size=width)
    return Tanh(torch.from_numpy(W), torch.from_numpy(b)), W, b


def centred_features(inputs: int = 4, width: int = 9) -> Tanh:
    plain, _, _ = tanh_features(inputs, width - 1)
    centre = torch.from_numpy(np.random.default_rng(3).normal(size=inputs))
    return Tanh(plain.weights, plain.bias, centre)


def monomials(inputs: int, degree: int, seed: int = 0) -> tuple[Monomials, Array, Array]:
    rng = np.random.default_rng(seed)
    centre, scale = rng.normal(size=inputs), rng.uniform(0.5, 2, inputs)
    return Monomials(torch.from_numpy(centre), torch.from_numpy(scale), degree), centre, scale


@pytest.mark.parametrize("lead", [(), (1,), (5,), (3, 2), (2, 3, 4)])
def test_tanh_against_numpy(lead: tuple[int, ...]) -> None:
    features, W, b = tanh_features()
    z = np.random.default_rng(1).normal(size=(*lead, 4))
    inner = np.einsum("ri,...i->...r", W, z) + b
    np.testing.assert_allclose(features.preactivations(torch.from_numpy(z)), inner, atol=1e-14)
    phi = features(torch.from_numpy(z))
    assert phi.shape == (*lead, 9)
    assert phi.dtype == torch.float64
    np.testing.assert_allclose(phi, np.tanh(inner), atol=1e-14)


def test_tanh_names_its_parts() -> None:
    features, W, b = tanh_features()
    assert (features.inputs, features.width) == (4, 9)
    parts = features.tensors()
    assert set(parts) == {"W_in", "b_in"}
    np.testing.assert_array_equal(parts["W_in"], W)
    np.testing.assert_array_equal(parts["b_in"], b)


@pytest.mark.parametrize("lead", [(), (5,), (3, 2)])
def test_centred_features_are_a_constant_and_differences(lead: tuple[int, ...]) -> None:
    features = centred_features()
    z = torch.from_numpy(np.random.default_rng(1).normal(size=(*lead, 4)))
    phi = features(z)
    assert phi.shape == (*lead, features.width) == (*lead, 9)
    np.testing.assert_array_equal(phi[..., 0], np.ones(lead))
    there, here = (torch.tanh(features.preactivations(at)) for at in (z, features.centre))
    np.testing.assert_allclose(phi[..., 1:], there - here, atol=1e-15)
    assert set(features.tensors()) == {"W_in", "b_in", "centre"}


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no wider floats to compare with")
@pytest.mark.parametrize("distance", [1e-9, 1e-3, 1.0])
@pytest.mark.parametrize("level", [0.4, -2.0, 3.5, 17.0])
def test_centred_features_keep_their_last_digits(distance: float, level: float) -> None:
    """However small the change and however saturated the tanh, the error is relative."""
    rng = np.random.default_rng(4)
    W, b, steps = rng.normal(size=(50, 1)), np.full(50, level), distance * rng.normal(size=(40, 1))
    features = Tanh(torch.from_numpy(W), torch.from_numpy(b), torch.zeros(1).double())
    found = features(torch.from_numpy(steps)).numpy()[:, 1:]
    x0 = b.astype(np.longdouble)
    along = steps.astype(np.longdouble) @ W.T.astype(np.longdouble)
    exact = np.sinh(along) / (np.cosh(x0) * np.cosh(x0 + along))  # the addition theorem
    assert np.max(np.abs(found / exact - 1)) < 1e-14


def test_centred_features_leave_their_input_as_it_was() -> None:
    """They are computed in place, but in a place of their own."""
    features = centred_features()
    z = torch.from_numpy(np.random.default_rng(1).normal(size=(5, 4)))
    before, parts = z.clone(), {name: part.clone() for name, part in features.tensors().items()}
    first = features(z)
    kept = first.clone()
    features(z + 1)
    np.testing.assert_array_equal(z, before)
    np.testing.assert_array_equal(first, kept)
    for name, part in features.tensors().items():
        np.testing.assert_array_equal(part, parts[name])


def test_centred_features_saturate_far_away() -> None:
    far = torch.tensor([[1e6], [-1e6]], dtype=torch.float64)
    bias = torch.tensor([1.0, -1.0], dtype=torch.float64)
    phi = Tanh(torch.ones(2, 1).double(), bias, torch.zeros(1).double())(far)[:, 1:]
    np.testing.assert_allclose(phi, np.array([[1.0], [-1.0]]) - np.tanh(bias.numpy()), rtol=1e-12)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32))
def test_monomials_are_all_products(inputs: int, degree: int, seed: int) -> None:
    features, centre, scale = monomials(inputs, degree, seed)
    z = np.random.default_rng(seed + 1).normal(size=(3, 2, inputs))
    phi = features(torch.from_numpy(z)).numpy()
    assert phi.shape == (3, 2, features.width)
    assert features.width == math.comb(inputs + degree, degree)
    x = (z - centre) / scale
    chosen = [
        factors
        for power in range(degree + 1)
        for factors in combinations_with_replacement(range(inputs), power)
    ]
    expected = np.stack([np.prod(x[..., list(f)], axis=-1) for f in chosen], axis=-1)
    np.testing.assert_allclose(phi, expected, rtol=1e-12, atol=1e-14)


def test_monomials_of_degree_one_are_affine() -> None:
    features, centre, scale = monomials(3, 1)
    z = torch.randn(5, 3, dtype=torch.float64)
    np.testing.assert_array_equal(features(z)[:, 0], np.ones(5))
    np.testing.assert_allclose(features(z)[:, 1:], (z.numpy() - centre) / scale, rtol=1e-15)
    assert set(features.tensors()) == {"centre", "scale"}


def test_too_many_monomials_are_refused_with_the_numbers() -> None:
    count = math.comb(24 + 6, 6)
    assert count > MOST_MONOMIALS
    with pytest.raises(InvalidInput) as caught:
        monomials(24, 6)
    said = str(caught.value)
    for part in ("Degree 6", "24 inputs", str(count), str(MOST_MONOMIALS), "Lower the degree"):
        assert part in said
    assert math.comb(20 + 5, 5) == 53_130  # just above, and the next below
    with pytest.raises(InvalidInput, match="53130 monomials; at most 50000"):
        monomials(20, 5)
    assert monomials(19, 5)[0].width == 42_504


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_spec_counts_the_monomials_that_there_are(degree: int) -> None:
    spec = ModelSpec("LocalDeepSkip", G=2, I=1, depth=2, features="polynomial", degree=degree)
    for inputs, width in zip(spec.unit_inputs(8), spec.unit_widths(8), strict=True):
        assert monomials(inputs, degree)[0].width == width


@pytest.mark.parametrize("features", [tanh_features()[0], centred_features(), monomials(4, 3)[0]])
def test_tangent_is_the_derivative(features: Features) -> None:
    """For several directions at each state, against torch's own differentiation."""
    rng = np.random.default_rng(2)
    z, dz = torch.from_numpy(rng.normal(size=(6, 4))), torch.from_numpy(rng.normal(size=(3, 6, 4)))
    phi, dphi = features.tangent(z, dz)
    np.testing.assert_array_equal(phi, features(z))
    assert dphi.shape == (3, 6, features.width)
    for direction, found in zip(dz, dphi, strict=True):
        expected = torch.autograd.functional.jvp(features, z, direction)[1]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
