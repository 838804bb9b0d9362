"""Seeds x capacities as blocks of tie groups: the common ground of the estimate, its test and its interval.

A seed is one independent run at every capacity, so seeds are what is permuted, deleted and counted. `Design` says how the
association is measured, `Blocks` holds clean input for the kernels in `block_kernels.py`.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Reason
from wm_audit.stats.arrays import Bools, Floats, Ints, Numbers, open_unit, real_array, tolerances, whole
from wm_audit.stats.ranks import tie_codes

LEAST_SEEDS = 3
"""Fewest seeds of an association."""


@dataclass(frozen=True, slots=True)
class Design:
    """How an association over seeds and capacities is measured. The defaults are the primary analysis.

    Attributes:
        scope: rank inside each capacity (`within`) or over all cells (`pooled`).
        method: rank correlation (`rho`) or Kendall's tau-b (`tau`), summed over capacities before dividing.
        relaxed: keep incomplete seeds, with ranks over the pairs that are present; otherwise a seed enters only if it is
            complete at every capacity.
        planned: planned number of seeds; None: as many as there are rows.
        coverage: least share of the planned seeds that must be complete (not asked of the relaxed version).
        rtol: relative tie tolerance of x, one for all members or one for each.
        rtol_y: relative tie tolerance of y; None: as `rtol`, which is then a single number.
        atol: absolute tie tolerance of both.
    """

    scope: Literal["within", "pooled"] = "within"
    method: Literal["rho", "tau"] = "rho"
    relaxed: bool = False
    planned: int | None = None
    coverage: float = 0.8
    rtol: float | tuple[float, ...] = 1e-12
    rtol_y: float | None = None
    atol: float = 0.0

    def __post_init__(self) -> None:
        """Refuses unknown options."""
        if self.scope not in ("within", "pooled"):
            raise ValueError(f"scope must be 'within' or 'pooled', found {self.scope!r}")
        if self.method not in ("rho", "tau"):
            raise ValueError(f"method must be 'rho' or 'tau', found {self.method!r}")
        if self.coverage != 1.0:
            open_unit("coverage", self.coverage)
        if self.planned is not None:
            whole("planned", self.planned, 1)
        if self.rtol_y is None and isinstance(self.rtol, tuple):
            raise ValueError("rtol_y must be given where rtol holds one tolerance for each member")
        for rtol in (*self.tolerances_x(1), self.tolerance_y()):
            tolerances(rtol, self.atol)

    def tolerances_x(self, members: int) -> tuple[float, ...]:
        """The tie tolerance of each member of x."""
        return self.rtol if isinstance(self.rtol, tuple) else (self.rtol,) * members

    def tolerance_y(self) -> float:
        """The tie tolerance of y."""
        return self.rtol_y if self.rtol_y is not None else self.tolerances_x(1)[0]


PRIMARY = Design()


@dataclass(frozen=True, slots=True)
class Blocks:
    """Clean input of the kernels: M members of x, G blocks, I items a block, S seeds that enter.

    Within capacities a block is a capacity and an item a seed; pooled, there is one block and an item is a cell.

    Attributes:
        x: (M, G, I) tie group of each member's value inside its block, meaningless where it is absent.
        y: (G, I) tie group of y, likewise.
        has_x: (M, G, I) whether the member's value is there.
        has_pair: (G, I) whether the item enters the association.
        seed: (I,) the seed an item belongs to, 0 .. S-1.
        seeds: S.
        n_dropped: seeds that do not enter.
        reason: why no association can be computed, or None.
    """

    x: Ints
    y: Ints
    has_x: Bools
    has_pair: Bools
    seed: Ints
    seeds: int
    n_dropped: int
    reason: Reason | None


def make_blocks(x: Numbers, y: Numbers, design: Design) -> Blocks:
    """Validates the input and turns it into blocks.

    Args:
        x: (S, C) one diagnostic, or (M, S, C) the members of a composite, larger is better. None and NaN are missing.
        y: (S, C) outcomes.
        design: how the association is measured.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    members, outcome = _checked(x, y, design)
    has_x, has_y = np.isfinite(members), np.isfinite(outcome)
    pair = has_y & (has_x.any(axis=0) if design.relaxed else has_x.all(axis=0))
    enters = pair.any(axis=1) if design.relaxed else pair.all(axis=1)
    seeds, capacities = int(enters.sum()), outcome.shape[1]
    shown = _blocked(has_x[:, enters], design)
    paired = _blocked(pair[enters], design)
    rtol = np.array(design.tolerances_x(len(members)))[:, None, None]
    return Blocks(
        x=tie_codes(np.where(shown, _blocked(members[:, enters], design), np.inf), rtol, design.atol),
        y=tie_codes(np.where(paired, _blocked(outcome[enters], design), np.inf), design.tolerance_y(), design.atol),
        has_x=shown,
        has_pair=paired,
        seed=np.repeat(np.arange(seeds), capacities) if design.scope == "pooled" else np.arange(seeds),
        seeds=seeds,
        n_dropped=int(enters.size) - seeds,
        reason=_reason(bool(pair.any()), seeds, outcome.shape[0], design),
    )


def _checked(x: Numbers, y: Numbers, design: Design) -> tuple[Floats, Floats]:
    """Members as (M, S, C) and outcomes as (S, C)."""
    members, outcome = real_array("x", x, 2, 3), real_array("y", y, 2)
    members = members[None] if members.ndim == 2 else members
    if members.shape[1:] != outcome.shape or members.shape[0] == 0:
        raise ValueError(f"x must hold the seeds and capacities of y, {outcome.shape}, found {members.shape}")
    if len(design.tolerances_x(len(members))) != len(members):
        raise ValueError(f"rtol must be one number or one for each of the {len(members)} members, found {design.rtol}")
    if design.planned is not None and design.planned < len(outcome):
        raise ValueError(f"planned must be at least the number of seeds, {len(outcome)}, found {design.planned}")
    return members, outcome


def _reason(any_pair: bool, seeds: int, rows: int, design: Design) -> Reason | None:
    """Whether enough seeds enter for an association to be asked."""
    if not any_pair:
        return Reason.NO_FINITE_PAIRS
    planned = rows if design.planned is None else design.planned
    if not design.relaxed and seeds < design.coverage * planned - 1e-9:  # 4 of 5 seeds are .8 of them, whatever .8 * 5 rounds to
        return Reason.COVERAGE
    return Reason.TOO_FEW_SEEDS if seeds < LEAST_SEEDS else None


def _blocked(values: NDArray[Any], design: Design) -> NDArray[Any]:
    """(..., S, C) as (..., G, I)."""
    if design.scope == "pooled":
        return values.reshape(*values.shape[:-2], 1, values.shape[-2] * values.shape[-1])
    return np.swapaxes(values, -1, -2)
