"""Does an ensemble's variance say how large its error is?"""

from dataclasses import dataclass

import numpy as np

from wm_audit.core import Reason
from wm_audit.stats.arrays import Numbers, real_array, same_shape, tolerances, whole
from wm_audit.stats.bins import bin_means, equal_mass_bins


@dataclass(frozen=True, slots=True)
class DispersionBin:
    """One bin: how many items, their mean variance and their mean squared error."""

    n: int
    variance: float
    squared_error: float


@dataclass(frozen=True, slots=True)
class Dispersion:
    """A dispersion error with the bins it comes from, or a reason.

    Attributes:
        value: the error as a share of the root mean squared error, without unit.
        reason: why there is none, or None.
        n: items used.
        n_dropped: items dropped because a number is not finite or negative.
        bins: the bins, in increasing order of the variance; their sizes sum to n.
    """

    value: float | None
    reason: Reason | None
    n: int
    n_dropped: int
    bins: tuple[DispersionBin, ...] = ()


def dispersion_error(variance: Numbers, squared_error: Numbers, bins: int = 10, *, rtol: float = 1e-12, atol: float = 0.0) -> Dispersion:
    """sum_b (n_b / n) |sqrt(mean squared error_b) - sqrt(mean variance_b)| / sqrt(mean squared error).

    After Levi et al. (2022) and Laves et al. (2020), with equal-mass bins over the variance. A variance or squared error
    below zero cannot be one: the item is dropped and counted.

    Args:
        variance: (n,) predicted variances; None and NaN are missing.
        squared_error: (n,) squared errors, paired with `variance`.
        bins: how many equal-mass bins; equal variances share one.
        rtol: relative tie tolerance of the variances.
        atol: absolute tie tolerance of the variances.

    Returns:
        The error; null `no_finite_pairs`, or `constant_y` where every squared error is 0 and there is no scale.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    whole("bins", bins, 1)
    tolerances(rtol, atol)
    spread, error = real_array("variance", variance, 1), real_array("squared_error", squared_error, 1)
    same_shape("variance", spread, "squared_error", error)
    keep = np.isfinite(spread) & np.isfinite(error) & (spread >= 0.0) & (error >= 0.0)
    spread, error, dropped = spread[keep], error[keep], int(np.count_nonzero(~keep))
    if spread.size == 0:
        return Dispersion(None, Reason.NO_FINITE_PAIRS, 0, dropped)
    order, starts = equal_mass_bins(spread, error, bins, rtol, atol)
    with np.errstate(over="ignore", invalid="ignore"):  # sums beyond float64 are reported as a null below
        mean_spread, sizes = bin_means(spread, order, starts)
        mean_error, _ = bin_means(error, order, starts)
        total = np.sqrt(sizes @ mean_error / spread.size)
        value = float(sizes @ np.abs(np.sqrt(mean_error) - np.sqrt(mean_spread))) / spread.size
    if total == 0.0:
        return Dispersion(None, Reason.CONSTANT_Y, spread.size, dropped)
    value = float(value / total)
    if not (np.isfinite(value) and np.isfinite(total)):
        return Dispersion(None, Reason.NONFINITE_PREDICTION, spread.size, dropped)
    table = tuple(DispersionBin(int(n), float(v), float(e)) for n, v, e in zip(sizes, mean_spread, mean_error, strict=True))
    return Dispersion(value, None, spread.size, dropped, table)
