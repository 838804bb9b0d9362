"""The deciding interval of many complete grids at once: simulations ask it thousands of times."""

import numpy as np

from wm_audit.core import Reason
from wm_audit.stats.arrays import Bools, Floats, Numbers, open_unit, real_array, same_shape
from wm_audit.stats.block_kernels import centred_ranks, varying
from wm_audit.stats.blocks import PRIMARY, Design, make_blocks
from wm_audit.stats.jackknife import interval_from, jackknife_z
from wm_audit.stats.results import Interval
from wm_audit.stats.spearman import cosine

_CELLS = 150_000  # ranked in one go: what a processor's cache holds


def jackknife_many(x: Numbers, y: Numbers, level: float = 0.90, design: Design = PRIMARY) -> list[Interval]:
    """`jackknife_z` of every grid, bit for bit, by the same kernels.

    The capacities of all grids lie side by side as the blocks of one large grid. They are ranked together, with nobody and with
    each seed left out, and taken apart again before anything is summed.

    Args:
        x: (R, S, C) one finite value per cell, larger is better.
        y: (R, S, C) finite outcomes.
        level: coverage.
        design: as for `jackknife_z`, ranks inside capacities over complete seeds only.

    Returns:
        R intervals, each null where `jackknife_z` would give null.

    Raises:
        ValueError: wrong use, or a value that is not finite: incomplete grids go through `jackknife_z` one by one.
    """
    open_unit("level", level)
    given, outcome = real_array("x", x, 3), real_array("y", y, 3)
    same_shape("x", given, "y", outcome)
    if design.scope != "within" or design.method != "rho" or design.relaxed:
        raise ValueError("design must rank inside capacities over complete seeds")
    if not (np.isfinite(given).all() and np.isfinite(outcome).all()):
        raise ValueError("x and y must be finite")
    seeds, capacities = given.shape[1:]
    if seeds == 0 or capacities == 0:
        return [Interval.null(Reason.NO_FINITE_PAIRS, level)] * len(given)
    keep = np.concatenate((np.ones((1, seeds), dtype=np.bool_), ~np.eye(seeds, dtype=np.bool_)))
    step = max(1, _CELLS // (keep.size * capacities))
    pieces = [slice(first, first + step) for first in range(0, len(given), step)]
    return [item for piece in pieces for item in _piece(given[piece], outcome[piece], keep, level, design)]


def _piece(x: Floats, y: Floats, keep: Bools, level: float, design: Design) -> list[Interval]:
    grids, seeds, capacities = x.shape
    beside = [np.moveaxis(side, 0, 1).reshape(seeds, grids * capacities) for side in (x, y)]
    blocks = make_blocks(beside[0], beside[1], design)
    if blocks.reason is not None:
        return [Interval.null(blocks.reason, level)] * grids
    a, b = (side.reshape(len(keep), grids, capacities, seeds) for side in varying(*centred_ranks(blocks, keep, design)))
    found = cosine(a.reshape(len(keep), grids, -1), b.reshape(len(keep), grids, -1))
    return [
        # where nothing varies, the single version knows which side is to blame
        jackknife_z(x[grid], y[grid], level, design)
        if np.isnan(found[0, grid])
        else interval_from(float(found[0, grid]), found[1:, grid], level)
        for grid in range(grids)
    ]
