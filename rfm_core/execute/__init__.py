"""Where tasks run: here, in processes that can be killed, or on a dask cluster."""

from .base import EXECUTORS, Executor, Inline, cores, make_executor, using
from .slots import ProcessSlots, Slot

__all__ = [
    "EXECUTORS",
    "Executor",
    "Inline",
    "ProcessSlots",
    "Slot",
    "cores",
    "make_executor",
    "using",
]
