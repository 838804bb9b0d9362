"""Mid-ranks with tolerant ties.

Rounding noise must not become an order. In sorted order a value joins the current tie group while its gap to the
group's *first* value is at most atol + rtol * max(|a|, |b|) of the two; so ties do not chain, and one huge value does
not merge the small ones. The rule reads from small to large: where values lie closer together than a tolerance without
all being within it, negating them can move a group's border.
"""

from bisect import bisect_left
from functools import partial
from typing import NamedTuple

import numpy as np

from wm_audit.stats.arrays import Bools, Floats, Ints, Numbers, real_array, tolerances


class Ranks(NamedTuple):
    """Mid-ranks in the order of the input (1 is the smallest; NaN where the value is not finite) and the number of tie groups."""

    ranks: Floats
    groups: int


def ranks(x: Numbers, rtol: float = 1e-12, atol: float = 0.0) -> Ranks:
    """Ranks the finite values of `x`; a value that is not finite gets no rank and moves no other.

    Args:
        x: (n,) values; None and NaN are missing.
        rtol: relative tie tolerance in [0, 1).
        atol: absolute tie tolerance.

    Raises:
        ValueError: `x` is not a vector of real numbers, or a tolerance is out of range.
    """
    values = real_array("x", x, 1)
    tolerances(rtol, atol)
    finite = np.isfinite(values)
    codes = tie_codes(values[finite], rtol, atol)
    sizes = np.bincount(codes)
    result = np.full(values.shape, np.nan)
    result[finite] = mid_ranks(sizes)[codes]
    return Ranks(result, int(sizes.size))


def tie_codes(values: Floats, rtol: float | Floats, atol: float) -> Ints:
    """The tie group of each value along the last axis, numbered from 0 in increasing order; all rows at once.

    Args:
        values: (..., n) finite values; +inf marks an absent one, which gets a group of its own after all others.
        rtol: relative tie tolerance, a number or an array that broadcasts with `values`.
        atol: absolute tie tolerance.
    """
    if values.size == 0:
        return np.zeros(values.shape, dtype=np.int64)
    order = np.argsort(values, axis=-1)
    starts = _group_starts(np.take_along_axis(values, order, axis=-1), rtol, atol)
    codes = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(codes, order, np.cumsum(starts, axis=-1) - 1, axis=-1)
    return codes


def mid_ranks(sizes: Ints) -> Floats:
    """The mid-rank of each tie group, groups along the last axis: values before it plus (size + 1) / 2."""
    return np.asarray(np.cumsum(sizes, axis=-1) - 0.5 * (sizes - 1.0), dtype=np.float64)


def _group_starts(ordered: Floats, rtol: float | Floats, atol: float) -> Bools:
    """Where a new tie group begins in values sorted along the last axis."""
    low, high = ordered[..., :-1], ordered[..., 1:]
    with np.errstate(over="ignore", invalid="ignore"):  # a gap beyond float64, or to an absent value, is no tie
        gap = high - low
        # Being near one's neighbour is necessary for joining its group; twice the tolerance absorbs rounding. Of two sorted
        # values the larger size is max(-low, high).
        near = (gap <= 2.0 * (atol + rtol * np.maximum(-low, high))) & (gap < np.inf)
    starts = np.ones(ordered.shape, dtype=np.bool_)
    starts[..., 1:] = ~near
    inexact = near & (gap > 0.0)
    if inexact.any():
        tolerance = np.broadcast_to(rtol, (*ordered.shape[:-1], 1))[..., 0]
        for row in np.argwhere(inexact.any(axis=-1)):
            place = tuple(int(axis) for axis in row)
            _split_chains(ordered[place], starts[place], np.flatnonzero(inexact[place]), float(tolerance[place]), atol)
    return starts


def _split_chains(ordered: Floats, starts: Bools, inexact: Ints, rtol: float, atol: float) -> None:
    """Marks the group borders inside the runs of near neighbours that are not all equal, in one sorted row."""
    heads = np.append(np.flatnonzero(starts), ordered.size)
    for chain in np.unique(np.searchsorted(heads, inexact, side="right") - 1):
        first, end = int(heads[chain]), int(heads[chain + 1])
        starts[first:end] = _borders(ordered[first:end].tolist(), rtol, atol)


def _borders(chain: list[float], rtol: float, atol: float) -> Bools:
    """The group borders of sorted values, by the rule itself."""
    starts = np.zeros(len(chain), dtype=np.bool_)
    first = 0
    while first < len(chain):
        starts[first] = True
        first = bisect_left(chain, True, lo=first + 1, key=partial(_apart, chain[first], rtol, atol))
    return starts


def _apart(head: float, rtol: float, atol: float, value: float) -> bool:
    return value - head > atol + rtol * max(abs(head), abs(value))


def masked_ranks(codes: Ints, present: Bools) -> Floats:
    """Mid-ranks along the last axis of the items that are present, 0 elsewhere; all rows at once, by counting.

    Args:
        codes: (..., I) non-negative integers, small ones: their ties and order are exact.
        present: (..., I) which items are ranked; broadcast with `codes`.
    """
    groups = int(codes.max(initial=0)) + 1
    filed = np.where(present, codes, groups)  # absent items go into one more group, after all others
    rows = filed.size // max(filed.shape[-1], 1)
    flat = filed.reshape(rows, filed.shape[-1]) + (groups + 1) * np.arange(rows)[:, None]
    sizes = np.bincount(flat.ravel(), minlength=rows * (groups + 1)).reshape(rows, groups + 1)
    return np.where(present, mid_ranks(sizes).ravel()[flat].reshape(filed.shape), 0.0)
