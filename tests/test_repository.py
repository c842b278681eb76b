"""What the repository promises around the code: pins, commands, versions, no machine's paths."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
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


def requirements(*extras: str) -> dict[str, Requirement]:
    lists = [PROJECT["project"]["optional-dependencies"][extra] for extra in extras]
    lines = [*PROJECT["project"]["dependencies"], *(line for lines in lists for line in lines)]
    return {canonicalize_name(found.name): found for found in map(Requirement, lines)}


def imported() -> Iterator[tuple[str, str]]:
    """Top-level names of what both packages import, by name where it is a string, and places."""
    for path in sorted([*(ROOT / "rfm_core").rglob("*.py"), *(ROOT / "app").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            match node:
                case ast.Import():
                    names = [alias.name for alias in node.names]
                case ast.ImportFrom(level=0, module=str(module)):
                    names = [module]
                case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(name)]):
                    names = [name]
            for name in names:
                yield name.split(".")[0], f"{path.relative_to(ROOT)}:{node.lineno}"


def test_everything_that_is_imported_is_declared() -> None:
    declared = {*requirements("notebook", "cluster", "parquet"), "ipython", "dask"}  # their own
    own = {*sys.stdlib_module_names, "rfm_core", "rfm_explorer"}
    of_module = packages_distributions()
    missing = []
    for module, place in imported():
        packages = set(map(canonicalize_name, of_module.get(module, [module])))
        if module not in own and not packages & declared:
            missing.append(f"{place} imports {module}, which pyproject.toml does not declare")
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    "name", ["panel", "panel-material-ui", "holoviews", "bokeh", "param", "tornado"]
)
def test_no_upgrade_comes_unseen(name: str) -> None:
    """rfm_explorer.compat leans on insides of these: a new version is tried before it is let in."""
    bounds = [bound.operator for bound in requirements()[name].specifier]
    assert "<" in bounds, f"{name} has no upper bound in pyproject.toml"


# --- insides of others ------------------------------------------------------------------------

# modules that these libraries document for users
DOCUMENTED = {
    "panel": {"panel", "panel.theme"},
    "panel_material_ui": {"panel_material_ui"},
    "holoviews": {"holoviews", "holoviews.plotting.bokeh", "holoviews.plotting.util"},
    "bokeh": {
        "bokeh.core.properties",
        "bokeh.document",
        "bokeh.model",
        "bokeh.models",
        "bokeh.models.ui",
        "bokeh.plotting",
        "bokeh.settings",
    },
    "multiprocessing": {"multiprocessing", "multiprocessing.connection"},
}
# which classes of ours may define or call although a library made them up: documented ones
HOOKS = {"_esm", "_stylesheets", "_importmap", "_handle_msg", "_send_msg", "_repr_mimebundle_"}
INSIDES = {  # of the base classes of ours: there ``self._models`` is as much an inside
    "_cleanup",
    "_comm",
    "_comms",
    "_design",
    "_documents",
    "_get_model",
    "_get_objects",
    "_get_properties",
    "_models",
    "_on_msg",
    "_preprocess",
    "_process_events",
    "_process_param_change",
    "_render_esm",
    "_render_model",
    "_update_model",
}
OURS = {"self", "cls", "os"}  # os._exit is documented


def own_names(tree: ast.Module) -> set[str]:
    """What the module itself gives to its classes: other objects of them may be looked into."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Attribute(value=ast.Name("self"), attr=name, ctx=ast.Store()):
                found.add(name)
            case ast.AnnAssign(target=ast.Name(name)) | ast.Assign(targets=[ast.Name(name)]):
                found.add(name)
    return found - INSIDES


def insides_used(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = own_names(tree)
    for node in ast.walk(tree):
        place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        match node:
            case ast.Attribute(value=target, attr=name) if re.match(r"_[a-z]", name):
                foreign = not (isinstance(target, ast.Name) and target.id in OURS)
                if name in INSIDES or (foreign and name not in own | HOOKS):
                    yield f"{place}: {ast.unparse(node)[-60:]}"
            case ast.ClassDef(body=body):
                for method in body:
                    if isinstance(method, ast.FunctionDef) and method.name in INSIDES:
                        yield f"{place}: {node.name}.{method.name}"
            case ast.Import(names=names):
                for alias in names:
                    if not documented(alias.name):
                        yield f"{place}: import {alias.name}"
            case ast.ImportFrom(level=0, module=str(module), names=names):
                if not documented(module) or any(re.match(r"_[a-z]", a.name) for a in names):
                    yield f"{place}: from {module} import {', '.join(a.name for a in names)}"


def documented(module: str) -> bool:
    return module in DOCUMENTED.get(module.split(".")[0], {module})


def test_insides_of_others_are_used_in_one_place() -> None:
    """By the folder ``compat``, whose contract tests say what an upgrade broke and who needs it."""
    compat = ROOT / "app" / "rfm_explorer" / "compat"
    files = [*(ROOT / "rfm_core").rglob("*.py"), *(ROOT / "app").rglob("*.py")]
    found = [use for path in files if compat not in path.parents for use in insides_used(path)]
    for path in (ROOT / "app").rglob("*.js"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if re.search(r"\w\._[a-z]", line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found, "belongs into rfm_explorer/compat:\n" + "\n".join(found)
    uses = [use for path in compat.rglob("*.py") for use in insides_used(path)]
    assert len(uses) > 20  # or the look for them is blind


def test_torch_is_the_cpu_build_without_a_gpu(setup_script: ModuleType) -> None:
    attempts = setup_script.torch_attempts
    plain = ("pip", "torch==9.9")
    assert attempts("9.9", "linux", gpu=True) == [plain]
    assert attempts("9.9", "darwin", gpu=False) == [plain]
    without = attempts("9.9", "linux", gpu=False)
    assert without == [("pip", "torch==9.9+cpu"), ("uv", "torch==9.9"), plain]
