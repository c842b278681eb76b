"""NPY and NPZ files that lie, are locked, or blow up: refused with words and without the memory."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfm_core.checks import InvalidInput
from rfm_core.data.series import SeriesLimits, load_series

WAVE = np.sin(np.arange(120.0)[:, None] * np.array([0.3, 0.5]))


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def packed(method: int = zipfile.ZIP_DEFLATED, **members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return stream.getvalue()


def header(shape: str, descr: str = "'<f8'", version: int = 1) -> bytes:
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    size = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + text


def refused(raw: bytes, name: str, words: str, **options: Any) -> None:
    """Refused in these words, and without taking much more memory than the file itself."""
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match=words):
            load_series((raw, name), **{"dt": 0.1, **options})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000 + 4 * len(raw)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (
            header("(100000000000,)") + bytes(800),
            "shape .100000000000,.* would take 800,000,000,000",
        ),
        (header("(99999, 99999)") + bytes(800), "would take"),
        (
            header("(1000, 10)") + bytes(800),
            "claims the shape .1000, 10., 80,000 bytes, but hol.* 800",
        ),
        (header("(2, 3, 4, 5)") + bytes(960), "has the shape .2, 3, 4, 5."),
        (header("(" + "9" * 400 + ",)"), "has the shape"),
        (header("(-5, 3)") + bytes(800), "no plain array"),
        (header("(10, 10)", "'|O'") + bytes(800), "Python objects.*never unpacked"),
        (header("(10, 10)", "'<c16'") + bytes(1600), "complex numbers"),
        (header("(10, 10)", "'<U5'") + bytes(2000), "text"),
        (header("(10, 10)", "'<f7'") + bytes(2000), "unknown dtype '<f7'"),
        (header("(10, 10)", "[('a', '<f8')]") + bytes(800), "no plain array"),
        (header("__import__('os').system('true')"), "no plain array"),
        (b"\x93NUMPY\x01\x00\xff\xff{", "no complete NPY"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{" + bytes(99), "no complete NPY"),
        (b"\x93NUMPY", "no complete NPY"),
        (b"hello, I am text", "no complete NPY"),
        (npy(WAVE)[:-1], "claims the shape"),
        (npy(np.array([None, {}])), "Python objects"),
        (npy(np.float64(3)), r"shape \(\)"),
        (npy(WAVE[:5]), "5 rows; at least 20"),
    ],
)
def test_bad_npy_is_refused(raw: bytes, words: str) -> None:
    refused(raw, "a.npy", words)


def test_all_versions_and_old_headers_are_read() -> None:
    for head in (header("(120, 2)"), header("(120, 2)", version=2), header("(120L, 2L)")):
        data = load_series((head + WAVE.tobytes(), "a.npy"), dt=0.1)
        assert np.array_equal(data.train[0], WAVE[:96])


def test_a_bomb_is_refused_before_it_goes_off() -> None:
    zeros = bytes(100_000_000)
    bomb = packed(**{f"a{k}__npy": zeros for k in range(3)})
    assert len(bomb) < 1_500_000
    refused(bomb, "bomb.npz", "unpacked would take 300,000,000 bytes; at most 200,000,000")
    one = packed(u__npy=header("(12500000,)") + zeros)
    refused(one, "bomb.npz", "would unpack from .* bytes; at most 200 times")


def test_a_directory_that_understates_its_sizes_is_noticed() -> None:
    raw = bytearray(packed(u__npy=header("(12500000,)") + bytes(100_000_000)))
    at = raw.rfind(b"PK\x01\x02") + 24
    raw[at : at + 4] = (1000).to_bytes(4, "little")
    refused(bytes(raw), "a.npz", "damaged|claims the shape")


def locked(raw: bytes) -> bytes:
    out = bytearray(raw)
    out[out.find(b"PK\x03\x04") + 6] |= 1
    out[out.rfind(b"PK\x01\x02") + 8] |= 1
    return bytes(out)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"PK\x05\x06" + bytes(18), "holds no arrays"),
        (b"no zip at all", "damaged"),
        (npz(u=WAVE)[:-30], "damaged"),
        (npz(u=WAVE).replace(WAVE[:1].tobytes(), WAVE[1:2].tobytes(), 1), "damaged .*CRC"),
        (locked(packed(u__npy=npy(WAVE))), "'u.npy' in a.npz is encrypted"),
        (packed(u__txt=b"hello"), "holds 'u.txt', which is no NPY array"),
        (packed(u__npy=npy(WAVE), readme__md=b"hi"), "holds 'readme.md'"),
        (packed(zipfile.ZIP_LZMA, u__npy=npy(WAVE)), "packed by method 14; stored or deflated"),
        (packed(u__npy=npy(np.array([None]))), "'u' in a.npz holds Python objects"),
        (packed(u__npy=header("(100000000000,)")), "'u' in a.npz, of shape"),
        (packed(**{f"a{k}__npy": b"" for k in range(4097)}), "more than 4096 arrays"),
        (npz(a=WAVE, b=WAVE[:, :1]), r"holds a \(120, 2\), b \(120, 1\): it must be clear"),
        (npz(t=np.arange(120.0)), "it must be clear which"),
        (npz(u=WAVE, t=np.arange(99.0)), "The time has 99 entries, the series 120 rows"),
        (npz(u=WAVE, t=np.arange(120.0) ** 2), "The time is not uniform"),
        (npz(u=WAVE, t=np.full(120, np.nan)), "times must be finite"),
        (npz(u=WAVE, t=np.arange(120.0), time=np.arange(120.0)), "2 arrays of times"),
        (npz(u=WAVE, dt=0.2), "dt=0.1 was given, but the file says dt=0.2"),
        (npz(u=WAVE, dt=-1.0), "dt in a.npz=-1.0 cannot be used"),
        (npz(u=WAVE, t=0.3 * np.arange(120)), "dt=0.1 was given, but The time steps by 0.3"),
    ],
)
def test_bad_npz_is_refused(raw: bytes, words: str) -> None:
    refused(raw, "a.npz", words)


def test_a_key_that_is_not_there() -> None:
    refused(npz(u=WAVE, v=WAVE), "a.npz", r"key='w' .* u \(120, 2\), v", key="w")
    refused(npz(u=WAVE, v=np.array(["a"])), "a.npz", "'v' in a.npz holds text", key="v")


def test_limits_hold_for_arrays_in_files() -> None:
    refused(npy(WAVE), "a.npy", "120 rows; at most 100", limits=SeriesLimits(max_rows=100))
    refused(npy(WAVE), "a.npy", "bytes; at most 900", limits=SeriesLimits(max_bytes=900))
    small = npy(np.ones((100, 20), dtype=np.int8))  # grows eightfold as float64
    refused(small, "a.npy", "16,000 bytes", limits=SeriesLimits(max_bytes=10_000))


def damaged(raw: bytes) -> st.SearchStrategy[bytes]:
    """The file with some bytes overwritten, cut out or cut off."""

    def apply(edits: list[tuple[int, int, bytes]]) -> bytes:
        out = raw
        for at, cut, new in edits:
            out = out[:at] + new + out[at + cut :]
        return out

    place = st.integers(0, len(raw))
    edit = st.tuples(place, st.integers(0, 40) | place, st.binary(max_size=8))
    return st.lists(edit, min_size=1, max_size=4).map(apply)


TEXT = "\n".join(f"{0.1 * k!r},{v[0]!r},{v[1]!r}" for k, v in enumerate(WAVE[:30].tolist()))
GOOD: dict[str, Callable[[], bytes]] = {
    "a.npy": lambda: npy(WAVE[:24]),
    "a.npz": lambda: npz(u=WAVE[:24], t=0.1 * np.arange(24)),
    "b.npz": lambda: packed(u__npy=npy(WAVE[:24])),
    "a.csv": lambda: ("t,x,y\n" + TEXT).encode(),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_damaged_file_is_read_or_refused_but_nothing_else(name: str) -> None:
    @settings(max_examples=250, deadline=None)
    @given(damaged(GOOD[name]()))
    def attempt(raw: bytes) -> None:
        words = ""
        try:
            data = load_series((raw, name), dt=0.1)
            assert np.isfinite(data.train).all()
            json.dumps(data.origin, allow_nan=False)
        except InvalidInput as error:
            words = str(error)
        assert len(words) < 800
        assert words.isprintable()

    attempt()
