"""Before the first visitor: the first picture is trained, and what draws pictures is warm."""

from __future__ import annotations

import time

from bokeh.settings import settings

from ..explorer import Explorer
from . import gc_policy as garbage

LONGEST = 60.0  # seconds; whoever comes then waits for it as usual


def prepare() -> None:
    """Train what the page opens with, keep it for all visitors, and draw every kind of picture."""
    # Bokeh would look for mistakes in every page it sends; tests look for them in ours
    settings.perform_document_validation = False
    explorer = Explorer()
    until = time.monotonic() + LONGEST
    while explorer.runner.active and time.monotonic() < until:
        explorer.runner.tick()
        time.sleep(0.05)
    for key, view in explorer.tabs.views.items():
        explorer.tabs.visible = key
        view.panel()
        explorer.tabs.draw_at_once()
    run, plan = explorer.runner.run, explorer.runner.plan
    if run is not None and plan is not None:
        explorer.runner.runs.hold(plan.identity, "this server")
    explorer.close()
    del explorer, run, plan
    garbage.collect()
