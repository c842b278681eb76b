"""Run the app's stories with several seeds: ``python tests/bench/stories.py [seeds] [keys...]``.

Prints a line for each story and seed: both means with standard errors, whether the claim shows,
and the processor seconds of both runs on one thread.
"""

from __future__ import annotations

import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rfm_explorer.state.settings import Settings
from rfm_explorer.state.stories import STORIES, Numbers

import rfm_core as rfm


@lru_cache(maxsize=1)  # most pairs of runs share their data, in the app by its cache
def dataset(spec: rfm.DataSpec) -> rfm.Dataset:
    return rfm.make_dataset(spec, cache=False)


def numbers(values: dict[str, Any], seed: int) -> Numbers:
    settings = Settings()
    settings.apply({**values, "seed": seed})
    data = dataset(settings.data_spec())
    model = rfm.fit(settings.model_spec(), data, seed=seed)
    told = rfm.evaluate(model, data).summary()
    return Numbers(int(told["n"]), told["mean"], told["sem"], "", int(told["diverged"]), model.size)


def main(seeds: int, keys: list[str]) -> None:
    torch.set_num_threads(1)
    for story in STORIES:
        for seed in range(seeds if not keys or story.key in keys else 0):
            began = time.process_time()
            against, run = (numbers(v, seed) for v in (story.against, story.settings))
            seconds = time.process_time() - began
            means = " -> ".join(f"{x.mean:5.2f} ± {x.sem:.2f}" for x in (against, run))
            shows = "shows" if story.shows(run, against) else "does not show"
            print(f"{story.key:20} seed {seed}  {means}  {seconds:5.1f} s  {shows}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4, sys.argv[2:])
