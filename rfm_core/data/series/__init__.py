"""A user's own series: from an array or a file to a Dataset, with a worded answer to bad input."""

from .columns import SeriesLimits
from .exponent import LyapunovEstimate, estimate_lyapunov
from .load import load_series

__all__ = ["LyapunovEstimate", "SeriesLimits", "estimate_lyapunov", "load_series"]
