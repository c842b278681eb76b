"""The models to start from: they fit, they follow the data's scale, and they earn their place."""

from __future__ import annotations

import numpy as np
import pytest

import rfm_core as rfm


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("system", list(rfm.SYSTEMS))
def test_every_system_has_one_that_fits_and_a_larger_one(system: str, far: bool) -> None:
    known = rfm.get_system(system)
    dimension = known.dimension(known.resolve({}))
    spec = rfm.recommended(system, far=far)
    spec.scheme(dimension)  # refuses what does not fit
    assert spec.beta == "auto"  # the data decide
    assert spec.centred
    assert rfm.recommended(rfm.DataSpec(system), far=far) == spec
    if far:
        assert spec.size(dimension) > rfm.recommended(system).size(dimension)


def test_a_long_step_gets_a_second_unit() -> None:
    assert rfm.recommended("L63").depth == 1
    assert rfm.recommended(rfm.DataSpec("L63", dt=0.1)).depth == 2


@pytest.mark.parametrize(
    ("L", "grid", "patch"), [(200, 512, 4), (100, 256, 4), (100, 512, 8), (22, 64, 4), (50, 33, 1)]
)
def test_patches_keep_their_length_whatever_the_grid(L: int, grid: int, patch: int) -> None:
    spec = rfm.recommended(rfm.DataSpec("KS", parameters={"L": L, "grid": grid}))
    scheme = spec.scheme(grid)
    assert (scheme.G, scheme.inputs) == (patch, 7 * patch)


def test_lorenz_96_reads_what_its_equation_reads_over_a_step() -> None:
    for far in (False, True):
        spec = rfm.recommended("L96", far=far)
        assert (spec.architecture, spec.G, spec.left, spec.right, spec.L1) == (
            "LocalDeepSkip", 1, 4, 2, 0.41,
        )  # fmt: skip


def test_a_ring_too_small_for_the_halo_gets_a_smaller_one() -> None:
    spec = rfm.recommended(rfm.DataSpec("KS", parameters={"L": 10, "grid": 16}))
    assert spec.scheme(16).inputs <= 16


def test_what_is_no_system_is_refused() -> None:
    with pytest.raises(
        rfm.InvalidInput, match=r"data=3 .*a system's name, a DataSpec or a Dataset"
    ):
        rfm.recommended(3)  # type: ignore[arg-type]
    with pytest.raises(rfm.InvalidInput, match="far='yes'"):
        rfm.recommended("L63", far="yes")  # type: ignore[arg-type]


def test_taper_gives_a_wide_halo_its_resolution_back() -> None:
    """Without it, features of the same number spend themselves on what hardly matters."""
    ring = {"L": 50, "grid": 128}
    data = rfm.make_dataset(
        rfm.DataSpec(
            "KS", n_train=2000, n_test=2, test_steps=100, burn_in=100, parameters=ring, lyapunov=0.1
        )
    )
    tapered = rfm.recommended(rfm.DataSpec("KS", parameters=ring)).replace(
        architecture="LocalSkip", width=300, depth=1, exchange=0, noise=1e-4, rows=6000, beta=1e-16
    )
    assert tapered.taper is not None

    def error(spec: rfm.ModelSpec) -> float:
        model = rfm.fit(spec, data)
        return float(np.sqrt(np.mean((model.predict(data.test[:, :-1]) - data.test[:, 1:]) ** 2)))

    assert 2 * error(tapered) < error(tapered.replace(taper=None))
