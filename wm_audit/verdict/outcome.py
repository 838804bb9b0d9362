"""How well the outcome tells models apart: without distinct and repeatable returns there is nothing to predict."""

import math
from typing import Any

import numpy as np

from wm_audit.core import Reason, Row
from wm_audit.stats.outcome_resolution import OutcomeResolution, Resolution, outcome_resolution
from wm_audit.verdict import caveats
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Floats, Table

_HALF = 0.5


def resolution(table: Table, rules: Rules) -> OutcomeResolution:
    """Distinct outcomes of the trained float rows, and their reliability where per-start returns are recorded."""
    return outcome_resolution(table.outcome(), _starts(table), rtol=rules.outcome_rtol)


def too_uniform(found: OutcomeResolution, rules: Rules) -> bool:
    """Whether the outcome takes too few distinct values for H1 and H2 to be asked."""
    return found.overall.distinct < rules.min_outcomes


def outcome_caveats(found: OutcomeResolution) -> tuple[str, ...]:
    """`noisy_outcome` below a reliability of one half, `tied_outcome` where fewer than half of the outcomes are distinct."""
    value = None if found.reliability is None else found.reliability.value
    noisy = value is not None and value < _HALF
    tied = found.overall.share is not None and found.overall.share < _HALF
    return (caveats.NOISY,) * noisy + (caveats.TIED,) * tied


def to_json(table: Table, found: OutcomeResolution) -> dict[str, Any]:
    """The block `outcome_resolution` of the results file; `ceiling` is the largest correlation that the noise leaves possible."""
    noise = found.reliability
    value = None if noise is None else noise.value
    why = Reason.TOO_FEW_SAMPLES if noise is None else noise.reason
    starts = _starts(table)
    cells = [(*capacity, item) for capacity, item in zip(table.capacities, found.inside, strict=True)]
    return {
        **_ties(found.overall),
        "n_dropped": found.overall.n_dropped,
        "capacities": [{"hidden": hidden, "embed": embed, **_ties(item)} for hidden, embed, item in cells],
        "seeds_without_variation": found.seeds_without_variation,
        "n_starts": 0 if starts is None else starts.shape[2],
        "reliability": value,
        "reliability_reason": None if why is None or value is not None else why.value,
        "ceiling": None if value is None else math.sqrt(value),
        "missing": _missing(table),
    }


def _ties(item: Resolution) -> dict[str, Any]:
    return {"n": item.n, "distinct": item.distinct, "share": item.share, "largest_tie_group": item.largest_tie}


def _starts(table: Table) -> Floats | None:
    """Per-start returns (S, C, starts), None where no row records them; a row with another number of starts counts as missing."""
    cells = table.cells()
    counts = [len(_returns(row)) for line in cells for row in line if row is not None]
    most = max(set(counts), key=lambda count: (counts.count(count), count), default=0)
    if most == 0:
        return None
    empty = [math.nan] * most
    lines = [[_returns(row) if row is not None and len(_returns(row)) == most else empty for row in line] for line in cells]
    return np.array(lines, dtype=np.float64)


def _returns(row: Row) -> list[float]:
    found = row.details.get("returns")
    return found if isinstance(found, list) else []


def _missing(table: Table) -> dict[str, int]:
    """Why outcomes of planned cells are missing, with counts."""
    counts: dict[str, int] = {}
    for row in (row for line in table.cells() for row in line):
        if row is None or row.outcome.reason is not None:
            code = "row_missing" if row is None else str(row.outcome.reason)
            counts[code] = counts.get(code, 0) + 1
    return dict(sorted(counts.items()))
