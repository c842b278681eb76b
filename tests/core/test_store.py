"""Saved models come back bit for bit; wrong, old and damaged files are refused with words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import rfm_core as rfm
from rfm_core.tensorfile import read_tensors, write_tensors

SPECS = {
    "shallow": rfm.ModelSpec("SkipRFM", width=32),
    "deep": rfm.ModelSpec("DeepRFM", width=20, depth=3, beta=1e-8, unit_weights="shared"),
    "plain": rfm.ModelSpec("DeepSkip", width=24, depth=2, centred=False),
    "polynomial": rfm.ModelSpec("SkipRFM", features="polynomial", degree=3),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory, lorenz63: rfm.Dataset) -> Path:
    model = rfm.fit(SPECS["shallow"], lorenz63)
    return model.save(tmp_path_factory.mktemp("models") / "model")


@pytest.mark.parametrize("name", SPECS)
def test_round_trip_is_exact(name: str, tmp_path: Path, lorenz63: rfm.Dataset) -> None:
    model = rfm.fit(SPECS[name], lorenz63, seed=5)
    again = rfm.load(model.save(tmp_path / "m"))
    assert again.spec == model.spec
    assert again.origin == model.origin
    assert (again.dt, again.limit, again.dimension) == (model.dt, model.limit, model.dimension)
    start = lorenz63.test[:3, 0]
    assert np.array_equal(again.forecast(start, 50), model.forecast(start, 50), equal_nan=True)


def test_local_exchanging_round_trip(tmp_path: Path, lorenz96: rfm.Dataset) -> None:
    spec = rfm.ModelSpec("LocalDeepSkip", width=20, depth=2, G=1, left=2, right=1, exchange=(1, 2))
    model = rfm.fit(spec, lorenz96)
    again = rfm.load(model.save(tmp_path / "m.safetensors"))
    assert again.spec == spec
    assert np.array_equal(again.predict(lorenz96.test[0]), model.predict(lorenz96.test[0]))


def test_the_ending_is_added(saved: Path) -> None:
    assert saved.name == "model.safetensors"
    with safe_open(saved, framework="numpy") as file:
        header = json.loads(file.metadata()["rfm_core"])
    assert header["versions"]["torch"]
    assert header["spec"]["width"] == 32


def test_every_flipped_byte_is_noticed(saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    rng = np.random.default_rng(0)
    for place in [9, 200, len(content) - 1, *rng.integers(0, len(content), 40)]:
        broken = bytearray(content)
        broken[place] ^= 0x10
        path = tmp_path / "broken.safetensors"
        path.write_bytes(broken)
        with pytest.raises(rfm.InvalidInput, match="broken"):
            rfm.load(path)


@pytest.mark.parametrize("length", [0, 7, 8, 100, -1])
def test_truncated_files(saved: Path, tmp_path: Path, length: int) -> None:
    path = tmp_path / "short.safetensors"
    path.write_bytes(saved.read_bytes()[:length])
    with pytest.raises(rfm.InvalidInput, match="not a readable safetensors file"):
        rfm.load(path)


def test_wrong_files(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(rfm.InvalidInput, match="no file 'nothing"):
        rfm.load(tmp_path / "nothing.safetensors")
    foreign = tmp_path / "foreign.safetensors"
    save_file({"a": np.zeros(3)}, foreign)
    with pytest.raises(rfm.InvalidInput, match="not written by rfm_core"):
        rfm.load(foreign)
    arrays, header = read_tensors(saved)
    for change, words in (
        ({"format": 0}, "format 0.*reads format 1"),
        ({"kind": "dataset"}, "not a model"),
        ({"spec": {**header["spec"], "schema": 99}}, "schema=99"),
    ):
        write_tensors(foreign, arrays, {**header, **change})
        with pytest.raises(rfm.InvalidInput, match=words):
            rfm.load(foreign)
    del arrays["unit0.b_in"]
    write_tensors(foreign, arrays, header)
    with pytest.raises(rfm.InvalidInput, match="incomplete"):
        rfm.load(foreign)


def test_a_failed_save_leaves_the_old_file(saved: Path, tmp_path: Path) -> None:
    model = rfm.load(saved)
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(rfm.InvalidInput, match="could not be written"):
        model.save(blocked / "model")
    assert blocked.read_text() == "not a folder"
    assert list(tmp_path.iterdir()) == [blocked]


def test_a_model_is_loaded_by_the_name_it_was_saved_under(
    lorenz63: rfm.Dataset, tmp_path: Path
) -> None:
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=16), lorenz63)
    for name in ("lorenz", "lorenz.v2", "lorenz.safetensors"):
        written = model.save(tmp_path / name)
        assert written.suffix == ".safetensors"
        for given in (tmp_path / name, str(tmp_path / name), written):
            assert rfm.load(given).spec == model.spec
    written.rename(tmp_path / "renamed")
    assert rfm.load(tmp_path / "renamed").spec == model.spec
