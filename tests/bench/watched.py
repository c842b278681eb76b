"""The launcher with a watch on its event loop: `python tests/bench/watched.py OUT.json [options]`.

Every callback of the loop is timed, in wall-clock and in processor time of the loop's own thread
(the wall clock also counts what other processes took from it). A thread looks every few
milliseconds at what a long one is doing, so that the report can name the culprit: the innermost
frame of ours, and the innermost of all. On SIGUSR1 what was seen so far is written and forgotten.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
LONG = 0.05  # seconds; shorter ones are only counted
LOOK = 0.004


class Watch:
    def __init__(self) -> None:
        self.long: list[dict[str, Any]] = []
        self.count = 0
        self._began = 0.0  # of the callback under way, or 0
        self._seen: Counter[tuple[str, str]] = Counter()
        self._thread = threading.get_ident()
        run = asyncio.Handle._run

        def timed(handle: asyncio.Handle) -> None:
            if threading.get_ident() != self._thread:
                return run(handle)
            self.count += 1
            self._seen.clear()
            cpu = time.thread_time()
            began = self._began = time.perf_counter()
            run(handle)
            self._began = 0.0
            wall = time.perf_counter() - began
            if wall > LONG:
                self.note(wall, time.thread_time() - cpu)

        asyncio.Handle._run = timed  # type: ignore[method-assign]
        threading.Thread(target=self.look, daemon=True).start()

    def note(self, wall: float, cpu: float) -> None:
        ours, inner = self._seen.most_common(1)[0][0] if self._seen else ("", "")
        self.long.append({"wall": wall, "cpu": cpu, "ours": ours, "inner": inner})

    def look(self) -> None:
        while True:
            time.sleep(LOOK)
            began = self._began
            if began and time.perf_counter() - began > LOOK:
                frame = sys._current_frames().get(self._thread)
                if frame is not None:
                    self._seen[culprit(frame)] += 1


def culprit(frame: FrameType) -> tuple[str, str]:
    """The innermost frame of the app, and the innermost of all."""
    inner, ours = place(frame), ""
    step: FrameType | None = frame
    while step is not None and not ours:
        if Path(step.f_code.co_filename).is_relative_to(ROOT / "app"):
            ours = place(step)
        step = step.f_back
    return ours, inner


def place(frame: FrameType) -> str:
    path = Path(frame.f_code.co_filename)
    return f"{path.parent.name}/{path.name}: {frame.f_code.co_qualname}"


def main() -> None:
    out = Path(sys.argv[1])
    watch = Watch()

    def write(*_: object) -> None:
        found, watch.long = watch.long, []
        count, watch.count = watch.count, 0
        out.write_text(json.dumps({"callbacks": count, "long": found}), encoding="utf-8")

    signal.signal(signal.SIGUSR1, write)
    from rfm_explorer.__main__ import main as launch

    sys.argv = ["rfm-explorer", *sys.argv[2:]]
    launch()


if __name__ == "__main__":
    main()
