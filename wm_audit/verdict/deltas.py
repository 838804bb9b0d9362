"""What one lever did to one diagnostic, cell by cell, and the two scales it is measured against."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wm_audit.core import Reason
from wm_audit.stats import ranks
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import FLOAT, Floats, Table, reasons

LEAST_FOR_SCALE = 2
"""Fewest seeds that have a standard deviation."""

_Z = 1.645
"""The normal quantile of a one-sided alpha of .05, as the promise states it."""


@dataclass(frozen=True, slots=True)
class Delta:
    """One diagnostic under one lever.

    Attributes:
        diagnostic: its name.
        value: (S, C) orientation * (baseline - compressed): positive is worse; NaN where a side is missing.
        scale: seed-to-seed standard deviation of the float rows inside a capacity, in the diagnostic's unit, or None.
        reason: why there is no scale, or None.
        floor: evaluation noise of one value, in the diagnostic's unit, or None where no row was evaluated twice.
        missing: why cells are missing, with counts.
    """

    diagnostic: str
    value: Floats
    scale: float | None
    reason: Reason | None
    floor: float | None
    missing: dict[str, int]

    @property
    def n(self) -> int:
        """Cells with a difference."""
        return int(np.isfinite(self.value).sum())

    @property
    def mean(self) -> float | None:
        """Mean difference over those cells."""
        return float(np.nanmean(self.value)) if self.n else None

    @property
    def below_noise_floor(self) -> bool:
        """Whether the mean difference of two independent evaluations could be as large as this one."""
        return self.floor is not None and self.mean is not None and abs(self.mean) <= _Z * self.floor * math.sqrt(2.0 / self.n)

    def scaled(self, scale: float | None) -> Floats:
        """The differences in units of `scale`; all NaN without one."""
        return self.value / scale if scale else np.full_like(self.value, np.nan)

    def to_json(self, sides: Sequence[str]) -> dict[str, Any]:
        """The entry of the compression table."""
        defined = self.mean is not None and self.scale is not None
        reason = None if defined else self.reason or Reason.NULL_MEMBER
        return {
            "diagnostic": self.diagnostic,
            "sides": list(sides),
            "mean_delta": self.mean,
            "scale": self.scale,
            "degradation": self.mean / self.scale if self.mean is not None and self.scale else None,
            "reason": None if reason is None else reason.value,
            "noise_floor": self.floor,
            "noise_floor_reason": Reason.TOO_FEW_SAMPLES.value if self.floor is None else None,
            "below_noise_floor": self.below_noise_floor,
            "n": self.n,
            "missing": self.missing,
        }


def baseline(lever: str) -> str:
    """What a lever is compared with: the float model, or for a taught student the same student without a teacher."""
    return "untaught" + lever.removeprefix("distill") if lever.startswith("distill.") else FLOAT


def delta(table: Table, name: str, lever: str, rules: Rules) -> Delta:
    """Pairs a lever's rows with their baseline on the exact (env, hidden, embed, seed)."""
    slot, floats = rules.slot(name), table.values(name)
    scale, reason = seed_sd(floats, slot.rtol)
    cells = [row for line in (*table.cells(baseline(lever)), *table.cells(lever)) for row in line]
    return Delta(
        diagnostic=name,
        value=slot.orientation * (table.values(name, baseline(lever)) - table.values(name, lever)),
        scale=scale,
        reason=reason,
        floor=noise_floor(floats, table.values(name, repeat=True)),
        missing=reasons(cells, name),
    )


def seed_sd(values: Floats, rtol: float) -> tuple[float | None, Reason | None]:
    """Standard deviation over seeds inside a capacity, pooled over capacities with ddof 1; (S, C) -> a number or a reason."""
    columns = [column[np.isfinite(column)] for column in values.T]
    freedom = sum(max(column.size - LEAST_FOR_SCALE + 1, 0) for column in columns)
    if freedom == 0:
        return None, Reason.TOO_FEW_SEEDS
    if all(ranks(column, rtol).groups <= 1 for column in columns):
        return None, Reason.NO_SPREAD
    squares = sum(float(np.square(column - column.mean()).sum()) for column in columns if column.size)
    scale = math.sqrt(squares / freedom)
    return (scale, None) if scale > 0.0 else (None, Reason.NO_SPREAD)  # squares of differences below 1e-162 are 0


def noise_floor(value: Floats, repeat: Floats) -> float | None:
    """sqrt(mean((v1 - v2)^2) / 2) over the models evaluated on two independent streams, or None without any."""
    gap = (value - repeat)[np.isfinite(value) & np.isfinite(repeat)]
    return math.sqrt(float(np.square(gap).mean()) / 2.0) if gap.size else None
