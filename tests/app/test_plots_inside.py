"""Pictures of features, long runs and regressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import holoviews as hv
import numpy as np
import pytest
from inside_scenes import some_climate, some_info, some_regression
from rfm_explorer.plots import climate as climate_plots
from rfm_explorer.plots import regions as region_plots
from rfm_explorer.plots import regression as regression_plots
from rfm_explorer.plots import style
from rfm_explorer.results.records import Climate, Features, Info, Regression

import rfm_core as rfm

Picture = Callable[[], hv.Overlay]


@pytest.fixture(scope="module", autouse=True)
def bokeh() -> None:
    hv.extension("bokeh")


@pytest.fixture(scope="module")
def features(lorenz63: rfm.Dataset) -> Features:
    """Of real models: one sampled by hit-and-run, one naively."""
    spec, states = rfm.ModelSpec("SkipRFM", width=60, beta=1e-6), lorenz63.train[0, ::10]
    samplers = {"training": "tight", "naive": "gaussian"}
    models = {key: rfm.fit(spec.replace(sampler=s), lorenz63) for key, s in samplers.items()}
    unit = {key: rfm.tanh_regions(model, states)[0] for key, model in models.items()}
    return Features((unit,), "gaussian")


@pytest.fixture
def climate() -> Climate:
    return some_climate()


@pytest.fixture
def regression() -> Regression:
    return some_regression()


@pytest.fixture
def info() -> Info:
    return some_info()


def shape(picture: hv.Overlay) -> list[tuple[str, str, list[str]]]:
    """What has to stay the same for a picture to be updated in place."""
    return [(type(e).__name__, e.label, [d.name for d in e.dimensions()]) for e in picture]


def part(picture: hv.Overlay, kind: str, label: str) -> hv.Element:
    (found,) = [e for e in picture if type(e).__name__ == kind and e.label == label]
    return found


def values(element: hv.Element) -> list[Any]:
    return [element.dimension_values(d) for d in element.dimensions()]


def limits(picture: hv.Overlay) -> dict[str, Any]:
    return dict(hv.Store.lookup_options("bokeh", picture, "plot").kwargs)


@pytest.fixture
def pairs(
    features: Features, climate: Climate, regression: Regression, info: Info
) -> dict[str, tuple[Picture, Picture]]:
    """Every picture with all its data and with none."""
    mine, naive = features.units[0]["training"], features.units[0]["naive"]
    none = replace(climate, edges=climate.edges * np.nan, power_truth=np.zeros(0))
    return {
        "zones": (
            lambda: region_plots.tanh_zones(mine, naive),
            lambda: region_plots.tanh_zones(None, None),
        ),
        "shares": (
            lambda: region_plots.feature_shares(mine, "Unit 1"),
            lambda: region_plots.feature_shares(None, "Unit 1"),
        ),
        "marginal": (
            lambda: climate_plots.marginal(climate, 1),
            lambda: climate_plots.marginal(none, 1),
        ),
        "spectrum": (
            lambda: climate_plots.spectrum(climate),
            lambda: climate_plots.spectrum(None),
        ),
        "singular": (
            lambda: regression_plots.singular_values(regression, 0),
            lambda: regression_plots.singular_values(None, 0),
        ),
        "path": (
            lambda: regression_plots.beta_path(regression, 0),
            lambda: regression_plots.beta_path(regression, 5),
        ),
        "solvers": (
            lambda: regression_plots.solver_forecasts(regression, info),
            lambda: regression_plots.solver_forecasts(replace(regression, solvers=()), info),
        ),
    }


def test_pictures_keep_their_parts_and_render(
    pairs: dict[str, tuple[Picture, Picture]],
) -> None:
    names: list[set[str]] = []
    for full, empty in pairs.values():
        assert shape(full()) == shape(empty())
        for picture in (full(), empty()):
            assert {"xlim", "ylim", "xlabel", "ylabel"} <= set(limits(picture))
            assert all(len(e) <= 2500 for e in picture)
            hv.render(picture, backend="bokeh")
        names.append({d.name for e in full() for d in e.dimensions()})
    assert sum(map(len, names)) == len(set().union(*names))  # no axis shared by accident


def test_zones_show_shares_and_distributions(features: Features) -> None:
    mine, naive = features.units[0]["training"], features.units[0]["naive"]
    picture = region_plots.tanh_zones(mine, naive)
    good = values(part(picture, "Rectangles", "good"))
    assert sorted([*good[0], *good[2]]) == [-3.5, -0.4, 0.4, 3.5]
    shares = values(part(picture, "Labels", "this model's shares"))
    assert dict(zip(shares[0], shares[2], strict=True))[0.0] == "0 %"
    assert (
        f"{100 * naive.overall['saturated']:.0f} %"
        in values(part(picture, "Labels", "naive shares"))[2]
    )
    x, height, floor = values(part(picture, "Area", "this model"))
    inside = height - floor
    assert inside[np.abs(x) < 0.39].max() == 0.0  # hit-and-run leaves the linear zone empty
    area = np.sum(np.diff(x) * inside[:-1])
    # one scale for both: areas are as the masses, but for the ends, which are cut off
    other, theirs = values(part(picture, "Curve", "naive weights"))
    cells = slice(2, -2)
    ratio = np.sum(np.diff(other[cells]) * (theirs[cells][:-1] - floor[0])) / area
    mass = naive.density[1:-1].sum() / mine.density.sum()
    assert ratio == pytest.approx(mass, rel=0.02)
    assert theirs.max() <= 1.12


def test_shares_are_sorted_and_grouped(features: Features) -> None:
    naive = features.units[0]["naive"]
    _, good, zero = values(part(region_plots.feature_shares(naive, "t"), "Area", "good"))
    np.testing.assert_allclose(good[::2], 100 * np.sort(naive.good)[::-1])
    assert not zero.any()
    many = replace(
        naive, **{k: np.tile(getattr(naive, k), 17) for k in ("linear", "good", "saturated")}
    )
    picture = region_plots.feature_shares(many, "t")
    x, top, bottom = values(part(picture, "Area", "saturated"))
    assert len(x) == 800
    assert x[-1] == 17 * 59  # one of 60 features is the constant
    np.testing.assert_allclose(top, 100)
    mean = np.sum(np.diff(x)[::2] * (top - bottom)[::2]) / x[-1]
    assert mean == pytest.approx(100 * naive.saturated.mean())


def test_another_title_makes_another_picture(features: Features, climate: Climate) -> None:
    mine = features.units[0]["training"]
    one, two = (region_plots.feature_shares(mine, title) for title in ("Unit 1", "Unit 2"))
    assert shape(one) != shape(two)
    assert shape(climate_plots.marginal(climate, 0)) != shape(climate_plots.marginal(climate, 1))


def test_marginals_hold_the_densities(climate: Climate) -> None:
    picture = climate_plots.marginal(climate, 2)
    x, height, _ = values(part(picture, "Area", "truth"))
    np.testing.assert_array_equal(x[::2], climate.edges[2])
    np.testing.assert_array_equal(height[1:-1:2], climate.truth[2])
    _, outline = values(part(picture, "Curve", "surrogate"))
    np.testing.assert_array_equal(outline[1:-1:2], climate.surrogate[2])
    assert limits(picture)["xlim"] == (climate.edges[2, 0], climate.edges[2, -1])
    assert limits(picture)["xlabel"] == "z"
    gone = replace(climate, surrogate=np.zeros_like(climate.surrogate))
    assert len(part(climate_plots.marginal(gone, 2), "Curve", "surrogate")) == 0
    assert len(part(climate_plots.marginal(gone, 2), "Area", "truth")) > 0


def test_a_stranger_s_column_is_short_and_no_formula(climate: Climate) -> None:
    hostile = "$$\\frac{x}{y}$$<img src=x onerror=alert(1)> {label} " + "long" * 30
    picture = climate_plots.marginal(replace(climate, columns=(hostile,) * 3), 0)
    label = limits(picture)["xlabel"]
    assert len(label) <= 40
    assert "$" not in label
    hv.render(picture, backend="bokeh")


def test_spectra_leave_out_what_a_logarithm_cannot_show(climate: Climate) -> None:
    x, power = values(part(climate_plots.spectrum(climate), "Curve", "truth"))
    np.testing.assert_array_equal(x, climate.frequency[1:])
    np.testing.assert_array_equal(power, climate.power_truth[1:])
    count = 9001
    long = replace(
        climate,
        frequency=np.linspace(0, 50, count),
        power_truth=np.full(count, 7.0),
        power_surrogate=np.full(count, np.nan),
    )
    picture = climate_plots.spectrum(long)
    x, power = values(part(picture, "Curve", "truth"))
    assert len(x) <= 1000
    np.testing.assert_allclose(power, 7.0)
    assert x[0] == long.frequency[1]
    assert len(part(picture, "Curve", "surrogate")) == 0


def test_singular_values_and_the_limits_of_solvers(regression: Regression) -> None:
    unit = regression.units[0]
    picture = regression_plots.singular_values(regression, 0)
    number, heights = values(part(picture, "Curve", "singular values"))
    np.testing.assert_array_equal(heights, unit.singular_values)
    np.testing.assert_array_equal(number, np.arange(1, 41))
    first, eps = unit.singular_values[0], np.finfo(float).eps
    for label, height in (
        ("√β: β damps what is below", unit.beta**0.5),
        ("limit of QR", eps * first),
        ("limit of normal equations", eps**0.5 * first),
    ):
        x, y = values(part(picture, "Curve", label))
        assert tuple(x) == limits(picture)["xlim"]
        np.testing.assert_allclose(y, height)
        assert limits(picture)["ylim"][0] < height < limits(picture)["ylim"][1]
    texts = [t for e in picture if isinstance(e, hv.Labels) for t in values(e)[2]]
    assert len(texts) == 2


def test_singular_values_without_beta_with_zeros_and_many(regression: Regression) -> None:
    many = np.concatenate([np.geomspace(1e3, 1e-9, 16_000), np.zeros(384)])
    unit = replace(regression.units[0], beta=0.0, singular_values=many)
    picture = regression_plots.singular_values(replace(regression, units=(unit,)), 0)
    number, heights = values(part(picture, "Curve", "singular values"))
    assert len(number) <= 1500
    assert number[0] == 1
    assert number[-1] == 16_000
    assert (heights > 0).all()
    assert len(part(picture, "Curve", "√β: β damps what is below")) == 0
    assert shape(picture) == shape(regression_plots.singular_values(regression, 0))


def test_path_marks_the_beta_in_use(regression: Regression) -> None:
    unit = regression.units[0]
    picture = regression_plots.beta_path(regression, 0)
    betas, errors = values(part(picture, "Curve", "rows held out"))
    np.testing.assert_array_equal(betas, unit.betas)
    np.testing.assert_array_equal(errors, unit.heldout)
    x, _ = values(part(picture, "Curve", "β in use"))
    np.testing.assert_array_equal(x, unit.beta)
    outside = replace(unit, beta=1e3, heldout=np.where(unit.betas > 1e-3, np.inf, unit.heldout))
    picture = regression_plots.beta_path(replace(regression, units=(outside,)), 0)
    assert limits(picture)["xlim"][1] > 1e3
    assert np.isfinite(values(part(picture, "Curve", "rows held out"))[1]).all()
    assert [len(part(picture, "Labels", side)) for side in ("left", "right")] == [0, 1]


def test_solvers_have_error_bars(regression: Regression, info: Info) -> None:
    picture = regression_plots.solver_forecasts(regression, info)
    _, low, _, high = values(part(picture, "Segments", "QR: standard error"))
    np.testing.assert_allclose(high - low, [0.6, 0.4, 0.2])
    np.testing.assert_allclose((high + low) / 2, [12, 10, 1])
    assert limits(picture)["ylabel"] == "forecast time, Lyapunov times"
    assert limits(picture)["ylim"][1] > 12.3
    unknown = regression_plots.solver_forecasts(regression, replace(info, lyapunov=None))
    assert limits(unknown)["ylabel"] == "forecast time, time units"
    assert shape(unknown) != shape(picture)


def test_looks_do_not_depend_on_the_theme(pairs: dict[str, tuple[Picture, Picture]]) -> None:
    for full, _ in pairs.values():
        for element in full():
            look = hv.Store.lookup_options("bokeh", element, "style").kwargs
            colour = look.get("color", look.get("text_color"))
            assert colour not in (None, "black", "white")
            assert colour in vars(style).values() or colour in style.PINS
