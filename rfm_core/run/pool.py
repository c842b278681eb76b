"""The processes of a scheduler: which work and for how much memory, which are warm, which end."""

from __future__ import annotations

from collections.abc import Callable

from .slots import Slot
from .tasks import Task

PING = Task("ping", "ping")


class SlotPool:
    """Used under the scheduler's lock. ``most_idle`` slots are kept warm for tasks to come."""

    def __init__(self, make_slot: Callable[[], Slot], most_idle: int) -> None:
        make_slot()  # refuses now what is wrong with it
        self._make_slot, self._most_idle = make_slot, most_idle
        self.held: dict[Slot, float] = {}  # memory reserved for those that work or are ending
        self.idle: list[Slot] = []
        self.warming: list[Slot] = []
        self.ending: list[Slot] = []  # killed, to be waited for

    def take(self, memory_gb: float) -> Slot:
        """A place for a task, with so much memory reserved."""
        slot = self.idle.pop() if self.idle else self._make_slot()
        self.held[slot] = memory_gb
        return slot

    def give_back(self, slot: Slot) -> None:
        """It goes on to other tasks, or is killed if it still works for this one."""
        if slot.busy:
            self._kill(slot)  # its memory stays reserved until it is gone
        else:
            del self.held[slot]
            self._keep_warm(slot)

    def gone(self, slot: Slot) -> None:
        """A killed one has ended."""
        self.held.pop(slot, None)

    def warm(self) -> None:
        """Start a process ahead, unless there is one."""
        if not (self.idle or self.warming):
            slot = self._make_slot()
            slot.start(PING)
            self.warming.append(slot)

    def collect(self) -> None:
        """Those that have warmed up are idle from now on."""
        for slot in list(self.warming):
            slot.poll()
            if not slot.busy:
                self.warming.remove(slot)
                self._keep_warm(slot)

    def empty(self) -> set[Slot]:
        """All slots, of which none is kept for later."""
        every = {*self.idle, *self.warming, *self.ending, *self.held}
        self.idle.clear()
        return every

    def _keep_warm(self, slot: Slot) -> None:
        if len(self.idle) < self._most_idle:
            self.idle.append(slot)
        else:
            self._kill(slot)

    def _kill(self, slot: Slot) -> None:
        slot.kill(wait=False)
        self.ending.append(slot)
