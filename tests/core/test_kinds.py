"""What holds for every kind of features there is: a new one is covered without a new test."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import rfm_core as rfm
from rfm_core.model.features import FEATURES, RandomFeatures, Source, modules_of_features
from rfm_core.model.features.base import SETTINGS
from rfm_core.model.features.fourier import Fourier
from rfm_core.model.features.relu import ReLU
from rfm_core.model.features.trial import attempt, check
from rfm_core.model.sampler import Inputs
from rfm_core.run.tasks import Task, TaskDone

ROOT = Path(__file__).parents[2]
OURS = list(FEATURES)
EXAMPLE = '''
import torch

from rfm_core.model.features import RandomFeatures, register_features


@register_features
class Softplus(RandomFeatures):
    """phi(z) = log(1 + exp(W_in z + b_in)), a smooth hinge."""

    name = "softplus"
    title = "softplus"
    about = "a smooth hinge; hit-and-run keeps the data L0 to L1 away from its middle"
    icon = "m0 9 c12 0 16 -2 30 -18"

    @staticmethod
    def activation(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.softplus(x)

    @staticmethod
    def slope(x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(x)
'''


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """As it was before each test."""
    before = dict(FEATURES)
    yield
    FEATURES.clear()
    FEATURES.update(before)


def spec_of(name: str, architecture: str = "SkipRFM", **more: object) -> rfm.ModelSpec:
    values = {"width": 60, "degree": 2 if "Local" in architecture else 4, "features": name}
    return rfm.ModelSpec(architecture, **(values | more))


def drawn(spec: rfm.ModelSpec, rows: torch.Tensor) -> rfm.Features:
    inputs = Inputs.scan(lambda: [rows])
    rng = np.random.default_rng(1)
    return spec.kind.draw(spec, Source(inputs, lambda: [rows], rng, rows.device))


def states(n: int = 200, inputs: int = 3) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).normal(2.0, 3.0, (n, inputs)))


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("name", OURS)
def test_what_is_asked_of_anybody_s_holds_for_ours(name: str, centred: bool) -> None:
    """Values, derivatives, counts, storing: as of a kind that a script adds."""
    check(FEATURES[name])
    attempt(FEATURES[name])
    features = drawn(spec_of(name, centred=centred), states())
    z, dz = states(7)[:, None], torch.from_numpy(np.random.default_rng(3).normal(size=(7, 5, 3)))
    phi, dphi = features.tangent(z, dz)
    assert phi.shape == (7, 1, features.width)
    assert dphi.shape == (7, 5, features.width)
    torch.testing.assert_close(phi, features(z), rtol=0, atol=0)
    step = 1e-6
    quotient = (features(z + step * dz) - features(z - step * dz)) / (2 * step)
    torch.testing.assert_close(dphi, quotient, rtol=1e-6, atol=1e-6)


RANDOM = [name for name in OURS if issubclass(FEATURES[name], RandomFeatures)]


@pytest.mark.parametrize("name", RANDOM)
def test_centred_features_are_the_same_functions_up_to_constants(name: str) -> None:
    features = drawn(spec_of(name), states())
    assert isinstance(features, RandomFeatures)
    assert features.centre is not None
    plain = type(features)(features.weights, features.bias)
    z = states(50)
    expected = plain(z) - plain(features.centre)
    torch.testing.assert_close(features(z)[:, 1:], expected, rtol=1e-12, atol=1e-12)
    assert bool((features(z)[:, 0] == 1).all())


@pytest.mark.parametrize("name", RANDOM)
def test_small_changes_keep_their_digits(name: str) -> None:
    """Of a centred feature near its centre: the slope times the way, to a relative rounding."""
    features = drawn(spec_of(name), states())
    assert isinstance(features, RandomFeatures)
    assert features.centre is not None
    way = torch.full_like(features.centre, 2.0**-40)
    phi = features((features.centre + way)[None])[0, 1:]
    moved = (features.centre + way) - features.centre
    slope = features.slope(features.preactivations(features.centre))
    torch.testing.assert_close(phi, slope * (features.weights @ moved), rtol=1e-8, atol=0)


@pytest.mark.parametrize("name", OURS)
def test_a_fit_is_stored_counted_and_better_than_persistence(
    name: str, lorenz63: rfm.Dataset, tmp_path: Path
) -> None:
    model = rfm.fit(spec_of(name, width=100, refine=1), lorenz63)
    again = rfm.load(model.save(tmp_path / "m"))
    start = lorenz63.test[:3, 0]
    assert np.array_equal(again.forecast(start, 60), model.forecast(start, 60), equal_nan=True)
    assert again.spec == model.spec
    (unit,) = model.units
    inside = unit.features.tensors() if isinstance(unit.features, RandomFeatures) else {}
    stored = unit.weights.numel() + sum(tensor.numel() for tensor in inside.values())
    assert model.size == stored + model.spec.centred  # the centre of n numbers counts as n + 1
    ahead = 30
    truth = lorenz63.test[:, ahead]
    error = np.abs(model.forecast(lorenz63.test[:, 0], ahead)[:, -1] - truth).mean()
    persistence = np.abs(lorenz63.test[:, 0] - truth).mean()
    assert error < 0.2 * persistence


@pytest.mark.parametrize("name", OURS)
def test_exponents_of_a_surrogate(name: str, lorenz63: rfm.Dataset) -> None:
    """The largest one of Lorenz 1963 is 0.906; the last one is far below."""
    model = rfm.fit(spec_of(name, width=150, degree=5), lorenz63)
    found = rfm.lyapunov_exponents(model, lorenz63.test[:4, 0], count=3, steps=1500)
    assert 0.6 < found.exponents[0] < 1.2
    assert found.exponents[-1] < -8


@pytest.mark.parametrize("sampler", ["tight", "hit-and-run", "uniform", "gaussian"])
@pytest.mark.parametrize("name", OURS)
def test_all_architectures_and_samplers(
    name: str, sampler: str, lorenz96: rfm.Dataset, tmp_path: Path
) -> None:
    more = {"width": 30, "sampler": sampler, "w": 0.1, "rows": 1500}
    shapes = {
        "DeepSkip": {"depth": 2, "degree": 1, "unit_weights": "shared"},
        "LocalSkip": {"G": 2, "I": 1, "taper": 0.5, "standardize": True},
        "LocalDeepRFMX": {"G": 2, "I": 1, "depth": 2, "exchange": 1},
    }
    for architecture, shape in shapes.items():
        spec = spec_of(name, architecture, **(more | shape))
        model = rfm.fit(spec, lorenz96)
        assert [unit.features.inputs for unit in model.units] == spec.unit_inputs(12)
        assert [unit.features.width for unit in model.units] == spec.unit_widths(12)
        error = np.abs(model.predict(lorenz96.test[:, :-1]) - lorenz96.test[:, 1:]).mean()
        assert np.isfinite(error)
        if spec.choices.skip and sampler in ("tight", "hit-and-run"):
            assert error < np.abs(np.diff(lorenz96.test, axis=1)).mean()
        again = rfm.load(model.save(tmp_path / architecture))
        assert np.array_equal(again.predict(lorenz96.test), model.predict(lorenz96.test))


@pytest.mark.parametrize("name", OURS)
def test_zones_are_looked_at_where_there_are_some(name: str, lorenz63: rfm.Dataset) -> None:
    model = rfm.fit(spec_of(name), lorenz63)
    found = rfm.feature_regions(model, lorenz63).units
    zones = model.spec.kind.zones(model.spec)
    assert (len(found) == 1) == (zones is not None)
    if zones is None:
        with pytest.raises(rfm.InvalidInput, match="Use a model with features='tanh'") as error:
            rfm.tanh_regions(model, lorenz63.test)
        assert model.spec.kind.no_zones in str(error.value)
    else:
        assert zones == (found[0]["training"].L0, found[0]["training"].L1)


@pytest.mark.parametrize("name", OURS)
def test_costs_are_counted(name: str) -> None:
    data = rfm.DataSpec("L63", n_train=5000, n_test=5)
    small, large = (
        rfm.cost_of_run(data, spec_of(name, width=w, degree=d)) for w, d in ((100, 3), (1000, 8))
    )
    assert 0 < small.fit_seconds < large.fit_seconds
    assert 0 < small.forecast_seconds < large.forecast_seconds


@pytest.mark.parametrize("sampler", ["tight", "hit-and-run"])
def test_waves_have_so_many_periods_from_end_to_end(sampler: str) -> None:
    rows = states(500)
    spec = spec_of("fourier", width=400, sampler=sampler, L0=1.0, L1=3.0, standardize=True)
    features = drawn(spec, rows)
    assert isinstance(features, Fourier)
    if sampler == "hit-and-run":  # the corners of the bounding box
        low, high = rows.amin(0), rows.amax(0)
        rows = torch.cartesian_prod(*(torch.stack(pair) for pair in zip(low, high, strict=True)))
    phase = features.preactivations(rows) / (2 * torch.pi)
    periods = phase.amax(0) - phase.amin(0)
    assert bool(((periods > 1 - 1e-9) & (periods < 3 + 1e-9)).all())
    assert periods.min() < 1.1
    assert periods.max() > 2.9


def test_hinges_lie_inside_the_data() -> None:
    rows = states(500)
    features = drawn(spec_of("relu", width=400, L0=0.5, L1=2.5), rows)
    assert isinstance(features, ReLU)
    x = features.preactivations(rows)
    assert bool(((x.amin(0) < 0) & (x.amax(0) > 0)).all())
    torch.testing.assert_close(x.amax(0) - x.amin(0), torch.full((399,), 2.0).double())


def test_inputs_that_never_change_are_no_trouble() -> None:
    rows = torch.ones(50, 3, dtype=torch.float64)
    for name in OURS:
        for centred in (True, False):
            phi = drawn(spec_of(name, centred=centred), rows)(rows)
            assert bool(torch.isfinite(phi).all()), name


def test_a_kind_is_named_nowhere_else() -> None:
    """But as the default of a spec, which is the paper's."""
    quoted = re.compile(f"""["']({"|".join(OURS)})["']""")
    found = []
    for top in ("rfm_core", "app"):
        for path in sorted((ROOT / top).rglob("*.py")):
            if "model/features" in path.as_posix():
                continue
            lines = enumerate(path.read_text().splitlines(), start=1)
            found += [f"{path.name}:{n} {line.strip()}" for n, line in lines if quoted.search(line)]
    kept = [line for line in found if not line.startswith("spec.py")]
    assert kept == []
    assert sum('features: str = "tanh"' in line for line in found) == 1
    assert len(found) == 3, found  # the default and two lines that explain it


# --- a kind of somebody's own ------------------------------------------------------------------


def test_a_script_s_own_kind_works_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lorenz63: rfm.Dataset
) -> None:
    """Also in workers that were there before it was registered."""
    (tmp_path / "my_features.py").write_text(EXAMPLE)
    monkeypatch.syspath_prepend(str(tmp_path))
    with rfm.make_executor("processes", slots=1) as executor:
        *_, first = executor.run([realization("tanh")])
        assert isinstance(first, TaskDone)
        __import__("my_features")
        assert modules_of_features() == ["my_features"]
        *_, second = executor.run([realization("softplus")])
        assert isinstance(second, TaskDone)
    test_a_fit_is_stored_counted_and_better_than_persistence("softplus", lorenz63, tmp_path)
    assert spec_of("softplus").label == "SkipRFM softplus 60"
    sys.modules.pop("my_features")


def realization(features: str) -> Task:
    data = rfm.DataSpec("L63", n_train=200, n_test=1, test_steps=20, lyapunov=1.0)
    model = rfm.ModelSpec(width=16).to_dict() | {"features": features}
    arguments = {"data": data.to_dict(), "model": model, "realization": 0, "seed": 0}
    return Task("only", "realization", arguments)


def test_a_file_in_the_folder_is_enough(tmp_path: Path) -> None:
    """A copy of the engine with one more file knows the kind, after the first two by its name."""
    shutil.copytree(ROOT / "rfm_core", tmp_path / "rfm_core")
    (tmp_path / "rfm_core" / "model" / "features" / "softplus.py").write_text(EXAMPLE)
    code = "import rfm_core as rfm; print(*rfm.FEATURES, rfm.ModelSpec(features='softplus').label)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [*OURS, "softplus", "SkipRFM", "softplus", "1024"]


class Sine(RandomFeatures):
    name = "sine"
    title = about = "sine"
    icon = "m0 0 h30"
    activation = staticmethod(torch.sin)
    slope = staticmethod(torch.cos)


class Wrong(Sine):
    slope = staticmethod(torch.sin)


class Fails(Sine):
    @staticmethod
    def activation(x: torch.Tensor) -> torch.Tensor:
        raise RuntimeError("no such luck")


class Forgets(Sine):
    def tensors(self) -> dict[str, torch.Tensor]:
        return {**super().tensors(), "b_in": torch.zeros_like(self.bias)}


class Miscounts(Sine):
    @classmethod
    def count(cls, spec: rfm.ModelSpec, inputs: int) -> int:
        return spec.width + 1


class Nameless(Sine):
    name = "My Sine"


class Unknown(Sine):
    settings = ("width", "frequency")


class Abstract(rfm.Features):
    name = "abstract"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Wrong, ["Wrong cannot be registered", "derivative=", "difference quotient", "slope"]),
        (Fails, ["RuntimeError: no such luck", "by hand"]),
        (Forgets, ["rebuilt from its tensors it has other values", "Store all"]),
        (Miscounts, ["inputs and width=(3, 8)", "(3, 9)", "count(spec, inputs)"]),
        (Nameless, ["name='My Sine'", "small letter", "links"]),
        (Unknown, ["settings='frequency'", ", ".join(SETTINGS)]),
        (Abstract, ["it lacks __call__, count, draw", "icon", "The class Features says"]),
        (FEATURES["tanh"], ["name='tanh'", "there is a kind of features of this name", "replace"]),
        ("sine", ["features='sine'", "a subclass of Features"]),
    ],
)
def test_what_cannot_work_is_refused_in_words(kind: type[rfm.Features], words: list[str]) -> None:
    before = dict(FEATURES)
    with pytest.raises(rfm.InvalidInput) as error:
        rfm.register_features(kind)
    assert all(word in str(error.value) for word in words), error.value
    assert before == FEATURES


def test_one_may_take_the_place_of_another() -> None:
    assert rfm.register_features(Sine) is Sine
    other = type("Other", (Sine,), {"title": "another sine"})
    rfm.register_features(other, replace=True)
    assert rfm.get_features("sine") is other
    with pytest.raises(rfm.InvalidInput):
        rfm.register_features(type("Bad", (Wrong,), {}), replace=True)
    assert rfm.get_features("sine") is other
