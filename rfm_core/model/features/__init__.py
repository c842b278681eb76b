"""The kinds of features: a file each, and every file of this folder is looked at.

The paper's comes first in every list, then the baseline, then the others by name.
"""

from importlib import import_module
from pkgutil import iter_modules

from .base import FEATURES, Features, Source, get_features, modules_of_features, register_features
from .random import RandomFeatures

for _name in ("tanh", "polynomial", *sorted(found.name for found in iter_modules(__path__))):
    import_module(f"{__name__}.{_name}")

__all__ = [
    "FEATURES", "Features", "RandomFeatures", "Source", "get_features", "modules_of_features",
    "register_features",
]  # fmt: skip
