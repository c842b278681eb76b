"""How a user's own file is read."""

from __future__ import annotations

import math

from rfm_core.checks import Real

from ..control import OMIT, Control
from .conditions import file_only, given

FILE_CONTROLS = (
    Control(
        name="columns",
        label="Columns",
        help="Columns of your file that are components of the state; none chosen means all.",
        default=[],
        kind="list",
        group="file",
        sets=("series.columns",),
        off=file_only,
        write=lambda names: list(names) or OMIT,
    ),
    Control(
        name="time",
        label="Time column",
        help="The column of your file that holds the time, from which the step is taken.",
        default=None,
        kind="any",
        choices={None: "find it", False: "there is none"},
        group="file",
        sets=("series.time",),
        off=file_only,
    ),
    Control(
        name="separate",
        label="Columns are series of their own",
        help="Each column is another run of a system with one component; otherwise they are the "
        "components of one state.",
        default=False,
        kind="flag",
        group="file",
        sets=("series.separate",),
        off=file_only,
    ),
    Control(
        name="series_dt",
        label="Time step of the file",
        help="Time between two rows, where the file has no time column.",
        default=0.0,
        kind="real",
        limits=Real(0, math.inf, "It is the time between two rows.", above=True),
        zero="from the file",
        unit="time units",
        group="file",
        sets=("series.dt",),
        off=file_only,
    ),
    Control(
        name="lyapunov",
        label="Lyapunov exponent",
        help="Largest Lyapunov exponent of your system; forecast times are shown in units of its "
        "inverse. 0 means unknown.",
        default=0.0,
        kind="real",
        limits=Real(0, math.inf, "0.9 is that of Lorenz's butterfly.", above=True),
        zero="unknown",
        group="file",
        sets=("series.lyapunov",),
        off=given,
    ),
    Control(
        name="estimate",
        label="Estimate it",
        help="Estimate the largest Lyapunov exponent from the training part of your series.",
        default=False,
        kind="flag",
        group="file",
        sets=("series.estimate",),
        off=file_only,
    ),
    Control(
        name="homogeneous",
        label="The same everywhere",
        help="Your columns are points along a ring on which the system looks the same everywhere, "
        "so that one local unit serves all of them.",
        default=False,
        kind="flag",
        group="file",
        sets=("series.homogeneous",),
        off=file_only,
    ),
    Control(
        name="key",
        label="Array",
        help="Which array of your NPZ file is used.",
        default="",
        kind="any",
        group="file",
        sets=("series.key",),
        off=file_only,
        write=lambda key: key or OMIT,
    ),
)
