"""Before the first visitor: the first picture is trained, and what draws pictures is warm."""

from __future__ import annotations

import gc
import time

from .explorer import Explorer

LONGEST = 60.0  # seconds; whoever comes then waits for it as usual


def prepare() -> None:
    """Train what the page opens with, keep it for all visitors, and draw every kind of picture."""
    explorer = Explorer()
    until = time.monotonic() + LONGEST
    while explorer.runner.active and time.monotonic() < until:
        explorer.runner.tick()
        time.sleep(0.05)
    for key, view in explorer.stage.views.items():
        explorer.stage.visible = key
        view.panel()
        explorer.stage.draw_at_once()
    entry, plan = explorer.runner.entry, explorer.runner.plan
    if entry is not None and plan is not None:
        explorer.runner.shelf.hold(plan.identity, "the house")
    explorer.close()
    # Panel collects garbage whenever a session ends. What is here by now stays, so it need not be
    # looked through again: half a second of the event loop each time, for everybody.
    del explorer, entry, plan
    gc.collect()
    gc.freeze()
