"""What is said about a file: by the engine to those who call it, on the page without Python."""

from __future__ import annotations

import ast
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rfm_explorer.captions.files import in_page_words
from rfm_explorer.compute.data import inspect_file, make_data
from rfm_explorer.state.settings import Settings

import rfm_core
from rfm_core import InvalidInput

# what only makes sense to somebody who types code: keywords, calls, slices, types
PYTHON = re.compile(
    r"\b(time|dt|columns|key|trajectory|limits|n_test|test_steps|test_fraction|lyapunov|eps)=|"
    r"\btest_fraction\b|astype|dtype|SeriesLimits|\[\.\.\.\]|load_series|\bindex \d|cut the series"
)
SERIES = Path(rfm_core.__file__).parent / "data" / "series"
# of sources and options that the page has not: arrays, paths, trajectory=, limits=
ELSEWHERE = ("trajectory=", "limits.", "source", "masked", "(time, D)", "shape", "columns=[0")


def rows(count: int = 60, columns: int = 2) -> np.ndarray:
    k = np.arange(count)[:, None]
    return np.hstack([(7.0 * k + 3 * c) % (11 + c) for c in range(columns)])


def csv(table: np.ndarray, header: str = "") -> bytes:
    out = io.StringIO()
    np.savetxt(out, table, delimiter=",", header=header, comments="", fmt="%.6g")
    return out.getvalue().encode()


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def with_time(step: float = 0.1) -> np.ndarray:
    table = rows()
    return np.column_stack([step * np.arange(len(table)), table])


GAP = with_time()
GAP[30:, 0] += 5.0
CONSTANT = with_time()
CONSTANT[:, 2] = 4.0
HOLE = with_time()
HOLE[10, 1] = np.nan
CASES: dict[str, tuple[str, bytes, dict[str, Any]]] = {
    "no time": ("a.csv", csv(rows(), "x,y"), {}),
    "a counter": ("a.csv", csv(with_time(1.0), "n,x,y"), {}),
    "two times": ("a.csv", csv(with_time(), "t,time,x"), {}),
    "a gap": ("a.csv", csv(GAP, "t,x,y"), {}),
    "another step": ("a.csv", csv(with_time(), "t,x,y"), {"series_dt": 0.3}),
    "negative step": ("a.csv", csv(rows(), "x,y"), {"series_dt": -1.0}),
    "constant": ("a.csv", csv(CONSTANT, "t,x,y"), {}),
    "not a number": ("a.csv", csv(HOLE, "t,x,y"), {}),
    "words": ("a.csv", b"t,x\n" + b"\n".join(b"%d.0,abc" % k for k in range(30)), {}),
    "short": ("a.csv", csv(with_time()[:8], "t,x,y"), {}),
    "very short": ("a.csv", csv(with_time()[:22], "t,x,y"), {}),
    "only a time": ("a.csv", csv(with_time()[:, :1], "t"), {}),
    "the time twice": ("a.csv", csv(with_time(), "t,x,y"), {"time": "t", "columns": ["t", "x"]}),
    "no such time": ("a.csv", csv(with_time(), "t,x,y"), {"time": "z"}),
    "no such column": ("a.csv", csv(with_time(), "t,x,y"), {"columns": ["z"]}),
    "no such array": ("a.npz", npz(u=rows(), v=rows()), {"key": "w"}),
    "which array": ("a.npz", npz(a=rows(), b=rows(columns=3)), {}),
    "complex": ("a.npy", npz(a=rows()), {}),
    "a picture": ("a.jpg", b"\xff\xd8", {}),
    "empty": ("a.csv", b"", {}),
}


@pytest.mark.parametrize("case", list(CASES))
def test_no_refusal_speaks_python(case: str, tmp_path: Path) -> None:
    """Looked at and loaded as a job does it, whatever comes of it."""
    name, content, changes = CASES[case]
    file = tmp_path / "upload"
    file.write_bytes(content)
    settings = Settings()
    settings.apply({"system": "own", **changes})
    given = {"file": str(file), "name": name}
    said = []
    for look in (
        lambda: said.append(inspect_file({**given, "key": settings.key or None})["message"]),
        lambda: make_data(
            {"data": {"series": {**given, **settings.series_options()}}, "seed": 0},
            lambda *_: None,
        ),
    ):
        try:
            look()
        except InvalidInput as error:
            said.append(str(error))
    assert said, "nothing was said"
    assert not [words for words in said if PYTHON.search(words)], said


def literals(path: Path) -> list[str]:
    """The sentences in a module of the engine, with 3 for what is filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = (ast.Module, ast.ClassDef, ast.FunctionDef)
    passed = {ast.get_docstring(n, clean=False) for n in ast.walk(tree) if isinstance(n, known)}
    inside: set[int] = set()
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in ast.walk(node)}
            parts = (p.value if isinstance(p, ast.Constant) else "3" for p in node.values)
            found.append("".join(map(str, parts)))
    plain = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in inside)
    found += [node.value for node in plain if isinstance(node.value, str)]
    return [text for text in found if " " in text and text not in passed]


def test_every_sentence_of_the_engine_has_words_on_the_page() -> None:
    """Also those that nobody has met yet: a new remedy in Python needs a line in the table."""
    left = []
    for path in sorted(SERIES.glob("*.py")):
        for text in literals(path):
            words = in_page_words(text)
            if PYTHON.search(words) and not any(mark in words for mark in ELSEWHERE):
                left.append(f"{path.name}: {words}")
    assert not left, "\n".join(left)
