"""RFM Explorer: the Panel app over rfm_core, served (``python -m app``) or in a notebook cell.

from app import Explorer
Explorer(system="L96", width=256)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .explorer import Explorer

__all__ = ["Explorer"]


def __getattr__(name: str) -> Any:
    """Loaded when it is used: workers import ``app.jobs`` and need no widgets."""
    if name == "Explorer":
        from .explorer import Explorer

        return Explorer
    raise AttributeError(f"module 'app' has no attribute {name!r}")
