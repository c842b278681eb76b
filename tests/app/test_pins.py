"""The table of pinned runs: a mean with its standard error, and what differs in words."""

from __future__ import annotations

import numpy as np
import pytest
from rfm_explorer.page.pins import cells, figure
from rfm_explorer.results.records import Times
from rfm_explorer.state.controls import describe


def times(*vpt: float) -> Times:
    n = len(vpt)
    zeros = np.zeros(n, dtype=int)
    return Times(np.array(vpt), zeros.astype(bool), zeros.astype(bool), zeros, np.arange(n))


def test_the_figure_is_a_mean_and_its_standard_error() -> None:
    assert figure(None) == "–"
    assert figure(times()) == "–"
    assert figure(times(3.0)) == "3.0 (n = 1)"
    # standard deviation 2, so 2 / sqrt(4) = 1 of the mean; 1.7 with n instead of n - 1
    four = times(*(5 + np.sqrt(3) * np.array([-1.0, -1.0, 1.0, 1.0])))
    assert float(np.std(four.vpt, ddof=1)) == pytest.approx(2)
    assert figure(four) == "5.0 ± 1.0 (n = 4)"
    assert figure(times(*[0.0, 10.0] * 50)) == "5.0 ± 0.5 (n = 100)"


def test_choices_are_shown_in_words() -> None:
    words = describe(
        {"sampler": "tight", "solver": "normal", "system": "L63"}, ["sampler", "solver"]
    )
    assert list(words.values()) == ["hit-and-run, inside the data", "normal equations (paper)"]


def test_a_strangers_text_is_escaped() -> None:
    assert cells("td", ["<b>x</b>"]) == "<td>&lt;b&gt;x&lt;/b&gt;</td>"
