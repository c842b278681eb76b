"""Estimated against measured processor seconds: ``python tests/bench/estimates.py``."""

from __future__ import annotations

import itertools
import time

import rfm_core as rfm
from rfm_core.choose.cost import cost_of_run

CASES = [
    ({"system": "L63", "n_test": 20}, {"width": 512}),
    ({"system": "L63", "n_test": 5}, {"width": 512, "solver": "normal", "beta": 1e-8}),
    (
        {"system": "L96", "n_train": 20_000, "n_test": 5, "lyapunov": 2.27},
        {"architecture": "LocalDeepSkip", "width": 256, "depth": 2, "G": 2, "I": 2},
    ),
]


def main() -> None:
    print("| model | measured: data, fit, forecasts | estimated | ratio |\n|---|---|---|---|")
    for data, model in CASES:
        spec, wanted = rfm.DataSpec(**data), rfm.ModelSpec(**model)
        rfm.make_dataset(spec.replace(n_train=100, test_steps=5), cache=False)  # compiles
        laps = [time.process_time()]
        made = rfm.make_dataset(spec, cache=False)
        laps.append(time.process_time())
        trained = rfm.fit(wanted, made)
        laps.append(time.process_time())
        rfm.evaluate(trained, made)
        laps.append(time.process_time())
        told, total = cost_of_run(spec, wanted).seconds, laps[-1] - laps[0]
        parts = ", ".join(f"{b - a:.2f}" for a, b in itertools.pairwise(laps))
        print(f"| {spec.system} {wanted.label} | {parts} s | {told:.2f} s | {told / total:.2f} |")


if __name__ == "__main__":
    main()
