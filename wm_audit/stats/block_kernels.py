"""The association of blocks, for many sets of kept seeds at once. Assumes clean input; R replicates, G blocks, I items."""

import numpy as np

from wm_audit.stats.arrays import Bools, Floats, Ints
from wm_audit.stats.blocks import Blocks, Design
from wm_audit.stats.ranks import masked_ranks, tie_codes
from wm_audit.stats.spearman import cosine


def associations(blocks: Blocks, keep: Bools, design: Design) -> Floats:
    """The association with some seeds left out, everything ranked and averaged anew.

    Args:
        blocks: clean input.
        keep: (R, S) which seeds enter each replicate.
        design: how the association is measured.

    Returns:
        (R,) values in [-1, 1], NaN where no block varies on both sides.
    """
    if design.method == "rho":
        a, b = varying(*centred_ranks(blocks, keep, design))
        return cosine(a.reshape(len(keep), -1), b.reshape(len(keep), -1))
    present = blocks.has_pair & keep[:, None, blocks.seed]
    a = _signs(composite_codes(blocks, keep, design), present)
    b = _signs(np.broadcast_to(blocks.y, present.shape), present)
    a, b = varying(a.reshape(*a.shape[:2], -1), b.reshape(*b.shape[:2], -1))
    return cosine(a.reshape(len(keep), -1), b.reshape(len(keep), -1))


def centred_ranks(blocks: Blocks, keep: Bools, design: Design) -> tuple[Floats, Floats]:
    """Centred mid-ranks of x and y, (R, G, I) each; 0 where an item is absent."""
    present = blocks.has_pair & keep[:, None, blocks.seed]
    centre = 0.5 * (present.sum(axis=-1, keepdims=True) + 1)
    a = np.where(present, masked_ranks(composite_codes(blocks, keep, design), present) - centre, 0.0)
    b = np.where(present, masked_ranks(blocks.y, present) - centre, 0.0)
    return a, b


def composite_codes(blocks: Blocks, keep: Bools, design: Design) -> Ints:
    """Integers that order the items as the composite of the members of x does, (R, G, I)."""
    if len(blocks.x) == 1:
        return np.broadcast_to(blocks.x[0], (len(keep), *blocks.x.shape[1:]))
    present = blocks.has_x & keep[:, None, None, blocks.seed]
    ranks = masked_ranks(blocks.x, present)
    if not design.relaxed:  # every member ranks the same items, so twice the sum of mid-ranks is the mean, in integers
        return np.asarray(np.rint(2.0 * ranks.sum(axis=1)), dtype=np.int64)
    return _mean_percentiles(ranks, present)


def _mean_percentiles(ranks: Floats, present: Bools) -> Ints:
    """Tie groups of the mean over present members of (rank - 0.5) / number present, (R, M, G, I) to (R, G, I)."""
    share = np.where(present, (ranks - 0.5) / np.maximum(present.sum(axis=-1, keepdims=True), 1), 0.0)
    count = present.sum(axis=1)
    mean = share.sum(axis=1) / np.maximum(count, 1)
    return tie_codes(np.where(count > 0, mean, np.inf), 1e-12, 1e-12)


def _signs(codes: Ints, present: Bools) -> Floats:
    """The order of every pair of items, (..., I, I): +1, 0 or -1."""
    both = present[..., :, None] & present[..., None, :]
    return np.where(both, np.sign(codes[..., :, None] - codes[..., None, :]), 0).astype(np.float64)


def varying(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Zeroes the blocks (last axis) in which either side is constant: they leave all three sums."""
    keep = a.any(axis=-1, keepdims=True) & b.any(axis=-1, keepdims=True)
    return a * keep, b * keep
