"""Work on a trained model that is done when somebody looks at what it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..state.settings import Settings
from .estimate import Estimate


@dataclass(frozen=True)
class Extra:
    """Declared by the view that needs it; its job is called ``explorer.<name>``."""

    name: str
    title: str  # in the line of progress
    cost: Callable[[Estimate, Settings], Estimate]  # from that of the first realization
    options: Callable[[Settings], dict[str, Any]] = lambda settings: {}  # arguments of its own
