"""A permutation test of association between independent pairs."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from wm_audit.core import Reason, Stream
from wm_audit.stats.arrays import Floats, Ints, Numbers, finite_pairs, whole
from wm_audit.stats.orders import judged, orders_for
from wm_audit.stats.pairs import rankable_pairs
from wm_audit.stats.ranks import mid_ranks
from wm_audit.stats.results import TestResult
from wm_audit.stats.spearman import cosine

Statistic = Callable[[Floats, Floats], Floats]
_CELLS = 4_000_000  # numbers held at once


def permutation_test(
    x: Numbers,
    y: Numbers,
    statistic: Literal["spearman", "kendall"] | Statistic = "spearman",
    *,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    stream: Stream | None = None,
    draws: int = 9_999,
    rtol: float = 1e-12,
    atol: float = 0.0,
    min_n: int = 6,
    min_distinct: int = 4,
) -> TestResult:
    """Shuffles y against x; exact up to 7 pairs, otherwise (hits + 1) / (draws + 1) (Phipson and Smyth 2010).

    It assumes that pairs are exchangeable: where rows share seeds or capacities, use `block_permutation_test`.

    Args:
        x: (n,) values; None and NaN are missing.
        y: (n,) values, paired with `x`.
        statistic: `spearman`, `kendall`, or a function of x (n,) and shuffled y (B, n) giving (B,) finite values.
        alternative: whether large size, large or small values of the statistic are extreme.
        stream: random numbers, needed for more than 7 pairs.
        draws: how many random orders.
        rtol: relative tie tolerance.
        atol: absolute tie tolerance.
        min_n: fewest pairs after dropping.
        min_distinct: fewest distinct values on each side.

    Returns:
        The test; null for the reasons of `spearman`, and `degenerate_resamples` where the statistic is not finite.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    if alternative not in ("two-sided", "greater", "less"):
        raise ValueError(f"alternative must be 'two-sided', 'greater' or 'less', found {alternative!r}")
    if not callable(statistic) and statistic not in ("spearman", "kendall"):
        raise ValueError(f"statistic must be 'spearman', 'kendall' or a function, found {statistic!r}")
    whole("draws", draws, 1)
    pairs = rankable_pairs(x, y, rtol=rtol, atol=atol, min_n=min_n, min_distinct=min_distinct)
    if pairs.reason is not None:
        return TestResult.null(pairs.reason)
    orders, exact = orders_for(pairs.n, draws, stream)
    if callable(statistic):
        first, second, _ = finite_pairs(x, y)
        values = _shuffled(statistic, first, second, orders, pairs.n)
    elif statistic == "spearman":
        ranks_x, ranks_y = mid_ranks(pairs.sizes_x)[pairs.x], mid_ranks(pairs.sizes_y)[pairs.y]
        values = _shuffled(cosine, _centred(ranks_x), _centred(ranks_y), orders, pairs.n)
    else:
        values = _shuffled(_tau, pairs.x.astype(np.float64), pairs.y.astype(np.float64), orders, pairs.n**2)
    if not np.isfinite(values).all():
        return TestResult.null(Reason.DEGENERATE_RESAMPLES)
    extremeness = {"two-sided": np.abs(values), "greater": values, "less": -values}[alternative]
    return judged(float(values[0]), extremeness, exact=exact)


def _shuffled(statistic: Statistic, x: Floats, y: Floats, orders: Ints, cells: int) -> Floats:
    """The statistic under every order, in chunks that hold about `_CELLS` numbers."""
    step = max(1, _CELLS // cells)
    return np.concatenate([np.asarray(statistic(x, y[orders[i : i + step]]), dtype=np.float64) for i in range(0, len(orders), step)])


def _centred(ranks: Floats) -> Floats:
    return ranks - 0.5 * (ranks.size + 1)


def _tau(x: Floats, y: Floats) -> Floats:
    """tau-b of x (n,) and each row of y (B, n), from the signs of all pairs."""
    a = np.sign(x[:, None] - x[None, :]).ravel()
    b = np.sign(y[:, :, None] - y[:, None, :]).reshape(len(y), -1)
    return cosine(a, b)
