"""Composites: the average of oriented ranks over the members of a group; larger is better."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Reason
from wm_audit.stats import ranks
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Floats, Table, reasons

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Group:
    """The members of a composite, or one diagnostic as a group of one.

    Attributes:
        name: the composite's or the diagnostic's name.
        members: diagnostics, M of them.
        values: (M, S, C) oriented values, NaN where there is none.
        rtol: (M,) relative tie tolerances.
    """

    name: str
    members: tuple[str, ...]
    values: Floats
    rtol: tuple[float, ...]

    def complete(self, outcome: Floats) -> Bools:
        """(S,): outcome and every member finite at every capacity."""
        return np.asarray(np.isfinite(self.values).all(axis=(0, 2)) & np.isfinite(outcome).all(axis=1))

    def score(self, seeds: NDArray[np.int64] | Bools) -> Floats:
        """The strict composite of some seeds, ranked among themselves inside each capacity: (S', C)."""
        return np.asarray(self._ranked(self.values[:, seeds]).mean(axis=0))

    def strict(self, outcome: Floats) -> Floats:
        """The strict composite over the complete seeds, NaN for the others: (S, C)."""
        complete = self.complete(outcome)
        result = np.full(outcome.shape, np.nan)
        if complete.any():
            result[complete] = self.score(complete)
        return result

    def relaxed(self) -> tuple[Floats, NDArray[np.int64]]:
        """All seeds: mean over the members present of (rank - 0.5) / n_present, and how many are present; both (S, C)."""
        present = np.isfinite(self.values)
        count = present.sum(axis=0)
        share = (self._ranked(self.values) - 0.5) / np.maximum(present.sum(axis=1, keepdims=True), 1)
        total = np.where(present, share, 0.0).sum(axis=0)
        return np.where(count > 0, total / np.maximum(count, 1), np.nan), count

    def pooled(self) -> Floats:
        """Ranks over all rows that hold every member, averaged over members: (S, C). For the point rule and description only."""
        flat = self.values.reshape(len(self.members), -1, 1)
        whole = np.isfinite(flat).all(axis=(0, 2))
        result = np.full(flat.shape[1], np.nan)
        if whole.any():
            result[whole] = self._ranked(flat[:, whole]).mean(axis=0)[:, 0]
        return result.reshape(self.values.shape[1:])

    def _ranked(self, values: Floats) -> Floats:
        """Mid-ranks along the seeds, for every member and capacity."""
        result = np.empty_like(values)
        for member, rtol in enumerate(self.rtol):
            for capacity in range(values.shape[2]):
                result[member, :, capacity] = ranks(values[member, :, capacity], rtol).ranks
        return result


def group(table: Table, name: str, members: Sequence[str], rules: Rules) -> Group:
    """Reads the members' float values, turned so that larger is better; an extra without an orientation keeps its sign."""
    slots = [rules.slot(member) for member in members]
    stack = [(slot.orientation or 1) * table.values(member) for member, slot in zip(members, slots, strict=True)]
    return Group(name, tuple(members), np.stack(stack), tuple(slot.rtol for slot in slots))


def entries(table: Table, groups: Sequence[Group], outcome: Floats) -> list[dict[str, Any]]:
    """One entry per composite and planned cell: the strict, relaxed and pooled value, and how many members are present."""
    listed: list[dict[str, Any]] = []
    for item in groups:
        strict, (relaxed, present), pooled = item.strict(outcome), item.relaxed(), item.pooled()
        for s, seed in enumerate(table.seeds):
            for c, (hidden, embed) in enumerate(table.capacities):
                entry: dict[str, Any] = {"composite": item.name, "hidden": hidden, "embed": embed, "seed": seed}
                some_null = present[s, c] < len(item.members)
                entry |= _value("strict", strict[s, c], Reason.NULL_MEMBER if some_null else Reason.COVERAGE)
                entry |= _value("relaxed", relaxed[s, c], Reason.NULL_MEMBER)
                entry |= {"present": int(present[s, c]), "planned": len(item.members)}
                entry["coverage"] = entry["present"] / entry["planned"]
                listed.append(entry | _value("pooled", pooled[s, c], Reason.NULL_MEMBER))
    return listed


def missing(table: Table, members: Sequence[str]) -> dict[str, dict[str, int]]:
    """Which members are missing in planned float cells, why and how often; members without a gap are not named."""
    cells = [row for line in table.cells() for row in line]
    found = {member: reasons(cells, member) for member in members}
    return {member: counts for member, counts in found.items() if counts}


def _value(name: str, number: float, reason: Reason) -> dict[str, Any]:
    defined = bool(np.isfinite(number))
    return {name: float(number) if defined else None, f"{name}_reason": None if defined else reason.value}
