"""Spearman's rank correlation."""

import numpy as np

from wm_audit.core import Measurement
from wm_audit.stats.arrays import Floats, Numbers
from wm_audit.stats.pairs import rankable_pairs
from wm_audit.stats.ranks import mid_ranks


def spearman(x: Numbers, y: Numbers, *, rtol: float = 1e-12, atol: float = 0.0, min_n: int = 6, min_distinct: int = 4) -> Measurement:
    """Spearman's rho: the correlation of mid-ranks (Spearman 1904; ties as in Kendall 1948, ch. 3).

    Pairs with a member that is not finite are dropped and counted.

    Args:
        x: (n,) values; None and NaN are missing.
        y: (n,) values, paired with `x`.
        rtol: relative tie tolerance: 1e-12 for float64 values, 1e-6 for values computed in float32.
        atol: absolute tie tolerance.
        min_n: fewest pairs after dropping.
        min_distinct: fewest distinct values on each side.

    Returns:
        rho in [-1, 1] without unit, or one of the reasons no_finite_pairs, constant_x, constant_y, constant_both,
        too_few_pairs, too_few_distinct.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    pairs = rankable_pairs(x, y, rtol=rtol, atol=atol, min_n=min_n, min_distinct=min_distinct)
    if pairs.reason is not None:
        return Measurement.null(pairs.reason, n=pairs.n, n_dropped=pairs.n_dropped)
    centre = (pairs.n + 1) / 2
    a = mid_ranks(pairs.sizes_x)[pairs.x] - centre
    b = mid_ranks(pairs.sizes_y)[pairs.y] - centre
    return Measurement(float(cosine(a, b)), n=pairs.n, n_dropped=pairs.n_dropped)


def cosine(a: Floats, b: Floats) -> Floats:
    """sum(a b) / sqrt(sum(a a) sum(b b)) along the last axis, in [-1, 1]; NaN where one side is zero.

    Centred mid-ranks are multiples of 1/2, so up to some 200,000 items the sums are exact and the order of the rows
    cannot move the result.
    """
    cross = np.einsum("...i,...i->...", a, b)
    norm = np.sqrt(np.einsum("...i,...i->...", a, a) * np.einsum("...i,...i->...", b, b))
    ratio: Floats = np.divide(cross, norm, out=np.full(np.shape(cross), np.nan), where=norm > 0.0)
    return np.clip(ratio, -1.0, 1.0)
