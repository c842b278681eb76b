"""A system of somebody's own: one call, in any module, known to workers, refused in words."""

from __future__ import annotations

import ast
import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rfm_core as rfm
from rfm_core.run.tasks import Task, TaskDone
from rfm_core.systems import base

ROOT = Path(__file__).parents[2]
MODULE = """
import numpy as np
import rfm_core as rfm

@rfm.right_hand_side
def sprott(u, parameters, du):
    du[0], du[1], du[2] = u[1], -u[0] + u[1] * u[2], parameters[0] - u[1] * u[1]

def start(rng, n, parameters):
    return np.array([0.0, 5.0, 0.0]) + 0.01 * rng.standard_normal((n, 3))

rfm.register(rfm.System(
    name="Sprott-A", title="Nose-Hoover", latex="", citation="", parameters={"a": 1.0},
    dimension=lambda p: 3, start=start, lyapunov=0.014, dt=0.1, n_train=2000, eps=0.3,
    horizon=1.0, burn_in=10.0, paper_burn_in=10.0, inner_step=0.05, rhs=sprott,
))
"""


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """As it was before each test."""
    systems, homes = dict(base.SYSTEMS), dict(base._homes)
    yield
    for kept, now in ((systems, base.SYSTEMS), (homes, base._homes)):
        now.clear()
        now.update(kept)


def like(known: str, /, **changes: Any) -> rfm.System:
    return dataclasses.replace(rfm.get_system(known), **{"name": "Mine", **changes})


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("name", list(rfm.SYSTEMS))
def test_a_clone_is_recommended_the_same(name: str, far: bool) -> None:
    rfm.register(like(name))
    assert rfm.recommended("Mine", far=far) == rfm.recommended(name, far=far)


def test_a_clone_has_the_same_data() -> None:
    rfm.register(like("L96"))
    specs = [rfm.DataSpec(name, n_train=100, n_test=1, test_steps=20) for name in ("L96", "Mine")]
    known, own = (rfm.make_dataset(spec, cache=False) for spec in specs)
    np.testing.assert_array_equal(known.train, own.train)
    assert own.lyapunov == known.lyapunov


def test_a_ring_that_says_nothing_gets_a_local_model_and_a_better_one_from_data() -> None:
    rfm.register(like("L96", recommend=None, parameters={"D": 16, "F": 10.0}))
    guess = rfm.recommended("Mine")
    assert guess.architecture == "LocalDeepSkip"
    guess.scheme(16)
    data = rfm.make_dataset(rfm.DataSpec("Mine", n_train=1500, n_test=1, test_steps=10))
    found = rfm.recommended(data)
    assert found.left is not None
    assert found.left >= 2  # the equation reads two neighbours on the left, one on the right


def test_workers_know_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also workers that were there before it was registered."""
    (tmp_path / "my_system.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    with rfm.make_executor("processes", slots=1) as executor:
        assert isinstance(last(executor, realization("L63")), TaskDone)
        __import__("my_system")
        assert base.modules_of_systems() == ["my_system"]
        assert isinstance(last(executor, realization("Sprott-A")), TaskDone)


def realization(system: str) -> Task:
    data = rfm.DataSpec(system, n_train=200, n_test=1, test_steps=20, lyapunov=1.0)
    model = rfm.ModelSpec(width=16)
    arguments = {"data": data.to_dict(), "model": model.to_dict(), "realization": 0, "seed": 0}
    return Task("only", "realization", arguments)


def last(executor: rfm.Executor, task: Task) -> Any:
    *_, event = executor.run([task])
    return event


def test_a_script_may_register_and_use_one(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    use = """
data = rfm.make_dataset(rfm.DataSpec("Sprott-A", n_test=2), cache=False)
print(rfm.evaluate(rfm.fit(rfm.recommended("Sprott-A").replace(width=50), data), data).unit)
"""
    script.write_text(MODULE + use)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, cwd=ROOT, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (done.stdout.strip(), done.returncode) == ("Lyapunov times", 0), done.stderr


def three(*_: Any) -> Any:
    return np.zeros((2, 4))


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("L63", ["system='L63'", "a System"]),
        (like("L63", name="L63"), ["name='L63'", "new", "replace=True"]),
        (like("L63", name="my system"), ["name='my system'", "letters", "links"]),
        (like("L63", name=3), ["name=3"]),
        (like("L63", rhs=None), ["Mine needs either rhs", "or make_stepper"]),
        (like("L63", rhs=three), ["rhs=", "compiled", "@rfm_core.right_hand_side"]),
        (like("L63", dt=0.0), ["Mine dt=0.0", "above 0"]),
        (like("L63", lyapunov=float("nan")), ["Mine lyapunov=nan"]),
        (like("L63", symbols={"kappa": "κ"}), ["symbols='kappa'", "sigma"]),
        (like("L63", start=three), ["Mine cannot be registered", "(2, 4)", "(2, 3)"]),
        (like("L63", start=lambda rng, n, p: p["nothing"]), ["KeyError", "by hand"]),
        (like("L63", components=("x", "y")), ["components=('x', 'y')", "3 names"]),
        (like("L63", parameters={"sigma": 1e300, "rho": 28.0, "beta": 1.0},
              limits={"sigma": (0.0, 1e301)}), ["a step", "finite", "lower dt"]),
        (like("KS", length=lambda p: -1.0), ["length=-1.0", "above 0"]),
        (like("L96", recommend=lambda p, far: rfm.ModelSpec("LocalSkip", width=9, G=7, I=1)),
         ["Mine cannot be registered", "7"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_in_words(system: Any, words: list[str]) -> None:
    before = dict(rfm.SYSTEMS)
    with pytest.raises(rfm.InvalidInput) as caught:
        rfm.register(system)
    for word in words:
        assert word in str(caught.value)
    assert before == rfm.SYSTEMS


def test_replacing_is_said_aloud() -> None:
    own = rfm.register(like("L63", name="L63", title="Another"), replace=True)
    assert rfm.get_system("L63") is own


def test_symbols_and_lengths_are_the_systems() -> None:
    assert rfm.get_system("L63").symbol("sigma") == "σ"
    assert rfm.get_system("L96").symbol("F") == "F"
    assert rfm.get_system("KS").extent({"L": 22.0, "grid": 64}) == 22
    assert rfm.get_system("L96").extent({"D": 40, "F": 8.0}) == 40


def test_no_name_of_a_system_is_tested_anywhere() -> None:
    """Neither compared with nor a key of a table: what differs stands in the system's entry."""
    found = []
    for path in (*ROOT.glob("rfm_core/**/*.py"), *ROOT.glob("app/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            parts: list[Any] = []
            if isinstance(node, ast.Compare):
                parts = [node.left, *node.comparators]
            elif isinstance(node, ast.Dict):
                parts = node.keys
            elif isinstance(node, ast.MatchValue):
                parts = [node.value]
            inner = [p for part in parts if part is not None for p in ast.walk(part)]
            names = {p.value for p in inner if isinstance(p, ast.Constant)}
            hits = {n for n in names if isinstance(n, str)} & set(rfm.SYSTEMS)
            found += [f"{path.relative_to(ROOT)}:{node.lineno} {hit}" for hit in hits]
    assert not found
