"""Bootstrap intervals, vectorised over resamples."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Reason, Stream
from wm_audit.stats.arrays import Floats, open_unit, whole
from wm_audit.stats.distributions import normal_cdf, normal_quantile
from wm_audit.stats.resampling import Labels, Statistic, checked_arrays, evaluate, make_units, one_left_out, with_replacement
from wm_audit.stats.results import Interval

Method = Literal["percentile", "bca"]
MAX_DEGENERATE = 0.05  # above this share of undefined resamples there is no interval
_TIE = 1e-12


def bootstrap(
    statistic: Statistic,
    data: NDArray[Any] | tuple[NDArray[Any], ...],
    *,
    stream: Stream,
    resamples: int = 2_000,
    level: float = 0.95,
    method: Method = "percentile",
    cluster: Labels | None = None,
) -> Interval:
    """An interval from resampled rows, or from resampled clusters of rows (Efron 1979; BCa: Efron 1987).

    Args:
        statistic: takes each array of `data` as (B, m, ...), B resamples of m rows, and returns (B,) values; a value that is not
            finite says that the resample is degenerate.
        data: one array (n, ...) or a tuple of arrays with the same number of rows. Resamples follow the order of the rows.
        stream: random numbers; one stream gives one interval.
        resamples: how many.
        level: coverage.
        method: `percentile`, or `bca` (bias-corrected and accelerated; the acceleration leaves out one row or cluster at a time).
        cluster: (n,) integer or text labels; whole clusters are drawn. None: every row is its own.

    Returns:
        The interval with the standard deviation of the resamples as `se`. Null `no_finite_pairs` (no rows), `too_few_pairs` (one row
        or cluster), `degenerate_resamples` (undefined on the data, on more than 5% of the resamples, or for BCa on a leave-one-out
        set), `estimate_outside` (the quantiles do not enclose the estimate).

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    arrays = checked_arrays(data)
    open_unit("level", level)
    whole("resamples", resamples, 1)
    if method not in ("percentile", "bca"):
        raise ValueError(f"method must be 'percentile' or 'bca', found {method!r}")
    units = make_units(len(arrays[0]), cluster)
    count = units.start.size
    if count < 2:
        return Interval.null(Reason.TOO_FEW_PAIRS if count else Reason.NO_FINITE_PAIRS, level)
    estimate = float(evaluate(statistic, arrays, units, iter([np.arange(count)[None]]))[0])
    values = evaluate(statistic, arrays, units, with_replacement(count, resamples, stream))
    defined = values[np.isfinite(values)]
    degenerate = resamples - defined.size
    if not math.isfinite(estimate) or degenerate > MAX_DEGENERATE * resamples:
        return Interval.null(Reason.DEGENERATE_RESAMPLES, level, n_degenerate=degenerate, resamples=resamples)
    tails: tuple[float, float] | Reason = (0.5 * (1.0 - level), 0.5 * (1.0 + level))
    if method == "bca":
        tails = _bca_tails(estimate, defined, evaluate(statistic, arrays, units, one_left_out(count)), level)
    bounds = tails if isinstance(tails, Reason) else _bounds(estimate, defined, tails)
    if isinstance(bounds, Reason):
        return Interval.null(bounds, level, n_degenerate=degenerate, resamples=resamples)
    se = float(defined.std(ddof=1)) if defined.size > 1 else None
    return Interval(*bounds, level, se=se, n_degenerate=degenerate, resamples=resamples)


def _bounds(estimate: float, values: Floats, tails: tuple[float, float]) -> tuple[float, float] | Reason:
    """The quantiles of the resamples, if they enclose the estimate (up to rounding)."""
    low, high = (float(bound) for bound in np.quantile(values, tails))
    slack = _TIE * abs(estimate)
    if not low - slack <= estimate <= high + slack:
        return Reason.ESTIMATE_OUTSIDE
    return min(low, estimate), max(high, estimate)


def _bca_tails(estimate: float, values: Floats, without: Floats, level: float) -> tuple[float, float] | Reason:
    """Where to read the resamples' quantiles (Efron 1987, eq. 2.3), corrected for bias and acceleration."""
    if not np.isfinite(without).all():
        return Reason.DEGENERATE_RESAMPLES
    slack = _TIE * abs(estimate)
    below = 0.5 * (np.mean(values < estimate - slack) + np.mean(values <= estimate + slack))
    if not 0.0 < below < 1.0:
        return Reason.ESTIMATE_OUTSIDE
    bias = normal_quantile(float(below))
    influence = without.mean() - without
    squares = float((influence**2).sum())
    acceleration = float((influence**3).sum()) / (6.0 * squares**1.5) if squares > 0.0 else 0.0
    tails = []
    for z in (normal_quantile(0.5 * (1.0 - level)), normal_quantile(0.5 * (1.0 + level))):
        stretch = 1.0 - acceleration * (bias + z)
        if stretch <= 0.0:
            return Reason.DEGENERATE_RESAMPLES
        tails.append(normal_cdf(bias + (bias + z) / stretch))
    return tails[0], tails[1]
