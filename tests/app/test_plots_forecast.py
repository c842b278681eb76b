"""Pictures of forecasts: always the same elements, with the right numbers in them."""

from __future__ import annotations

import gc
from dataclasses import replace

import holoviews as hv
import numpy as np
import pytest
from rfm_explorer.plots import density as density_module
from rfm_explorer.plots import forecast, style
from rfm_explorer.plots.density import density
from rfm_explorer.plots.parts import MOST_POINTS, round_up, shrink, thin
from rfm_explorer.results.records import Info, Times, Trajectory

import rfm_core as rfm
from rfm_core import InvalidInput, paper_rows

hv.extension("bokeh")

STRANGER = "<script>alert(1)</script> $$x$$ " + "long " * 20


def learned(data_spec, model_spec):
    """A trained model's data and forecasts, as the worker hands them to the page."""
    data = rfm.make_dataset(data_spec)
    model = rfm.fit(model_spec, data, seed=0)
    run = model.run(data.test[:, 0], data.test.shape[1] - 1)
    against = {"std": data.std, "dt": data.dt, "lyapunov": data.lyapunov, "eps": data.eps}
    times = rfm.valid_times(run.states, data.test, **against)
    error = rfm.forecast_error(run.states, data.test, data.std)
    states = data.train.reshape(-1, data.dimension)
    n = len(data.test)
    info = Info(
        name=data.name,
        title="a system",
        dt=data.dt,
        eps=data.eps,
        lyapunov=data.lyapunov,
        lyapunov_is_estimate=False,
        columns=data.columns or tuple(f"u{k}" for k in range(data.dimension)),
        dimension=data.dimension,
        homogeneous=data.homogeneous,
        length=float(data.dimension),
        pairs=data.pairs,
        n_test=n,
        steps=data.test.shape[1] - 1,
        std=data.std,
        mean=data.mean,
        backdrop=states[:1000] if data.dimension <= 3 else states[:0],
    )
    trajectories = [
        Trajectory(
            0,
            k,
            data.test[k],
            run.states[k],
            error[k],
            float(times.vpt[k]),
            bool(times.censored[k]),
            int(run.diverged_at[k]),
        )
        for k in range(n)
    ]
    lost = run.diverged_at >= 0
    return info, trajectories, Times(times.vpt, times.censored, lost, lost * 0, np.arange(n))


@pytest.fixture(scope="module")
def l63():
    data = rfm.DataSpec("L63", n_train=1000, n_test=5, test_steps=1200)
    return learned(data, rfm.ModelSpec("SkipRFM", width=96, beta=1e-6))


@pytest.fixture(scope="module")
def l96():
    data = rfm.DataSpec("L96", n_train=600, n_test=2, test_steps=700, parameters={"D": 12})
    return learned(data, rfm.ModelSpec("LocalSkip", width=64, G=2, I=2, beta=1e-9))


def growing(trajectory, steps):
    """The same while it is computed."""
    late = np.arange(len(trajectory.truth)) > steps
    return replace(
        trajectory,
        forecast=np.where(late[:, None], np.nan, trajectory.forecast),
        error=np.where(late, np.nan, trajectory.error),
        vpt=None,
        done=False,
    )


def blown_up(trajectory, step):
    late = np.arange(len(trajectory.truth)) >= step
    return replace(
        trajectory,
        forecast=np.where(
            late[:, None], np.nan, trajectory.forecast * np.where(late, 1, 1e9)[:, None]
        ),
        error=np.where(late, np.inf, 1e9),
        vpt=0.0,
        diverged_at=step,
    )


def parts(picture):
    return {part.label: part for part in picture}


def shape(picture):
    return [(type(p).__name__, p.label, [d.name for d in p.dimensions()]) for p in picture]


def columns(part):
    return [np.asarray(part.dimension_values(k)) for k in range(len(part.dimensions()))]


def limits(picture, axis):
    return hv.Store.lookup_options("bokeh", picture, "plot").kwargs[f"{axis}lim"]


def some(times, chosen):
    names = ("vpt", "censored", "diverged", "realization", "test")
    return replace(times, **{name: getattr(times, name)[chosen] for name in names})


# --- every picture --------------------------------------------------------------------------


def pictures(info, trajectory):
    if info.spatial:
        for which in forecast.SPACE_TIME:
            yield forecast.space_time(info, trajectory, which)
    else:
        yield from (forecast.components(info, trajectory, k) for k in range(info.dimension))
        yield from (forecast.attractor(info, trajectory, plane) for plane in forecast.planes(info))
    yield forecast.error_growth(info, [] if trajectory is None else [trajectory])


@pytest.mark.parametrize("system", ["l63", "l96"])
def test_elements_stay_the_same_whatever_there_is_to_show(system, request):
    info, trajectories, _ = request.getfixturevalue(system)
    whole = trajectories[0]
    expected = [shape(p) for p in pictures(info, whole)]
    for state in (
        None,
        growing(whole, 0),
        growing(whole, 300),
        blown_up(whole, 40),
        replace(whole, censored=True),
        trajectories[1],
    ):
        assert [shape(p) for p in pictures(info, state)] == expected


@pytest.mark.parametrize("system", ["l63", "l96"])
def test_every_picture_can_be_drawn(system, request):
    info, trajectories, times = request.getfixturevalue(system)
    for picture in pictures(info, trajectories[0]):
        hv.render(picture, backend="bokeh")
    for picture in [*pictures(info, None)][-2:]:
        hv.render(picture, backend="bokeh")
    hv.render(density([("this run", times)], info), backend="bokeh")


def test_names_of_columns_are_cut_and_never_typeset(l63):
    info = replace(l63[0], columns=(STRANGER, STRANGER, STRANGER))
    figure = hv.render(forecast.components(info, l63[1][0], 0), backend="bokeh")
    assert figure.yaxis[0].axis_label == style.plain(STRANGER)
    assert len(style.plain(STRANGER)) == 40
    assert "$" not in style.plain(STRANGER)
    assert "\\" not in style.plain(r"\(x\)")
    assert len(set(forecast.planes(info))) == 4  # alike names are told apart by numbers
    hv.render(forecast.attractor(info, l63[1][0], "1-3"), backend="bokeh")


def test_drawing_again_leaves_nothing_behind(l63):
    info, trajectories, times = l63

    def draw_all():
        for picture in [*pictures(info, trajectories[0]), density([("a", times)], info)]:
            assert picture.id is not None
        gc.collect()
        return len(hv.Store.custom_options(backend="bokeh"))

    first = draw_all()
    assert [draw_all() for _ in range(3)][-1] == first


# --- components -----------------------------------------------------------------------------


def test_curves_hold_truth_and_forecast_over_time(l63):
    info, (shown, *_), _ = l63
    there = parts(forecast.components(info, shown, 1, cursor=2.5))
    for name in ("truth", "forecast"):
        t, values = columns(there[name])
        np.testing.assert_allclose(t, np.arange(1201) * 0.01 * 0.91)
        np.testing.assert_array_equal(values, getattr(shown, name)[:, 1])
    assert columns(there["now"])[0] == [2.5]


def test_the_end_of_the_forecast_is_marked_where_it_is(l63):
    info, (shown, *_), _ = l63
    picture = forecast.components(info, shown, 0)
    there = parts(picture)
    x, _, x2, _ = columns(there["valid until"])
    assert x == x2 == [shown.vpt]
    left, _, right, _ = columns(there["after"])
    assert left == [shown.vpt]
    assert right == [limits(picture, "x")[1]]
    assert columns(there["end"])[2][0] == f"forecast valid {shown.vpt:.1f}"
    censored = forecast.components(info, replace(shown, censored=True), 0)
    assert columns(parts(censored)["end"])[2][0] == f"valid for at least {shown.vpt:.1f}"


def test_time_shown_reaches_past_the_failure_and_grows_in_steps(l63):
    info, (shown, *_), _ = l63
    assert shown.vpt < forecast.window(info, shown) <= info.steps * info.per_step
    ends = [forecast.window(info, growing(shown, k)) for k in range(0, 1201, 50)]
    assert ends == sorted(ends)
    assert len(set(ends)) < 12
    assert ends[-1] == pytest.approx(info.steps * info.per_step)


def test_a_forecast_that_blows_up_does_not_move_the_picture(l63):
    info, (shown, *_), _ = l63
    good, bad = (forecast.components(info, s, 0) for s in (shown, blown_up(shown, 40)))
    assert limits(good, "y") == limits(bad, "y")
    values = columns(parts(bad)["forecast"])[1]
    assert np.nanmax(np.abs(values)) < 1000


def test_a_column_that_is_not_there_is_refused(l63):
    with pytest.raises(InvalidInput, match=r"column=3 .* at most 2"):
        forecast.components(l63[0], l63[1][0], 3)


# --- the attractor --------------------------------------------------------------------------


def test_planes_of_one_two_and_three_components(l63, l96):
    assert forecast.planes(l63[0]) == ["3D", "x-z", "x-y", "y-z"]
    assert forecast.planes(replace(l63[0], dimension=2, columns=("a", "b"))) == ["a-b"]
    assert forecast.planes(replace(l63[0], dimension=1, columns=("a",))) == []


def test_a_side_shows_its_two_components_up_to_a_time(l63):
    info, (shown, *_), _ = l63
    there = parts(forecast.attractor(info, shown, "y-z", upto=3.0))
    last = round(3.0 / info.per_step)
    for name in ("truth", "forecast"):
        states = getattr(shown, name)
        y, z = columns(there[name])
        np.testing.assert_array_equal(y, states[last - len(y) + 1 : last + 1, 1])
        assert z[-1] == states[last, 2]
        assert columns(there[f"{name} now"])[0] == [states[last, 1]]


def test_turning_keeps_every_state_in_the_frame_and_the_limits(l63):
    info, (shown, *_), _ = l63
    for azimuth in range(0, 360, 30):
        picture = forecast.attractor(info, shown, "3D", azimuth)
        assert limits(picture, "x") == limits(picture, "y") == (-1.6, 1.6)
        for x in columns(parts(picture)["training"]):
            assert np.abs(x).max() < 1.6


def test_turning_by_a_half_turn_mirrors_and_by_a_full_one_changes_nothing(l63):
    info = l63[0]
    first, half, full = (
        columns(parts(forecast.attractor(info, None, "3D", a))["training"]) for a in (25, 205, 385)
    )
    np.testing.assert_allclose(half[0], -first[0], atol=1e-12)
    np.testing.assert_allclose(full, first, atol=1e-12)
    # x alone decides the horizontal place at azimuth 0
    x = info.backdrop[:, 0]
    flat = columns(parts(forecast.attractor(info, None, "3D", 0))["training"])[0]
    np.testing.assert_allclose(flat, 2 * (x - x.min()) / np.ptp(x) - 1, atol=1e-12)


def test_an_unknown_plane_is_refused_with_the_choice(l63):
    with pytest.raises(InvalidInput, match="x-z"):
        forecast.attractor(l63[0], None, "x-t")


# --- space and time -------------------------------------------------------------------------


def test_images_hold_the_states_with_time_to_the_right(l96):
    info, (shown, *_), _ = l96
    for which in ("truth", "forecast"):
        picture = forecast.space_time(info, shown, which)
        image = parts(picture)[which]
        values = image.dimension_values(2, flat=False)[::-1]  # rows from the top
        times = values.shape[1]
        states = getattr(shown, which)[:times]
        if which == "truth":
            assert values.shape == (12, times)
        np.testing.assert_array_equal(values[::-1].T, states)
        assert image.bounds.lbrt()[0] == 0.0
        assert image.bounds.lbrt()[2] == pytest.approx(times * info.per_step)
        assert limits(picture, "x")[1] <= image.bounds.lbrt()[2]


def test_truth_and_forecast_share_their_colours_and_errors_are_clipped(l96):
    info, (shown, *_), _ = l96
    colours = {}
    for which in forecast.SPACE_TIME:
        image = parts(forecast.space_time(info, shown, which))[which]
        colours[which] = hv.Store.lookup_options("bokeh", image, "plot").kwargs["clim"]
    assert colours["truth"] == colours["forecast"]
    assert colours["error"] == (0.0, 3.0)
    image = parts(forecast.space_time(info, blown_up(shown, 40), "error"))["error"]
    values = image.dimension_values(2, flat=False)
    assert (values[:, 40:] == 3.0).all()
    assert np.nanmax(values) == 3.0


def test_components_that_differ_are_shown_in_standard_deviations(l96):
    info, (shown, *_), _ = l96
    picture = forecast.space_time(replace(info, homogeneous=False), shown, "truth")
    values = parts(picture)["truth"].dimension_values(2, flat=False)
    np.testing.assert_allclose(values[:, 7], (shown.truth[7] - info.mean) / info.std)


# --- the error ------------------------------------------------------------------------------


def test_error_curves_threshold_and_guide(l63):
    info, trajectories, _ = l63
    picture = forecast.error_growth(info, trajectories, [(STRANGER, info, trajectories[1])])
    there = parts(picture)
    t, error = columns(there["this test"])
    np.testing.assert_array_equal(error[1:], np.clip(trajectories[0].error[1:], 1e-16, 10))
    assert np.isnan(error[0])  # no logarithm of nothing
    assert set(columns(there["threshold 0.3"])[1]) == {0.3}
    x, y = columns(there["growth by chaos"])
    assert np.log(y[1] / y[0]) == pytest.approx(x[1] - x[0])
    before = t <= trajectories[0].vpt
    above = error[1:][before[1:]] > np.exp(np.interp(t[1:][before[1:]], x, np.log(y)))
    assert 0.2 < above.mean() < 0.8
    others = columns(there["other tests"])[1]
    assert np.isnan(others).sum() >= len(trajectories) - 2
    assert columns(there["pins"])[2][0] == style.plain(STRANGER)
    assert shape(picture) == shape(forecast.error_growth(info, trajectories[:1]))


@pytest.mark.parametrize("lyapunov", [0.07, 0.9, 13.0])
def test_the_guide_counts_in_lyapunov_times(l63, lyapunov):
    """An error that grows exactly as chaos lets it lies on the guide, however long a step is."""
    info, (shown, *_), _ = l63
    info = replace(info, lyapunov=lyapunov)
    steps = np.arange(len(shown.error))
    error = 1e-9 * np.exp(steps * info.dt * lyapunov)
    failed = int(np.argmax(error >= info.eps)) or len(error)
    exact = replace(shown, error=np.minimum(error, 5.0), vpt=(failed - 1) * info.per_step)
    x, y = columns(parts(forecast.error_growth(info, [exact]))["growth by chaos"])
    growing = steps[1:failed]
    along = np.interp(growing * info.per_step, x, np.log(y))
    np.testing.assert_allclose(along, np.log(error[growing]), atol=1e-6)


def test_no_guide_where_no_exponent_is_known(l63):
    info, (shown, *_), _ = l63
    there = parts(forecast.error_growth(replace(info, lyapunov=None), [shown]))
    assert not len(there["growth by chaos"])


# --- densities ------------------------------------------------------------------------------


def test_density_has_the_same_elements_for_any_number_of_runs(l63):
    info, _, times = l63
    expected = shape(density([], info))
    paper = paper_rows()[0]
    for n in range(6):
        runs = [("run", some(times, slice(0, n)))] + [(f"pin {k}", times) for k in range(n + 2)]
        picture = density(runs, info, paper, (0, 1))
        assert shape(picture) == expected
    hv.render(picture, backend="bokeh")
    hv.render(density([], info), backend="bokeh")


def test_density_has_area_one_and_a_stroke_at_the_mean(l63):
    info, _, times = l63
    there = parts(density([("run", times)], info))
    x, y = columns(there["run filled"])[:2]
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.01)
    assert x.min() >= 0
    assert times.vpt.mean() in columns(there["run"])[0]
    assert columns(there["median"])[0] == [np.median(times.vpt)]


def test_marks_carry_which_forecast_they_are(l63):
    info, _, times = l63
    there = parts(density([("run", times)], info, selected=(0, 3)))
    vpt, height, again, realization, test = columns(there[density_module.RUG])
    np.testing.assert_array_equal(vpt, times.vpt)
    np.testing.assert_array_equal(again, times.vpt)
    np.testing.assert_array_equal(test, times.test)
    np.testing.assert_array_equal(realization, times.realization)
    assert (height < 0).all()
    assert columns(there["selected"])[0] == [times.vpt[3]]


def test_one_forecast_is_no_density_and_equal_ones_are_a_visible_peak(l63):
    info, _, times = l63
    assert not len(parts(density([("run", some(times, [0]))], info))["run filled"])
    same = replace(times, vpt=np.full(5, 7.0))
    x, y = columns(parts(density([("run", same)], info))["run filled"])[:2]
    assert x[np.argmax(y)] == pytest.approx(7, abs=0.02)
    assert 0.05 < np.ptp(x[y > y.max() / 2]) < 0.5


def test_the_papers_band_is_its_mean_and_standard_deviation(l63):
    info, _, times = l63
    row = paper_rows()[0]
    left, _, right, _ = columns(parts(density([("run", times)], info, row))["paper's spread"])
    assert (left, right) == ([row.vpt_mean - row.vpt_std], [row.vpt_mean + row.vpt_std])
    words = columns(parts(density([(STRANGER, times)], info, row))["key"])[2]
    assert words[0].startswith(style.plain(STRANGER) + ": mean ")
    assert words[1] == "paper: mean 9.8, standard deviation 1.8"


def test_a_view_can_add_options_without_losing_the_look(l63):
    info, _, times = l63
    picture = density([("run", times)], info).opts(hv.opts.Scatter(hooks=[lambda p, e: None]))
    rug = parts(picture)[density_module.RUG]
    assert hv.Store.lookup_options("bokeh", rug, "style").kwargs["color"] == style.RUN
    assert "hooks" in hv.Store.lookup_options("bokeh", rug, "plot").kwargs


# --- thin data ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 2499, 2500, 2501, 2502, 7777, 100_003])
def test_thinned_curves_keep_ends_and_peaks(n):
    y = np.random.default_rng(n).standard_normal(n)
    y[n // 3] = 50.0
    kept = thin(y)
    assert len(kept) <= min(n, MOST_POINTS)
    assert (np.diff(kept) > 0).all()
    assert kept[0] == 0
    assert kept[-1] == n - 1
    assert y[kept].max() == 50.0
    assert y[kept].min() == y.min()


def test_thinning_keeps_where_nothing_is_known():
    y = np.sin(np.arange(10_000) / 500)
    y[6000:] = np.nan
    kept = thin(y)
    known = kept[np.isfinite(y[kept])]
    assert np.diff(known).max() <= 18  # two pieces of 9
    assert known[-1] > 5980
    assert kept[-1] == 9999


def test_shrunk_images_are_means_or_largest_of_blocks():
    image = np.arange(35.0).reshape(5, 7)
    image[4, 6] = np.nan
    mean, cells = shrink(image, (3, 3))
    assert cells == [2, 3]
    assert mean[0, 0] == image[:2, :3].mean()
    assert np.isnan(mean[2, 2])
    assert shrink(image, (3, 3), largest=True)[0][1, 1] == image[2:4, 3:6].max()
    assert shrink(image, (5, 7))[0] is image


@pytest.mark.parametrize(
    ("value", "expected"), [(0, 1), (1, 1), (1.01, 1.5), (23, 30), (0.021, 0.03), (81, 100)]
)
def test_round_up(value, expected):
    assert round_up(value) == pytest.approx(expected)
