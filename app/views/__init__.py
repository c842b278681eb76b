"""The parts of the page: each shows one kind of result."""

from .climate import ClimateView
from .density import DensityView
from .features import FeaturesView
from .forecast import ForecastView
from .model import ModelView
from .regression import RegressionView

VIEWS = (ForecastView, DensityView, FeaturesView, ClimateView, RegressionView, ModelView)
