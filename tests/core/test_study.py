"""Studies: every realization once, the same rows wherever and however often they are started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rfm_core as rfm
from rfm_core.study.grids import (
    depths_at_fixed_size,
    depths_at_fixed_width,
    localizations,
    noise_levels,
    run_grid,
    sampling_times,
    widths_and_depths,
    widths_at_fixed_depth,
)
from rfm_core.study.results import ResultStore
from rfm_core.study.study import (
    RealizationDone,
    RealizationFailed,
    RealizationProgress,
    StudyCancelled,
    StudyFinished,
    StudySpec,
    StudyStarted,
    run_study,
)

TIMINGS = ("data_seconds", "fit_seconds", "forecast_seconds", "peak_mb")
SPEC = StudySpec(
    rfm.DataSpec("L63", n_train=2000, n_test=2, test_steps=800),
    rfm.ModelSpec("SkipRFM", width=40, beta=1e-10),
    realizations=6,
    seed=3,
)


def rows(store: ResultStore, spec: StudySpec = SPEC) -> list[dict]:
    return [
        {k: v for k, v in row.result.items() if k not in TIMINGS} for row in store.rows(spec.key)
    ]


@pytest.fixture(scope="module")
def unbroken() -> list[dict]:
    with ResultStore(None) as store:
        *_, last = run_study(SPEC, store=store)
        assert isinstance(last, StudyFinished)
        return rows(store)


def test_events_tell_the_whole_story() -> None:
    events = list(run_study(SPEC))
    assert isinstance(events[0], StudyStarted)
    assert isinstance(events[-1], StudyFinished)
    done = [e for e in events if isinstance(e, RealizationDone)]
    assert sorted(e.realization for e in done) == list(range(6))
    assert [e.done for e in done] == [1, 2, 3, 4, 5, 6]
    assert any(isinstance(e, RealizationProgress) for e in events)
    assert done[2].seconds_left is not None
    assert done[2].seconds_left > 0
    last = events[-1].statistics
    every = [t for e in done for t in e.result["vpt"]]
    assert last["n"] == 12
    assert last["mean"] == pytest.approx(np.mean(every))
    assert last["std"] == pytest.approx(np.std(every, ddof=1))
    assert last["median"] == pytest.approx(np.median(every))


def test_realizations_differ_and_depend_on_nothing_else(unbroken: list[dict]) -> None:
    assert len({json.dumps(row["vpt"]) for row in unbroken}) == 6
    longer = SPEC.replace(realizations=4)
    with ResultStore(None) as store:
        list(run_study(longer, store=store))
        assert rows(store) == unbroken[:4]


def test_cancel_keeps_what_is_done_and_resuming_ends_the_same(
    tmp_path: Path, unbroken: list[dict]
) -> None:
    token = rfm.CancelToken()
    with ResultStore(tmp_path / "r.sqlite") as store:
        events = []
        for event in run_study(SPEC, store=store, cancel=token):
            events.append(event)
            if isinstance(event, RealizationDone) and event.done == 2:
                token.cancel()
        assert isinstance(events[-1], StudyCancelled)
        assert events[-1].done == 2
    with ResultStore(tmp_path / "r.sqlite") as store:
        again = list(run_study(SPEC, store=store))
        assert again[0].resumed == 2
        assert sum(isinstance(e, RealizationDone) for e in again) == 4
        assert rows(store) == unbroken
        assert [type(e) for e in run_study(SPEC, store=store)] == [StudyStarted, StudyFinished]


def test_a_killed_driver_loses_nothing_and_the_rest_is_identical(
    tmp_path: Path, unbroken: list[dict]
) -> None:
    """A real process with worker processes, killed outright in the middle of its study."""
    path = tmp_path / "r.sqlite"
    script = tmp_path / "drive.py"
    script.write_text(
        "import json, sys\n"
        "from rfm_core.study.results import ResultStore\n"
        "from rfm_core.study.study import RealizationDone, StudySpec, run_study\n"
        "spec = StudySpec.from_dict(json.loads(sys.argv[2]))\n"
        "store = ResultStore(sys.argv[1])\n"
        "for event in run_study(spec, store=store, executor='processes'):\n"
        "    if isinstance(event, RealizationDone):\n"
        "        print(event.realization, flush=True)\n"
    )
    longer = SPEC.replace(realizations=40)
    driver = subprocess.Popen(
        [sys.executable, str(script), str(path), json.dumps(longer.to_dict())],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout is not None
    with driver:
        acknowledged = [int(driver.stdout.readline()) for _ in range(3)]
        os.kill(driver.pid, signal.SIGKILL)
        acknowledged += [int(line) for line in driver.stdout.read().split()]
    with ResultStore(path) as store:
        assert set(acknowledged) <= store.done(longer.key)
        assert len(store.done(longer.key)) < 40
        list(run_study(SPEC, store=store))
        assert [row for row in rows(store) if row][:6] == unbroken


def test_bad_realizations_are_rows_too() -> None:
    """Data that cannot be generated fail with words, and the study goes on to its end."""
    bad = SPEC.replace(
        data=SPEC.data.replace(parameters={"rho": 1e5}, lyapunov=1.0, dt=5.0), realizations=2
    )
    with ResultStore(None) as store:
        events = list(run_study(bad, store=store))
        failed = [e for e in events if isinstance(e, RealizationFailed)]
        assert len(failed) == 2
        assert "left every bound" in failed[0].reason
        assert isinstance(events[-1], StudyFinished)
        assert events[-1].failed == 2
        assert events[-1].statistics["n"] == 0


def test_spec_round_trip_key_and_refusals() -> None:
    again = StudySpec.from_dict(json.loads(json.dumps(SPEC.to_dict())))
    assert again == SPEC
    assert SPEC.replace(realizations=99).key == SPEC.key
    assert SPEC.replace(seed=4).key != SPEC.key
    assert SPEC.replace(data=SPEC.data.replace(realization=7)).key == SPEC.key
    with pytest.raises(rfm.InvalidInput, match="realizations=0"):
        SPEC.replace(realizations=0)
    with pytest.raises(rfm.InvalidInput, match=r"data\.n_test=0"):
        SPEC.replace(data=SPEC.data.replace(n_test=0))
    with pytest.raises(rfm.InvalidInput, match="a ModelSpec"):
        StudySpec(SPEC.data, "SkipRFM")
    with pytest.raises(rfm.InvalidInput, match="executor"):
        next(run_study(SPEC, executor="carrier pigeons"))


def test_cancel_acts_inside_a_realization() -> None:
    """Minutes of work for each realization: none is done, and hardly anything is heard of it."""
    slow = StudySpec(rfm.DataSpec("KS"), rfm.ModelSpec("LocalSkip", width=2048, G=8, I=1), 3)
    token, later = rfm.CancelToken(), []
    for event in run_study(slow, cancel=token):
        if token.cancelled:
            later.append(event)
        elif isinstance(event, RealizationProgress):
            token.cancel()
    assert isinstance(later[-1], StudyCancelled)
    assert all(isinstance(event, RealizationProgress) for event in later[:-1])
    assert len(later) <= 3  # what was on its way


def test_grids_turn_one_knob() -> None:
    deep = SPEC.replace(model=rfm.ModelSpec("DeepSkip", width=64, depth=2))
    sizes = [
        spec.model.size(3) for spec in depths_at_fixed_size(deep, 163_840, [1, 2, 4, 16]).values()
    ]
    assert sizes == [163_840] * 4
    assert [s.model.depth for s in depths_at_fixed_width(deep, [1, 2]).values()] == [1, 2]
    assert [s.model.width for s in widths_at_fixed_depth(deep, [8, 16]).values()] == [8, 16]
    assert len(widths_and_depths(deep, [8, 16], [1, 2, 3])) == 6
    local = SPEC.replace(
        data=rfm.DataSpec("L96"), model=rfm.ModelSpec("LocalSkip", G=1, left=2, right=1)
    )
    assert [s.model.sides for s in localizations(local, [(1, 4), (2, 2)]).values()] == [
        (4, 4),
        (2, 2),
    ]
    coarse = sampling_times(SPEC, [0.02, 0.1], training_time=100.0)
    assert [s.data.n_train for s in coarse.values()] == [5000, 1000]
    assert [s.data.test_steps for s in coarse.values()] == [400, 80]
    assert [s.model.noise for s in noise_levels(SPEC, [0.0, 1e-3]).values()] == [0.0, 1e-3]
    with pytest.raises(rfm.InvalidInput, match="size=5 has no room for depth=1"):
        depths_at_fixed_size(deep, 5, [1])
    # ten parameters are one feature of six inputs and three outputs: the constant of a centred unit
    with pytest.raises(rfm.InvalidInput, match="least width, 2, already takes 20 parameters"):
        depths_at_fixed_size(deep, 10, [1])
    plain = deep.replace(model=deep.model.replace(centred=False))
    assert [s.model.width for s in depths_at_fixed_size(plain, 10, [1]).values()] == [1]
    with pytest.raises(rfm.InvalidInput, match="least width, 1, already takes 10 parameters"):
        depths_at_fixed_size(plain, 9, [1])


def test_a_grid_runs_its_studies_and_stops_as_a_whole() -> None:
    grid = widths_at_fixed_depth(SPEC.replace(realizations=2), [10, 20])
    seen = [e for e in run_grid(grid) if isinstance(e.event, StudyFinished)]
    assert [(e.label, e.number, e.total) for e in seen] == [("D_r=10", 1, 2), ("D_r=20", 2, 2)]
    token = rfm.CancelToken()
    token.cancel()
    events = list(run_grid(grid, cancel=token))
    assert isinstance(events[-1].event, StudyCancelled)
    assert events[-1].number == 1
