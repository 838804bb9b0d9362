"""The deciding interval: leave one seed out, on Fisher's z scale."""

import math

import numpy as np

from wm_audit.core import Reason
from wm_audit.stats.arrays import Floats, Numbers, open_unit
from wm_audit.stats.block_kernels import associations
from wm_audit.stats.blocks import PRIMARY, Design, make_blocks
from wm_audit.stats.distributions import student_quantile
from wm_audit.stats.fisher import PERFECT, from_z
from wm_audit.stats.results import Interval
from wm_audit.stats.within_capacity import within_capacity_rho

LEAST_REPLICATES = 4
"""Fewest seeds of an interval: without one of three, what is left is no association."""

_CELLS = 100_000
"""Numbers of all replicates that are held at once: without a bound, memory grows with the square or the cube of the seeds."""


def jackknife_z(x: Numbers, y: Numbers, level: float = 0.90, design: Design = PRIMARY) -> Interval:
    """The interval z -+ t se, se = sqrt((S - 1) / S sum (z_i - mean z)^2), back through tanh (Tukey 1958; not bias-corrected).

    z_i is Fisher's z of the association without seed i, everything ranked and averaged anew; t has S - 1 degrees of freedom.

    Args:
        x: (S, C) one diagnostic, or (M, S, C) the members of a composite, larger is better.
        y: (S, C) outcomes.
        level: coverage.
        design: as for `within_capacity_rho`.

    Returns:
        The interval with z and se. Null for the reasons of the estimate, `too_few_seeds` (fewer than 4),
        `perfect_correlation`, `perfect_replicate`, or `degenerate_resamples`: a replicate in which nothing varies, or replicates
        that all agree, which say nothing of the sampling error.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    open_unit("level", level)
    estimate = within_capacity_rho(x, y, design)
    if estimate.value is None:
        return Interval.null(estimate.reason or Reason.NO_FINITE_PAIRS, level)
    return interval_from(estimate.value, leave_one_out(x, y, design), level)


def interval_from(estimate: float, replicates: Floats, level: float) -> Interval:
    """The interval of an estimate from its leave-one-out replicates, (S,); null as `jackknife_z` says."""
    if abs(estimate) >= PERFECT:
        return Interval.null(Reason.PERFECT_CORRELATION, level)
    reason = _reason(replicates)
    if reason is not None:
        return Interval.null(reason, level, n_degenerate=int(np.isnan(replicates).sum()))
    seeds, z = replicates.size, np.arctanh(replicates)
    se = math.sqrt((seeds - 1) / seeds * float(((z - z.mean()) ** 2).sum()))
    if se <= 1e-12:
        return Interval.null(Reason.DEGENERATE_RESAMPLES, level)
    return from_z(math.atanh(estimate), se, student_quantile(0.5 * (1.0 + level), seeds - 1), level)


def leave_one_out(x: Numbers, y: Numbers, design: Design = PRIMARY) -> Floats:
    """The association without each of the seeds that enter, (S,); NaN where nothing varies then.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    blocks = make_blocks(x, y, design)
    each = blocks.x.size if design.method == "rho" else blocks.y.size * blocks.y.shape[-1]
    step, seeds = max(1, _CELLS // max(each, 1)), np.arange(blocks.seeds)
    parts = [associations(blocks, seeds != seeds[first : first + step, None], design) for first in range(0, blocks.seeds, step)]
    return np.concatenate(parts) if parts else np.empty(0)


def _reason(replicates: Floats) -> Reason | None:
    if replicates.size < LEAST_REPLICATES:
        return Reason.TOO_FEW_SEEDS
    if np.isnan(replicates).any():
        return Reason.DEGENERATE_RESAMPLES
    return Reason.PERFECT_REPLICATE if (np.abs(replicates) >= PERFECT).any() else None
