"""Settings and the paper's tables: which row is this, which is near, how to repeat one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rfm_core import SYSTEMS, InvalidInput, PaperRow, paper_rows

from . import specs

if TYPE_CHECKING:
    from .settings import Settings


def row_of(s: Settings) -> PaperRow | None:
    """The published result of this model on these data, whatever it was solved with.

    Another time step, threshold or system parameter would be another problem, so there is none.
    """
    for row in paper_rows():
        if row.system != s.system or row.architecture != _paper_name(s):
            continue
        if (row.width, row.depth, row.G, row.I) != _shape(s):
            continue
        if row.model_spec().features != s.features:
            continue
        alike = math.isclose(row.dt, s.dt) and math.isclose(row.eps, s.eps, rel_tol=1e-3)
        if alike and s.parameters == dict(SYSTEMS[s.system].parameters):
            return row
    return None


def nearest_row(s: Settings) -> PaperRow | None:
    """The published result that is most like this; None for systems that have none."""
    wanted = _paper_name(s)
    width, depth, *halo = _shape(s)

    def apart(row: PaperRow) -> tuple[float, ...]:
        names = row.architecture, wanted
        plain = [name.removesuffix("N") for name in names]
        far = abs(math.log2(row.width / max(width, 1))) + abs(math.log2(row.depth / max(depth, 1)))
        step = abs(math.log(row.dt / s.dt)) if s.dt > 0 else 0.0
        return (
            plain[0] != plain[1],
            names[0] != names[1],
            step > 0.1,
            halo != [row.G, row.I],
            far,
        )

    rows = [row for row in paper_rows() if row.system == s.system]
    return min(rows, key=apart) if rows else None


def values_of(row: PaperRow) -> dict[str, Any]:
    """The settings of that row, faithfully; everything else is as it was in the paper."""
    spec, data = row.model_spec(), row.data_spec()
    names = ("system", "n_train", "dt", "eps", "accuracy")
    # where a row has no noise and somebody adds some, it is still to be the paper's
    noise = {"noise_on": spec.noise_on}
    return specs.values_of(spec) | noise | {name: getattr(data, name) for name in names}


def is_faithful(s: Settings) -> bool:
    """Is everything as in a row of the paper?"""
    row = row_of(s)
    if row is None:
        return False
    try:
        data = row.data_spec(seed=s.seed, n_test=s.n_test)
        return s.model_spec() == row.model_spec() and s.data_spec() == data
    except InvalidInput:
        return False


def _paper_name(s: Settings) -> str:
    return str(s.architecture) + ("N" if s.noise > 0 else "")


def _shape(s: Settings) -> tuple[int, int, int | None, int | None]:
    """Width, depth, G and I as the tables have them; an uneven halo is none of theirs."""
    depth = s.depth if s.deep else 1
    if not s.local:
        return s.width, depth, None, None
    return s.width, depth, s.G, s.I if s.sides == "equal" else -1
