"""Where tasks run: here, in processes that can be killed, or on a dask cluster."""

from .base import EXECUTORS, Executor, Inline, cores, make_executor, using
from .processes import ProcessSlots
from .scheduled import ScheduledTask
from .scheduler import Scheduler
from .slots import Slot

__all__ = [
    "EXECUTORS",
    "Executor",
    "Inline",
    "ProcessSlots",
    "ScheduledTask",
    "Scheduler",
    "Slot",
    "cores",
    "make_executor",
    "using",
]
