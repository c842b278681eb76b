"""Make the environment in .venv: `python .ci/setup.py app` or `... test` (adds the test tools).

Only the standard library is needed. What is installed is pinned by requirements.lock. A stamp in
.venv makes a second run quick; a set-up that was interrupted is started afresh by the next run.
"""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOCK = ROOT / "requirements.lock"
STAMP = VENV / "rfm-setup.json"  # there once a set-up came to its end, gone while one is under way
CHROMIUM_PATH = VENV / "chromium-path"  # where the browser tests look for their browser
LEVELS = ("app", "test")

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
)
LAUNCH = """
import sys
from playwright.sync_api import sync_playwright
with sync_playwright() as p:
    path = sys.argv[1] if len(sys.argv) > 1 else p.chromium.executable_path
    p.chromium.launch(executable_path=path, args=["--no-sandbox"], timeout=60_000).close()
    print(path)
"""


class SetupError(Exception):
    """The set-up cannot go on; the message says what to do."""


def say(text: str) -> None:
    print(f"[set-up] {text}", flush=True)


def run(command: list, quiet: bool = False, timeout: float = None, **env: str) -> bool:  # noqa: RUF013
    """Run a command; whether it ended well. `quiet` shows nothing of what it prints."""
    sink = subprocess.DEVNULL if quiet else None
    try:
        done = subprocess.run(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            timeout=timeout,
            cwd=ROOT,
            env={**os.environ, **env},
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def pip_install(*arguments: object, quiet: bool = False) -> bool:
    # at a terminal pip shows the download's progress; elsewhere it only reports errors
    volume = [] if sys.stdout.isatty() and not quiet else ["-qq"]
    command = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command.append("--no-compile")  # Python compiles what is used when it is: a minute less here
    return run([*command, *volume, *arguments], quiet=quiet)


# --- the environment -----------------------------------------------------------------------------


def environment_key() -> str:
    """What a virtual environment cannot outlive: another interpreter, a moved checkout."""
    return f"{sys.implementation.cache_tag} {sys.platform} {ROOT}"


def digest() -> str:
    files = (ROOT / "pyproject.toml", ROOT / "setup.py", LOCK, Path(__file__))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


def read_stamp() -> dict:
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(level: str) -> None:
    stamp = {"environment": environment_key(), "digest": digest(), "level": level}
    temporary = STAMP.with_suffix(".tmp")
    temporary.write_text(json.dumps(stamp), encoding="utf-8")
    os.replace(temporary, STAMP)


def usable(stamp: dict) -> bool:
    return stamp.get("environment") == environment_key() and run([PYTHON, "-c", ""], quiet=True)


def ready(level: str) -> bool:
    stamp = read_stamp()
    has = stamp.get("level")
    enough = has in LEVELS and LEVELS.index(has) >= LEVELS.index(level)
    return enough and stamp.get("digest") == digest() and usable(stamp)


def make_environment() -> None:
    if VENV.exists():
        say("The environment in .venv is unfinished or of another Python or place: made afresh.")
        shutil.rmtree(VENV)
    say(f"Creating .venv with Python {sys.version.split()[0]}.")
    if not run([sys.executable, "-m", "venv", VENV]):
        raise SetupError(
            "Python could not create .venv (see above). On Debian and Ubuntu: "
            "apt-get install python3-venv, then run this again."
        )


# --- packages ------------------------------------------------------------------------------------


def pins() -> dict:
    lines = (line.split("#")[0].strip() for line in LOCK.read_text(encoding="utf-8").splitlines())
    return dict(line.split("==") for line in lines if line)


def has_nvidia_gpu() -> bool:
    return run(["nvidia-smi"], quiet=True, timeout=30)


def torch_attempts(version: str, platform: str, gpu: bool) -> list:
    """Ways to get PyTorch, best first, as (installer, requirement)."""
    plain = ("pip", f"torch=={version}")
    if gpu or not platform.startswith("linux"):
        return [plain]
    return [("pip", f"torch=={version}+cpu"), ("uv", f"torch=={version}"), plain]


def install_torch() -> bool:
    """PyTorch at its pinned version: the CPU build where there is no NVIDIA GPU."""
    attempts = torch_attempts(pins()["torch"], sys.platform, has_nvidia_gpu())
    for number, (installer, requirement) in enumerate(attempts, start=1):
        if installer == "uv":
            done = install_cpu_torch_with_uv("-c", LOCK, requirement, "setuptools")
        else:
            last = number == len(attempts)
            if last and number > 1:
                say("WARNING: no CPU build of PyTorch could be had. THE BUILD WITH CUDA COMES")
                say("         INSTEAD: SEVERAL GIGABYTES. It works without a GPU too.")
            else:
                say(f"Installing {requirement}.")
            options = ["--only-binary", ":all:", "-c", LOCK]
            done = pip_install(*options, requirement, "setuptools", quiet=not last)
        if done:
            return True
    return False


def install_cpu_torch_with_uv(*arguments: object) -> bool:
    say("PyTorch's CPU build is not at hand here: asking uv, which knows where it is kept.")
    command = [PYTHON, "-m", "uv", "pip", "install", "--python", PYTHON, "--torch-backend", "cpu"]
    return pip_install("uv>=0.7", quiet=True) and run(
        [*command, *arguments], UV_HTTP_TIMEOUT="60", UV_NO_CONFIG="1"
    )


def install_packages(level: str) -> None:
    editable = ["--no-build-isolation", "-e", ".[test]" if level == "test" else "."]
    has_torch = install_torch()
    if has_torch:
        say("Installing the other packages at the versions of requirements.lock.")
        if pip_install("--only-binary", ":all:", "-c", LOCK, *editable):
            return
    say(f"WARNING: requirements.lock cannot be met with Python {sys.version.split()[0]} here.")
    say("         Going on with the version ranges of pyproject.toml, which are less tested.")
    if not has_torch and sys.platform.startswith("linux") and not has_nvidia_gpu():
        install_cpu_torch_with_uv("torch")  # where it fails, the next line takes what there is
    if not (pip_install("setuptools>=77") and pip_install("--prefer-binary", *editable)):
        raise SetupError("The packages could not be installed (see above). Is the network there?")


# --- a browser for the browser tests -------------------------------------------------------------


def launches(*path: str) -> str:
    """The browser's path if Playwright can start it, else nothing (no path: Playwright's own)."""
    try:
        done = subprocess.run(
            [str(PYTHON), "-c", LAUNCH, *path],
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def installed_browser() -> str:
    for name in (os.environ.get("RFM_CHROMIUM"), *BROWSERS):
        path = shutil.which(name) if name else None
        if path and launches(path):
            return path
    return ""


def may_install_for_system() -> tuple:
    """Whether packages can be installed without a password, and what goes before the command."""
    if not hasattr(os, "geteuid"):
        return False, []
    if os.geteuid() == 0:
        return True, []
    return run(["sudo", "-n", "true"], quiet=True, timeout=20), ["sudo", "-n"]


def install_browser_with_system() -> bool:
    may, prefix = may_install_for_system()
    if shutil.which("apt-get") and may:
        say("Installing Chromium with apt-get.")
        apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
        apt += ["-o", "Acquire::http::Timeout=30", "-o", "Acquire::https::Timeout=30"]
        apt += ["-o", "Acquire::Retries=1", "-o", "DPkg::Lock::Timeout=120"]
        run([*prefix, "dpkg", "--configure", "-a"], quiet=True)  # heals an interrupted install
        # what apt prints in hundreds of lines (unpacking, setting up) helps nobody
        return run([*apt, "update"], timeout=300) and run(
            [*apt, "-o", "Dpkg::Use-Pty=0", "install", "-y", "--no-install-recommends", "chromium"],
            quiet=True,
        )
    if shutil.which("dnf") and may:
        say("Installing Chromium with dnf.")
        return run([*prefix, "dnf", "-q", "-y", "--setopt=timeout=30", "install", "chromium"])
    if shutil.which("brew"):
        say("Installing Chrome with brew.")
        return run(
            ["brew", "install", "-q", "--cask", "google-chrome"],
            timeout=900,
            HOMEBREW_NO_AUTO_UPDATE="1",
            NONINTERACTIVE="1",
        )
    return False


def install_browser_with_playwright() -> bool:
    say("Downloading Playwright's own Chromium (some 150 MB).")
    command = [PYTHON, "-m", "playwright", "install", "--no-shell", "chromium"]
    env = {"PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "30000"}
    if not run(command, quiet=not sys.stdout.isatty(), timeout=900, **env):
        return False
    if not launches() and shutil.which("apt-get") and may_install_for_system()[0]:
        say("Installing the system libraries it needs.")
        run([PYTHON, "-m", "playwright", "install-deps", "chromium"], quiet=True, timeout=900)
    return True


def provide_browser(may_install: bool) -> None:
    """Write the path of a browser that starts; an empty one where there is none."""
    path = installed_browser()
    if not path and may_install:
        path = installed_browser() if install_browser_with_system() else ""
        # Playwright may have downloaded its own earlier; otherwise it does now
        path = path or launches() or (install_browser_with_playwright() and launches()) or ""
    CHROMIUM_PATH.write_text(path, encoding="utf-8")
    if path:
        say(f"Browser for the tests: {path}")


def check_browser() -> None:
    """Quick on every run: a browser that has gone is looked for again, a lack of one is said."""
    path = CHROMIUM_PATH.read_text(encoding="utf-8") if CHROMIUM_PATH.exists() else ""
    if not path or not Path(path).exists():
        provide_browser(may_install=bool(path) or not CHROMIUM_PATH.exists())
    if not CHROMIUM_PATH.read_text(encoding="utf-8"):
        say("WARNING: NO CHROMIUM OR CHROME COULD BE FOUND OR INSTALLED.")
        say("         THE BROWSER TESTS WILL BE SKIPPED; everything else runs. Install one, or")
        say("         set RFM_CHROMIUM to the program's path, and run this again.")


# --- the whole -----------------------------------------------------------------------------------


@contextlib.contextmanager
def one_at_a_time():
    """Two set-ups of one checkout wait for each other (where the system has such locks)."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(__file__, "rb") as script:
        with contextlib.suppress(OSError):  # some network drives have no locks
            try:
                fcntl.flock(script, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("Waiting for another set-up of this checkout to end.")
                fcntl.flock(script, fcntl.LOCK_EX)
        yield


def set_up(level: str) -> None:
    with one_at_a_time():
        if not ready(level):
            stamp = read_stamp()
            if not usable(stamp):
                make_environment()
            elif stamp.get("level") == "test":
                level = "test"  # keep the test tools up to date as well
            STAMP.unlink(missing_ok=True)
            install_packages(level)
            write_stamp(level)
            say("The environment in .venv is ready.")
        if level == "test":
            check_browser()


def hand_over_to_newer_python() -> None:
    """This Python is too old: go on with a newer one from PATH, or say what is needed."""
    for minor in (11, 12, 13, 14):
        name = f"python3.{minor}"
        if run([name, "-c", ""], quiet=True):
            os.execvp(name, [name, *sys.argv])
    sys.exit(
        f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}.\n"
        "Install one (https://www.python.org) and run: make app PYTHON=path/of/that/python"
    )


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] not in LEVELS:
        sys.exit("usage: python .ci/setup.py app|test")
    try:
        set_up(sys.argv[1])
    except SetupError as error:
        sys.exit(f"[set-up] {error}")
    except KeyboardInterrupt:
        sys.exit("\n[set-up] Interrupted. The next run starts the set-up afresh.")


if __name__ == "__main__":
    if sys.version_info < OLDEST:
        hand_over_to_newer_python()
    main()
