"""The null lever: a float copy sent through the compression code."""

import math
from typing import Any

from wm_audit.core import Reason
from wm_audit.verdict.check import Check
from wm_audit.verdict.table import Table

COPY = "copy"


def copy_check(table: Table) -> list[Check]:
    """A float copy through the compression code, evaluated on its float's own stream, changes nothing: the differences are exactly 0.

    A model that the compression code does not know has no copies, and so no control of it.
    """
    twins = [(row, table.row(row.key.seed, (row.key.hidden, row.key.embed), COPY)) for row in table.floats()]
    pairs = [(one, two) for one, two in twins if two is not None]
    if not pairs:
        return []
    pairs = [(one, two) for one, two in pairs if two.outcome.reason is not Reason.CAPABILITY_MISSING]
    if not pairs:
        return [Check(COPY, "every difference", "not_checked", "exactly 0", note="the compression code cannot copy this model")]
    gaps = [
        _gap(one.diagnostics.get(name), two.diagnostics.get(name)) for one, two in pairs for name in {**one.diagnostics, **two.diagnostics}
    ]
    gaps += [_gap(one.outcome, two.outcome) for one, two in pairs]
    worst = max(gaps)
    finite = worst if math.isfinite(worst) else None
    note = "" if finite is not None else "a value is defined on one side only"
    return [Check(COPY, "every difference", "failed" if worst > 0 else "passed", "exactly 0", finite, n=len(gaps), note=note)]


def _gap(one: Any, two: Any) -> float:
    """Distance of two measurements: infinite where only one is defined or the reasons differ."""
    if one is None or two is None or one.reason != two.reason or (one.value is None) != (two.value is None):
        return math.inf
    return 0.0 if one.value is None else abs(one.value - two.value)
