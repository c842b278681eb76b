"""A system from a plain function: compiled, measured, known to workers, kept under its text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rfm_core as rfm
from rfm_core.run.tasks import Task, TaskDone
from rfm_core.run.wire import pack_task, perform_packed, unpack_event
from rfm_core.systems import base
from rfm_core.systems.equation_text import equation_of, text_of
from rfm_core.systems.own import PlainRungeKutta, register_from_text

ROOT = Path(__file__).parents[2]
GAIN = 1.0
WEIGHTS = (2.0, 3.0)
MATRIX = np.eye(2)


def helper(x):  # type: ignore[no-untyped-def]
    return x * WEIGHTS[1]


def with_much_around(u, a=1.0):  # type: ignore[no-untyped-def]
    return a * helper(u[0]) + WEIGHTS[0], (MATRIX @ u)[1] + np.sin(u[1])


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """As it was before each test."""
    systems, homes = dict(base.SYSTEMS), dict(base._homes)
    yield
    for kept, now in ((systems, base.SYSTEMS), (homes, base._homes)):
        now.clear()
        now.update(kept)


def lorenz(u, sigma=10.0, rho=28.0, beta=8 / 3):  # type: ignore[no-untyped-def]
    x, y, z = u
    return GAIN * sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def ring(u, F=10.0):  # type: ignore[no-untyped-def]
    return (np.roll(u, -1) - np.roll(u, 2)) * np.roll(u, 1) - u + F


def with_corners(u, a=6.8):  # type: ignore[no-untyped-def]
    """x''' = -x'' - x' + |x| - 1, in a time of its own: abs has no complex-step derivative."""
    return u[1], u[2], -0.6 * u[2] - u[1] + abs(u[0]) - 1.0


TABLE = {"x": 0, "y": 1, "z": 2}


def by_a_table(u, a=0.2, b=0.2, c=5.7):  # type: ignore[no-untyped-def]
    """With a dictionary of Python's, which numba does not take."""
    x, y, z = (u[TABLE[name]] for name in ("x", "y", "z"))
    return -y - z, x + a * y, b + z * (x - c)


def small(system: str, **more: Any) -> rfm.DataSpec:
    return rfm.DataSpec(system, n_train=300, n_test=2, test_steps=40, **more)


def test_dimension_and_step_are_enough() -> None:
    system = rfm.register_system("Mine", lorenz, dimension=3, dt=0.01)
    assert dict(system.parameters) == {"sigma": 10.0, "rho": 28.0, "beta": 8 / 3}
    assert system.lyapunov == pytest.approx(0.906, rel=0.08)
    assert 5 < system.burn_in < 1000
    assert system.rhs is not None
    assert system.rhs.analytic
    known = rfm.get_system("L63")
    states = known.start(np.random.default_rng(0), 4, known.parameters)
    ours, theirs = (
        s.stepper(s.resolve({}), 0.01).rollout(states, 50, rfm.Reporter(), "")
        for s in (system, known)
    )
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)
    data = rfm.make_dataset(small("Mine"))
    assert (
        rfm.evaluate(rfm.fit(rfm.recommended("Mine").replace(width=64), data), data).vpt.max() > 0
    )


def test_a_ring_gets_a_local_model() -> None:
    system = rfm.register_system("MyRing", ring, dimension=12, dt=0.01, homogeneous=True)
    assert system.eps == 0.5
    assert rfm.recommended("MyRing").choices.local
    known = rfm.get_system("L96")
    values = known.resolve({"D": 12})
    states = known.start(np.random.default_rng(0), 2, values)
    ours = system.stepper(system.resolve({}), 0.01).advance(states, 20, rfm.Reporter(), "")
    theirs = known.stepper(values, 0.01).advance(states, 20, rfm.Reporter(), "")
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)


def test_what_is_not_analytic_gets_its_tangent_by_differences() -> None:
    start = [0.1, 0.1, 0.1]
    given = {"dimension": 3, "dt": 0.05, "start": start, "burn_in": 50.0, "lyapunov": 0.03}
    system = rfm.register_system("Corners", with_corners, inner_step=0.01, **given)
    assert system.rhs is not None
    assert not system.rhs.analytic
    stepper = system.stepper(system.resolve({}), 0.05)
    states = np.array([[-0.8, 0.3, 0.1], [0.7, -0.2, 0.4]])
    vectors = np.eye(3)[None, :2].repeat(2, axis=0)
    _, moved = stepper.tangent(states, vectors)
    small_ = 1e-7
    for i, state in enumerate(states):
        for k in range(2):
            ends = stepper.advance(
                np.stack([state + small_ * vectors[i, k], state - small_ * vectors[i, k]]), 1,
                rfm.Reporter(), "",
            )  # fmt: skip
            np.testing.assert_allclose(moved[i, k], (ends[0] - ends[1]) / (2 * small_), atol=1e-6)


def test_what_cannot_be_compiled_runs_in_python_and_says_so() -> None:
    given: dict[str, Any] = {"dt": 0.1, "lyapunov": 0.07, "burn_in": 5.0, "inner_step": 0.05}
    with pytest.warns(RuntimeWarning, match="by_a_table cannot be compiled"):
        system = rfm.register_system("Table", by_a_table, dimension=3, start=[1, 1, 0], **given)
    known = rfm.get_system("Roessler")
    states = np.array([[1.0, 2.0, 0.1], [-3.0, 1.0, 0.2]])
    plain = system.stepper(system.resolve({}), 0.1)
    assert isinstance(plain, PlainRungeKutta)
    compiled = known.stepper(known.resolve({}), 0.1, inner=0.05)
    ours, theirs = (s.advance(states, 10, rfm.Reporter(), "") for s in (plain, compiled))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    assert rfm.make_dataset(small("Table")).train.shape == (1, 301, 3)


def test_another_equation_never_gets_old_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {"dimension": 3, "dt": 0.01, "lyapunov": 0.9, "burn_in": 5.0}
    rfm.register_system("Mine", lorenz, **given)
    first = rfm.make_dataset(small("Mine"), cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    again = rfm.make_dataset(small("Mine"), cache=tmp_path)
    assert np.array_equal(again.train, first.train)
    assert len(list(tmp_path.iterdir())) == 1  # it was kept, and found
    monkeypatch.setitem(globals(), "GAIN", 1.01)  # of which the equation makes use
    rfm.register_system("Mine", lorenz, replace=True, **given)
    other = rfm.make_dataset(small("Mine"), cache=tmp_path)
    assert not np.array_equal(other.train, first.train)
    assert len(list(tmp_path.iterdir())) == 2


def test_an_equation_comes_back_from_its_text() -> None:
    text = json.loads(json.dumps(text_of(lorenz)))
    assert set(text["around"]) == {"GAIN"}
    again = equation_of(text)
    u = np.array([1.0, 2.0, 3.0])
    assert again(u) == lorenz(u)
    assert text_of(again) == text
    many = json.loads(json.dumps(text_of(with_much_around)))
    assert set(many["around"]) == {"WEIGHTS", "MATRIX", "np"}
    made = equation_of(many)
    assert made(u[:2]) == with_much_around(u[:2])
    assert made.__globals__["WEIGHTS"] == WEIGHTS  # a tuple: numba takes no list
    assert text_of(lambda u: u) is None
    held = object()
    assert text_of(lambda u: held) is None


def test_a_worker_makes_it_again_without_measuring() -> None:
    system = rfm.register_system("Mine", lorenz, dimension=3, dt=0.01)
    data, model = small("Mine"), rfm.ModelSpec(width=16)
    arguments = {"data": data.to_dict(), "model": model.to_dict(), "realization": 0, "seed": 0}
    packed = pack_task(Task("only", "realization", arguments))
    assert isinstance(packed, bytes)
    assert "test_own_systems" not in json.loads(packed)["modules"]
    del base.SYSTEMS["Mine"]
    outcome = unpack_event("only", perform_packed(packed, ()))
    assert isinstance(outcome, TaskDone), outcome
    made = rfm.get_system("Mine")
    assert made is not system
    assert (made.lyapunov, made.burn_in, made.key) == (system.lyapunov, system.burn_in, system.key)
    assert system.text is not None
    assert register_from_text(dict(system.text)) is made  # the next task finds it


SCRIPT = """
import rfm_core as rfm

RHO = 28.0

def lorenz(u, sigma=10.0, beta=8 / 3):
    x, y, z = u
    return sigma * (y - x), x * (RHO - z) - y, x * y - beta * z

rfm.register_system("Scripted", lorenz, dimension=3, dt=0.01, lyapunov=0.9, burn_in=20.0)
spec = rfm.StudySpec(
    rfm.DataSpec("Scripted", n_train=300, n_test=1, test_steps=50), rfm.ModelSpec(width=16), 2
)
*_, last = rfm.run_study(spec, executor="processes")
print(type(last).__name__, last.done)
"""


def test_a_script_studies_its_own_system_in_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout.strip() == "StudyFinished 2", done.stderr


@pytest.mark.parametrize(
    ("equation", "given", "words"),
    [
        (3, {}, ["equation=3", "a function"]),
        (lambda u, k: u, {}, ["'k'", "has no value"]),
        (lambda u, k=1.0: -k * u, {"parameters": {"m": 1}}, ["parameters='m'", "k"]),
        (lambda u, *k: u, {}, ["No *args"]),
        (lambda u: u[:1], {}, ["what equation returns", "2 finite numbers"]),
        (lambda u: {}["x"], {}, ["KeyError", "by hand"]),
        (lambda u: u, {}, ["left every bound", "start"]),
        (lambda u: -u, {}, ["not chaotic", "give lyapunov"]),
        (lambda u: -u, {"dimension": 0}, ["dimension=0"]),
        (lambda u: -u, {"dt": -1}, ["dt=-1"]),
        (lambda u: -u, {"start": [1.0]}, ["start=", "2 finite numbers"]),
    ],
)
def test_what_is_wrong_is_refused_in_words(
    equation: Any, given: dict[str, Any], words: list[str]
) -> None:
    before = dict(rfm.SYSTEMS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(rfm.InvalidInput) as caught:
            rfm.register_system("Bad", equation, **{"dimension": 2, "dt": 0.1, **given})
    for word in words:
        assert word in str(caught.value), str(caught.value)
    assert before == rfm.SYSTEMS
