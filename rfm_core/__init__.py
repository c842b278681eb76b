"""The engine of RFM Explorer: learning chaotic systems with hit-and-run random feature maps.

In four lines:

    import rfm_core as rfm
    data = rfm.make_dataset(rfm.DataSpec(system="L63"))
    model = rfm.fit(rfm.ModelSpec("SkipRFM", width=512, beta=1e-24), data)
    print(rfm.evaluate(model, data).summary())
"""

from .checks import Cancelled, InvalidInput
from .choose.beta import BetaSearch, search_beta
from .choose.cost import Cost, cost_of_climate, cost_of_run, cost_of_stability
from .choose.halo import Halo, find_halo
from .choose.recommend import recommended
from .data.dataset import Dataset
from .data.generate import DataSpec, make_dataset
from .data.series import LyapunovEstimate, SeriesLimits, estimate_lyapunov, load_series
from .data.series.inspect import SeriesPreview, inspect_series
from .events import CancelToken, Progress, Reporter
from .measure.climate import Climate, climate
from .measure.diagnostics import ConditionNumbers, TanhRegions, condition_numbers, tanh_regions
from .measure.evaluate import evaluate
from .measure.forecasts import Times, Trajectory, forecasts, joined_times, trajectory
from .measure.lyapunov import LyapunovSpectrum, kaplan_yorke, lyapunov_exponents
from .measure.metrics import (
    ForecastTimes,
    density,
    forecast_error,
    histogram_marginals,
    power_spectrum,
    tau_f,
    valid_times,
    vpt,
)
from .measure.regions import feature_regions
from .measure.regression import Regression, Solver, UnitRegression, regression, regression_of_fit
from .measure.stability import OneStep, Stability, one_step_errors, stability
from .measure.wasserstein import SinkhornResult, sinkhorn2, wasserstein2
from .model.features import (
    FEATURES,
    Features,
    RandomFeatures,
    get_features,
    register_features,
)
from .model.fit import Fitted, UnitFit, fit, fit_events
from .model.locality import Scheme
from .model.model import Forecast, Model
from .model.ridge import BetaPath
from .model.spec import ARCHITECTURES, SAMPLERS, ModelSpec
from .model.store import load, versions
from .paper.tables import PaperRow, paper_rows
from .parallel import threads
from .run import Executor, make_executor
from .study.results import ResultStore
from .study.study import StudyEvent, StudySpec, run_study
from .systems import (
    SYSTEMS,
    System,
    get_system,
    register,
    register_system,
    right_hand_side,
)

__version__ = versions()["rfm_core"]
__all__ = [
    "ARCHITECTURES",
    "FEATURES",
    "SAMPLERS",
    "SYSTEMS",
    "BetaPath",
    "BetaSearch",
    "CancelToken",
    "Cancelled",
    "Climate",
    "ConditionNumbers",
    "Cost",
    "DataSpec",
    "Dataset",
    "Executor",
    "Features",
    "Fitted",
    "Forecast",
    "ForecastTimes",
    "Halo",
    "InvalidInput",
    "LyapunovEstimate",
    "LyapunovSpectrum",
    "Model",
    "ModelSpec",
    "OneStep",
    "PaperRow",
    "Progress",
    "RandomFeatures",
    "Regression",
    "Reporter",
    "ResultStore",
    "Scheme",
    "SeriesLimits",
    "SeriesPreview",
    "SinkhornResult",
    "Solver",
    "Stability",
    "StudyEvent",
    "StudySpec",
    "System",
    "TanhRegions",
    "Times",
    "Trajectory",
    "UnitFit",
    "UnitRegression",
    "climate",
    "condition_numbers",
    "cost_of_climate",
    "cost_of_run",
    "cost_of_stability",
    "density",
    "estimate_lyapunov",
    "evaluate",
    "feature_regions",
    "find_halo",
    "fit",
    "fit_events",
    "forecast_error",
    "forecasts",
    "get_features",
    "get_system",
    "histogram_marginals",
    "inspect_series",
    "joined_times",
    "kaplan_yorke",
    "load",
    "load_series",
    "lyapunov_exponents",
    "make_dataset",
    "make_executor",
    "one_step_errors",
    "paper_rows",
    "power_spectrum",
    "recommended",
    "register",
    "register_features",
    "register_system",
    "regression",
    "regression_of_fit",
    "right_hand_side",
    "run_study",
    "search_beta",
    "sinkhorn2",
    "stability",
    "tanh_regions",
    "tau_f",
    "threads",
    "trajectory",
    "valid_times",
    "vpt",
    "wasserstein2",
]
