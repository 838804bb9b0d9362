"""The published fixed float ladder: where a compressed value would stand among the float models."""

import numpy as np

from wm_audit.verdict.deltas import baseline
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Floats, Table


def insert(reference: Floats, values: Floats, rtol: float = 1e-12) -> Floats:
    """(count below + count at or below) / 2 / n of each value in the reference.

    The reference alone makes the ladder, so another lever cannot move it; a value that is not finite stands nowhere (NaN),
    never on the worst rung.

    Args:
        reference: (n,) finite values.
        values: any shape.
        rtol: relative tie tolerance.
    """
    steps = values[..., None]
    with np.errstate(invalid="ignore"):
        tied = np.abs(steps - reference) <= rtol * np.maximum(np.abs(steps), np.abs(reference))
        below = (reference < steps) & ~tied
    place = (below.sum(axis=-1) + 0.5 * tied.sum(axis=-1)) / max(reference.size, 1)
    return np.where(np.isfinite(values) & (reference.size > 0), place, np.nan)


def degradation(table: Table, name: str, lever: str, rules: Rules) -> Floats:
    """Rungs lost by one diagnostic under a lever, as a share of the ladder: (S, C), positive is worse."""
    slot = rules.slot(name)
    reference = slot.orientation * table.values(name)
    reference = reference[np.isfinite(reference)]
    before, after = (slot.orientation * table.values(name, compression) for compression in (baseline(lever), lever))
    return insert(reference, before, slot.rtol) - insert(reference, after, slot.rtol)
