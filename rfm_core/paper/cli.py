"""The command `reproduce`: progress, interrupts, tables on the terminal and in files."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..checks import InvalidInput, whole
from ..cli_output import ProgressBar
from ..events import CancelToken, Progress
from ..files import write_atomically
from ..run import using
from ..study.results import ResultStore
from ..study.study import RealizationFailed, StudyCancelled, StudyEvent, StudySpec, run_study
from .reproduce import (
    Comparison,
    as_csv,
    describe,
    found_in,
    from_csv,
    joined,
    markdown,
    report,
    rows_of,
    select,
    study_of,
)
from .tables import TABLES, PaperRow


def list_tables() -> None:
    """The five tables and how to run them."""
    for name, title in TABLES.items():
        print(f"{name:10} {len(rows_of(name)):3} rows   {title}")
    print("\nRows of one:  python -m rfm_core reproduce L63_1_s --list")
    print("Repeat some:  python -m rfm_core reproduce L63_1_s --rows 7-9 --realizations 50")


def list_rows(table: str) -> None:
    """The rows of one table, with their numbers."""
    print(f"{table}: {TABLES[table]}")
    for number, row in enumerate(rows_of(table), start=1):
        local = "" if row.G is None else f"({row.G},{row.I})"
        print(
            f"{number:3}  {row.architecture + local:22} D_r={row.width:<6} B={row.depth:<3} "
            f"{row.model_size:>9,} parameters   VPT {row.vpt_mean} ± {row.vpt_std}"
        )


def reproduce(options: argparse.Namespace) -> int:
    """Run the chosen rows; an interrupt keeps and shows what is done."""
    rows = select(
        options.table,
        numbers=options.rows,
        architecture=options.architecture,
        width=options.width,
        depth=options.depth,
    )
    threads = whole("threads", options.threads, 1, 1024, "1 is right where several run.")
    studies = [
        (number, row, _study(row, options))  # all are checked before the first one starts
        for number, row in rows
    ]
    comparisons: list[Comparison] = []
    cancelled = False
    with (
        ResultStore(options.store) as store,
        using(options.executor, **_executor_options(options)) as executor,
        _cancel_on_interrupt() as token,
    ):
        for number, row, spec in studies:
            name = f"row {number}: {row.architecture} {spec.model.width}x{row.depth}"
            bar = ProgressBar()
            event = None
            for event in run_study(
                spec, executor=executor, store=store, cancel=token, threads=threads
            ):
                _show(bar, name, event)
            bar.close()
            assert event is not None
            if event.done:
                comparisons.append(_compared(number, row, options, event))
                print(_line(comparisons[-1]), flush=True)
            if isinstance(event, StudyCancelled):
                cancelled = True
                break
    print(f"\n{describe(options.table)}\n\n{markdown(comparisons)}", end="")
    _write(options.markdown, markdown(comparisons))
    _write(options.csv, as_csv(comparisons))
    if cancelled:
        print(
            f"\nInterrupted. What is done is in {str(options.store)!r}; the same command goes on.",
            file=sys.stderr,
        )
        return 130
    return 0


def report_store(options: argparse.Namespace) -> None:
    """Everything the store has of the paper's tables, as one page."""
    if not options.store.is_file():
        raise InvalidInput(
            f"There is no store {str(options.store)!r}. Run some rows first, or name another."
        )
    with ResultStore(options.store) as store:
        comparisons = found_in(store, seed=options.seed)
    if options.earlier is not None:
        comparisons = joined(comparisons, from_csv(_read(options.earlier)))
    print(report(comparisons))
    _write(options.markdown, report(comparisons))
    _write(options.csv, as_csv(comparisons))


def _study(row: PaperRow, options: argparse.Namespace) -> StudySpec:
    return study_of(
        row,
        options.settings,
        realizations=options.realizations,
        seed=options.seed,
        width=options.at_width,
    )


def _compared(
    number: int, row: PaperRow, options: argparse.Namespace, event: StudyEvent
) -> Comparison:
    return Comparison(number, row, options.settings, event.statistics, options.at_width)


def _executor_options(options: argparse.Namespace) -> dict[str, Any]:
    if options.executor == "processes":
        return {"slots": options.slots}
    return {"address": options.address} if options.executor == "dask" else {}


@contextmanager
def _cancel_on_interrupt() -> Iterator[CancelToken]:
    """Ctrl-C sets the token, so that the study ends in order; a second one ends at once."""
    token = CancelToken()

    def handler(number: int, frame: object) -> None:
        if token.cancelled:
            raise KeyboardInterrupt
        token.cancel()

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield token
    finally:
        signal.signal(signal.SIGINT, before)


def _show(bar: ProgressBar, name: str, event: StudyEvent) -> None:
    if isinstance(event, RealizationFailed):
        bar.close()
        print(f"{name}, realization {event.realization} failed: {event.reason}", flush=True)
    mine = event.done + event.failed - event.resumed
    bar(Progress(name, mine, event.total - event.resumed, event.seconds))


def _line(c: Comparison) -> str:
    cells = c.cells()
    end = f"z={cells['z']}" if c.as_published else f"(paper: D_r={c.row.width})"
    return (
        f"row {cells['row']:>3}  {cells['model']:20} {cells['D_r']:>5} x {cells['B']:<3} "
        f"paper {cells['paper mean']:>5} ± {cells['paper std']:<4}  here {cells['mean']:>6} "
        f"± {cells['error']:<5} (n={cells['n']})  {end}"
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(
            f"{str(path)!r} could not be read: {reason}. Give a file made with --csv."
        ) from None


def _write(path: Path | None, text: str) -> None:
    if path is None:
        return

    def write(temporary: Path) -> None:
        temporary.write_text(text, encoding="utf-8")

    try:
        write_atomically(path, write)
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} could not be written: {error.strerror or error}. "
            "Choose another file; the results themselves are in the store."
        ) from None
