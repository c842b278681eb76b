"""Taking results away: a tab as one archive, the model and the code as files."""

from __future__ import annotations

import base64
import io
import logging
import re
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import panel as pn
import param

from rfm_core import InvalidInput
from rfm_core.model.store import versions

from ..state.controls import OWN
from ..state.settings import Settings

if TYPE_CHECKING:
    from ..views.base import View
    from ..views.context import Shown

log = logging.getLogger("rfm_explorer")
HERE = Path(__file__).parent
Array = np.ndarray


@dataclass(frozen=True)
class Saved:
    """One file, or an archive of several if its name ends with .zip."""

    name: str
    files: Mapping[str, bytes]


class Download(pn.custom.JSComponent):
    """A button that saves what ``make`` gives, anew each time; served and in a notebook alike."""

    text = param.String("")
    why = param.String("")
    pictures = param.Boolean(False, doc="Whether the pictures in sight go into the archive.")
    asked = param.Integer(0)
    answer = param.Dict(default={})

    _esm = HERE / "download.js"
    _stylesheets = [HERE / "download.css"]  # noqa: RUF012 - as Panel declares it

    def __init__(self, text: str, make: Callable[[], Saved], why: str, **more: Any) -> None:
        self._make = make
        super().__init__(text=text, why=why, **{"margin": (6, 10), **more})
        self.param.watch(self._reply, "asked")

    def _reply(self, event: object) -> None:
        try:
            saved = self._make()
            files = [[n, base64.b64encode(b).decode()] for n, b in saved.files.items()]
            self.answer = {"name": saved.name, "files": files}
        except InvalidInput as error:
            self.answer = {"trouble": str(error)}
        except Exception:
            log.exception("a download could not be made")
            self.answer = {"trouble": "Something went wrong. The log has the details."}


def archive(view: View, shown: Shown) -> Saved:
    """Everything of a tab but its figures, which the browser adds."""
    run, files = shown.run, dict(view.drawn_files())
    arrays = {} if run is None or run.info is None else view.arrays(run, run.info)
    if arrays:
        files |= {"data.csv": as_csv(arrays).encode(), "data.npz": as_npz(arrays)}
    if not files:
        raise InvalidInput("There is nothing to save yet. Wait until the pictures are drawn.")
    files["code.py"] = view.snippet(shown.settings, shown.selected).encode()
    files["README.txt"] = readme(view, shown).encode()
    return Saved(f"{stem(shown.settings)}-{view.key}.zip", files)


def stem(settings: Settings) -> str:
    """How files of a run are called, as in rfm-L63-SkipRFM-512-seed0."""
    return f"rfm-{safe_name(settings.label())}-seed{settings.seed}"


def safe_name(text: str) -> str:
    """For a file: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:60] or "rfm"


def readme(view: View, shown: Shown) -> str:
    """What lies in the archive, and how to see it again."""
    s = shown.settings
    lines = [
        f"{view.title}: {s.label()}, seed {s.seed}",
        view.about,
        "",
        f"Link: {link(s, view.key)}",
        f"Test trajectory shown: {shown.selected[1]} of realization {shown.selected[0]}",
        "Made with " + ", ".join(f"{name} {number}" for name, number in versions().items()) + ".",
        "",
        "*.png, *.svg    the pictures in sight",
        "data.csv        the numbers behind them; tables of other lengths are below each other",
        "data.npz        the same: numpy.load('data.npz')",
        "code.py         Python code that gives the same numbers, with rfm_core alone",
        "",
        "Settings:",
        *(f"    {name} = {value}" for name, value in s.effective().items()),
    ]
    return "\n".join(lines) + "\n"


def link(settings: Settings, key: str) -> str:
    """The address of this tab with these settings, as far as it is known."""
    if settings.system == OWN:
        return "none, because your file stays with you"
    query = urllib.parse.urlencode({**settings.query(), "tab": key})
    location = pn.state.location
    if location is None or not location.href:  # in a notebook
        return f"?{query} behind the address of an explorer"
    return f"{location.href.split('?')[0]}?{query}"


def as_npz(arrays: Mapping[str, Array]) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()


def as_csv(arrays: Mapping[str, Array]) -> str:
    """Columns of one length make a table; matrices get a column for each of theirs."""
    tables: dict[int, dict[str, Array]] = {}
    for name, array in arrays.items():
        values = np.atleast_1d(np.asarray(array))
        flat = values.reshape(len(values), -1)
        columns = (
            {name: flat[:, 0]}
            if values.ndim == 1
            else {f"{name}_{k}": flat[:, k] for k in range(flat.shape[1])}
        )
        tables.setdefault(len(values), {}).update(columns)
    parts = []
    for table in tables.values():
        lines = [",".join(_cell(name) for name in table)]
        lines += [
            ",".join(_cell(value) for value in row) for row in zip(*table.values(), strict=True)
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _cell(value: object) -> str:
    """Floats as they are; text so that no spreadsheet takes it for a formula."""
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    text = str(value)
    if text[:1] in "=+-@\t\r" and not text.lstrip("+-").replace(".", "").isdigit():
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n\r') else text
