"""The command line: python -m rfm_core ..."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .architecture import ModelSpec
from .checks import InvalidInput
from .console import ProgressBar, sparkline, write_forecast_picture
from .data import DataSpec, make_dataset
from .evaluate import evaluate
from .events import Reporter
from .fit import Fitted, fit_events
from .metrics import density
from .paper import published
from .systems import SYSTEMS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; errors are one worded line, an interrupt ends quietly."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return int(options.run(options))
    except InvalidInput as error:
        print(f"rfm_core: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nrfm_core: interrupted.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m rfm_core",
        description="Learning chaotic dynamical systems with hit-and-run random feature maps.",
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    demo = commands.add_parser(
        "demo", help="train a small model on Lorenz-63 and show how far it sees"
    )
    demo.add_argument("--width", type=int, default=512, help="number of features D_r (default 512)")
    demo.add_argument("--seed", type=int, default=0, help="seed of data and weights (default 0)")
    demo.add_argument(
        "--picture", type=Path, help="write a picture of one forecast to this SVG file"
    )
    demo.set_defaults(run=_demo)
    systems = commands.add_parser("systems", help="list the systems and what is known about them")
    systems.set_defaults(run=_systems)
    return parser


def _demo(options: argparse.Namespace) -> int:
    bar = ProgressBar()
    data = make_dataset(DataSpec("L63", n_test=50, seed=options.seed), report=Reporter(bar))
    spec = ModelSpec("SkipRFM", width=options.width)
    for event in fit_events(spec, data, seed=options.seed):
        if isinstance(event, Fitted):
            fitted = event
        else:
            bar(event)
    model = fitted.model
    times = evaluate(model, data, report=Reporter(bar))
    bar.close()
    summary = times.summary()
    print(f"Lorenz-63, {data.pairs} training pairs, dt={data.dt:g}, accurate to rounding")
    print(f"{spec.label}, {model.size:,} parameters, trained in {fitted.seconds:.1f} s")
    print(
        f"Valid prediction time over {summary['n']} test trajectories (eps={data.eps:g}): "
        f"{summary['mean']:.1f} ± {summary['std']:.1f} Lyapunov times "
        f"(standard error {summary['sem']:.2f}, {summary['censored']} censored)"
    )
    paper = published("L63", "SkipRFM", options.width)
    if paper is not None:
        print(
            f"The paper, same width, same number of parameters: {paper.vpt_mean} ± {paper.vpt_std} "
            "(normal equations, its own data)"
        )
    else:
        print(f"The paper has no SkipRFM of width {options.width}; it has 512, 1024, ... 16384.")
    _, values = density(times.vpt, grid=np.linspace(0, 40, 61))
    print(f"0 {sparkline(values)} 40")
    if options.picture is not None:
        middle = int(np.argsort(times.vpt)[len(times.vpt) // 2])
        shown = min(
            data.test.shape[1] - 1, int(1.3 * times.vpt[middle] * data.lyapunov_time / data.dt)
        )
        write_forecast_picture(
            options.picture,
            np.arange(shown + 1) * data.dt / data.lyapunov_time,
            data.test[middle, : shown + 1],
            model.forecast(data.test[middle, 0], shown),
            float(times.vpt[middle]),
            list(data.columns),
            f"Lorenz-63 forecast by {spec.label}: valid for {times.vpt[middle]:.1f} Lyapunov times",
        )
        print(f"Picture of a typical forecast: {options.picture}")
    return 0


def _systems(options: argparse.Namespace) -> int:
    for system in SYSTEMS.values():
        values = ", ".join(f"{k}={v:g}" for k, v in system.parameters.items())
        print(f"{system.name:10} {system.title}; {values}")
        print(
            f"{'':10} dt={system.dt:g}, N={system.n_train}, Lyapunov exponent {system.lyapunov:g}, "
            f"eps={system.eps:g}"
        )
        print(f"{'':10} {system.citation}")
    return 0
