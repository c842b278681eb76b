"""Ridge regression against closed forms, numpy's least squares, and its own other ways."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rfm_core.checks import InvalidInput
from rfm_core.model.ridge import QR, Accumulator, BetaPath, Normal, accumulator, beta_path, lowered
from rfm_core.model.sampler import Inputs, sample

Array = np.ndarray
BOTH = pytest.mark.parametrize("solver", ["qr", "normal"])
EPS = np.finfo(float).eps


def filled(
    solver: str, phi: Array, target: Array, block: int | None = None, normalised: bool = False
) -> Any:
    found = accumulator(solver, phi.shape[1], target.shape[1], normalised=normalised)
    for low in range(0, len(phi), block or max(1, len(phi))):
        at = slice(low, low + (block or len(phi)))
        found.add(torch.from_numpy(phi[at]), torch.from_numpy(target[at]))
    return found


def closed_form(phi: Array, target: Array, beta: float) -> Array:
    return np.linalg.solve(phi.T @ phi + beta * np.eye(phi.shape[1]), phi.T @ target)


def augmented(phi: Array, target: Array, beta: float) -> Array:
    n = phi.shape[1]
    system = np.vstack([phi, np.sqrt(beta) * np.eye(n)])
    right = np.vstack([target, np.zeros((n, target.shape[1]))])
    return np.linalg.lstsq(system, right, rcond=None)[0]


@pytest.fixture(scope="module")
def easy() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 10)), rng.normal(size=(200, 3))


@pytest.fixture(scope="module")
def smooth() -> tuple[Array, Array]:
    """Features of smooth data, as in every model here: singular values down to rounding."""
    rng = np.random.default_rng(1)
    z = rng.uniform(-1, 1, (3000, 2))

    def rows() -> list[torch.Tensor]:
        return [torch.from_numpy(z)]

    W, b = sample("tight", rng, 250, Inputs.scan(rows), rows)
    target = np.stack([np.sin(z[:, 0]) * z[:, 1], np.exp(z[:, 0] - z[:, 1])], axis=1)
    return np.tanh(z @ W.T + b), target


# ---- against other ways to the same numbers


@BOTH
@pytest.mark.parametrize("beta", [1e-12, 1e-3, 1.0, 1e4])
def test_closed_form(solver: str, beta: float, easy: tuple[Array, Array]) -> None:
    expected = closed_form(*easy, beta)
    found = filled(solver, *easy, block=33)
    np.testing.assert_allclose(found.solve(beta), expected, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(found.path().weights(beta), expected, rtol=1e-11, atol=1e-14)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Array, Array, float, int]:
    rows, features = draw(st.integers(1, 40)), draw(st.integers(1, 14))
    outputs, block = draw(st.integers(1, 3)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = 10.0 ** draw(st.integers(-3, 3))
    beta = scale**2 * 10.0 ** draw(st.floats(-6, 2))
    phi = scale * rng.normal(size=(rows, features))
    if draw(st.booleans()):  # a column twice
        phi[:, -1] = phi[:, 0]
    return phi, rng.normal(size=(rows, outputs)), beta, block


@settings(deadline=None, max_examples=200, derandomize=True)
@given(problems())
def test_least_squares_of_the_augmented_system(problem: tuple[Array, Array, float, int]) -> None:
    phi, target, beta, block = problem
    expected = augmented(phi, target, beta)
    s = np.linalg.svd(phi, compute_uv=False)
    least = s[-1] if len(phi) >= phi.shape[1] else 0.0
    largest = np.hypot(s[0], np.sqrt(beta))
    kappa = largest / np.hypot(least, np.sqrt(beta))
    size = np.linalg.norm(expected)
    residual = np.hypot(np.linalg.norm(phi @ expected - target), np.sqrt(beta) * size)
    # what the theory of perturbations grants a stable method, and the normal equations
    granted = 100 * EPS * (kappa * size + kappa**2 * residual / largest)
    squared = 100 * EPS * kappa**2 * (size + np.linalg.norm(target) / largest)
    for solver, allowed in (("qr", granted), ("normal", squared)):
        found = filled(solver, phi, target, block)
        assert found.rows == len(phi)
        for weights in (found.solve(beta), found.path().weights(beta)):
            assert weights.shape == expected.shape
            assert np.linalg.norm(weights.numpy() - expected) <= allowed


@pytest.mark.parametrize("beta", [10.0**power for power in range(-24, 3)])
def test_solve_and_path_agree_on_ill_conditioned_features(
    beta: float, smooth: tuple[Array, Array]
) -> None:
    phi, _ = smooth
    found = filled("qr", *smooth, block=500)
    one, other = found.solve(beta).numpy(), found.path().weights(beta).numpy()
    s0 = np.linalg.norm(phi, 2)
    size = max(np.linalg.norm(one), np.linalg.norm(other))
    assert np.linalg.norm(phi @ (one - other)) <= 30 * EPS * s0 * size
    if np.sqrt(beta) > 1e3 * EPS * s0:  # below, rounding decides between many equal solutions
        assert np.linalg.norm(one - other) <= 100 * EPS * s0 / np.sqrt(beta) * size


def rms(phi: Array, target: Array, weights: torch.Tensor) -> float:
    return float(np.sqrt(np.mean((phi @ weights.numpy() - target) ** 2)))


def test_qr_goes_where_normal_equations_cannot(smooth: tuple[Array, Array]) -> None:
    phi, target = smooth
    s = np.linalg.svd(phi, compute_uv=False)
    assert s[-1] < 1e-12 * s[0]  # truly ill-conditioned
    qr, normal = filled("qr", *smooth, block=700), filled("normal", *smooth, block=700)
    errors = [rms(phi, target, qr.solve(beta)) for beta in (1e-4, 1e-8, 1e-12, 1e-16, 1e-20)]
    assert all(b < a for a, b in pairwise(errors))
    best_normal = min(rms(phi, target, normal.solve(10.0**p)) for p in range(-20, 0))
    assert errors[-1] < 1e-3 * best_normal
    assert errors[-1] < 1e-8


def test_qr_solution_is_optimal_to_rounding(smooth: tuple[Array, Array]) -> None:
    """No step along the gradient lowers |Phi W - T|^2 + beta |W|^2."""
    phi, target = smooth
    beta = 1e-6
    weights = filled("qr", *smooth, block=64).solve(beta).numpy()
    gradient = phi.T @ (phi @ weights - target) + beta * weights
    assert np.abs(gradient).max() < 1e-12 * np.linalg.norm(phi, 2) * np.linalg.norm(target)


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("beta", [0.0, 1e-6, 1.0, 1e3])
def test_a_correction_leads_to_the_same_solution(
    beta: float, normalised: bool, easy: tuple[Array, Array]
) -> None:
    """From any weights: the penalty is on the sum, not on the correction alone."""
    phi, target = easy
    expected = filled("qr", phi, target, 30, normalised).solve(beta)
    known = torch.from_numpy(np.random.default_rng(5).normal(size=expected.shape))
    left = filled("qr", phi, target - phi @ known.numpy(), 30, normalised)
    np.testing.assert_allclose(known + left.solve(beta, known), expected, rtol=1e-9, atol=1e-12)


def test_a_correction_takes_rounding_away(smooth: tuple[Array, Array]) -> None:
    phi, target = smooth
    weights = filled("qr", phi, target, 700, normalised=True).solve(1e-28)
    left = filled("qr", phi, target - phi @ weights.numpy(), 700, normalised=True)
    better = weights + left.solve(1e-28, weights)
    assert rms(phi, target, better) < 0.8 * rms(phi, target, weights)


def test_beta_goes_below_its_path_only_where_that_pays(smooth: tuple[Array, Array]) -> None:
    phi, target = smooth
    rng = np.random.default_rng(6)
    noisy = target + 1e-3 * rng.normal(size=target.shape)
    for wanted, expected in ((target, lambda b: b < 1e-14), (noisy, lambda b: b == 1e-10)):
        fitted, heldout = (
            filled("qr", phi[:2500], wanted[:2500]),
            filled("qr", phi[2500:], wanted[2500:]),
        )
        assert expected(lowered(1e-10, fitted, heldout))
    normal = (
        filled("normal", phi[:2500], target[:2500]),
        filled("normal", phi[2500:], target[2500:]),
    )
    assert lowered(1e-10, *normal) == 1e-10
    assert lowered(0.0, fitted, heldout) == 0.0


# ---- rows in any order, any blocks, any accumulator


@BOTH
def test_blocks_and_order_do_not_matter(solver: str, easy: tuple[Array, Array]) -> None:
    phi, target = easy
    expected = filled(solver, phi, target).solve(1e-3)
    for block in (1, 7, 199):
        np.testing.assert_allclose(filled(solver, phi, target, block).solve(1e-3), expected, 1e-11)
    order = np.random.default_rng(3).permutation(len(phi))
    shuffled = filled(solver, phi[order], target[order], 50)
    np.testing.assert_allclose(shuffled.solve(1e-3), expected, 1e-11)


def test_blocks_do_not_matter_to_ill_conditioned_predictions(smooth: tuple[Array, Array]) -> None:
    phi, target = smooth
    whole = filled("qr", phi, target).solve(1e-16).numpy()
    for block in (100, 999):
        split = filled("qr", phi, target, block).solve(1e-16).numpy()
        allowed = 30 * EPS * np.linalg.norm(phi, 2) * np.linalg.norm(whole)
        assert np.linalg.norm(phi @ (whole - split)) <= allowed


@BOTH
@pytest.mark.parametrize("cut", [0, 1, 4, 120, 200])
def test_merging_is_adding(solver: str, cut: int, easy: tuple[Array, Array]) -> None:
    phi, target = easy
    merged = filled(solver, phi[:cut], target[:cut], 20)
    merged.merge(filled(solver, phi[cut:], target[cut:], 30))
    added = filled(solver, phi, target)
    assert merged.rows == added.rows == 200
    np.testing.assert_allclose(merged.solve(0.1), added.solve(0.1), rtol=1e-11, atol=1e-14)
    weights = torch.ones(10, 3, dtype=torch.float64)
    np.testing.assert_allclose(merged.squared_error(weights), added.squared_error(weights), 1e-11)


@BOTH
@pytest.mark.parametrize("rows", [1, 5, 11, 200])
def test_squared_error_is_that_of_the_rows(
    solver: str, rows: int, easy: tuple[Array, Array]
) -> None:
    phi, target = easy[0][:rows], easy[1][:rows]
    found = filled(solver, phi, target, 6)
    weights = np.random.default_rng(2).normal(size=(10, 3))
    direct = ((phi @ weights - target) ** 2).sum(0)
    np.testing.assert_allclose(found.squared_error(torch.from_numpy(weights)), direct, rtol=1e-10)


def test_squared_error_of_qr_sees_small_residuals(smooth: tuple[Array, Array]) -> None:
    phi, target = smooth
    found = filled("qr", phi, target, 500)
    weights = found.solve(1e-20)
    direct = ((phi @ weights.numpy() - target) ** 2).sum(0)
    assert (direct < 1e-12 * (target**2).sum(0)).all()  # where squares would cancel
    np.testing.assert_allclose(found.squared_error(weights), direct, rtol=1e-3)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(problems())
def test_singular_values_are_numpys(problem: tuple[Array, Array, float, int]) -> None:
    phi, target, _, block = problem
    expected = np.zeros(phi.shape[1])
    s = np.linalg.svd(phi, compute_uv=False)
    expected[: len(s)] = s
    found = filled("qr", phi, target, block)
    for values in (found.singular_values(), found.path().singular_values):
        np.testing.assert_allclose(values, expected, rtol=0, atol=50 * EPS * s[0])
    # squares know small singular values only to the root of the rounding
    squares = filled("normal", phi, target, block)
    for values in (squares.singular_values(), squares.path().singular_values):
        np.testing.assert_allclose(values**2, expected**2, rtol=0, atol=50 * EPS * s[0] ** 2)


@BOTH
def test_effective_features_are_the_trace_of_the_hat_matrix(
    solver: str, easy: tuple[Array, Array]
) -> None:
    phi, target = easy
    path = filled(solver, phi, target).path()
    for beta in (1e-3, 10.0, 1e3):
        hat = phi @ np.linalg.solve(phi.T @ phi + beta * np.eye(10), phi.T)
        assert path.effective_features(beta) == pytest.approx(np.trace(hat), rel=1e-10)
        assert path.norm(beta) == pytest.approx(np.linalg.norm(closed_form(phi, target, beta)))
    assert path.effective_features(0.0) == 10


# ---- no penalty, no rows, no growth


@BOTH
@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    st.integers(1, 4), st.integers(2, 9), st.integers(1, 300), st.integers(1, 25), st.integers(0)
)
def test_beta_zero_is_the_shortest_solution_where_rank_is_missing(
    solver: str, rank: int, features: int, rows: int, block: int, seed: int
) -> None:
    rank = min(rank, features - 1)
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(features, features)))[0][:rank]
    phi = rng.normal(size=(rows, rank)) @ basis
    target = rng.normal(size=(rows, 2))
    found = filled(solver, phi, target, block)
    s = np.linalg.svd(phi, compute_uv=False)
    s = s[: min(rows, rank)]
    if s[-1] < 0.05 * s[0]:
        return  # chance came near to a lower rank still
    expected = np.linalg.pinv(phi, rcond=1e-6) @ target
    tolerance = {"qr": 1e-11, "normal": 1e-9}[solver] * np.linalg.norm(expected)
    assert np.linalg.norm(found.solve(0.0).numpy() - expected) < tolerance
    assert found.path().effective_features(0.0) == len(s)


@BOTH
def test_beta_zero_is_least_squares_where_rank_is_full(
    solver: str, easy: tuple[Array, Array]
) -> None:
    phi, target = easy
    expected = np.linalg.lstsq(phi, target, rcond=None)[0]
    np.testing.assert_allclose(filled(solver, phi, target, 9).solve(0.0), expected, rtol=1e-10)


@BOTH
def test_zero_features_and_no_rows_give_zero_weights(solver: str) -> None:
    empty = accumulator(solver, 3, 2)
    zeros = filled(solver, np.zeros((4, 3)), np.ones((4, 2)))
    for found in (empty, zeros):
        for beta in (0.0, 1e-20, 1.0):
            assert not found.solve(beta).any()
            assert not found.path().weights(beta).any()
        assert found.path().effective_features(0.0) == 0
    np.testing.assert_array_equal(zeros.squared_error(zeros.solve(1.0)), [4.0, 4.0])


def test_normal_equations_that_are_singular_still_have_a_solution() -> None:
    """beta too small to be felt: LU meets an exact zero, the path answers."""
    ones = np.ones((4, 2))
    weights = filled("normal", ones, ones[:, :1]).solve(1e-300)
    np.testing.assert_allclose(weights, [[0.5], [0.5]], rtol=1e-7)


@BOTH
def test_memory_does_not_grow_with_the_rows(solver: str) -> None:
    rng = np.random.default_rng(0)
    found: Accumulator = accumulator(solver, 20, 3)
    held = []
    for _ in range(30):
        found.add(torch.from_numpy(rng.normal(size=(400, 20))), torch.from_numpy(np.ones((400, 3))))
        tensors = [v for v in vars(found).values() if isinstance(v, torch.Tensor)]
        held.append(sum(t.untyped_storage().nbytes() for t in tensors))
    assert found.rows == 12_000
    assert len(set(held)) == 1
    assert held[0] <= 8 * 23 * 23


def test_accumulator_by_name() -> None:
    assert isinstance(accumulator("qr", 2, 1), QR)
    assert isinstance(accumulator("normal", 2, 1), Normal)


# ---- the path of betas


@BOTH
def test_path_against_direct_computation(solver: str, easy: tuple[Array, Array]) -> None:
    phi, target = easy[0], easy[0] @ np.ones((10, 3)) + 3 * easy[1]
    train, held = slice(0, 40), slice(40, 200)
    betas = [1e-8, 1e-2, 1.0, 30.0, 1e3, 1e5]
    path = beta_path(
        filled(solver, phi[train], target[train], 11),
        filled(solver, phi[held], target[held]),
        betas,
    )
    np.testing.assert_array_equal(path.betas, betas)
    np.testing.assert_allclose(
        path.singular_values, np.linalg.svd(phi[train], compute_uv=False), rtol=1e-9
    )
    for i, beta in enumerate(betas):
        weights = closed_form(phi[train], target[train], beta)
        for rows, errors in ((train, path.training), (held, path.heldout)):
            direct = np.sqrt(np.mean((phi[rows] @ weights - target[rows]) ** 2))
            assert errors[i] == pytest.approx(direct, rel=1e-9)
        assert path.norm[i] == pytest.approx(np.linalg.norm(weights), rel=1e-9)
        assert path.condition[i] == pytest.approx(np.linalg.cond(weights), rel=1e-8)
        hat = phi[train] @ np.linalg.solve(
            phi[train].T @ phi[train] + beta * np.eye(10), phi[train].T
        )
        assert path.effective[i] == pytest.approx(np.trace(hat), rel=1e-9)
    assert path.best == betas[int(np.argmin(path.heldout))]
    assert path.best not in (betas[0], betas[-1])  # a true minimum
    assert (np.diff(path.training) >= 0).all()
    assert (np.diff(path.norm) <= 0).all()


def path_with(heldout: list[float]) -> BetaPath:
    betas, nothing = np.array([1e-8, 1e-6, 1e-4, 1e-2]), np.zeros(4)
    return BetaPath(betas, nothing, np.array(heldout), nothing, nothing, nothing, nothing)


def test_best_beta_is_the_largest_of_near_equals_and_skips_what_is_no_number() -> None:
    assert path_with([3.0, 1.0, 2.0, 4.0]).best == 1e-6
    assert path_with([3.0, 1.0, 1.0, 4.0]).best == 1e-4
    assert path_with([3.0, 1.0, 1.04, 1.06]).best == 1e-4  # 5 % are near
    assert path_with([np.nan, 2.0, np.inf, 4.0]).best == 1e-6


@pytest.mark.parametrize(
    ("betas", "said"),
    [
        ([], "betas is empty. Give at least one value, for example 1e-16."),
        (np.array([]), "betas is empty"),
        ([1e-8, np.nan], "betas=nan cannot be used"),
        ([-1e-8], "of at least 0 and at most 1e+12"),
        (["1e-8"], "1e-24 to 1e-2 is usual"),
        ([True], "betas=True cannot be used"),
        ([[1e-8, 1e-6]], "a finite number"),
        (None, "a finite number"),
    ],
)
def test_betas_that_are_refused(betas: Any, said: str, easy: tuple[Array, Array]) -> None:
    found = filled("qr", *easy)
    with pytest.raises(InvalidInput) as caught:
        beta_path(found, found, betas)
    assert said in str(caught.value)


def test_indefinite_normal_equations_are_solved_by_eigenvalues() -> None:
    """At a beta of 1e-17 of the largest eigenvalue rounding decides, and Cholesky fails."""
    rng = np.random.default_rng(0)
    z = torch.from_numpy(rng.uniform(-1, 1, (4000, 3)))
    phi = torch.tanh(z @ torch.from_numpy(0.3 * rng.normal(size=(3, 200))) + 1)
    target = torch.sin(z[:, :1])
    fitted = accumulator("normal", 200, 1)
    fitted.add(phi, target)
    assert isinstance(fitted, Normal)
    beta = 1e-17 * float(torch.linalg.eigvalsh(fitted.gram)[-1])
    matrix = fitted.gram + beta * torch.eye(200, dtype=torch.float64)
    assert int(torch.linalg.cholesky_ex(matrix).info) > 0
    values, vectors = np.linalg.eigh(fitted.gram.numpy())
    scaled = (vectors.T @ fitted.right.numpy()) / (np.maximum(values, 0) + beta)[:, None]
    expected = float(np.linalg.norm(phi.numpy() @ (vectors @ scaled) - target.numpy()))
    ours = float((phi @ fitted.solve(beta) - target).norm())
    assert ours < 3 * expected
    assert ours < 1e-4 * float(target.norm())


@BOTH
@pytest.mark.parametrize("beta", [0.0, 1e-6, 1.0, 1e3])
def test_normalised_features_are_penalised_by_what_they_contribute(
    solver: str, beta: float, easy: tuple[Array, Array]
) -> None:
    phi, target = easy
    phi = phi * np.logspace(-3, 3, phi.shape[1])
    sizes = np.sqrt(np.mean(phi**2, axis=0))
    expected = closed_form(phi / sizes, target, beta) / sizes[:, None]
    found = filled(solver, phi, target, 30, normalised=True)
    np.testing.assert_allclose(found.solve(beta), expected, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found.path().weights(beta), expected, rtol=1e-6, atol=1e-12)
    singular = np.linalg.svd(phi / sizes, compute_uv=False)
    np.testing.assert_allclose(found.singular_values(), singular, rtol=1e-9)


@BOTH
def test_normalised_features_may_be_zero(solver: str, easy: tuple[Array, Array]) -> None:
    phi, target = easy
    silent = np.hstack([phi, np.zeros((len(phi), 1))])
    weights = filled(solver, silent, target, normalised=True).solve(1e-3)
    assert (weights[-1] == 0).all()
    np.testing.assert_allclose(
        weights[:-1], filled(solver, phi, target, normalised=True).solve(1e-3), rtol=1e-9
    )
