"""Pairs of values as pairs of tie groups, or the reason why no rank statistic can be computed from them."""

from typing import NamedTuple

import numpy as np

from wm_audit.core import Reason
from wm_audit.stats.arrays import Bools, Ints, Numbers, finite_pairs, tolerances, whole
from wm_audit.stats.ranks import tie_codes


class Pairs(NamedTuple):
    """Finite pairs by tie group.

    Attributes:
        x: (n,) tie group of each x, from 0.
        y: (n,) tie group of each y.
        sizes_x: size of each group of x.
        sizes_y: size of each group of y.
        n: pairs kept.
        n_dropped: pairs dropped.
        kept: which pairs of the input those are that were kept.
        reason: why no statistic can be computed, or None.
    """

    x: Ints
    y: Ints
    sizes_x: Ints
    sizes_y: Ints
    n: int
    n_dropped: int
    kept: Bools
    reason: Reason | None


def rankable_pairs(x: Numbers, y: Numbers, *, rtol: float, atol: float, min_n: int, min_distinct: int) -> Pairs:
    """Drops pairs that are not finite on both sides, finds the tie groups, and says whether enough is left.

    Args:
        x: (n,) values; None and NaN are missing.
        y: (n,) values, paired with `x`.
        rtol: relative tie tolerance.
        atol: absolute tie tolerance.
        min_n: fewest pairs after dropping.
        min_distinct: fewest tie groups on each side.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    tolerances(rtol, atol)
    whole("min_n", min_n, 2)
    whole("min_distinct", min_distinct, 2)
    first, second, kept = finite_pairs(x, y)
    codes_x, codes_y = tie_codes(first, rtol, atol), tie_codes(second, rtol, atol)
    sizes_x, sizes_y = np.bincount(codes_x), np.bincount(codes_y)
    reason = _reason(first.size, sizes_x.size, sizes_y.size, min_n, min_distinct)
    return Pairs(codes_x, codes_y, sizes_x, sizes_y, first.size, kept.size - first.size, kept, reason)


def constant_reason(constant_x: bool, constant_y: bool) -> Reason | None:
    """Which of the two variables does not vary, if one does not."""
    if constant_x and constant_y:
        return Reason.CONSTANT_BOTH
    if constant_x:
        return Reason.CONSTANT_X
    return Reason.CONSTANT_Y if constant_y else None


def _reason(n: int, groups_x: int, groups_y: int, min_n: int, min_distinct: int) -> Reason | None:
    """The first failed condition, in the order a reader would ask them."""
    if n == 0:
        return Reason.NO_FINITE_PAIRS
    constant = constant_reason(groups_x == 1, groups_y == 1)
    if constant is not None:
        return constant
    if n < min_n:
        return Reason.TOO_FEW_PAIRS
    return Reason.TOO_FEW_DISTINCT if min(groups_x, groups_y) < min_distinct else None
