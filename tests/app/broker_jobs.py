"""Jobs for the tests of the broker; workers import this module by its name."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rfm_core.events import Reporter
from rfm_core.tasks import job

Arguments = dict[str, Any]


@job("app.ping")
def ping(arguments: Arguments, report: Reporter) -> Arguments:
    return {}


@job("who")
def who(arguments: Arguments, report: Reporter) -> Arguments:
    return {"pid": os.getpid(), "nice": os.nice(0)}


@job("count")
def count(arguments: Arguments, report: Reporter) -> Arguments:
    """So many naps of a hundredth of a second; tells its process id at the first."""
    for number in range(arguments["naps"]):
        report(f"process {os.getpid()}", number, arguments["naps"])
        time.sleep(0.01)
    return {"pid": os.getpid()}


@job("svd")
def svd(arguments: Arguments, report: Reporter) -> Arguments:
    """Long inside one call of LAPACK; the file tells that it has begun."""
    matrix = torch.rand(4000, 4000, dtype=torch.float64)
    Path(arguments["begun"]).write_text(str(os.getpid()))
    return {"largest": float(torch.linalg.svdvals(matrix)[0])}


@job("allocate")
def allocate(arguments: Arguments, report: Reporter) -> Arguments:
    return {"sum": float(np.ones(int(arguments["gigabytes"] * 1.25e8)).sum())}
