"""Halos found from data: those that the equations have, and none where there is no space."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rfm_core as rfm

L96 = rfm.DataSpec("L96", n_train=4000, n_test=0, parameters={"D": 20})
SMALL = {"width": 256, "rows": 6000}


@pytest.fixture(scope="module")
def lorenz() -> rfm.Dataset:
    return rfm.make_dataset(L96)


def as_series(data: rfm.Dataset) -> rfm.Dataset:
    """The same numbers from nobody knows where."""
    return replace(data, origin={}, name="somebody's", lyapunov=None)


def test_lorenz_96_reaches_further_to_the_left(lorenz: rfm.Dataset) -> None:
    """The tendency uses i-2, i-1 and i+1; what these change within a step reaches twice as far."""
    found = rfm.find_halo(lorenz, **SMALL)  # type: ignore[arg-type]
    assert (found.left, found.right) == (4, 2)
    mirrored = replace(lorenz, train=lorenz.train[..., ::-1])
    found = rfm.find_halo(mirrored, **SMALL)  # type: ignore[arg-type]
    assert (found.left, found.right) == (2, 4)


def test_the_errors_that_decided_are_told(lorenz: rfm.Dataset) -> None:
    found = rfm.find_halo(lorenz, **SMALL)  # type: ignore[arg-type]
    errors = {(left, right): error for left, right, error in found.tried}
    assert errors[found.left, found.right] == found.error
    assert found.error < 1.06 * min(errors.values())
    assert 100 * found.error < errors[0, 0]


def test_components_that_ignore_each_other_need_no_halo() -> None:
    """Twelve Lorenz-63 x-coordinates would do too; these are logistic maps."""
    rng = np.random.default_rng(3)
    u = np.empty((1, 1500, 12))
    u[0, 0] = rng.uniform(0.1, 0.9, 12)
    for n in range(1, 1500):
        u[0, n] = 3.9 * u[0, n - 1] * (1 - u[0, n - 1])
    data = rfm.Dataset(u, u[:, :2], 1.0, 0.3, None, "maps", homogeneous=True)
    found = rfm.find_halo(data, width=64, rows=4000)
    assert (found.left, found.right) == (0, 0)


def test_noise_shows_that_a_narrow_halo_only_seems_to_do() -> None:
    """Kuramoto-Sivashinsky: without noise a few points look enough, and such models blow up."""
    spec = rfm.DataSpec(
        "KS", n_train=1000, n_test=0, burn_in=100, parameters={"L": 50, "grid": 128}, lyapunov=0.1
    )
    data = rfm.make_dataset(spec)
    without = rfm.find_halo(data, noise=0.0, **SMALL)  # type: ignore[arg-type]
    found = rfm.find_halo(data, **SMALL)  # type: ignore[arg-type]
    assert max(without.left, without.right) <= 6
    assert min(found.left, found.right) >= 8
    narrow = rfm.find_halo(data, most=3, **SMALL)  # type: ignore[arg-type]
    assert max(narrow.left, narrow.right) <= 3


def test_it_reports_and_can_be_cancelled(lorenz: rfm.Dataset) -> None:
    token = rfm.CancelToken()
    seen: list[rfm.Progress] = []

    def listen(event: rfm.Progress) -> None:
        seen.append(event)
        if len(seen) == 3:
            token.cancel()

    with pytest.raises(rfm.Cancelled):
        rfm.find_halo(lorenz, report=rfm.Reporter(listen, token), **SMALL)  # type: ignore[arg-type]
    assert {event.stage for event in seen} == {"halo"}


def test_what_has_no_halo_is_refused(lorenz: rfm.Dataset) -> None:
    with pytest.raises(rfm.InvalidInput, match=r"looks the same everywhere.*homogeneous=True"):
        rfm.find_halo(replace(lorenz, homogeneous=False))
    with pytest.raises(rfm.InvalidInput, match=r"data='L96' .*a Dataset"):
        rfm.find_halo("L96")  # type: ignore[arg-type]
    with pytest.raises(rfm.InvalidInput, match=r"most=-1 .*24 components"):
        rfm.find_halo(lorenz, most=-1)
    with pytest.raises(rfm.InvalidInput, match=r"noise=-1"):
        rfm.find_halo(lorenz, noise=-1.0)


# --- the model for a series of one's own -------------------------------------------------------


def test_data_of_a_known_system_get_its_model(lorenz: rfm.Dataset) -> None:
    assert rfm.recommended(lorenz) == rfm.recommended(L96) == rfm.recommended("L96")


def test_a_series_like_lorenz_96_gets_the_same_model(lorenz: rfm.Dataset) -> None:
    """The halo, and that narrow features will do, come from the data."""
    assert rfm.recommended(as_series(lorenz)) == rfm.recommended("L96")


def test_few_components_get_one_unit_that_sees_them_all() -> None:
    for dt, depth in ((0.01, 1), (0.1, 2)):
        data = rfm.make_dataset(rfm.DataSpec("L63", n_train=3000, n_test=0, dt=dt))
        for lyapunov in (None, 0.91):
            spec = rfm.recommended(replace(as_series(data), lyapunov=lyapunov))
            assert spec.depth == depth
            assert spec == rfm.recommended(rfm.DataSpec("L63", dt=dt))
