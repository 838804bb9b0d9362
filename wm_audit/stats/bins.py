"""Equal-mass bins over a sorted predictor."""

import numpy as np

from wm_audit.stats.arrays import Floats, Ints
from wm_audit.stats.ranks import tie_codes


def equal_mass_bins(predictor: Floats, other: Floats, bins: int, rtol: float, atol: float) -> tuple[Ints, Ints]:
    """Sorts the items by predictor and cuts the order into bins of nearly equal mass.

    Item i (from 0) of n is in bin floor(i * bins / n), a tie group as a whole in its first item's bin; empty bins are
    skipped. Counts sum to n: no value falls outside.

    Args:
        predictor: (n,) finite values that are sorted, n >= 1.
        other: (n,) finite values; they order the items of one predictor value, so that sums over a bin do not depend
            on the order of the rows.
        bins: how many bins are asked for.
        rtol: relative tie tolerance.
        atol: absolute tie tolerance.

    Returns:
        The sorted order (n,) and the position at which each bin begins.
    """
    order = np.lexsort((other, predictor))
    sizes = np.bincount(tie_codes(predictor, rtol, atol))
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)  # position of the first item of each item's tie group
    bin_of = first * bins // predictor.size
    return order, np.flatnonzero(np.diff(bin_of, prepend=-1))


def bin_means(values: Floats, order: Ints, starts: Ints) -> tuple[Floats, Ints]:
    """The mean of `values` in each bin, and each bin's size."""
    sizes = np.diff(np.append(starts, order.size))
    return np.add.reduceat(values[order], starts) / sizes, sizes
