"""Speed and memory of the engine as ratios to the plain method in the same run.

    .venv/bin/python tests/bench/engine.py [--quick]

Writes assets/engine-benchmark.md. The plain method is the textbook's and the paper's: the whole
feature matrix in memory, normal equations, test trajectories one after the other.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import torch

import rfm_core as rfm
from rfm_core.run.tasks import PeakMemory

PAGE = Path(__file__).parents[2] / "assets" / "engine-benchmark.md"


def timed(work: Callable[[], object], repeats: int) -> tuple[float, float, float]:
    """Median, least seconds and peak megabytes above the start."""
    seconds, peak = [], 0.0
    for _ in range(repeats):
        before = resident()
        memory = PeakMemory()
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
        peak = max(peak, memory.megabytes - before)
    return statistics.median(seconds), min(seconds), peak


def resident() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def plain_fit(model: rfm.Model, data: rfm.Dataset, beta: float) -> torch.Tensor:
    """Everything at once, with the same internal weights."""
    u = torch.from_numpy(data.train[0].copy())
    features = model.units[0].features
    phi = torch.tanh(u[:-1] @ features.weights.T + features.bias)
    target = u[1:] - u[:-1]
    gram = phi.T @ phi + beta * torch.eye(phi.shape[1], dtype=phi.dtype)
    return torch.linalg.solve(gram, phi.T @ target)


def training(quick: bool) -> list[str]:
    lines = [
        "## Training: L63, N=5e4, SkipRFM",
        "",
        "| D_r | plain (s) | normal | QR | QR, automatic beta | plain (MB) | QR (MB) |",
        "|---|---|---|---|---|---|---|",
    ]
    data = rfm.make_dataset(rfm.DataSpec("L63", n_test=1))
    for width in (512, 1024) if quick else (512, 1024, 2048):
        spec = rfm.ModelSpec("SkipRFM", width=width, beta=1e-8, solver="normal", centred=False)
        model = rfm.fit(spec, data)
        repeats = 3 if width < 2048 else 2
        exact, automatic = spec.replace(solver="qr"), spec.replace(solver="qr", beta="auto")
        plain, _, plain_mb = timed(lambda m=model: plain_fit(m, data, 1e-8), repeats)
        normal, _, _ = timed(lambda s=spec: rfm.fit(s, data), repeats)
        qr, _, qr_mb = timed(lambda s=exact: rfm.fit(s, data), repeats)
        auto, _, _ = timed(lambda s=automatic: rfm.fit(s, data), repeats)
        lines.append(
            f"| {width} | {plain:.2f} | {normal / plain:.1f} x | {qr / plain:.1f} x "
            f"| {auto / plain:.1f} x | {plain_mb:.0f} | {qr_mb:.0f} |"
        )
    return [*lines, ""]


def forecasting() -> list[str]:
    data = rfm.make_dataset(rfm.DataSpec("L63", n_test=50))
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=512, beta=1e-20), data)
    starts = data.test[:, 0]
    together, _, _ = timed(lambda: model.forecast(starts, 500), 3)
    single, _, _ = timed(lambda: [model.forecast(s, 500) for s in starts[:10]], 3)
    ratio = 5 * single / together
    return [
        "## Forecasting: L63, SkipRFM 512, 50 trajectories of 500 steps",
        "",
        f"Side by side {together:.2f} s; one after the other {ratio:.1f} times as long.",
        "",
    ]


def generation(quick: bool) -> list[str]:
    lines = ["## Data", "", "| data | seconds |", "|---|---|"]
    for name, n in (("L63", 50_000), ("L96", 100_000), ("KS", 10_000 if quick else 100_000)):
        spec = rfm.DataSpec(name, n_train=n, n_test=1, test_steps=10)
        seconds, _, _ = timed(lambda s=spec: rfm.make_dataset(s, cache=False), 1)
        lines.append(f"| {name}, {n} pairs, burn-in included | {seconds:.1f} |")
    return [*lines, ""]


def cancelling() -> list[str]:
    """From the cancelling to the end of the work, which is looked at between pieces.

    A training's piece is one factorization; worker processes are killed inside it instead.
    """
    lines = ["## Cancelling", "", "| work | ms |", "|---|---|"]
    works: dict[str, Callable[[rfm.Reporter], object]] = {}
    for name in ("L63", "L96", "KS"):
        spec = rfm.DataSpec(name, n_train=10**6, n_test=0)
        works[f"data of {name}"] = lambda r, s=spec: rfm.make_dataset(s, cache=False, report=r)
    data = rfm.make_dataset(rfm.DataSpec("L63", n_test=1, test_steps=10))
    works["fit, D_r=4096"] = lambda r: rfm.fit(rfm.ModelSpec(width=4096), data, report=r)
    for name, work in works.items():
        token, when = rfm.CancelToken(), [0.0]

        def cancel(token: rfm.CancelToken = token, when: list[float] = when) -> None:
            when[0] = time.perf_counter()
            token.cancel()

        timer = threading.Timer(1.0, cancel)
        timer.start()
        with suppress(rfm.Cancelled):
            work(rfm.Reporter(cancel=token))
        lines.append(f"| {name} | {1000 * (time.perf_counter() - when[0]):.0f} |")
        timer.join()
    return [*lines, ""]


def large() -> list[str]:
    """Memory must not grow with the number of rows."""
    lines = ["## Memory: L63, D_r=4096, QR", "", "| pairs | peak above the data (MB) | s |"]
    lines.append("|---|---|---|")
    for n in (20_000, 100_000):
        data = rfm.make_dataset(rfm.DataSpec("L63", n_train=n, n_test=1, test_steps=10))
        spec = rfm.ModelSpec("SkipRFM", width=4096, beta=1e-20)
        seconds, _, peak = timed(lambda s=spec, d=data: rfm.fit(s, d), 1)
        lines.append(f"| {n} | {peak:.0f} | {seconds:.0f} |")
    return [*lines, ""]


def main() -> None:
    quick = "--quick" in sys.argv
    head = [
        "# The engine beside the plain method",
        "",
        "Made by `tests/bench/engine.py`: medians of repeats in one run, plain method and ours in",
        f"turn, {torch.get_num_threads()} torch threads, float64, CPU. Seconds depend on the",
        "machine; look at the ratios.",
        "",
    ]
    np.set_printoptions(precision=3)
    with rfm.threads(torch.get_num_threads()):  # as many as the plain method has
        parts = [*head, *training(quick), *forecasting(), *generation(quick), *cancelling()]
        if not quick:
            parts += large()
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    print("\n".join(parts))


if __name__ == "__main__":
    main()
