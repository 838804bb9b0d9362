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
    codes, sizes = tie_codes(values[finite], rtol, atol)
    result = np.full(values.shape, np.nan)
    result[finite] = mid_ranks(sizes)[codes]
    return Ranks(result, int(sizes.size))


def tie_codes(values: Floats, rtol: float, atol: float) -> tuple[Ints, Ints]:
    """The tie group of each finite value, numbered from 0 in increasing order, and the size of each group."""
    if values.size == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    order = np.argsort(values)
    starts = _group_starts(values[order], rtol, atol)
    codes = np.empty(values.size, dtype=np.int64)
    codes[order] = np.cumsum(starts) - 1
    return codes, np.bincount(codes)


def mid_ranks(sizes: Ints) -> Floats:
    """The mid-rank of each tie group, groups along the last axis: values before it plus (size + 1) / 2."""
    return np.asarray(np.cumsum(sizes, axis=-1) - 0.5 * (sizes - 1.0), dtype=np.float64)


def _group_starts(ordered: Floats, rtol: float, atol: float) -> Bools:
    """Where a new tie group begins in sorted values."""
    with np.errstate(over="ignore"):  # a gap beyond float64 is infinite, hence no tie
        gap = np.diff(ordered)
        # Being near one's neighbour is necessary for joining its group; twice the tolerance absorbs rounding.
        near = gap <= 2.0 * (atol + rtol * np.maximum(np.abs(ordered[:-1]), np.abs(ordered[1:])))
    starts = np.concatenate(([True], ~near))
    inexact = np.flatnonzero(near & (gap > 0.0))
    if inexact.size:
        heads = np.append(np.flatnonzero(starts), ordered.size)
        for chain in np.unique(np.searchsorted(heads, inexact, side="right") - 1):
            first, end = int(heads[chain]), int(heads[chain + 1])
            starts[first:end] = _split_chain(ordered[first:end].tolist(), rtol, atol)
    return starts


def _split_chain(chain: list[float], rtol: float, atol: float) -> Bools:
    """The group borders inside a run of sorted values each of which is near its neighbour."""
    starts = np.zeros(len(chain), dtype=np.bool_)
    first = 0
    while first < len(chain):
        starts[first] = True
        head = chain[first]
        first = bisect_left(chain, True, lo=first + 1, key=partial(_apart, head, rtol, atol))
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
