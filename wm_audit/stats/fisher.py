"""Intervals and tests of a correlation that need only its value and n: descriptive, never deciding."""

import math
from typing import Literal

from wm_audit.core import Reason
from wm_audit.stats.arrays import open_unit, whole
from wm_audit.stats.distributions import normal_quantile, student_tail
from wm_audit.stats.results import Interval, TestResult

PERFECT = 1.0 - 1e-12  # from here on a correlation is perfect: Fisher's z is rounding noise


def fisher_interval(rho: float | None, n: int, level: float = 0.95, *, variance: Literal["fisher", "bonett_wright"] = "fisher") -> Interval:
    """The interval of a correlation on Fisher's z scale, which assumes independent pairs.

    Args:
        rho: the correlation; None and NaN are missing.
        n: pairs it was computed from.
        level: coverage.
        variance: of z: `fisher` 1 / (n - 3) (Fisher 1921), `bonett_wright` (1 + rho^2 / 2) / (n - 3) for ranks
            (Bonett and Wright 2000).

    Returns:
        The interval with z and its standard error; null `perfect_correlation`, `too_few_pairs` (n < 4), `no_finite_pairs`.

    Raises:
        ValueError: rho outside [-1, 1], n negative, level outside (0, 1), unknown variance.
    """
    open_unit("level", level)
    if variance not in ("fisher", "bonett_wright"):
        raise ValueError(f"variance must be 'fisher' or 'bonett_wright', found {variance!r}")
    reason = _undefined(rho, n, least=4)
    if reason is not None or rho is None:
        return Interval.null(reason or Reason.NO_FINITE_PAIRS, level)
    inflation = 1.0 if variance == "fisher" else 1.0 + 0.5 * rho * rho
    return from_z(math.atanh(rho), math.sqrt(inflation / (n - 3)), normal_quantile(0.5 * (1.0 + level)), level)


def from_z(z: float, se: float, quantile: float, level: float) -> Interval:
    """The interval z -+ quantile * se, taken back through tanh."""
    return Interval(math.tanh(z - quantile * se), math.tanh(z + quantile * se), level, z=z, se=se)


def t_approximation(rho: float | None, n: int) -> TestResult:
    """The two-sided p-value of rho sqrt((n - 2) / (1 - rho^2)) under Student's t with n - 2 degrees of freedom.

    Below about 500 pairs it is only approximate for rank correlations (at n = 6 it gives .042 for an exact .058), and it
    assumes independent pairs.

    Args:
        rho: the correlation; None and NaN are missing.
        n: pairs it was computed from.

    Returns:
        t and p; null `perfect_correlation`, `too_few_pairs` (n < 3), `no_finite_pairs`.

    Raises:
        ValueError: rho outside [-1, 1], n negative.
    """
    reason = _undefined(rho, n, least=3)
    if reason is not None or rho is None:
        return TestResult.null(reason or Reason.NO_FINITE_PAIRS)
    t = rho * math.sqrt((n - 2) / ((1.0 - rho) * (1.0 + rho)))
    return TestResult(t, min(1.0, 2.0 * student_tail(abs(t), n - 2)), 0, 0, None)


def _undefined(rho: float | None, n: int, *, least: int) -> Reason | None:
    whole("n", n, 0)
    if isinstance(rho, bool) or (rho is not None and abs(rho) > 1.0):
        raise ValueError(f"rho must lie in [-1, 1], found {rho!r}")
    if rho is None or math.isnan(rho):
        return Reason.NO_FINITE_PAIRS
    if n < least:
        return Reason.TOO_FEW_PAIRS
    return Reason.PERFECT_CORRELATION if abs(rho) >= PERFECT else None
