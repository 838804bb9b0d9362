"""Kendall's tau-b in O(n log n)."""

import math

import numpy as np

from wm_audit.stats.arrays import Ints, Numbers
from wm_audit.stats.pairs import Pairs, rankable_pairs
from wm_audit.stats.results import Kendall


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
    """Concordant, discordant, tied in x only, tied in y only, tied in both: exact integers (Knight 1966)."""
    if pairs.n < 2:
        return 0, 0, 0, 0, 0
    joint = np.sort(pairs.x * pairs.sizes_y.size + pairs.y)
    both = _tied(np.unique(joint, return_counts=True)[1])
    tied_x, tied_y = _tied(pairs.sizes_x), _tied(pairs.sizes_y)
    # Sorted by x and then by y, a pair is out of order in y exactly when it is discordant.
    discordant = inversions(joint % pairs.sizes_y.size)
    concordant = pairs.n * (pairs.n - 1) // 2 - tied_x - tied_y + both - discordant
    return concordant, discordant, tied_x - both, tied_y - both, both


def inversions(codes: Ints) -> int:
    """How many pairs i < j have codes[i] > codes[j], by merging ever larger sorted blocks, all of one size at once.

    Args:
        codes: (n,) non-negative integers below 2**61.
    """
    width, total = 1, 0
    padded = 1 << max(codes.size - 1, 0).bit_length()
    blocks = np.full(padded, codes.max(initial=0) + 1, dtype=np.int64)  # the padding is last and largest: no inversion
    blocks[: codes.size] = codes
    while width < padded:
        # The low bit tells the right half of a block from the left, and lets a left value go before an equal right one.
        halves = blocks.reshape(-1, 2, width) << 1
        halves[:, 1] |= 1
        merged = np.sort(halves.reshape(-1, 2 * width), axis=1)
        # Right values at positions p have, together, sum(p) - width (width - 1) / 2 left values before them.
        before = int(((merged & 1) @ np.arange(2 * width)).sum()) - merged.shape[0] * (width * (width - 1) // 2)
        total += merged.shape[0] * width * width - before
        blocks = merged.ravel() >> 1
        width *= 2
    return total


def _tied(sizes: Ints) -> int:
    """Pairs of items inside the groups of these sizes."""
    return int((sizes * (sizes - 1) // 2).sum())
