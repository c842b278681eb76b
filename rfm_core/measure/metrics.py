"""How good a surrogate is: forecast times, densities and spectra of (..., time, state) arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..checks import real, refuse, whole
from .wasserstein import as_floats

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ForecastTimes:
    """One forecast time per trajectory, and how far it can be trusted.

    ``censored``: the forecast never failed within the test window, so its time is the length of
    the window and only a lower bound. ``diverged_at``: first step that is NaN or infinite, or -1.
    """

    times: Array
    censored: Array
    diverged_at: Array
    unit: str

    @property
    def vpt(self) -> Array:
        """The times, under the name they have when they come from ``valid_times``."""
        return self.times

    def summary(self) -> dict[str, float | int]:
        """Plain numbers over all trajectories; ``std`` and ``sem`` are NaN where there is one."""
        times, n = self.times, self.times.size
        std = float(times.std(ddof=1)) if n > 1 else float("nan")
        return {
            "mean": float(times.mean()),
            "std": std,
            "sem": std / float(np.sqrt(n)),
            "median": float(np.median(times)),
            "min": float(times.min()),
            "max": float(times.max()),
            "n": int(n),
            "censored": int(self.censored.sum()),
            "diverged": int((self.diverged_at >= 0).sum()),
        }


def _pair(forecast: ArrayLike, truth: ArrayLike) -> tuple[Array, Array]:
    """Both as arrays of one shape; leading axes may be broadcast, time and state may not."""
    a = as_floats("forecast", forecast, "time, state", finite=False)
    b = as_floats("truth", truth, "time, state")
    limit = f"the shape of truth, {b.shape}, up to leading axes"
    if a.shape[-2:] != b.shape[-2:]:
        remedy = "Cut both to the same times and components; n steps make n + 1 states."
        raise refuse("forecast.shape", a.shape, limit, remedy)
    try:
        a, b = np.broadcast_arrays(a, b)
    except ValueError:
        remedy = "Pass one true trajectory for each forecast."
        raise refuse("forecast.shape", a.shape, limit, remedy) from None
    return a, b


def _distance(forecast: Array, truth: Array, scale: Array) -> Array:
    """sqrt(sum_i ((forecast_i - truth_i)/scale_i)^2) with infinity where it is not a number."""
    # A diverged forecast overflows on purpose here; the only temporary is the difference itself.
    with np.errstate(over="ignore", invalid="ignore"):
        difference = forecast - truth
        difference /= scale
        total = np.sqrt(np.einsum("...i,...i->...", difference, difference))
    return np.where(np.isnan(total), np.inf, total)


def forecast_error(forecast: ArrayLike, truth: ArrayLike, std: ArrayLike) -> Array:
    """Error at each time, (..., time): sqrt(1/D sum_i ((forecast_i - truth_i)/sigma_i)^2).

    A forecast that is NaN or infinite has an infinite error.
    """
    forecast, truth = _pair(forecast, truth)
    sigma, dimension = as_floats("std", std), truth.shape[-1]
    if sigma.shape not in ((), (1,), (dimension,)):
        remedy = "Take the standard deviation of each component over the training data."
        raise refuse("std.shape", sigma.shape, f"({dimension},), one number a component", remedy)
    if not (sigma > 0).all():
        remedy = "A component that never changes cannot be normalised: leave it out."
        worst = int(np.argmin(sigma))
        raise refuse(f"std[{worst}]", float(sigma.flat[worst]), "above 0", remedy)
    return _distance(forecast, truth, sigma * np.sqrt(dimension))


def _first(flags: Array) -> Array:
    """Index of the first True along the last axis, -1 where there is none."""
    return np.where(flags.any(axis=-1), flags.argmax(axis=-1), -1)


def _passage(forecast: Array, failed: Array, back: int, step: float, unit: str) -> ForecastTimes:
    """Times of ``back`` steps before the first failure; the window's length without one."""
    failed_at = _first(failed)
    censored = failed_at < 0
    # A trajectory that fails at its very first state has no valid time at all: 0.
    steps = np.where(censored, failed.shape[-1] - 1, np.maximum(failed_at - back, 0))
    diverged_at = _first(~np.isfinite(forecast).all(axis=-1))
    diverged_at = np.broadcast_to(diverged_at, censored.shape).copy()
    return ForecastTimes(steps * step, censored, diverged_at, unit)


def valid_times(
    forecast: ArrayLike,
    truth: ArrayLike,
    *,
    std: ArrayLike,
    dt: float,
    lyapunov: float | None,
    eps: float,
) -> ForecastTimes:
    """Valid prediction times, VPT = Lambda * sup{n dt : error_m < eps for all m <= n}.

    The paper's supremum is read as a first passage: an error that dips below eps again after it
    was reached does not count. NaN or infinity is a failure at that step. ``lyapunov=None`` gives
    model time units. A censored trajectory has the length of the window.
    """
    dt = real("dt", dt, "Pass the sampling time of the data.", low=0, above=True)
    eps = real("eps", eps, "The paper uses 0.3 (L63) and 0.5 (L96, KS).", low=0, above=True)
    remedy = "Pass None where it is unknown: times are then in model units."
    rate = 1.0 if lyapunov is None else real("lyapunov", lyapunov, remedy, 0, above=True)
    forecast = as_floats("forecast", forecast, "time, state", finite=False)
    failed = forecast_error(forecast, truth, std) >= eps
    unit = "time units" if lyapunov is None else "Lyapunov times"
    return _passage(forecast, failed, 1, dt * rate, unit)


def vpt(
    forecast: ArrayLike,
    truth: ArrayLike,
    *,
    std: ArrayLike,
    dt: float,
    lyapunov: float | None,
    eps: float,
) -> Array:
    """Valid prediction time of each trajectory in Lyapunov times; see ``valid_times``."""
    return valid_times(forecast, truth, std=std, dt=dt, lyapunov=lyapunov, eps=eps).vpt


def tau_f_times(
    forecast: ArrayLike, truth: ArrayLike, *, dt: float, mean_norm: float, gamma: float = 0.05
) -> ForecastTimes:
    """Validity times tau_f = min{n dt : ||forecast_n - truth_n||_2 >= gamma mean||u||_2}.

    In model time units. ``mean_norm`` is the mean norm of the training states. Unlike the VPT this
    is the time of the failure itself; a trajectory without one is marked censored and has the
    length of the window.
    """
    dt = real("dt", dt, "Pass the sampling time of the data.", low=0, above=True)
    norm = real("mean_norm", mean_norm, "Pass Dataset.mean_norm.", low=0, above=True)
    gamma = real("gamma", gamma, "The paper uses 0.05.", low=0, above=True)
    forecast, truth = _pair(forecast, truth)
    failed = _distance(forecast, truth, np.ones(())) >= gamma * norm
    return _passage(forecast, failed, 0, dt, "time units")


def tau_f(
    forecast: ArrayLike, truth: ArrayLike, *, dt: float, mean_norm: float, gamma: float = 0.05
) -> Array:
    """Validity time of each trajectory in model time units; see ``tau_f_times``."""
    return tau_f_times(forecast, truth, dt=dt, mean_norm=mean_norm, gamma=gamma).times


def density(
    samples: ArrayLike,
    *,
    points: int = 256,
    bandwidth: float | None = None,
    grid: ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
) -> tuple[Array, Array]:
    """Grid and Gaussian kernel density f(x) = 1/(n h sqrt(2 pi)) sum_i exp(-(x - x_i)^2/(2 h^2)).

    ``bandwidth`` h is Silverman's, std (3n/4)^(-1/5), unless given. Samples that are all the same
    have no spread to take it from: they are drawn as a narrow peak, h = 0.1 % of their value (or
    0.001 at 0). At ``low`` and ``high``, bounds no sample can pass (VPT >= 0), the kernels are
    reflected, so that no mass leaks out. Without a ``grid`` it has ``points`` points.
    """
    x = as_floats("samples", samples).ravel()
    points = whole("points", points, 16, 1_000_000, "Take 256 for a smooth curve.")
    floor, ceiling = _bounds(x, low, high)
    if bandwidth is not None:
        remedy = "Leave it out to have it chosen."
        h = real("bandwidth", bandwidth, remedy, 1e-200, ceiling - floor)
    else:  # never finer than the grid can show, or a curve with far outliers would lose its area
        finest = 0.75 * np.ptp(x) / (points - 7) if grid is None else 0.0
        h = min(max(_silverman(x), finest), ceiling - floor)
    if grid is None:
        at = np.linspace(max(x.min() - 4 * h, floor), min(x.max() + 4 * h, ceiling), points)
    else:
        at = as_floats("grid", grid).ravel()
    values = _kernel_sum(at, *_thinned(x, h), h, floor, ceiling)
    return at, np.where((at < floor) | (at > ceiling), 0.0, values)


def _bounds(x: Array, low: float | None, high: float | None) -> tuple[float, float]:
    remedy = "Pass None where there is no bound; a bound must not cut off any sample."
    floor = -np.inf if low is None else real("low", low, remedy, high=float(x.min()))
    ceiling = np.inf if high is None else real("high", high, remedy, low=float(x.max()))
    if floor == ceiling:
        raise refuse("high", high, f"above low={low}", remedy)
    return floor, ceiling


def _silverman(x: Array) -> float:
    size = float(np.abs(x).max())
    if np.ptp(x) <= max(1e-9 * size, 1e-100):  # the same up to rounding
        return 1e-3 * size if size > 1e-100 else 1e-3
    return float(x.std(ddof=1) * (0.75 * x.size) ** -0.2)


def _thinned(x: Array, h: float) -> tuple[Array, Array]:
    """Weighted nodes: the samples or, where they are many, their linear binning at h/20.

    Binning widens the kernel's variance by at most h^2/1600: less than a curve's line width.
    """
    step, start = h / 20, x.min()
    if x.size <= 4096 or np.ptp(x) / step > x.size:
        return x, np.full(x.size, 1.0 / x.size)
    share, cell = np.modf((x - start) / step)
    cell = cell.astype(np.int64)
    counts = np.bincount(cell, 1 - share, cell.max() + 2)
    counts += np.bincount(cell + 1, share, cell.max() + 2)
    return start + step * np.flatnonzero(counts), counts[counts > 0] / x.size


def _kernel_sum(
    at: Array, nodes: Array, weights: Array, h: float, floor: float, ceiling: float
) -> Array:
    images = [(1.0, 0.0)] + [(-1.0, 2 * wall) for wall in (floor, ceiling) if np.isfinite(wall)]
    if len(images) == 3:  # two facing mirrors; h is at most their distance, so three turns suffice
        turns = 2 * (ceiling - floor) * np.arange(-3, 4)
        images = [(sign, shift + turn) for sign, shift in images[:2] for turn in turns]
    total, block = np.zeros(at.size), max(1, 2_000_000 // at.size)
    for sign, shift in images:
        image = sign * nodes + shift
        near = (image > at.min() - 9 * h) & (image < at.max() + 9 * h)
        centre, weight = image[near], weights[near]
        for k in range(0, centre.size, block):
            with np.errstate(over="ignore"):  # a kernel very far away is 0
                z = (at[:, None] - centre[k : k + block]) / h
                total += np.exp(-0.5 * z * z) @ weight[k : k + block]
    return np.asarray(total / (h * np.sqrt(2 * np.pi)))


class Marginals(NamedTuple):
    """Histograms of truth and surrogate on shared edges, as densities.

    ``outside`` is the share of the surrogate's samples beyond the edges; its density integrates to
    one minus that.
    """

    edges: Array
    truth: Array
    surrogate: Array
    outside: Array


def histogram_marginals(truth: ArrayLike, surrogate: ArrayLike, bins: int = 80) -> Marginals:
    """Marginal histograms of (n,) or (n, D) samples: edges (D, bins + 1), densities (D, bins).

    The edges span the truth and up to half its range more on each side where the surrogate needs
    it: one that wandered far off must not squeeze the truth into a single bar.
    """
    bins = whole("bins", bins, 1, 100_000, "Start with 80.")
    a, b = as_floats("truth", truth), as_floats("surrogate", surrogate)
    if a.ndim not in (1, 2) or b.ndim != a.ndim or a.shape[1:] != b.shape[1:]:
        remedy = "Pool trajectories with reshape(-1, D) and use the same components for both."
        raise refuse("surrogate.shape", b.shape, f"(samples, ...) as truth, {a.shape}", remedy)
    columns = zip(a.reshape(len(a), -1).T, b.reshape(len(b), -1).T, strict=True)
    parts = zip(*(_histograms(x, y, bins) for x, y in columns), strict=True)
    stacked = [np.stack(part) for part in parts]
    return Marginals(*(s[0] if a.ndim == 1 else s for s in stacked))


def _histograms(x: Array, y: Array, bins: int) -> tuple[Array, Array, Array, Array]:
    low, high = float(x.min()), float(x.max())
    reach = max((high - low) / 2, 1e-3 * abs(high), 1e-9)  # room around a constant, too
    low, high = max(low - reach, min(low, y.min())), min(high + reach, max(high, y.max()))
    if high - low < 1e-3 * reach:
        low, high = low - reach, high + reach
    edges = np.linspace(low, high, bins + 1)
    width = edges[1] - edges[0]
    of_x, of_y = (np.histogram(s, edges)[0] for s in (x, y))
    outside = (y.size - of_y.sum()) / y.size  # from whole counts: exactly 0 where all are inside
    return edges, of_x / (x.size * width), of_y / (y.size * width), np.asarray(outside)


def power_spectrum(series: ArrayLike, dt: float, segment: int | None = None) -> tuple[Array, Array]:
    """Frequencies and power spectral density of the mean state, for series (..., time, D).

    Welch's estimate of m(t) = 1/D sum_i u_i(t): Hann windows of ``segment`` samples that overlap
    by half (default: an eighth of the series, so about 15 windows are averaged), then averaged
    over leading axes. One-sided: the integral over frequency, in cycles a time unit, is var(m).
    """
    from scipy.signal import welch  # a second of import time that only this function needs

    states = as_floats("series", series, "time, state")
    dt = real("dt", dt, "Pass the sampling time of the data.", low=0, above=True)
    length = whole("times in series", states.shape[-2], 8, None, "Run the surrogate for longer.")
    segment = min(length, max(256, length // 8)) if segment is None else segment
    segment = whole("segment", segment, 8, length, "Leave it out to have it chosen.")
    frequency, psd = welch(states.mean(axis=-1), fs=1.0 / dt, nperseg=segment, axis=-1)
    return frequency, psd.reshape(-1, frequency.size).mean(axis=0)
