"""Files are whole or absent, and a tensor file that is not what was written is noticed."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from rfm_core.checks import InvalidInput
from rfm_core.files import write_atomically
from rfm_core.tensorfile import CHECKSUM, HEADER, DamagedFile, read_tensors, write_tensors

# --- write_atomically --------------------------------------------------------------------------


def test_writes_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file.txt"
    for text in ("one", "two, longer", "3"):
        write_atomically(path, lambda temporary, text=text: temporary.write_text(text))  # type: ignore[misc]
        assert path.read_text() == text
    assert [p.name for p in path.parent.iterdir()] == ["file.txt"]


@pytest.mark.parametrize("error", [RuntimeError, OSError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("old", [None, "old"])
def test_crash_inside_the_writer(
    tmp_path: Path, error: type[BaseException], old: str | None
) -> None:
    path = tmp_path / "file.txt"
    if old is not None:
        path.write_text(old)

    def crash(temporary: Path) -> None:
        temporary.write_text("half of the ne")
        raise error("here")

    with pytest.raises(error, match="here"):
        write_atomically(path, crash)
    assert [p.name for p in tmp_path.iterdir()] == ([] if old is None else ["file.txt"])
    assert old is None or path.read_text() == old


def test_nobody_sees_a_half_written_file(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    seen = []

    def slowly(temporary: Path) -> None:
        assert temporary.parent == path.parent, "a rename must not cross file systems"
        with temporary.open("w") as stream:
            for part in ("new ", "text"):
                stream.write(part)
                stream.flush()
                seen.append(path.read_text())

    write_atomically(path, slowly)
    assert seen == ["old", "old"]
    assert path.read_text() == "new text"


def test_something_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "folder" / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="folder"):
        write_atomically(tmp_path / "folder", lambda t: t.touch())
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        write_atomically(tmp_path / "file" / "below", lambda t: t.touch())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_others_may_read_it_as_any_file(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / "text", lambda t: t.write_text("x") and None)
        write_tensors(tmp_path / "tensors", {"a": np.ones(2)}, {})
    finally:
        os.umask(before)
    for name in ("text", "tensors"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o666 & ~mask


# --- tensor files ------------------------------------------------------------------------------

ARRAYS = {
    "floats": np.array([[0.1, -0.0, np.nan], [np.inf, 5e-324, -1.7976931348623157e308]]),
    "single": np.arange(5, dtype=np.float32),
    "whole": np.array([-(2**63), 2**63 - 1]),
    "bytes": np.arange(256, dtype=np.uint8),
    "flags": np.array([True, False]),
    "empty": np.empty((0, 7, 3)),
    "scalar": np.array(3.5),
    "turned": np.arange(12.0).reshape(3, 4).T,
    "strided": np.arange(10.0)[::3],
    "foreign order": np.arange(4, dtype=">f8"),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.safetensors"
    write_tensors(path, {"a": np.arange(100.0), "b": np.ones((2, 3))}, {"kind": "test", "n": [1]})
    return path


def test_round_trip_bit_for_bit(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    header = {"text": 'ä "quoted" \n', "number": 0.1, "nested": {"list": [1, None, True]}}
    write_tensors(path, ARRAYS, header)
    arrays, found = read_tensors(path)
    assert found == header
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].shape == array.shape
        assert arrays[name].dtype == array.dtype.newbyteorder("<")
        assert arrays[name].tobytes() == array.astype(array.dtype.newbyteorder("<")).tobytes()


def test_safetensors_itself_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    write_tensors(path, ARRAYS, {"a": 1})
    arrays = load_file(path)
    assert arrays.keys() == ARRAYS.keys()
    np.testing.assert_array_equal(arrays["turned"], ARRAYS["turned"])
    with safe_open(path, framework="numpy") as opened:
        assert json.loads(opened.metadata()[HEADER]) == {"a": 1}


def test_same_content_is_the_same_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_tensors(tmp_path / name, {"a": np.arange(3.0)}, {"b": 1, "a": 2})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_nothing_is_written_of_what_cannot_be(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(ValueError, match="JSON"):
        write_tensors(file, {"a": np.ones(2)}, {"bad": float("nan")})
    with pytest.raises(KeyError):
        write_tensors(file, {"a": np.ones(2, dtype=complex)}, {})
    assert file.read_bytes() == before
    assert [p.name for p in file.parent.iterdir()] == [file.name]


def test_every_flipped_byte_is_noticed(file: Path) -> None:
    """Header, checksum or numbers: no byte may change unseen."""
    whole = file.read_bytes()
    text = json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= 0x01
        file.write_bytes(changed)
        try:
            arrays, header = read_tensors(file)
        except DamagedFile:
            continue
        # only what carries no meaning may differ: the order or blanks of the JSON
        assert header == {"kind": "test", "n": [1]}, f"byte {position}"
        np.testing.assert_array_equal(arrays["a"], np.arange(100.0))
        np.testing.assert_array_equal(arrays["b"], np.ones((2, 3)))
        again = bytes(changed[8 : 8 + int.from_bytes(changed[:8], "little")])
        assert json.loads(again) == text


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 100, -1, -8, -500])
def test_truncated(file: Path, length: int) -> None:
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(DamagedFile, match=r"'some.safetensors' .*Save it again"):
        read_tensors(file)


def test_more_at_the_end(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"more")
    with pytest.raises(DamagedFile, match="not a readable safetensors file"):
        read_tensors(file)


def rewritten(path: Path, **changes: str) -> None:
    """The same tensors under a header that was edited."""
    with safe_open(path, framework="numpy") as opened:
        metadata = opened.metadata()
    save_file(load_file(path), path, metadata=metadata | changes)


def test_tampered_header(file: Path) -> None:
    rewritten(file)
    assert read_tensors(file)[1]["kind"] == "test"
    rewritten(file, **{HEADER: json.dumps({"kind": "other", "n": [1]})})
    with pytest.raises(DamagedFile, match=r"checksum does not match.*Save it again"):
        read_tensors(file)


def test_tampered_tensors(file: Path) -> None:
    with safe_open(file, framework="numpy") as opened:
        metadata = opened.metadata()
    whole = load_file(file)
    for changed in (
        whole | {"b": whole["b"] + 1e-16 * whole["b"].sum() ** 2},
        whole | {"b": whole["b"].reshape(3, 2)},
        whole | {"b": whole["b"].view(np.int64)},
        whole | {"c": np.zeros(1)},
        {"a": whole["b"], "b": whole["a"]},
        {"a": whole["a"]},
    ):
        save_file(changed, file, metadata=metadata)
        with pytest.raises(DamagedFile, match="checksum"):
            read_tensors(file)


def test_foreign_safetensors_file(file: Path) -> None:
    save_file({"weight": np.zeros(3)}, file)
    with pytest.raises(DamagedFile, match=r"was not written by rfm_core. Save it again"):
        read_tensors(file)
    rewritten_metadata = {CHECKSUM: "0" * 64}
    save_file({"weight": np.zeros(3)}, file, metadata=rewritten_metadata)
    with pytest.raises(DamagedFile, match="was not written by rfm_core"):
        read_tensors(file)


@pytest.mark.parametrize(
    "content", [b"", b"\x80\x04K\x01.", b"PK\x03\x04" + bytes(50), b"\xff" * 64, b"a,b\n1,2\n" * 9]
)
def test_not_a_safetensors_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "what.safetensors"
    path.write_bytes(content)
    with pytest.raises(DamagedFile, match=r"'what.safetensors' is not a readable safetensors"):
        read_tensors(path)


def test_no_file_or_a_folder(tmp_path: Path) -> None:
    for name in ("absent.safetensors", "folder"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        with pytest.raises(InvalidInput, match=f"There is no file '{name}'"):
            read_tensors(tmp_path / name)
