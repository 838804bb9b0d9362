"""How far raters agree in their order of targets: here, how far the cells of a seed agree over capacities."""

from dataclasses import dataclass

import numpy as np

from wm_audit.core import Reason
from wm_audit.stats.arrays import Floats, Numbers, open_unit, real_array
from wm_audit.stats.distributions import beta_quantile
from wm_audit.stats.results import Interval

_EXACT = 1e-24  # a share of squares below this is rounding noise: the tie tolerance, squared


@dataclass(frozen=True, slots=True)
class Icc:
    """An intraclass correlation with its interval, or the reason why there is none.

    Attributes:
        value: ICC(3,1).
        interval: from the F distribution.
        n: complete targets.
        n_dropped: targets that are not complete.
        reason: why there is no value, or None.
    """

    value: float | None
    interval: Interval
    n: int
    n_dropped: int
    reason: Reason | None = None


def icc_3_1(values: Numbers, level: float = 0.90) -> Icc:
    """(MSR - MSE) / (MSR + (k - 1) MSE) of the two-way layout: two-way mixed, single rater, consistency (Shrout and Fleiss 1979).

    What a rater adds to all targets is removed. The interval inverts F = MSR / MSE with n - 1 and (n - 1)(k - 1) degrees of freedom.

    Args:
        values: (n, k) targets (seeds) and raters (capacities); a target with a value that is not finite is dropped and counted.
        level: coverage.

    Returns:
        The correlation in [-1 / (k - 1), 1]; null `no_finite_pairs`, `too_few_seeds` (n < 2), `too_few_samples` (k < 2) or
        `no_spread`. Targets without any disagreement give 1 and no interval, `perfect_correlation`.

    Raises:
        ValueError: not a matrix of real numbers, or level outside (0, 1).
    """
    given, level = real_array("values", values, 2), open_unit("level", level)
    kept = given[np.isfinite(given).all(axis=1)]
    dropped, (n, k) = len(given) - len(kept), kept.shape
    reason = Reason.NO_FINITE_PAIRS if n == 0 or k == 0 else Reason.TOO_FEW_SEEDS if n < 2 else Reason.TOO_FEW_SAMPLES if k < 2 else None
    rows, error = _squares(kept) if reason is None else (0.0, 0.0)
    if reason is None and rows + error == 0.0:
        reason = Reason.NO_SPREAD
    if reason is not None:
        return Icc(None, Interval.null(reason, level), n, dropped, reason)
    value = (rows - error) / (rows + (k - 1) * error)
    if error == 0.0 or rows == 0.0:
        return Icc(value, Interval.null(Reason.PERFECT_CORRELATION if error == 0.0 else Reason.NO_SPREAD, level), n, dropped)
    ratio, tail = rows / error, 0.5 * (1.0 + level)
    low, high = ratio / f_quantile(tail, n - 1, (n - 1) * (k - 1)), ratio * f_quantile(tail, (n - 1) * (k - 1), n - 1)
    return Icc(value, Interval((low - 1) / (low + k - 1), (high - 1) / (high + k - 1), level), n, dropped)


def f_quantile(p: float, df1: int, df2: int) -> float:
    """The f with P(F <= f) = p: with B ~ Beta(df1 / 2, df2 / 2), df2 B / (df1 (1 - B)) is F distributed.

    Raises:
        ValueError: p outside (0, 1), or a number of degrees of freedom that is not positive.
    """
    rest = beta_quantile(1.0 - p, 0.5 * df2, 0.5 * df1)  # 1 - B, taken as such so that it loses no digits near 0
    return df2 * (1.0 - rest) / (df1 * rest)


def _squares(values: Floats) -> tuple[float, float]:
    """Mean squares between targets and of the residual; rounding noise is zero."""
    n, k = values.shape
    size = float(np.abs(values).max()) or 1.0
    scaled = values / size
    centred = scaled - scaled.mean(axis=0)
    target = centred.mean(axis=1, keepdims=True)
    between, residual = k * float((target**2).sum()), float(((centred - target) ** 2).sum())
    total = between + residual
    noise = _EXACT * max(total, float(scaled.size))
    return (between if between > noise else 0.0) / (n - 1), (residual if residual > noise else 0.0) / ((n - 1) * (k - 1))
