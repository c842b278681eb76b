"""What the repository promises around the code: pins, commands, versions, no machine's paths."""

from __future__ import annotations

import fnmatch
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def setup_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rfm_setup", ROOT / ".ci" / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    try:
        listing = subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def make_targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][\w-]*):(?!=)", makefile, flags=re.MULTILINE))


def test_lock_meets_every_requirement(setup_script: ModuleType) -> None:
    pins = setup_script.pins()
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = [*PROJECT["project"]["dependencies"], *(line for extra in extras for line in extra)]
    wanted += PROJECT["build-system"]["requires"]
    for line in wanted:
        requirement = Requirement(line)
        if requirement.name == PROJECT["project"]["name"]:
            continue  # an extra made of other extras
        pin = pins.get(canonicalize_name(requirement.name))
        assert pin is not None, f"{line} has no pin"
        assert requirement.specifier.contains(pin), f"{line} does not admit {pin}"


def test_lock_pins_are_portable(setup_script: ModuleType) -> None:
    for name, pin in setup_script.pins().items():
        assert name == canonicalize_name(name)
        assert Version(pin).local is None, f"{name}=={pin} exists on some machines only"


def test_lock_names_everything_that_gets_installed(setup_script: ModuleType) -> None:
    """Walk what is installed: a package the lock does not name would float."""
    pins = setup_script.pins()
    waiting = [("rfm-explorer", frozenset({"test"}))]
    seen = set()
    while waiting:
        name, extras = waiting.pop()
        if (name, extras) in seen or name == "torch":  # CUDA builds of torch need far more
            continue
        seen.add((name, extras))
        try:
            lines = requires(name) or []
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed: not the environment of the set-up")
        for requirement in map(Requirement, lines):
            markers = [{"extra": extra} for extra in extras or {""}]
            if requirement.marker and not any(map(requirement.marker.evaluate, markers)):
                continue
            waiting.append((canonicalize_name(requirement.name), frozenset(requirement.extras)))
    loose = {name for name, _ in seen} - set(pins) - {"rfm-explorer"}
    if sys.platform != "linux":
        loose -= {"colorama"}
    assert not loose


def test_nothing_of_one_machine_is_tracked(tracked: list[Path]) -> None:
    # pieced together, so that this file does not find itself
    folders = "|".join(["wor" + "k", "roo" + "t", "far" + "m", "op" + "t", "hom" + "e"])
    hosts = ["pypi" + ".org", "python" + "hosted.org", "download." + "pytorch.org"]
    hosts += ["npm" + "js.org", "deb.de" + "bian.org", "conda.ana" + "conda.org"]
    patterns = [rf"(?<![\w.*~])/(?:{folders})/", r"--(?:extra-)?index-url", *map(re.escape, hosts)]
    forbidden = re.compile("|".join(patterns))
    assert tracked
    found = []
    for path in tracked:
        content = path.read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8").splitlines(), start=1):
            if hit := forbidden.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {hit[0]}")
    assert not found


def test_readme_commands_exist() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    # in code only: a line of a block, or between backticks
    commands = set(re.findall(r"(?:^|`|\$ )make ([a-z][a-z-]*)", readme, flags=re.MULTILINE))
    assert commands >= {"app", "test"}
    assert commands <= make_targets()


def test_ci_runs_the_tests() -> None:
    script = ROOT / ".ci" / "run"
    assert re.search(r"^make test$", script.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert os.name == "nt" or os.access(script, os.X_OK)


def test_versions_agree() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    stated = re.findall(r"^version: [\"']?([^\"'\s]+)", citation, flags=re.MULTILINE)
    assert stated == [PROJECT["project"]["version"]]


def test_package_ships_its_data_files(tracked: list[Path]) -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["rfm_core"]
    package = ROOT / "rfm_core"
    files = [path.relative_to(package).as_posix() for path in tracked if package in path.parents]
    data = [name for name in files if not name.endswith(".py")]
    left_out = [n for n in data if not any(fnmatch.fnmatch(n, pattern) for pattern in patterns)]
    assert not left_out


def test_torch_is_the_cpu_build_without_a_gpu(setup_script: ModuleType) -> None:
    attempts = setup_script.torch_attempts
    plain = ("pip", "torch==9.9")
    assert attempts("9.9", "linux", gpu=True) == [plain]
    assert attempts("9.9", "darwin", gpu=False) == [plain]
    without = attempts("9.9", "linux", gpu=False)
    assert without == [("pip", "torch==9.9+cpu"), ("uv", "torch==9.9"), plain]
