"""Equations, what is known about them, and compiled steppers.

Data of ordinary differential equations are exact to rounding; those of Kuramoto-Sivashinsky are an
exact map that follows its equation for 15 Lyapunov times.

One file a system. Their order here is that of every list of systems.
"""

from .base import (
    SYSTEMS,
    Parameters,
    Quick,
    System,
    get_system,
    modules_of_systems,
    register,
    texts_of_systems,
)
from .integrate import ETDRK4, RungeKutta, right_hand_side
from .own import register_from_text, register_system

from .lorenz63 import L63  # isort: skip
from .lorenz96 import L96  # isort: skip
from .kuramoto_sivashinsky import KS  # isort: skip
from .roessler import ROESSLER  # isort: skip
from .halvorsen import HALVORSEN  # isort: skip

__all__ = [
    "ETDRK4", "HALVORSEN", "KS", "L63", "L96", "ROESSLER", "SYSTEMS", "Parameters", "Quick",
    "RungeKutta", "System", "get_system", "modules_of_systems", "register",
    "register_from_text", "register_system", "right_hand_side", "texts_of_systems",
]  # fmt: skip
