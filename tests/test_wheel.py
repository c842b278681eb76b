"""What ``pip install`` gives: two packages that bring what they need, and no other name.

The wheel is built from the checkout and installed into an environment of its own, which sees the
other packages of this one but not this checkout.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bokeh.protocol import Protocol
from tornado.websocket import WebSocketClientConnection, websocket_connect

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("app", "rfm_core", "notebooks", "pyproject.toml", "setup.py", "README.md", "LICENSE")
PACKAGES = {"rfm_core": "rfm_core", "rfm_explorer": "app/rfm_explorer"}
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BIN = "Scripts" if os.name == "nt" else "bin"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq")


def environment() -> dict[str, str]:
    """Without what leads to the checkout."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # a copy: setuptools takes up what an earlier build left in the folder it builds in
    source = tmp_path_factory.mktemp("source")
    ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, source / name)
    made = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", made]
    subprocess.run([*PIP, "wheel", *options, source], check=True)
    [path] = made.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / BIN / "python"
    install = ["--python", python, "install", "--no-deps", "--no-index", "--no-compile", wheel]
    subprocess.run([*PIP, *install], check=True)
    [own] = folder.glob("[Ll]ib/**/site-packages")
    # a line with a folder adds it at the end, and runs none of its .pth files: the one that leads
    # to this checkout stays where it is
    others = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (own / "others.pth").write_text("\n".join(sorted(others)), encoding="utf-8")
    return folder


def test_carries_the_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        carried = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {f"rfm_explorer/notebooks/{path.name}" for path in NOTEBOOKS}
    for package, folder in PACKAGES.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                expected.add(f"{package}/{path.relative_to(ROOT / folder).as_posix()}")
    assert carried == expected


def test_what_was_installed_is_what_is_found(installed: Path, tmp_path: Path) -> None:
    """Or the test below would be one of the checkout."""
    code = (
        "from importlib.util import find_spec; "
        "[print(find_spec(name).origin) for name in ('rfm_core', 'rfm_explorer')]"
    )
    command = [installed / BIN / "python", "-c", code]
    found = subprocess.run(
        command, cwd=tmp_path, env=environment(), capture_output=True, check=True, encoding="utf-8"
    )
    places = [Path(line) for line in found.stdout.splitlines()]
    assert len(places) == 2
    for place in places:
        assert place.is_relative_to(installed), f"not what was installed: {place}"


@pytest.mark.slow
def test_opens_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    program = [installed / BIN / "rfm-explorer", "--no-show", "--jobs", "1"]
    with served([str(part) for part in program], empty, tmp_path / "log") as address:
        assert session(address, "/") == "RFM Explorer"
        gallery = read(f"{address}/gallery").decode()
        assert "<h1>RFM Explorer: gallery</h1>" in gallery
        assert b"<svg" in read(f"{address}/gallery/pictures/model.svg")
        for path in NOTEBOOKS:
            assert f"gallery/notebooks/{path.stem}" in gallery
            text = read(f"{address}/gallery/notebooks/{path.stem}").decode()
            assert read(f"{address}/gallery/notebooks/{path.name}") == path.read_bytes()
        [script] = re.findall(r'<script src="([^"]+)"', text)  # what sets the formulas
        assert read(f"{address}/{script.removeprefix('../../')}")
    assert not list(empty.iterdir())


@pytest.mark.slow
def test_panel_serves_the_script_from_elsewhere(tmp_path: Path) -> None:
    """With the environment and the code of this test, beside a user's own files of any name."""
    for name in ("app", "tests", "notebooks", "main"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('somebody imported this file')\n")
    program = [sys.executable, "-m", "panel", "serve", str(ROOT / "app" / "main.py")]
    program += ["--plugins", "rfm_explorer.serve.gallery", "--liveness"]
    with served(program, tmp_path, tmp_path / "log", **os.environ) as address:
        assert session(address, "/main") == "RFM Explorer"
        assert b'href="./main?' in read(f"{address}/gallery")


# --- a server, and a visitor without a browser -----------------------------------------------


@contextmanager
def served(program: list[str], folder: Path, log: Path, **env: str) -> Iterator[str]:
    """The address of a server that was started in ``folder``."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {**(env or environment()), "OMP_NUM_THREADS": "1"}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*program, "--port", str(port)], cwd=folder, env=env, stdout=out, stderr=out
        )
    address = f"http://localhost:{port}"
    try:
        while True:  # as long as it takes; pytest has a limit for tests that hang
            assert process.poll() is None, f"the server did not start:\n{log.read_text()}"
            try:
                read(f"{address}/liveness")
                break
            except OSError:
                time.sleep(0.1)
        yield address
        assert "Traceback" not in log.read_text(), log.read_text()
    finally:
        process.terminate()  # an interrupt is ignored by whatever a script started behind it
        process.wait()


def read(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        assert answer.status == 200, url
        return answer.read()


def session(address: str, path: str) -> str:
    """Open the page as a browser does, web socket included; the title of what comes over it."""
    page = read(address + path).decode()
    [token] = re.findall(r'"token":"([^"]+)"', page)
    return asyncio.run(pull(f"{address.replace('http', 'ws')}{path.rstrip('/')}/ws", token))


async def pull(url: str, token: str) -> str:
    connection = await websocket_connect(url, subprotocols=["bokeh", token])
    try:
        assert (await message(connection))[0]["msgtype"] == "ACK"
        request = Protocol().create("PULL-DOC-REQ")
        for part in (request.header_json, request.metadata_json, request.content_json):
            await connection.write_message(part)
        header, _, content = await message(connection)
    finally:
        connection.close()
        while await connection.read_message() is not None:
            pass  # until the server has closed it as well
    assert header["msgtype"] == "PULL-DOC-REPLY", content
    assert "Width" in json.dumps(content["doc"]["roots"])  # a control of ours
    return content["doc"]["title"]


async def message(connection: WebSocketClientConnection) -> list[dict]:
    """Header, metadata and content; buffers, which come in two parts each, are passed over."""
    parts = []
    for _ in range(3):
        part = await connection.read_message()
        assert part is not None, "the server closed the connection"
        parts.append(json.loads(part))
    for _ in range(2 * parts[0].get("num_buffers", 0)):
        await connection.read_message()
    return parts
