"""Expected calibration error of a predicted quantity."""

from dataclasses import dataclass

import numpy as np

from wm_audit.core import Reason
from wm_audit.stats.arrays import Numbers, finite_pairs, tolerances, whole
from wm_audit.stats.bins import bin_means, equal_mass_bins


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """One bin: how many items, their mean prediction and their mean actual value."""

    n: int
    predicted: float
    actual: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """A calibration error with the bins it comes from, or a reason.

    Attributes:
        value: the error, in the unit of the predicted quantity.
        reason: why there is none, or None.
        n: items used.
        n_dropped: items dropped because the prediction or the actual value is not finite.
        bins: the bins, in increasing order of the prediction; their sizes sum to n.
    """

    value: float | None
    reason: Reason | None
    n: int
    n_dropped: int
    bins: tuple[CalibrationBin, ...] = ()


def calibration_error(predicted: Numbers, actual: Numbers, bins: int = 10, *, rtol: float = 1e-12, atol: float = 0.0) -> Calibration:
    """The mean over items of |mean prediction - mean actual value| of the item's bin (Naeini et al. 2015, equal-mass bins).

    Args:
        predicted: (n,) predictions; None and NaN are missing.
        actual: (n,) what happened.
        bins: how many equal-mass bins over the sorted predictions; equal predictions share one.
        rtol: relative tie tolerance of the predictions.
        atol: absolute tie tolerance of the predictions.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    whole("bins", bins, 1)
    tolerances(rtol, atol)
    forecast, outcome, kept = finite_pairs(predicted, actual, ("predicted", "actual"))
    dropped = kept.size - forecast.size
    if forecast.size == 0:
        return Calibration(None, Reason.NO_FINITE_PAIRS, 0, dropped)
    order, starts = equal_mass_bins(forecast, outcome, bins, rtol, atol)
    with np.errstate(over="ignore", invalid="ignore"):  # sums beyond float64 are reported as a null below
        mean_forecast, sizes = bin_means(forecast, order, starts)
        mean_outcome, _ = bin_means(outcome, order, starts)
        value = float(sizes @ np.abs(mean_forecast - mean_outcome)) / forecast.size
    if not np.isfinite(value):
        return Calibration(None, Reason.NONFINITE_PREDICTION, forecast.size, dropped)
    table = tuple(CalibrationBin(int(n), float(f), float(o)) for n, f, o in zip(sizes, mean_forecast, mean_outcome, strict=True))
    return Calibration(value, None, forecast.size, dropped, table)
