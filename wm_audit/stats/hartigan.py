"""Hartigan's subset means: the interval that inverts the sign-flip test."""

import math

import numpy as np

from wm_audit.core import Reason
from wm_audit.stats.arrays import Numbers, real_array
from wm_audit.stats.results import Interval
from wm_audit.stats.subsets import mean_of, subsets


def hartigan_interval(d: Numbers, alpha: float = 0.05, *, root: int = 0) -> Interval:
    """The k-th smallest and k-th largest mean over nonempty subsets of the differences, k = floor(alpha 2^S) (Hartigan 1969).

    Its lower bound is above 0 exactly when the one-sided sign-flip p-value is at most alpha, and likewise on the other side. Above 20
    differences the same 100,000 random subsets serve the test and the interval, k = floor(alpha * 100,001); integers, which the
    test counts exactly there, agree with the interval only up to those random subsets.

    Args:
        d: (S,) differences; None and NaN are dropped.
        alpha: error of each bound; the level is 1 - 2 alpha.
        root: root seed of the random subsets.

    Returns:
        The interval; null `too_few_seeds` where k = 0 (at alpha .05: S <= 4), `no_finite_pairs`.

    Raises:
        ValueError: alpha outside (0, 0.5), or `d` is not a vector of real numbers.
    """
    if isinstance(alpha, bool) or not 0.0 < alpha < 0.5:
        raise ValueError(f"alpha must lie strictly between 0 and 0.5, found {alpha!r}")
    given = real_array("d", d, 1)
    values, level = given[np.isfinite(given)], 1.0 - 2.0 * alpha
    if values.size == 0:
        return Interval.null(Reason.NO_FINITE_PAIRS, level)
    found = subsets(values, root)
    k = math.floor(alpha * (found.sums.size + 1))
    if k == 0:
        return Interval.null(Reason.TOO_FEW_SEEDS, level)
    means = found.sums / found.sizes * found.scale
    low = float(np.partition(means, k - 1)[k - 1])
    high = float(np.partition(means, means.size - k)[means.size - k])
    estimate = mean_of(values)  # the mean of all differences is one of the means; rounding must not put it outside
    return Interval(min(low, estimate), max(high, estimate), level)
