"""The parts of the page: each shows one kind of result, and is declared in a file of its own."""

from .base import View
from .climate import ClimateView
from .density import DensityView
from .features import FeaturesView
from .forecast import ForecastView
from .model import ModelView
from .regression import RegressionView
from .stability import StabilityView

__all__ = ["EXTRAS", "VIEWS", "View"]

VIEWS: tuple[type[View], ...] = (
    ForecastView,
    DensityView,
    FeaturesView,
    ClimateView,
    RegressionView,
    StabilityView,
    ModelView,
)
EXTRAS = tuple(view.extra for view in VIEWS if view.extra is not None)
