"""What the engine says about a file, in the words of the page instead of Python's.

The engine speaks to those who call ``rfm_core.load_series``; on the page there are controls.
"""

from __future__ import annotations

import re

NONE = "set 'Time column' to 'there is none'"
STEP = "fill in 'Time step of the file'"
# The first that fits a place is taken; what is not here reads well as it is.
WORDS: tuple[tuple[str, str], ...] = (
    (r"dt=None cannot be used: no time column was found and no step was given\. Pass dt=0\.01 "
     r"\(the time between two rows\), dt=1\.0 to count time in rows, or time=<name or index of the "
     r"time column>\.",
     f"No time column was found and no time step was given. F{STEP[1:]} (1 counts time in "
     "rows), or choose the 'Time column'."),
    (r": is it time=\d+\?", ": is it the time?"),
    (r"Pass time=\d+ if it is the time \(step 1\), or dt=<time between rows> if it is a row number",
     f"Choose it as 'Time column' if it is the time (step 1), or {STEP} if it is a row number"),
    (r"dt=(\S+) was given, but the file says dt=(\S+): they must agree\. Leave dt out\.",
     r"'Time step of the file' is \1, but the file says \2: they must agree. Set it to 0, which "
     "takes the file's."),
    (r"dt=(\S+) was given, but (.+?) steps by (\S+): they must agree \(to \S+\)\. Leave dt out, or "
     r"pass time=False if that column is not the time\.",
     rf"'Time step of the file' is \1, but \2 steps by \3: they must agree. Set it to 0, which "
     f"takes the file's, or {NONE} if that column is not the time."),
    (r"pass time=False and dt=\.\.\. to (ignore it|do without)", rf"{NONE} and {STEP}"),
    (r"cut the series at gaps into trajectories, or pass time=False if",
     f"leave out the rows before or after a gap, or {NONE} if"),
    (r"Give at least one column beside time and trajectory, or pass time=False\.",
     f"Give a file with another column beside the time, or {NONE}."),
    (r"no column, as told by time=False", "there is none, as you said"),
    (r"Name it with time=\.", "Choose it as 'Time column'."),
    (r"Name another trajectory or time column\.", "Choose another 'Time column'."),
    (r"Resample them, or load them apart\.", "Resample them, or put each into a file of its own."),
    (r"Load them apart, or leave columns out\.", "Put each into a file of its own."),
    (r", or raise limits=SeriesLimits\([^)]*\)", ""),
    (r"(Fill (?:them|it) in), (rescale|remove the row), or cut the series there into trajectories",
     r"\1, or \2"),
    (r"Fill them in, or cut the series there into trajectories", "Fill them in"),
    (r"Leave it out with columns=\[\.\.\.\]\.", "Leave it out: choose the others as 'Columns'."),
    (r"select other columns with columns=\[\.\.\.\], or write", "leave that column out, or write"),
    (r"test_steps=\d+ needs (\d+) rows in the test part, the longest has (\d+)\..*",
     r"The series is too short: the fifth of it that is kept for testing has \2 rows, \1 are "
     "needed. Give a longer one."),
    (r"Give more rows, or a smaller test_fraction\.", "Give more rows."),
    (r"Name it with key=, or save it", "Choose it as 'Array', or save it"),
    (r"\bkey=(.+?) cannot be used: it must be one of the arrays in (.+?): (.*)\. "
     r"Name one of them\.",
     r"\2 has no array \1; it has \3. Choose one as 'Array'."),
    (r"\btime=(.+?) cannot be used: it must be (.*)\. Use a name of the header, or an index\.",
     r"The time column \1 cannot be used: it must be \2. Choose another 'Time column'."),
    (r"\bcolumns=(.+?) cannot be used: it must be one of (.*)\. Use a name of the header.*",
     r"The column \1 cannot be used: it must be one of \2. Choose other 'Columns'."),
    (r"\bcolumns=\((.+?),?\) cannot be used: it must be (.*)\. (Leave them out|Name each once)\.",
     r"The columns \1 cannot be used: they must be \2. Choose other 'Columns'."),
    (r"Convert it with \.astype\(float\), or take", "Save it as plain numbers, or take"),
    (r"Save it with \.astype\(float\)\.", "Save it as plain numbers."),
    (r"has the unknown dtype (.+?)\. Use float64\.",
     r"holds numbers of an unknown kind, \1. Save them as float64."),
    (r" \(dtype [^)]*\)", ""),
    (r"without the time and trajectory columns", "without the time"),
    (r"Trajectories of different length go into a list of \(time, D\) arrays\.",
     "Give each trajectory in a file of its own."),
    (r"\bdt=(\S+) cannot be used", r"'Time step of the file' = \1 cannot be used"),
    (r"\blyapunov=(\S+) cannot be used", r"'Lyapunov exponent' = \1 cannot be used"),
    (r"Leave it out if unknown\.", "0 means unknown."),
    (r"\bn_test=(\S+) cannot be used", r"'Test trajectories' = \1 cannot be used"),
    (r"\beps=(\S+) cannot be used", r"'Threshold ε' = \1 cannot be used"),
    (r" \(index \d+\)", ""),
)  # fmt: skip
_COMPILED = tuple((re.compile(pattern, re.DOTALL), words) for pattern, words in WORDS)


def in_page_words(text: str) -> str:
    """What the engine said about a file, for somebody who has controls and no Python."""
    for pattern, words in _COMPILED:
        text = pattern.sub(words, text)
    return text


def meaning_of_columns(components: int) -> str:
    """How they are taken, where that may not be what somebody thinks."""
    if components == 1:
        return (
            " It has one component: a model sees its present value alone, not whether it rises or "
            "falls, and noise hides even that. Where the system has more components, add delayed "
            "copies as further columns (the value one step earlier, two steps, ...): forecasts "
            "then reach much further."
        )
    return (
        f" The {components} columns beside the time are taken as the components of one state; "
        "say below if they are series of their own."
    )
