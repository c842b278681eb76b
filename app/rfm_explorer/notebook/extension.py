"""What a notebook needs before it can draw: loaded once, from this machine, and kept small."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

import holoviews as hv
import panel as pn
from panel.theme import Native

from ..compat.loading import extension_loaded

LOAD = "application/vnd.holoviews_load.v0+json"  # scripts for JupyterLab's extension pyviz_comms
SCRIPT = "application/javascript"  # for everything else
NO_COMMS = (
    "The pictures of this notebook need the package pyviz_comms where JupyterLab itself runs: "
    "install it there and reload the page."
)


_loads: list[Any] = []  # what was displayed to load it
_loaded_by = ""  # the cell that displayed it: to run that one again takes it from the notebook


def extension() -> None:
    """For a notebook's first cell: pictures of HoloViews and Panel below cells, without a network.

    Instead of ``hv.extension`` and ``pn.extension``: a picture that HoloViews shows by itself asks
    a CDN for style sheets, so it is shown by Panel.
    """
    import rfm_explorer.plots  # noqa: F401 - HoloViews draws with Bokeh, and how

    hv.Store.set_display_hook("html+js", hv.core.dimension.LabelledData, _shown_by_panel)
    if shell() is not None:
        _load()


def load_if_needed() -> None:
    """For a cell that shows an explorer, where no other cell has loaded what draws it."""
    if not extension_loaded() or (_loaded_by and _loaded_by == this_cell()):
        _load()


def _load() -> None:
    global _loaded_by
    from IPython.display import display
    from IPython.utils.capture import capture_output

    if not _loads:
        with capture_output(stdout=False, stderr=False) as captured:
            pn.extension(inline=True)
        _loads.extend(captured.outputs)
    _loaded_by = this_cell()
    # three megabytes that a notebook keeps, and Panel displays twice: for JupyterLab and for others
    unwanted = SCRIPT if attended() and not elsewhere() else LOAD
    for output in _loads:
        data = dict(output.data)
        if LOAD in data:
            del data[unwanted]
            data["text/html"] = NO_COMMS if unwanted == SCRIPT else ""
        display(data, metadata=output.metadata, raw=True)


def _shown_by_panel(element: Any) -> Any:
    # in another design it would be wrapped in a widget, with a megabyte of code
    pane = pn.pane.HoloViews(element, sizing_mode="stretch_width", design=Native)
    return pane._repr_mimebundle_()


# --- who looks on ----------------------------------------------------------------------------


def shell() -> Any:
    """IPython's, where it belongs to a kernel and not to a terminal."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    found = get_ipython()
    return found if hasattr(found, "kernel") else None


def request() -> dict[str, Any]:
    """The message that has this cell run."""
    return shell().kernel.get_parent("shell") or {}


def this_cell() -> str:
    """Its name, where the front end tells (JupyterLab does)."""
    return str(request().get("metadata", {}).get("cellId", ""))


def attended() -> bool:
    """Was the cell sent by a front end that could ask a question?

    JupyterLab, Notebook 7 and VS Code can, nbconvert, nbclient and what is built on them cannot.
    """
    return bool(request().get("content", {}).get("allow_stdin", True))


def elsewhere() -> str:
    """The name of a front end other than Jupyter's own."""
    if "google.colab" in sys.modules:
        return "Colab"
    return "VS Code" if {"VSCODE_PID", "VSCODE_CWD"} & set(os.environ) else ""


def widgets_missing() -> str:
    """The name of a front end that shows nothing live without a package that is not here."""
    return "" if importlib.util.find_spec("jupyter_bokeh") is not None else elsewhere()
