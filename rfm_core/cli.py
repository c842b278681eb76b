"""The command line: python -m rfm_core ..."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .checks import InvalidInput
from .demo import demo
from .paper.cli import list_rows, list_tables, report_store, reproduce
from .paper.reproduce import SETTINGS
from .paper.tables import TABLES
from .systems import SYSTEMS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; errors are one worded line, an interrupt ends quietly."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return int(options.run(options) or 0)
    except InvalidInput as error:
        print(f"rfm_core: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # piped into something that has seen enough, such as head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("\nrfm_core: interrupted.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m rfm_core",
        description="Learning chaotic dynamical systems with hit-and-run random feature maps.",
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    _add_demo(commands)
    systems = commands.add_parser("systems", help="list the systems and what is known about them")
    systems.set_defaults(run=_systems)
    _add_reproduce(commands)
    return parser


def _add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "train a small model on Lorenz-63 and show how far it sees"
    parser = commands.add_parser("demo", help=text, description=text)
    parser.add_argument("--width", type=int, default=512, help="number of features (default 512)")
    parser.add_argument("--seed", type=int, default=0, help="seed of data and weights (default 0)")
    parser.add_argument("--picture", type=Path, help="draw one forecast into this SVG file")
    parser.set_defaults(run=lambda o: demo(o.width, o.seed, o.picture))


def _add_reproduce(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "reproduce",
        help="repeat the paper's tables and print published and measured side by side",
        description="Without a table: list the paper's five tables. With one: repeat its rows. "
        "What is done is kept in the store, so that a run can be interrupted and goes on later.",
    )
    add = parser.add_argument
    add("table", nargs="?", choices=list(TABLES), help="one of the paper's tables")
    add("--list", action="store_true", help="list the rows of the table and run nothing")
    add("--report", action="store_true", help="show all that the store has, and run nothing")
    add("--earlier", type=Path, help="with --report: add the rows of this CSV file made by --csv")
    add("--rows", default="", help="numbers of rows, such as 1,3-5 (default: all)")
    add("--architecture", default="", help="only rows of this architecture")
    add("--width", type=int, help="only rows of this width D_r")
    add("--depth", type=int, help="only rows of this depth B")
    add("--at-width", type=int, help="repeat the rows with this width instead of the published one")
    add("--realizations", type=int, default=500, help="per row (default 500, the paper's)")
    add("--settings", choices=SETTINGS, default="paper", help="as published, or this engine's best")
    add("--seed", type=int, default=0, help="seed of all realizations (default 0)")
    add("--executor", choices=("inline", "processes", "dask"), default="processes")
    add("--slots", type=int, help="processes side by side (default: one per core)")
    add("--threads", type=int, default=1, help="torch threads per realization (default 1)")
    add("--address", help="address of a dask scheduler (with --executor dask)")
    add("--store", type=Path, default=Path("rfm-results.sqlite"), help="where results are kept")
    add("--markdown", type=Path, help="also write the table to this Markdown file")
    add("--csv", type=Path, help="also write the table to this CSV file")
    parser.set_defaults(run=_reproduce)


def _reproduce(options: argparse.Namespace) -> int:
    if options.report:
        report_store(options)
        return 0
    if options.table is None:
        list_tables()
        return 0
    if options.list:
        list_rows(options.table)
        return 0
    return reproduce(options)


def _systems(options: argparse.Namespace) -> None:
    for system in SYSTEMS.values():
        values = ", ".join(f"{k}={v:g}" for k, v in system.parameters.items())
        print(f"{system.name:10} {system.title}; {values}")
        print(
            f"{'':10} dt={system.dt:g}, N={system.n_train}, Lyapunov exponent {system.lyapunov:g}, "
            f"eps={system.eps:g}"
        )
        print(f"{'':10} {system.citation}")
