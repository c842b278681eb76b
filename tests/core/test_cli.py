"""The command line as a user runs it, in processes of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rfm_core.cli import main


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rfm_core", *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        encoding="utf-8",
        env=None,
    )


def test_demo(tmp_path: Path) -> None:
    picture = tmp_path / "forecast.svg"
    done = run("demo", "--picture", str(picture))
    assert done.returncode == 0, done.stderr
    assert "3,584 parameters" in done.stdout
    assert "The paper, same width, same number of parameters: 10.1 ± 1.7" in done.stdout
    mean = re.search(r"\(eps=0\.3\): ([\d.]+) ± ([\d.]+) Lyapunov times", done.stdout)
    assert mean is not None
    assert float(mean[1]) > 23.5
    assert "█" in done.stdout
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert done.stderr == ""  # no terminal, no bar


def test_help_for_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    general = capsys.readouterr().out
    for command in ("demo", "systems"):
        assert command in general
        with pytest.raises(SystemExit, match="0"):
            main([command, "--help"])
        assert f"rfm_core {command}" in capsys.readouterr().out


def test_errors_are_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--width", "0"]) == 2
    assert capsys.readouterr().err.startswith("rfm_core: width=0 cannot be used")


def test_a_reader_that_has_seen_enough() -> None:
    command = f"'{sys.executable}' -u -m rfm_core systems | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("L63")
    assert done.stderr == ""


def test_systems(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["systems"]) == 0
    listed = capsys.readouterr().out
    for name in ("L63", "L96", "KS", "Roessler", "Halvorsen"):
        assert name in listed
