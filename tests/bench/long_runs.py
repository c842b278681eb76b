"""Do models of Kuramoto-Sivashinsky stay on the attractor? The study behind assets/long-runs.md.

    .venv/bin/python tests/bench/long_runs.py            1,000 Lyapunov times (an hour)
    .venv/bin/python tests/bench/long_runs.py 100        fewer
    .venv/bin/python tests/bench/long_runs.py 1000 far   models with "far" in their names

Trains each model, runs it from test states that it has not seen, and compares all values of u with
those of two independent runs of the equation, by the exact Wasserstein distance.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import rfm_core as rfm

PAGE = Path(__file__).parents[2] / "assets" / "long-runs.md"
DATA = rfm.DataSpec("KS", n_train=20_000, n_test=2, test_steps=1, seed=2026)
MODELS = {
    "recommended": rfm.recommended("KS"),
    "1024x2": rfm.recommended("KS").replace(width=1024, noise=1e-6),
    "1024x4": rfm.recommended("KS").replace(width=1024, depth=4, noise=3e-7),
    "recommended, far": rfm.recommended("KS", far=True),
}
EVERY = 16  # steps, four time units: what is kept of a run
PIECE = 64 * EVERY
HEAD = """\
# Long runs of Kuramoto-Sivashinsky models

Made by `tests/bench/long_runs.py`. Each model was trained once on {pairs:,} pairs (seed 2026) and
run from {runs} states it had not seen for {times:g} Lyapunov times each ({steps:,} steps);
{kept:,} values of u of each run are compared. W2 is the exact Wasserstein distance of their
distribution to that of a run of the equation as long; the first line is the distance between two
independent runs of the equation, twice. Standard deviation and largest |u| are those of the runs.

| model | parameters | left the attractor | W2 to the truth, each run | standard deviation | \
largest \\|u\\| |
|---|---|---|---|---|---|
"""


def values(advance: object, states: np.ndarray, steps: int) -> np.ndarray:
    """u of each run at every ``EVERY``-th step, (runs, numbers); NaN once a run has left."""
    kept: list[np.ndarray] = []
    for low in range(0, steps, PIECE):
        piece = advance(states, min(PIECE, steps - low))  # type: ignore[operator]
        kept.append(piece[:, EVERY - 1 :: EVERY])
        states = np.nan_to_num(piece[:, -1])  # no run begins at NaN
    joined = np.concatenate(kept, axis=1)
    gone = np.logical_or.accumulate(np.isnan(joined).any(axis=2), axis=1)
    joined[gone] = np.nan
    return joined.reshape(len(states), -1)


def main(times: float, wanted: str) -> None:
    data = rfm.make_dataset(DATA)
    system = rfm.get_system("KS")
    assert data.lyapunov is not None
    steps = round(times / (data.lyapunov * data.dt))
    stepper = system.stepper(DATA.parameter_values, data.dt, DATA.accuracy)
    others = rfm.make_dataset(DATA.replace(realization=1, n_test=4, n_train=50))
    truth = values(
        lambda u, n: stepper.rollout(u, n, rfm.Reporter(), "")[:, 1:], others.test[:, 0], steps
    )
    pairs = ", ".join(f"{rfm.wasserstein2(truth[i], truth[i + 2]):.4f}" for i in range(2))
    stds = ", ".join(f"{run.std():.4f}" for run in truth)
    lines = [f"| the equation | | | {pairs} | {stds} | {np.abs(truth).max():.2f} |"]
    head = HEAD.format(
        pairs=data.pairs, runs=DATA.n_test, times=times, steps=steps, kept=truth.shape[1]
    )
    before = PAGE.read_text(encoding="utf-8").splitlines()
    for name, spec in MODELS.items():
        if wanted not in name:
            lines += [line for line in before if line.startswith(f"| {name}: ")]
            continue
        began = time.perf_counter()
        model = rfm.fit(spec, data, seed=2026)
        runs = values(lambda u, n, m=model: m.run(u, n).states[:, 1:], data.test[:, 0], steps)
        gone = int(np.isnan(runs).any(axis=1).sum())
        apart = [
            f"{rfm.wasserstein2(run, true):.4f}"
            for run, true in zip(runs, truth, strict=False)
            if not np.isnan(run).any()
        ]
        label = spec.label.replace("|", " and ")
        stds = ", ".join(f"{np.nanstd(run):.4f}" for run in runs)
        lines.append(
            f"| {name}: {label} | {model.size:,} | {gone} of {len(runs)} "
            f"| {', '.join(apart)} | {stds} | {np.nanmax(np.abs(runs)):.2f} |"
        )
        print(lines[-1], f"{time.perf_counter() - began:.0f} s", flush=True)
        PAGE.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 1000.0, "".join(sys.argv[2:]))
