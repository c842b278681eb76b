"""DataSpec and make_dataset: what is promised about values, streams, the cache and refusals."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import rfm_core as rfm
from rfm_core.data import generate as module
from rfm_core.streams import stream
from rfm_core.systems.integrate import ETDRK4, Odeint, RungeKutta
from rfm_core.systems.rollout import Pieces, available_cores
from rfm_core.tensorfile import read_tensors, write_tensors

Array = np.ndarray
ROOT = Path(rfm.__file__).resolve().parent.parent
SMALL = rfm.DataSpec("L63", n_train=200, n_test=3, test_steps=20, burn_in=5.0)


def made(spec: rfm.DataSpec = SMALL, **changes: Any) -> rfm.Dataset:
    return rfm.make_dataset(spec.replace(**changes), cache=False)


def same(a: rfm.Dataset, b: rfm.Dataset) -> bool:
    return np.array_equal(a.train, b.train) and np.array_equal(a.test, b.test)


# --- specs -------------------------------------------------------------------------------------


def test_fields_left_out_take_the_papers_values() -> None:
    spec = rfm.DataSpec()
    assert spec.to_dict() == {
        "kind": "DataSpec",
        "schema": 1,
        "system": "L63",
        "n_train": 50_000,
        "dt": 0.01,
        "n_test": 100,
        "test_steps": 4396,  # 40 Lyapunov times
        "seed": 0,
        "realization": 0,
        "parameters": [["beta", 8 / 3], ["rho", 28.0], ["sigma", 10.0]],
        "accuracy": "fine",
        "burn_in": 40.0,
        "trajectories": 1,
        "lyapunov": 0.91,
        "eps": 0.3,
    }
    ks = rfm.DataSpec("KS")
    assert (ks.n_train, ks.dt, ks.trajectories, ks.lyapunov) == (100_000, 0.25, 40, 0.094)
    assert rfm.DataSpec("KS", burn_in="paper").burn_in == 2.5e4
    assert rfm.DataSpec("L96", burn_in="paper").burn_in == 1000.0


@pytest.mark.parametrize(
    "spec",
    [
        SMALL,
        rfm.DataSpec("KS", parameters={"L": 22, "grid": 64}),
        rfm.DataSpec("L96", parameters={"D": 5, "F": 8.5}, accuracy="paper", lyapunov=1.5, eps=0.1),
        rfm.DataSpec("Halvorsen", seed=2**63, realization=2**40, dt=0.1 + 0.2),
    ],
)
def test_json_round_trip(spec: rfm.DataSpec) -> None:
    again = rfm.DataSpec.from_dict(json.loads(json.dumps(spec.to_dict())))
    assert again == spec
    assert hash(again) == hash(spec)
    assert again.digest() == spec.digest()
    assert again.replace() == spec


CHANGES: list[dict[str, Any]] = [
    {"parameters": {"F": 8.0}},
    {"parameters": {"D": 20}, "dt": 0.02},
    {"dt": 0.05},
    {"n_train": 30},
    {"system": "KS", "parameters": {"L": 100.0}},
    {"system": "L63", "parameters": {}},
    {"seed": 3, "realization": 2, "accuracy": "paper"},
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_what_is_usual_here_becomes_what_is_usual_there(changes: dict[str, Any]) -> None:
    """Above all the Lyapunov exponent of other parameters, which is the unit of every figure."""
    assert rfm.DataSpec("L96").replace(**changes) == rfm.DataSpec(**{"system": "L96", **changes})


def test_what_was_given_stays() -> None:
    given = {"n_train": 777, "dt": 0.03, "test_steps": 55, "lyapunov": 2.0, "eps": 0.7}
    spec = rfm.DataSpec("L96", **given).replace(parameters={"F": 8.0}, seed=1)
    assert {name: getattr(spec, name) for name in given} == given


def test_digests_stay_what_they_are() -> None:
    """A change here orphans every cached set and stored study: raise the schema on purpose."""
    assert SMALL.digest() == "998054a975f62fc6863476e62018eb8f"
    assert (
        rfm.DataSpec("KS", parameters={"L": 22.0, "grid": 64}).digest()
        == "9d13fd21ee8b7eb193b153405c7fdd37"
    )


def test_equal_specs_have_equal_digests() -> None:
    usual = rfm.DataSpec("L96", n_train=50_000, parameters={"F": 8})
    for other in (
        rfm.DataSpec("L96", n_train=5e4, parameters={"F": 8.0, "D": 40}),  # type: ignore[arg-type]
        rfm.DataSpec("L96", n_train=np.int64(50_000), parameters=(("F", np.float64(8)),)),  # type: ignore[arg-type]
        rfm.DataSpec("L96", n_train=50_000, parameters={"D": 40, "F": 8}, dt=0.01, trajectories=1),
    ):
        assert other == usual
        assert other.digest() == usual.digest()


def test_every_field_counts_in_the_digest() -> None:
    base = rfm.DataSpec("L96", n_train=1000, n_test=5, test_steps=50, burn_in=10.0)
    changes: dict[str, Any] = {
        "system": "KS",
        "n_train": 1001,
        "dt": 0.02,
        "n_test": 6,
        "test_steps": 51,
        "seed": 1,
        "realization": 1,
        "parameters": {"F": 8},
        "accuracy": "paper",
        "burn_in": 11.0,
        "trajectories": 2,
        "lyapunov": 2.3,
        "eps": 0.4,
    }
    assert changes.keys() == {field.name for field in dataclasses.fields(rfm.DataSpec)}
    plain = base.to_dict()
    digests = {base.digest()}
    for name, value in changes.items():
        given = {k: v for k, v in plain.items() if name != "system" or k != "parameters"}
        digests.add(rfm.DataSpec.from_dict(given | {name: value}).digest())
    assert len(digests) == 1 + len(changes)


def test_streams_stay_what_they_are() -> None:
    draws = {
        name: stream(*name).standard_normal()
        for name in [(0, "window", 0), (1, "window", 0), (0, "window", 1), (0, "test", 0)]
    }
    assert len(set(draws.values())) == 4
    assert draws[(0, "window", 0)] == pytest.approx(0.9362261507375909, rel=1e-12)


# --- what is made ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "train", "test"),
    [
        (SMALL, (1, 201, 3), (3, 21, 3)),
        (SMALL.replace(trajectories=4), (4, 51, 3), (3, 21, 3)),
        (SMALL.replace(trajectories=3), (3, 68, 3), (3, 21, 3)),
        (SMALL.replace(n_test=0), (1, 201, 3), (0, 21, 3)),
        (SMALL.replace(n_train=10, n_test=1, test_steps=1), (1, 11, 3), (1, 2, 3)),
        (
            rfm.DataSpec(
                "KS", n_train=400, n_test=2, test_steps=3, burn_in=5.0, lyapunov=0.1,
                parameters={"L": 22, "grid": 33},
            ),
            (8, 51, 33),
            (2, 4, 33),
        ),
        (
            rfm.DataSpec(
                "L96", n_train=50, n_test=2, test_steps=3, burn_in=1.0, lyapunov=1.0,
                parameters={"D": 5},
            ),
            (1, 51, 5),
            (2, 4, 5),
        ),
    ],
)  # fmt: skip
def test_shapes(spec: rfm.DataSpec, train: tuple[int, ...], test: tuple[int, ...]) -> None:
    data = made(spec)
    assert (data.train.shape, data.test.shape) == (train, test)
    assert (spec.shapes["train"], spec.shapes["test"]) == (train, test)
    assert spec.bytes == data.train.nbytes + data.test.nbytes
    assert spec.n_train is not None
    assert spec.trajectories is not None
    assert spec.n_train <= data.pairs < spec.n_train + spec.trajectories
    assert np.isfinite(data.train).all()
    for array in (data.train, data.test):
        assert array.dtype == np.float64
        assert not array.flags.writeable
    assert data.digest == spec.digest()
    assert data.origin == spec.to_dict()
    assert rfm.DataSpec.from_dict(data.origin) == spec
    np.testing.assert_allclose(data.std, data.train.reshape(-1, train[-1]).std(axis=0))


def test_pairs_are_steps_of_the_system() -> None:
    data = made(dt=0.05, trajectories=2)
    system = rfm.get_system("L63")
    stepper = system.stepper(system.resolve({}), 0.05)
    for paths in (data.train, data.test):
        now, following = paths[:, :-1].reshape(-1, 3), paths[:, 1:].reshape(-1, 3)
        np.testing.assert_allclose(stepper.advance(now, 1), following, rtol=1e-12, atol=1e-12)


def test_default_ks_is_in_several_trajectories() -> None:
    ring = {"L": 50.0, "grid": 64}
    data = made(
        rfm.DataSpec("KS", n_train=2000, n_test=0, burn_in=0.5, parameters=ring, lyapunov=0.1)
    )
    assert data.train.shape == (40, 51, 64)
    assert len(np.unique(data.train[:, 0], axis=0)) == 40


def test_deterministic() -> None:
    assert same(made(), made())


@pytest.mark.parametrize("change", [{"seed": 1}, {"realization": 1}])
def test_seeds_and_realizations_differ(change: dict[str, int]) -> None:
    data, other = made(), made(**change)
    assert not np.isclose(data.train[:, 0], other.train[:, 0]).any()
    assert not np.isclose(data.test[:, 0], other.test[:, 0]).any()


def test_a_realization_does_not_depend_on_the_order() -> None:
    forward = [made(realization=r) for r in range(3)]
    backward = [made(realization=r) for r in reversed(range(3))][::-1]
    for a, b in zip(forward, backward, strict=True):
        assert same(a, b)


def test_training_and_test_are_from_separate_streams() -> None:
    data = made()
    for change in ({"n_test": 7}, {"n_test": 0}, {"test_steps": 33}):
        np.testing.assert_array_equal(made(**change).train, data.train)
    for change in ({"n_train": 90}, {"trajectories": 5}):
        np.testing.assert_array_equal(made(**change).test, data.test)
    np.testing.assert_array_equal(made(n_train=90).train, data.train[:, :91])
    np.testing.assert_array_equal(made(n_test=7).test[:3], data.test)
    gaps = np.abs(data.train[0, :, None] - data.test.reshape(1, -1, 3)).max(axis=-1)
    assert gaps.min() > 1e-6, "a test state lies in the training data"


def test_paper_accuracy_differs_a_little() -> None:
    """It begins where odeint has found its stride, on a trajectory near the fine one."""
    fine, paper = (made(accuracy=accuracy, n_train=600) for accuracy in ("fine", "paper"))
    for exact, rough in ((fine.train, paper.train), (fine.test, paper.test)):
        np.testing.assert_allclose(rough[:, 0], exact_after(exact[:, 0], 500), rtol=0, atol=1e-2)
        step = np.abs(exact_after(rough[:, 0], 1) - rough[:, 1]).max()
        assert 1e-12 < step < 1e-5


def exact_after(states: np.ndarray, steps: int) -> np.ndarray:
    system = rfm.get_system("L63")
    return system.stepper(SMALL.parameter_values, SMALL.dt).advance(states, steps)


def test_a_system_that_leaves_every_bound() -> None:
    runaway = {"parameters": {"beta": -5}, "lyapunov": 1.0}
    for change in ({"burn_in": 20.0}, {"burn_in": 0.0, "n_train": 3000}):
        for accuracy in ("fine", "paper"):
            with pytest.raises(rfm.InvalidInput, match=r"(?s)L63 left every bound.*-5.*nearer to"):
                made(**runaway, **change, accuracy=accuracy)
    coarse = rfm.DataSpec("KS", parameters={"L": 1000, "grid": 16}, n_train=50, burn_in=500)
    with pytest.raises(rfm.InvalidInput, match=r"KS left every bound \(burn-in\).*'grid': 16"):
        made(coarse, n_test=0)


# --- cache -------------------------------------------------------------------------------------


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> list[rfm.DataSpec]:
    """Every spec that was generated rather than read."""
    seen: list[rfm.DataSpec] = []
    original = module._generate

    def counted(spec: rfm.DataSpec, report: rfm.Reporter) -> Any:
        seen.append(spec)
        return original(spec, report)

    monkeypatch.setattr(module, "_generate", counted)
    return seen


def entry(folder: Path, spec: rfm.DataSpec = SMALL) -> Path:
    return folder / f"{spec.system}-{spec.digest()}.safetensors"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_hit_is_identical(tmp_path: Path, generated: list[rfm.DataSpec]) -> None:
    first = rfm.make_dataset(SMALL, cache=tmp_path)
    assert names(tmp_path) == [entry(tmp_path).name]
    second = rfm.make_dataset(SMALL, cache=str(tmp_path))
    assert len(generated) == 1
    assert same(first, second)
    assert same(first, made())
    for field in dataclasses.fields(rfm.Dataset):
        if field.name not in ("train", "test"):
            assert getattr(first, field.name) == getattr(second, field.name)
    assert not second.train.flags.writeable


def test_a_measured_exponent_is_cached_too(tmp_path: Path, generated: list[Any]) -> None:
    spec = SMALL.replace(parameters={"rho": 30.0}, lyapunov=None)
    first, second = (rfm.make_dataset(spec, cache=tmp_path) for _ in range(2))
    assert len(generated) == 1
    assert first.lyapunov == second.lyapunov
    assert first.lyapunov_is_estimate
    assert second.lyapunov_is_estimate


def test_the_usual_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RFM_CACHE", str(tmp_path / "here"))
    rfm.make_dataset(SMALL)
    assert names(tmp_path / "here") == [entry(tmp_path).name]
    monkeypatch.delenv("RFM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "xdg"))
    assert module.cache_folder() == tmp_path / "xdg" / "rfm_core"


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-100] ^= 0x10
    path.write_bytes(content)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def other_header(path: Path) -> None:
    arrays, header = read_tensors(path)
    write_tensors(path, arrays, header | {"spec": header["spec"] | {"seed": 5}})


def other_generator(path: Path) -> None:
    arrays, header = read_tensors(path)
    write_tensors(path, arrays, header | {"generator": -1})


def no_header(path: Path) -> None:
    save_file(load_file(path), path)


def strange_header(path: Path) -> None:
    write_tensors(path, read_tensors(path)[0], [1, 2])  # type: ignore[arg-type]


def other_shapes(path: Path) -> None:
    arrays, header = read_tensors(path)
    write_tensors(path, {**arrays, "test": arrays["test"][:1]}, header)


def no_exponent(path: Path) -> None:
    arrays, header = read_tensors(path)
    write_tensors(path, arrays, header | {"lyapunov": None})


def missing_array(path: Path) -> None:
    arrays, header = read_tensors(path)
    write_tensors(path, {"train": arrays["train"]}, header)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    "damage",
    [
        flip,
        truncate,
        other_header,
        other_generator,
        no_header,
        strange_header,
        other_shapes,
        no_exponent,
        missing_array,
        emptied,
    ],
)
def test_a_damaged_entry_is_made_again(
    tmp_path: Path, generated: list[rfm.DataSpec], damage: Callable[[Path], None]
) -> None:
    first = rfm.make_dataset(SMALL, cache=tmp_path)
    good = entry(tmp_path).read_bytes()
    damage(entry(tmp_path))
    assert entry(tmp_path).read_bytes() != good
    assert same(rfm.make_dataset(SMALL, cache=tmp_path), first)
    assert len(generated) == 2, "the damage was not noticed"
    assert entry(tmp_path).read_bytes() == good
    rfm.make_dataset(SMALL, cache=tmp_path)
    assert len(generated) == 2, "it was not put right"


def test_something_in_the_way(tmp_path: Path) -> None:
    entry(tmp_path).mkdir()
    assert same(rfm.make_dataset(SMALL, cache=tmp_path), made())
    assert names(tmp_path) == [entry(tmp_path).name]
    (tmp_path / "file").write_text("no folder")
    assert same(rfm.make_dataset(SMALL, cache=tmp_path / "file"), made())
    assert same(rfm.make_dataset(SMALL, cache=tmp_path / ("long" * 100)), made())


def test_pruning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently used go first; what is not ours stays; one above half is not kept."""
    sets = [SMALL.replace(realization=r) for r in range(8)]
    rfm.make_dataset(sets[0], cache=tmp_path)
    limit = 4.5 * entry(tmp_path).stat().st_size
    monkeypatch.setenv("RFM_CACHE_GB", str(limit / 1e9))
    others = ["model.safetensors", "L63-mine.safetensors", "notes.txt", ".hidden.tmp"]
    for name in others:
        (tmp_path / name).write_bytes(bytes(10**6))
        os.utime(tmp_path / name, (1, 1))
    for age, spec in enumerate(sets):
        rfm.make_dataset(spec, cache=tmp_path)
        os.utime(entry(tmp_path, spec), (10**9 + age, 10**9 + age))
        kept = [s for s in sets if entry(tmp_path, s).exists()]
        sizes = sum(entry(tmp_path, s).stat().st_size for s in kept)
        assert sizes <= limit
        assert kept == sets[max(0, age - 3) : age + 1]
    rfm.make_dataset(sets[4], cache=tmp_path)  # used again, so that it outlives younger ones
    for r in (8, 9):
        rfm.make_dataset(SMALL.replace(realization=r), cache=tmp_path)
    assert [s.realization for s in sets if entry(tmp_path, s).exists()] == [4, 7]
    big = SMALL.replace(n_train=2000)
    rfm.make_dataset(big, cache=tmp_path)
    assert not entry(tmp_path, big).exists()
    assert set(others) <= set(names(tmp_path))


def test_leftovers_go_when_they_are_old(tmp_path: Path) -> None:
    old, young = (tmp_path / f".{entry(tmp_path).name}.{n}.tmp" for n in ("0123abcd", "fedc4567"))
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 4000,) * 2)
    rfm.make_dataset(SMALL, cache=tmp_path)
    assert names(tmp_path) == sorted([young.name, entry(tmp_path).name])


# --- cache, with real processes ----------------------------------------------------------------


def child(code: str, *arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def until(condition: Callable[[], bool], *processes: subprocess.Popen[str]) -> None:
    give_up = time.monotonic() + 200
    while not condition():
        assert time.monotonic() < give_up, "a child does nothing"
        for process in processes:
            if process.poll():
                pytest.fail(process.communicate()[1])
        time.sleep(0.002)


WRITER = """
import json, sys, time
from pathlib import Path
import rfm_core as rfm
from rfm_core import data
folder, me, spec = Path(sys.argv[1]), sys.argv[2], rfm.DataSpec.from_dict(json.loads(sys.argv[3]))
data._recall = lambda path, spec: None  # write even where the other has just written
(folder / f"ready{me}").touch()
while not (folder / "go").exists():
    time.sleep(0.001)
for _ in range(40):
    for realization in range(2):
        rfm.make_dataset(spec.replace(realization=realization), cache=folder / "cache")
(folder / f"done{me}").touch()
"""


def test_two_writers_at_once(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    specs = [SMALL.replace(realization=r) for r in range(2)]
    writers = [child(WRITER, str(tmp_path), me, json.dumps(SMALL.to_dict())) for me in "ab"]
    until(lambda: all((tmp_path / f"ready{me}").exists() for me in "ab"), *writers)
    (tmp_path / "go").touch()
    read = 0

    def both_done() -> bool:
        nonlocal read
        for spec in specs:
            if entry(cache, spec).exists():
                read_tensors(entry(cache, spec))  # never half, never mixed: the checksum fits
                read += 1
        return all((tmp_path / f"done{me}").exists() for me in "ab")

    until(both_done, *writers)
    for writer in writers:
        assert writer.wait(200) == 0, writer.communicate()[1]
        writer.communicate()
    assert read > 10
    assert names(cache) == sorted(entry(cache, spec).name for spec in specs)
    for spec in specs:
        arrays, _ = read_tensors(entry(cache, spec))
        np.testing.assert_array_equal(arrays["train"], made(spec).train)


KILLED = """
import json, os, sys, time
import rfm_core as rfm
from rfm_core import tensorfile
original = tensorfile._write

def half(path, arrays, metadata):
    original(path, arrays, metadata)
    os.truncate(path, path.stat().st_size // 2)
    print("half", flush=True)
    time.sleep(300)

tensorfile._write = half
rfm.make_dataset(rfm.DataSpec.from_dict(json.loads(sys.argv[2])), cache=sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_writer_killed_half_way(tmp_path: Path, generated: list[rfm.DataSpec]) -> None:
    writer = child(KILLED, str(tmp_path), json.dumps(SMALL.to_dict()))
    assert writer.stdout is not None
    assert writer.stdout.readline() == "half\n"
    writer.send_signal(signal.SIGKILL)
    assert writer.wait(200) == -signal.SIGKILL
    writer.communicate()
    (left,) = names(tmp_path)
    assert left.endswith(".tmp")
    assert 0 < (tmp_path / left).stat().st_size < SMALL.bytes
    assert same(rfm.make_dataset(SMALL, cache=tmp_path), made())
    assert len(generated) == 2
    assert names(tmp_path) == sorted([left, entry(tmp_path).name]), "it may belong to a living one"
    os.utime(tmp_path / left, (time.time() - 4000,) * 2)
    rfm.make_dataset(SMALL.replace(seed=1), cache=tmp_path)
    assert left not in names(tmp_path)


HOSTILE = """
import json, os, resource, sys
from pathlib import Path
import numpy as np
import rfm_core as rfm
folder, spec = Path(sys.argv[1]), rfm.DataSpec.from_dict(json.loads(sys.argv[2]))
truth = rfm.make_dataset(spec, cache=False)

def check(cache, what):
    found = rfm.make_dataset(spec, cache=cache)
    assert np.array_equal(found.train, truth.train), what
    assert np.array_equal(found.test, truth.test), what
    print(what, flush=True)

full, locked = folder / "full", folder / "locked"
full.mkdir()
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
for limit in (0, 1000):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    check(full, "full disk")
    assert list(full.iterdir()) == [], list(full.iterdir())
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
check(full, "room again")
assert len(list(full.iterdir())) == 1

locked.mkdir()
check(locked, "to be locked")
stored = next(locked.iterdir())
for path in (folder, locked):
    path.chmod(0o555)
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    (locked / "probe").touch()
    sys.exit("the folder can be written after all")
except PermissionError:
    pass
check(locked, "read-only, a hit")
spec = spec.replace(seed=1)
truth = rfm.make_dataset(spec, cache=False)
check(locked, "read-only, a miss")
check(folder / "new", "read-only, no folder yet")
assert os.listdir(locked) == [stored.name]
check(Path(sys.argv[3]) / "below", "a folder that may not even be looked into")
"""


@pytest.fixture
def closed() -> Iterator[tuple[Path, Path]]:
    """Two folders outside pytest's own, which another user could not reach."""
    folders = [Path(tempfile.mkdtemp(prefix="rfm-hostile-")) for _ in range(2)]
    folders[0].chmod(0o755)
    folders[1].chmod(0o000)
    yield folders[0], folders[1]
    for folder in folders:
        folder.chmod(0o700)
        for inside in folder.iterdir():
            inside.chmod(0o700)
        shutil.rmtree(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits and users of a Unix")
def test_full_disk_and_read_only_folder_do_not_lose_the_data(closed: tuple[Path, Path]) -> None:
    process = child(HOSTILE, str(closed[0]), json.dumps(SMALL.to_dict()), str(closed[1]))
    out, error = process.communicate(timeout=200)
    assert process.returncode == 0, out + error
    assert out.count("\n") == 8, out


# --- progress and cancelling -------------------------------------------------------------------


def test_progress_is_reported(tmp_path: Path) -> None:
    seen: list[rfm.Progress] = []
    spec = SMALL.replace(parameters={"rho": 30.0}, lyapunov=None)
    rfm.make_dataset(spec, cache=tmp_path, report=rfm.Reporter(seen.append))
    stages = list(dict.fromkeys(event.stage for event in seen))
    assert stages[:4] == ["window: burn-in", "training data", "test: burn-in", "test data"]
    assert any("Lyapunov" in stage for stage in stages)
    for stage in stages:
        events = [event for event in seen if event.stage == stage]
        assert events[-1].fraction == 1
        assert all(0 <= event.fraction <= 1 for event in events)
    seen.clear()
    rfm.make_dataset(spec, cache=tmp_path, report=rfm.Reporter(seen.append))
    assert [(event.stage, event.fraction) for event in seen] == [("data", 1)]


@pytest.mark.parametrize(
    "spec",
    [
        rfm.DataSpec("KS", n_train=10**5, trajectories=10**4, n_test=0),
        rfm.DataSpec("KS", n_train=10**6, trajectories=20, n_test=0, dt=5.0),
        rfm.DataSpec("L96", n_train=10**6, trajectories=3000, n_test=0),
        rfm.DataSpec("L96", n_train=10**6, n_test=0, accuracy="paper", burn_in=0.0),
    ],
    ids=["KS", "KS, long dt", "L96", "odeint"],
)
def test_cancel_is_quick(
    spec: rfm.DataSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work is looked at between pieces of a bounded size, and ends at the first look."""
    token, heard, since, most = rfm.CancelToken(), 0, 0.0, 0.0

    def listen(event: rfm.Progress) -> None:
        nonlocal heard, since, most
        heard, since, most = heard + 1, 0.0, max(most, since)
        if heard == 12:
            token.cancel()

    for kind in (RungeKutta, ETDRK4):
        usual = kind._move

        def move(self: Any, state: Any, out: np.ndarray, usual: Any = usual) -> Any:
            nonlocal since
            since += out.size * self.substeps
            return usual(self, state, out)

        monkeypatch.setattr(kind, "_move", move)
    evaluate = rfm.get_system(spec.system).rhs

    def slope(*args: Any) -> None:
        nonlocal since
        since += 1
        evaluate(*args)

    if spec.accuracy == "paper":
        monkeypatch.setattr(Odeint, "_rhs", property(lambda self: slope, lambda self, _: None),
                            raising=False)  # fmt: skip
    with pytest.raises(rfm.Cancelled, match="cancelled during"):
        rfm.make_dataset(spec, cache=tmp_path, report=rfm.Reporter(listen, token))
    assert heard == 12  # nothing after the cancelling
    allowed = Odeint.told if spec.accuracy == "paper" else 2 * available_cores() * Pieces.piece_work
    assert 0 < max(most, since) <= allowed
    assert names(tmp_path) == []


# --- refusals ----------------------------------------------------------------------------------


def spec(**changes: Any) -> Callable[[], Any]:
    return lambda: rfm.DataSpec(**changes)


def dataset(*arguments: Any, **options: Any) -> Callable[[], Any]:
    return lambda: rfm.make_dataset(*arguments, **options)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (spec(system="lorenz"), ["system='lorenz'", "one of L63, L96, KS", "case-sensitive"]),
        (spec(system=None), ["system=None", "one of L63"]),
        (spec(n_train=9), ["n_train=9", "at least 10", "usual number is 50000"]),
        (spec(n_train=10**10), ["n_train=10000000000", "at most 1000000000", "50000"]),
        (spec(n_train=20.5), ["n_train=20.5", "whole number", "50000"]),
        (spec(n_train="many"), ["n_train='many'", "whole number", "50000"]),
        (spec(n_train=float("nan")), ["n_train=nan", "whole number", "50000"]),
        (spec(n_train=True), ["n_train=True", "whole number", "50000"]),
        (spec(dt=0), ["dt=0", "at least 1e-06", "usual value is 0.01"]),
        (spec(dt=-0.1), ["dt=-0.1", "at least 1e-06", "0.01"]),
        (spec(dt=5e-324), ["dt=5e-324", "at least 1e-06", "0.01"]),
        (spec(dt=float("inf")), ["dt=inf", "finite", "0.01"]),
        (spec(dt=101), ["dt=101", "at most 100", "0.01"]),
        (spec(dt="0.1"), ["dt='0.1'", "finite number", "0.01"]),
        (spec(n_test=-1), ["n_test=-1", "at least 0", "100 is usual"]),
        (spec(n_test=[3]), ["n_test=[3]", "whole number", "100 is usual"]),
        (spec(test_steps=0), ["test_steps=0", "at least 1", "3000 is usual"]),
        (spec(seed=-1), ["seed=-1", "at least 0", "0 will do"]),
        (spec(seed="a"), ["seed='a'", "whole number", "0 will do"]),
        (spec(realization=-2), ["realization=-2", "at least 0", "0 is the first"]),
        (spec(accuracy="exact"), ["accuracy='exact'", "'fine', 'paper'", "default"]),
        (spec(accuracy=["fine"]), ["['fine']", "'fine', 'paper'", "default"]),
        (spec(burn_in=-1), ["burn_in=-1", "at least 0", "40 is enough"]),
        (spec(burn_in="long"), ["burn_in='long'", "finite number", "'paper'"]),
        (spec(burn_in=[]), ["burn_in=[]", "finite number", "40 is enough"]),
        (spec(trajectories=0), ["trajectories=0", "at least 1", "one long window"]),
        (spec(n_train=50, trajectories=51), ["trajectories=51", "at most 50", "one long window"]),
        (spec(lyapunov=0), ["lyapunov=0", "above 0", "Leave it None"]),
        (spec(lyapunov=float("nan")), ["lyapunov=nan", "finite", "Leave it None"]),
        (spec(eps=0), ["eps=0", "above 0", "0.3"]),
        (spec(parameters=0), ["parameters=0", "a mapping", "{'F': 8}"]),
        (spec(parameters="F=8"), ["parameters='F=8'", "a mapping", "{'F': 8}"]),
        (spec(parameters={"F": 8}), ["no parameter 'F'", "sigma=10"]),
        (spec(parameters={1: 8}), ["no parameter 1", "sigma=10"]),
        (spec(system="L96", parameters={"D": 3}), ["D=3", "at least 4", "40"]),
        (spec(system="L96", parameters={"F": None}), ["F=None", "finite", "10"]),
        (spec(system="KS", parameters={"grid": 10**5}), ["100000", "at most 8192", "512"]),
        (lambda: SMALL.replace(n_train=1), ["n_train=1", "at least 10", "50000"]),
        (lambda: rfm.DataSpec.from_dict({"n_trian": 5}), ["'n_trian'", "n_train"]),
        (lambda: rfm.DataSpec.from_dict({"kind": "ModelSpec"}), ["kind='ModelSpec'", "'DataSpec'"]),
        (lambda: rfm.DataSpec.from_dict({"schema": 99}), ["schema=99", "1", "another version"]),
        (dataset("L63"), ["spec='L63'", "a DataSpec", "DataSpec(system='L63')"]),
        (dataset(None), ["spec=None", "a DataSpec"]),
        (dataset(SMALL, cache=None), ["cache=None", "True, False or a folder", "usual folder"]),
        (dataset(SMALL, cache=3), ["cache=3", "True, False or a folder", "usual folder"]),
        (
            dataset(rfm.DataSpec("KS", n_train=10**9), cache=False),
            ["4.1e+03 GB", "at most", "Lower n_train, n_test or test_steps"],
        ),
    ],
)
def test_bad_input(call: Callable[[], Any], says: list[str]) -> None:
    with pytest.raises(rfm.InvalidInput) as caught:
        call()
    for part in says:
        assert part in str(caught.value)


@pytest.mark.parametrize("limit", ["plenty", "-1", "nan", ""])
def test_bad_cache_limit_is_refused_before_the_work(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generated: list[Any]
) -> None:
    monkeypatch.setenv("RFM_CACHE_GB", limit)
    with pytest.raises(rfm.InvalidInput) as caught:
        rfm.make_dataset(SMALL, cache=tmp_path)
    for part in (f"RFM_CACHE_GB={limit!r}", "at least 0", "unset it"):
        assert part in str(caught.value)
    assert generated == []


@pytest.mark.parametrize("accuracy", ["fine", "paper"])
def test_a_tiny_step_does_not_take_for_ever(accuracy: str) -> None:
    """The way to the attractor is gone in usual steps: 40 million of these would be it."""
    told: list[int] = []
    spec = rfm.DataSpec("L63", dt=1e-6, n_train=50, n_test=1, test_steps=20, accuracy=accuracy)
    report = rfm.Reporter(lambda progress: told.append(progress.total))
    data = rfm.make_dataset(spec, cache=False, report=report)
    assert data.dt == 1e-6
    assert max(told) <= 4000
    assert 0 < np.abs(np.diff(data.train, axis=1)).max() < 1e-3
