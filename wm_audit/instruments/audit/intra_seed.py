"""How far a seed's cells agree over capacities in a real result: what a power simulation has to assume. No torch."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wm_audit.core import Row
from wm_audit.stats import ranks
from wm_audit.stats.arrays import Floats
from wm_audit.stats.icc import Icc, icc_3_1
from wm_audit.verdict import Rules
from wm_audit.verdict.composites import group
from wm_audit.verdict.deltas import Delta, delta
from wm_audit.verdict.table import Table


def intra_seed(rows: Sequence[Row], rules: Rules) -> list[dict[str, Any]]:
    """ICC(3,1) over seeds and capacities, for every environment: of the outcome, of both composites, of each lever's contrast.

    Outcome and composites are taken as ranks inside each capacity over the complete seeds, which is all that H1 and H2 see of them.

    Args:
        rows: rows of a results file.
        rules: its promise's rules; level is that of the intervals.

    Raises:
        AuditError: rows that do not fit the plan.
    """
    found: list[dict[str, Any]] = []
    for env in sorted({row.key.env for row in rows}):
        table = Table.of(rows, env, rules)
        entries = {"outcome": _ranked(table.outcome(), rules.outcome_rtol)}
        for name, members in (("perceptual", rules.perceptual), ("control", rules.control)):
            composite = group(table, name, members, rules)
            entries[name] = composite.strict(table.outcome())
        entries |= {f"contrast under {lever}": _contrast(table, lever, rules) for lever in _levers(table)}
        found += [{"environment": env, "of": name, **_json(icc_3_1(values, rules.level))} for name, values in entries.items()]
    return found


def assumed(found: Sequence[Mapping[str, Any]], *, upper: bool = False) -> float | None:
    """The intra-seed correlation to simulate with: the larger of both questions', over environments; None where none is defined.

    For sides that differ, x and y, the geometric mean sqrt(x y) stands for both: without an association the sum over C cells of a
    seed's products has variance C + C (C - 1) x y. A negative value counts as 0.

    Args:
        found: as `intra_seed` gives it.
        upper: take the upper bounds of the intervals, which is what a small pilot cannot exclude.
    """
    values = {(item["environment"], item["of"]): _bound(item) if upper else item["icc"] for item in found}
    products = [
        max(x, 0.0) * max(y, 0.0)
        for (env, of), x in values.items()
        if of in ("perceptual", "control") and x is not None and (y := values[env, "outcome"]) is not None
    ]
    return math.sqrt(max(products)) if products else None


def _bound(item: Mapping[str, Any]) -> float | None:
    return None if item["interval"] is None else float(item["interval"][1])


def _ranked(values: Floats, rtol: float) -> Floats:
    """Ranks inside each capacity over the seeds that are complete; NaN for the others."""
    complete = np.isfinite(values).all(axis=1)
    result = np.full(values.shape, np.nan)
    for capacity in range(values.shape[1]):
        result[complete, capacity] = ranks(values[complete, capacity], rtol).ranks
    return result


def _levers(table: Table) -> list[str]:
    """Levers that rows carry, without the copy and the untaught baselines, which are no levers."""
    carried = {key.compression for key in table.rows if key.arm == "trained"} - {"none", "copy"}
    return sorted(name for name in carried if not name.startswith("untaught."))


def _contrast(table: Table, lever: str, rules: Rules) -> Floats:
    """(S, C) degradation of calibration minus that of pixels, in seed-to-seed standard deviations."""

    def side(members: Sequence[str]) -> Floats:
        return np.asarray(np.mean([_scaled(delta(table, member, lever, rules)) for member in members], axis=0))

    return np.asarray(side(rules.calibration) - side(rules.pixel))


def _scaled(item: Delta) -> Floats:
    return item.scaled(item.scale)


def _json(item: Icc) -> dict[str, Any]:
    return {
        "icc": item.value,
        "reason": None if item.reason is None else item.reason.value,
        "interval": None if item.interval.bounds is None else list(item.interval.bounds),
        "interval_reason": None if item.interval.reason is None else item.interval.reason.value,
        "level": item.interval.level,
        "n_seeds": item.n,
        "n_dropped_seeds": item.n_dropped,
    }
