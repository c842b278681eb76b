"""The engine of RFM Explorer: learning chaotic systems with hit-and-run random feature maps.

In four lines:

    import rfm_core as rfm
    data = rfm.make_dataset(rfm.DataSpec(system="L63"))
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=512, beta=1e-24), data)
    print(rfm.evaluate(model, data).summary())
"""

from .architecture import ARCHITECTURES, SAMPLERS, ModelSpec
from .beta import BetaSearch, search_beta
from .checks import Cancelled, InvalidInput
from .data import DataSpec, make_dataset
from .dataset import Dataset
from .diagnostics import ConditionNumbers, TanhRegions, condition_numbers, tanh_regions
from .evaluate import evaluate
from .events import CancelToken, Progress, Reporter
from .execute import Executor, make_executor
from .fit import Fitted, UnitFit, fit, fit_events
from .halo import Halo, find_halo
from .locality import Scheme
from .lyapunov import LyapunovSpectrum, lyapunov_exponents
from .metrics import (
    ForecastTimes,
    density,
    forecast_error,
    histogram_marginals,
    power_spectrum,
    tau_f,
    valid_times,
    vpt,
)
from .model import Forecast, Model
from .paper import PaperRow, paper_rows
from .recommend import recommended
from .results import ResultStore
from .ridge import BetaPath
from .series import LyapunovEstimate, SeriesLimits, estimate_lyapunov, load_series
from .store import load
from .study import StudyEvent, StudySpec, run_study
from .systems import SYSTEMS, System, get_system
from .wasserstein import SinkhornResult, sinkhorn2, wasserstein2

__all__ = [
    "ARCHITECTURES",
    "SAMPLERS",
    "SYSTEMS",
    "BetaPath",
    "BetaSearch",
    "CancelToken",
    "Cancelled",
    "ConditionNumbers",
    "DataSpec",
    "Dataset",
    "Executor",
    "Fitted",
    "Forecast",
    "ForecastTimes",
    "Halo",
    "InvalidInput",
    "LyapunovEstimate",
    "LyapunovSpectrum",
    "Model",
    "ModelSpec",
    "PaperRow",
    "Progress",
    "Reporter",
    "ResultStore",
    "Scheme",
    "SeriesLimits",
    "SinkhornResult",
    "StudyEvent",
    "StudySpec",
    "System",
    "TanhRegions",
    "UnitFit",
    "condition_numbers",
    "density",
    "estimate_lyapunov",
    "evaluate",
    "find_halo",
    "fit",
    "fit_events",
    "forecast_error",
    "get_system",
    "histogram_marginals",
    "load",
    "load_series",
    "lyapunov_exponents",
    "make_dataset",
    "make_executor",
    "paper_rows",
    "power_spectrum",
    "recommended",
    "run_study",
    "search_beta",
    "sinkhorn2",
    "tanh_regions",
    "tau_f",
    "valid_times",
    "vpt",
    "wasserstein2",
]
