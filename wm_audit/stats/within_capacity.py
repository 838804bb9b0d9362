"""The primary estimate: association of seeds inside capacities."""

from dataclasses import dataclass

import numpy as np

from wm_audit.core import Reason
from wm_audit.stats.arrays import Numbers
from wm_audit.stats.block_kernels import associations, centred_ranks
from wm_audit.stats.blocks import PRIMARY, Design, make_blocks
from wm_audit.stats.pairs import constant_reason


@dataclass(frozen=True, slots=True)
class Within:
    """An association over seeds and capacities, or the reason why there is none.

    Attributes:
        value: the association in [-1, 1].
        reason: why there is none, or None.
        n: seeds that entered.
        n_dropped: seeds that did not.
        constant_capacities: positions of the capacities left out because x or y is constant there.
    """

    value: float | None
    reason: Reason | None
    n: int
    n_dropped: int
    constant_capacities: tuple[int, ...] = ()

    @property
    def n_constant_capacities(self) -> int:
        """How many capacities were left out."""
        return len(self.constant_capacities)


def within_capacity_rho(x: Numbers, y: Numbers, design: Design = PRIMARY) -> Within:
    """sum(A B) / sqrt(sum(A A) sum(B B)) over the centred mid-ranks A of x and B of y inside each capacity.

    What capacity does to both sides is removed by ranking inside it. A capacity in which x or y is constant leaves all three
    sums: kept in, it would shrink the value.

    Args:
        x: (S, C) one diagnostic, or (M, S, C) the members of a composite (ranked inside each capacity and averaged), larger is
            better. None and NaN are missing.
        y: (S, C) outcomes.
        design: the estimand's variants; the default is the primary analysis.

    Returns:
        The association; null `no_finite_pairs`, `coverage`, `too_few_seeds` (fewer than 3), or `constant_x`, `constant_y`,
        `constant_both` where no capacity is left.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    blocks = make_blocks(x, y, design)
    if blocks.reason is not None:
        return Within(None, blocks.reason, blocks.seeds, blocks.n_dropped)
    everyone = np.ones((1, blocks.seeds), dtype=np.bool_)
    x_varies, y_varies = (side[0].any(axis=-1) for side in centred_ranks(blocks, everyone, design))
    constant = () if design.scope == "pooled" else tuple(int(place) for place in np.flatnonzero(~(x_varies & y_varies)))
    if not (x_varies & y_varies).any():
        # Where each side varies somewhere but nowhere together, neither can be blamed alone.
        reason = constant_reason(not x_varies.any(), not y_varies.any()) or Reason.CONSTANT_BOTH
        return Within(None, reason, blocks.seeds, blocks.n_dropped, constant)
    value = float(associations(blocks, everyone, design)[0])
    return Within(value, None, blocks.seeds, blocks.n_dropped, constant)
