"""Intervals of proportions and of their difference."""

import math
from typing import Literal

from wm_audit.core import Reason
from wm_audit.stats.arrays import open_unit, whole
from wm_audit.stats.distributions import beta_quantile, normal_quantile
from wm_audit.stats.results import Interval

Side = Literal["two", "lower", "upper"]


def wilson(k: int, n: int, *, level: float = 0.95, side: Side = "two") -> Interval:
    """The score interval of a proportion (Wilson 1927).

    Args:
        k: successes.
        n: trials.
        level: coverage.
        side: `two`, or one-sided: `lower` gives (bound, 1), `upper` (0, bound).

    Returns:
        The interval; null `no_trials` for n = 0.

    Raises:
        ValueError: k or n is no count, k > n, level outside (0, 1), unknown side.
    """
    if not _validate(k, n, level, side):
        return Interval.null(Reason.NO_TRIALS, level)
    z = normal_quantile(0.5 * (1.0 + level) if side == "two" else level)
    share, square = k / n, z * z / n
    centre = (share + 0.5 * square) / (1.0 + square)
    half = z * math.sqrt(share * (1.0 - share) / n + 0.25 * square / n) / (1.0 + square)
    # At k = 0 and k = n the bound is exactly 0 and 1, which rounding must not move.
    low = 0.0 if k == 0 else centre - half
    high = 1.0 if k == n else centre + half
    return _one_sided(low, high, level, side)


def clopper_pearson(k: int, n: int, *, level: float = 0.95, side: Side = "two") -> Interval:
    """The exact interval of a proportion (Clopper and Pearson 1934), from quantiles of the beta distribution.

    Arguments, result and errors are those of `wilson`.
    """
    if not _validate(k, n, level, side):
        return Interval.null(Reason.NO_TRIALS, level)
    tail = 0.5 * (1.0 - level) if side == "two" else 1.0 - level
    low = 0.0 if k == 0 else beta_quantile(tail, k, n - k + 1)
    high = 1.0 if k == n else 1.0 - beta_quantile(tail, n - k, k + 1)
    return _one_sided(low, high, level, side)


def newcombe(k1: int, n1: int, k2: int, n2: int, *, level: float = 0.95) -> Interval:
    """The interval of k1 / n1 - k2 / n2 for independent samples (Newcombe 1998, method 10: hybrid score).

    Args:
        k1: successes of the first sample.
        n1: trials of the first sample.
        k2: successes of the second sample.
        n2: trials of the second sample.
        level: coverage.

    Returns:
        The interval; null `no_trials` where a sample is empty.

    Raises:
        ValueError: a count is none, k > n, level outside (0, 1).
    """
    first, second = wilson(k1, n1, level=level), wilson(k2, n2, level=level)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Interval.null(Reason.NO_TRIALS, level)
    p1, p2 = k1 / n1, k2 / n2
    low = p1 - p2 - math.hypot(p1 - first.low, second.high - p2)
    high = p1 - p2 + math.hypot(first.high - p1, p2 - second.low)
    return Interval(max(-1.0, low), min(1.0, high), level)


def _one_sided(low: float, high: float, level: float, side: Side) -> Interval:
    return Interval(0.0 if side == "upper" else low, 1.0 if side == "lower" else high, level)


def _validate(k: int, n: int, level: float, side: str) -> bool:
    """Whether anything was tried; raises ValueError on wrong use."""
    whole("k", k, 0)
    whole("n", n, 0)
    if k > n:
        raise ValueError(f"k must not exceed n = {n}, found {k}")
    open_unit("level", level)
    if side not in ("two", "lower", "upper"):
        raise ValueError(f"side must be 'two', 'lower' or 'upper', found {side!r}")
    return n > 0
