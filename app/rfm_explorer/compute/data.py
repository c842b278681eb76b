"""The data of a job: a system's, or a user's own series; and a first look at an uploaded file."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rfm_core import (
    Dataset,
    DataSpec,
    InvalidInput,
    Reporter,
    SeriesLimits,
    inspect_series,
    load_series,
)
from rfm_core import make_dataset as make
from rfm_core.checks import refuse
from rfm_core.data.series.columns import plain
from rfm_core.run.tasks import Answer, Arguments

from ..captions.files import in_page_words, meaning_of_columns

CACHED_BYTES = 100_000_000  # larger sets of further realizations would drive all others out
POSITION = re.compile(r"column ([1-9]\d{0,5})")  # how a column without a name is called
SERIES = ("columns", "time", "dt", "key", "lyapunov", "estimate", "eps", "homogeneous", "n_test",
          "separate")  # fmt: skip


def data_spec(arguments: Arguments, realization: int = 0) -> DataSpec | None:
    """Of a realization, one seed for everything as in studies; None for a user's own series."""
    if "series" in arguments["data"]:
        return None
    spec = DataSpec.from_dict(arguments["data"])
    return spec.replace(realization=realization, seed=int(arguments["seed"]))


def make_data(arguments: Arguments, report: Reporter, realization: int = 0) -> Dataset:
    """The data of a realization; an own series has only one, so realizations differ in weights."""
    spec = data_spec(arguments, realization)
    if spec is None:
        data = _own_series(arguments["data"]["series"])
        report("data", 1, 1)
    else:
        cache = realization == 0 or spec.bytes <= CACHED_BYTES
        data = make(spec, cache=cache, report=report)
    if not len(data.test):
        raise refuse("n_test", 0, "at least 1", "Forecasts are compared with test trajectories.")
    return data


def _own_series(given: Arguments) -> Dataset:
    """Columns go by their names, or by position: "column 2" is the second where none has a name."""
    source = _source(given)
    options = {name: given[name] for name in SERIES if given.get(name) is not None}
    with _page_words():
        try:
            return load_series(source, **options)
        except InvalidInput:
            by_position = _by_position(options)
            if by_position == options:
                raise
            return load_series(source, **by_position)


def _by_position(options: dict[str, Any]) -> dict[str, Any]:
    def place(column: Any) -> Any:
        match = POSITION.fullmatch(column) if isinstance(column, str) else None
        return int(match[1]) - 1 if match else column

    found = {k: place(v) for k, v in options.items() if k == "time"}
    found |= {k: [place(c) for c in v] for k, v in options.items() if k == "columns"}
    return options | found


def _source(given: Arguments) -> tuple[bytes, str]:
    """The bytes of a file that the server named, and the name that the user gave it."""
    path, name = Path(given["file"]), str(given["name"])
    try:
        SeriesLimits().check_bytes(plain(name), path.stat().st_size)
        return path.read_bytes(), name
    except OSError:
        raise InvalidInput(
            f"{plain(name)} is no longer on the server: files are kept while their page is open, "
            "and for some minutes after. Choose it again."
        ) from None


@contextmanager
def _page_words() -> Iterator[None]:
    """Refusals of the engine as somebody without Python can use them."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(in_page_words(str(error))) from error


def inspect_file(arguments: Arguments) -> Answer:
    """What an uploaded file holds, in plain values; a bad file is refused in words."""
    with _page_words():
        found = inspect_series(_source(arguments), key=arguments.get("key"))
    words = in_page_words(found.message)
    if found.dt_guess is not None:
        words += meaning_of_columns(found.components)
    return {**dataclasses.asdict(found), "message": words}
