"""The primary test: whole seeds change partners."""

import numpy as np

from wm_audit.core import Reason, Stream
from wm_audit.stats.arrays import Numbers, whole
from wm_audit.stats.block_kernels import centred_ranks, varying
from wm_audit.stats.blocks import PRIMARY, Design, make_blocks
from wm_audit.stats.orders import judged, orders_for
from wm_audit.stats.results import TestResult
from wm_audit.stats.within_capacity import within_capacity_rho


def block_permutation_test(
    x: Numbers, y: Numbers, *, stream: Stream | None = None, draws: int = 9_999, design: Design = PRIMARY
) -> TestResult:
    """Is a seed's x-vector over capacities related to its own y-vector more than to another seed's?

    Permuting whole seeds keeps what capacity does to both sides and what a seed has in common over capacities, which permuting
    rows does not. The statistic is |rho| of `within_capacity_rho`.

    Args:
        x: (S, C) one diagnostic, or (M, S, C) the members of a composite, larger is better.
        y: (S, C) outcomes.
        stream: random numbers, needed for more than 7 complete seeds; up to 7 every order is tried.
        draws: how many random orders.
        design: as for `within_capacity_rho`, with complete seeds and rank correlation only.

    Returns:
        The test with value rho; null for the reasons of the estimate.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    whole("draws", draws, 1)
    if design.relaxed or design.method != "rho":
        raise ValueError("design must keep complete seeds and rank correlation: incomplete seeds cannot change partners")
    estimate = within_capacity_rho(x, y, design)
    if estimate.value is None:
        return TestResult.null(estimate.reason or Reason.NO_FINITE_PAIRS)
    blocks = make_blocks(x, y, design)
    a, b = varying(*centred_ranks(blocks, np.ones((1, blocks.seeds), dtype=np.bool_), design))
    a, b = (side[0][:, np.argsort(blocks.seed, kind="stable")].reshape(len(side[0]), blocks.seeds, -1) for side in (a, b))
    # cross[r, s]: what seed r's x-vector and seed s's y-vector contribute as partners; an order adds up S of these.
    cross = np.einsum("gri,gsi->rs", a, b) / np.sqrt((a * a).sum() * (b * b).sum())
    orders, exact = orders_for(blocks.seeds, draws, stream)
    statistic = np.abs(cross[orders, np.arange(blocks.seeds)].sum(axis=1))
    return judged(estimate.value, statistic, exact=exact)
