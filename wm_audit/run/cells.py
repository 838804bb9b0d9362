"""A cell: one row of evidence to be made, with all that its numbers depend on."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wm_audit.core import AuditError, Key, strict_json


@dataclass(frozen=True, slots=True)
class Cell:
    """One row to be made.

    Attributes:
        key: which row.
        inputs: every setting that this row's numbers depend on, as canonical JSON types (decimals as text, no floats); not the
            lists of seeds, capacities, environments or levers, and nothing that only the statistics read.
        group: the unit of work that shares one trained model: cells of one group are made by one worker, one after another.
    """

    key: Key
    inputs: dict[str, Any]
    group: str

    def resume_key(self, code: str) -> str:
        """`sha256:` over key, inputs and the digest of the sources that make the row: equal means the row need not be made again.

        Raises:
            ValueError: the inputs hold a float, which has no canonical form.
        """
        return strict_json.digest({"key": self.key.to_json(), "inputs": self.inputs, "code": code})


def groups(cells: Iterable[Cell]) -> dict[str, tuple[Cell, ...]]:
    """Cells by group, groups and cells in the order in which they come.

    Raises:
        AuditError: a key twice.
    """
    found: dict[str, list[Cell]] = {}
    seen: set[Key] = set()
    for cell in cells:
        if cell.key in seen:
            raise AuditError("is planned twice", where=cell.key.text(), expected="every cell once", fix="correct the configuration")
        seen.add(cell.key)
        found.setdefault(cell.group, []).append(cell)
    return {name: tuple(members) for name, members in found.items()}
