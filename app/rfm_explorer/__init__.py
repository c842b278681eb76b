"""RFM Explorer: the Panel app over rfm_core, served or in a notebook cell.

from rfm_explorer import Explorer
Explorer(system="L96", width=256)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .explorer import Explorer
    from .notebook.extension import extension

__all__ = ["Explorer", "extension"]


def __getattr__(name: str) -> Any:
    """Loaded when it is used: workers import ``rfm_explorer.compute.jobs`` and need no widgets."""
    if name == "Explorer":
        from .explorer import Explorer

        return Explorer
    if name == "extension":
        from .notebook.extension import extension

        return extension
    raise AttributeError(f"module 'rfm_explorer' has no attribute {name!r}")
