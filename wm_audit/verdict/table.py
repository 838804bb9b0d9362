"""The rows of one environment as arrays of shape (seeds S, capacities C); inside an array, NaN marks a cell without a number."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import AuditError, Key, Measurement, Row
from wm_audit.verdict.rules import Rules

Floats = NDArray[np.float64]
FLOAT = "none"
TRAINED = "trained"
POOLED_TAU = "counterfactual_tau.pooled"
"""The published variant of `counterfactual_tau`, over all state-action pairs at once."""


@dataclass(frozen=True, slots=True)
class Table:
    """One environment's evidence, sorted by key.

    Attributes:
        env: the environment.
        seeds: planned seeds, ascending: the first axis of every array.
        capacities: planned (hidden, embed) pairs, ascending: the second axis.
        rows: every row of the environment under its key.
    """

    env: str
    seeds: tuple[int, ...]
    capacities: tuple[tuple[int, int], ...]
    rows: dict[Key, Row]

    @classmethod
    def of(cls, rows: Iterable[Row], env: str, rules: Rules) -> "Table":
        """Collects the rows of `env`.

        Raises:
            AuditError: a key twice, a trained row outside the planned seeds and capacities, or no trained row and no plan.
        """
        own = sorted((row for row in rows if row.key.env == env), key=lambda row: row.key)
        found: dict[Key, Row] = {}
        for row in own:
            if row.key in found:
                raise AuditError("is there twice", where=row.key.text(), expected="every row once", fix="merge the records again")
            found[row.key] = row
        trained = [key for key in found if key.arm == TRAINED]
        seeds = tuple(sorted(rules.seeds)) or tuple(sorted({key.seed for key in trained}))
        capacities = tuple(sorted(rules.capacities)) or tuple(sorted({(key.hidden, key.embed) for key in trained}))
        if not (seeds and capacities):
            raise AuditError("has no trained row", where=env, expected="rows of the arm trained", fix="measure models before judging them")
        for key in trained:
            if key.seed not in seeds or (key.hidden, key.embed) not in capacities:
                raise AuditError("is outside the plan", where=key.text(), expected="a planned seed and capacity", fix="judge it apart")
        return cls(env, seeds, capacities, found)

    def row(self, seed: int, capacity: tuple[int, int], compression: str = FLOAT) -> Row | None:
        """The trained row of a cell, or None."""
        return self.rows.get(Key(self.env, *capacity, seed, TRAINED, compression))

    def cells(self, compression: str = FLOAT) -> list[list[Row | None]]:
        """Trained rows as S lists of C."""
        return [[self.row(seed, capacity, compression) for capacity in self.capacities] for seed in self.seeds]

    def floats(self) -> list[Row]:
        """The trained, uncompressed rows that are there, by key."""
        return [row for key, row in sorted(self.rows.items()) if key.arm == TRAINED and key.compression == FLOAT]

    def arm(self, name: str) -> list[Row]:
        """The uncompressed rows of an arm, by key."""
        return [row for key, row in sorted(self.rows.items()) if key.arm == name and key.compression == FLOAT]

    def outcome(self) -> Floats:
        """The outcome of the trained float rows, (S, C)."""
        return _array([[None if row is None else row.outcome.value for row in line] for line in self.cells()], self.shape)

    def values(self, name: str, compression: str = FLOAT, *, repeat: bool = False) -> Floats:
        """One diagnostic of the trained rows, (S, C); `repeat` takes the second evaluation stream."""
        cells = [[_number(row, name, repeat=repeat) for row in line] for line in self.cells(compression)]
        return _array(cells, self.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """(S, C)."""
        return len(self.seeds), len(self.capacities)


def measured(row: Row, name: str) -> Measurement | None:
    """A diagnostic of a row; the published pooled tau lies in the details, where other names hold what is behind a number."""
    found = row.diagnostics.get(name)
    if found is None and name == POOLED_TAU and name in row.details:
        return Measurement.from_json(row.details[name])
    return found


def reasons(rows: Sequence[Row | None], name: str) -> dict[str, int]:
    """Why a diagnostic is missing, with counts: a reason's code, `row_missing` or `not_measured`."""
    counts: dict[str, int] = {}
    for row in rows:
        found = None if row is None else measured(row, name)
        if found is not None and found.value is not None:
            continue
        code = "row_missing" if row is None else "not_measured" if found is None else str(found.reason)
        counts[code] = counts.get(code, 0) + 1
    return dict(sorted(counts.items()))


def _number(row: Row | None, name: str, *, repeat: bool) -> float | None:
    found = None if row is None else measured(row, name)
    if found is None:
        return None
    return found.repeat if repeat else found.value


def _array(cells: list[list[float | None]], shape: tuple[int, int]) -> Floats:
    return np.array(cells, dtype=np.float64).reshape(shape)
