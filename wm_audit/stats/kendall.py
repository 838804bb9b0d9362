"""Kendall's tau-b in O(n log n)."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wm_audit.stats.arrays import Ints, Numbers
from wm_audit.stats.pairs import Pairs, rankable_pairs
from wm_audit.stats.results import Kendall

_DIRECT = 32  # blocks up to here are compared pair by pair, all blocks at once


def kendall_tau_b(x: Numbers, y: Numbers, *, rtol: float = 1e-12, atol: float = 0.0, min_n: int = 6, min_distinct: int = 4) -> Kendall:
    """Kendall's tau-b (Kendall 1945): (C - D) / sqrt((C + D + ties in x only) (C + D + ties in y only)).

    Args:
        x: (n,) values; None and NaN are missing.
        y: (n,) values, paired with `x`.
        rtol: relative tie tolerance: 1e-12 for float64 values, 1e-6 for values computed in float32.
        atol: absolute tie tolerance.
        min_n: fewest pairs of values after dropping.
        min_distinct: fewest distinct values on each side.

    Returns:
        The coefficient in [-1, 1] and its counts, or the counts and a reason (the same as `spearman`'s).

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    pairs = rankable_pairs(x, y, rtol=rtol, atol=atol, min_n=min_n, min_distinct=min_distinct)
    concordant, discordant, only_x, only_y, both = pair_counts(pairs)
    value = None if pairs.reason is not None else tau_b(concordant, discordant, only_x, only_y)
    return Kendall(value, concordant, discordant, only_x, only_y, both, pairs.n, pairs.n_dropped, pairs.reason)


def tau_b(concordant: int, discordant: int, only_x: int, only_y: int) -> float:
    """The coefficient from its counts; neither variable may be constant."""
    untied = concordant + discordant
    return (concordant - discordant) / math.sqrt((untied + only_x) * (untied + only_y))


def pair_counts(pairs: Pairs) -> tuple[int, int, int, int, int]:
    """Concordant, discordant, tied in x only, tied in y only, tied in both: exact integers."""
    if pairs.n < 2:
        return 0, 0, 0, 0, 0
    groups_x, groups_y = pairs.sizes_x.size, pairs.sizes_y.size
    joint = pairs.x * groups_y + pairs.y
    if groups_x * groups_y <= 4 * pairs.n:
        table = np.bincount(joint, minlength=groups_x * groups_y).reshape(groups_x, groups_y)
        both, discordant = _tied(table), _discordant(table)
    else:
        joint.sort()
        both = _tied(np.diff(np.flatnonzero(np.diff(joint)), prepend=-1, append=joint.size - 1))
        # Sorted by x and then by y, a pair is out of order in y exactly when it is discordant (Knight 1966).
        discordant = inversions(joint % groups_y)
    tied_x, tied_y = _tied(pairs.sizes_x), _tied(pairs.sizes_y)
    concordant = pairs.n * (pairs.n - 1) // 2 - tied_x - tied_y + both - discordant
    return concordant, discordant, tied_x - both, tied_y - both, both


def inversions(codes: Ints) -> int:
    """How many pairs i < j have codes[i] > codes[j]: inside small blocks directly, then by merging ever larger sorted blocks.

    Args:
        codes: (n,) non-negative integers below 2**61.
    """
    last = int(codes.max(initial=0)) + 1  # the padding is last and largest: no inversion
    width, padded = _DIRECT, max(_DIRECT, 1 << max(codes.size - 1, 0).bit_length())
    keys: NDArray[Any] = np.full(padded, last << 1, dtype=np.int32 if last < 2**30 else np.int64)
    keys[: codes.size] = codes << 1
    blocks = keys.reshape(-1, width)
    total = sum(int(np.count_nonzero(blocks[:, :-shift] > blocks[:, shift:])) for shift in range(1, width))
    blocks.sort(axis=1)
    while width < padded:
        # The low bit tells the right half of a block from the left, and lets a left value go before an equal right one.
        halves = keys.reshape(-1, 2, width)
        halves[:, 1] |= 1
        merged = keys.reshape(-1, 2 * width)
        merged.sort(axis=1)
        # Right values at positions p have, together, sum(p) - width (width - 1) / 2 left values before them.
        at = (merged & 1).sum(axis=0, dtype=np.int64)
        before = int(at @ np.arange(2 * width)) - len(merged) * (width * (width - 1) // 2)
        total += len(merged) * width * width - before
        keys &= -2
        width *= 2
    return total


def _discordant(table: Ints) -> int:
    """Discordant pairs of a table of counts by x group and y group: each cell with all below and to the left of it."""
    below = table.sum(axis=0) - np.cumsum(table, axis=0)
    return int((table[:, 1:] * np.cumsum(below, axis=1)[:, :-1]).sum())


def _tied(sizes: Ints) -> int:
    """Pairs of items inside the groups of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())
