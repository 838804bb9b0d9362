"""The log of deviations: what was done otherwise than promised, why, and what it costs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wm_audit.core import AuditError
from wm_audit.prereg.forms import exact
from wm_audit.prereg.schema import Fields, Items, Scalar, Text
from wm_audit.prereg.strict_yaml import load

REASONS = (
    "unforeseen_event",
    "error_in_the_plan",
    "missing_information",
    "violated_assumption",
    "falsified_auxiliary_hypothesis",
)
"""Lakens (2024), When and how to deviate from a preregistration: the five reasons that can be justified."""

_DAY = Text(pattern=r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
LOG = Fields(
    {
        "deviations": Items(
            Fields(
                {
                    "id": Text(pattern=r"D[0-9]+"),
                    "promise": Text(pattern=r"sha256:[0-9a-f]{64}"),
                    "field": Text(),
                    "planned": Scalar(),
                    "done": Scalar(),
                    "reason": Text(choices=REASONS),
                    "outcomes_seen": Text(choices=("before", "partly", "after")),
                    "severity": Text(),
                    "original_result": Text(),
                    "date": _DAY,
                    "commit": Text(pattern=r"[0-9a-f]{7,40}"),
                }
            ),
            distinct=True,
        )
    }
)
"""The schema of `configs/deviations.yaml`; every field is required."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """One entry of the log.

    Attributes:
        id: D1, D2, ...
        promise: digest of the promise that was deviated from.
        field: the one value that differs, by its path, e.g. `training.steps`.
        planned, done: its promised and its executed value; decimals as text.
        reason: one of `REASONS`.
        outcomes_seen: had the outcomes been seen when this was decided: before (no), partly, after (yes).
        severity: what it does to the severity of the test, in words.
        original_result: the result under the original plan, or why it cannot be computed.
        date, commit: when and where it was decided.
    """

    id: str
    promise: str
    field: str
    planned: Any
    done: Any
    reason: str
    outcomes_seen: str
    severity: str
    original_result: str
    date: str
    commit: str

    def to_json(self) -> dict[str, Any]:
        """The form that results hold."""
        return asdict(self)


def load_deviations(path: Path, promise: str) -> tuple[Deviation, ...]:
    """The logged deviations from the promise with this digest, in the log's order; none where there is no log.

    Raises:
        AuditError: the log cannot be read or breaks its schema, or an id stands in it twice.
    """
    if not path.exists():
        return ()
    document = load(path, LOG)
    entries = [Deviation(**exact(entry)) for entry in document.value["deviations"]]
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry.id in seen:
            where = document.place(f"deviations[{index}].id")
            raise AuditError(f"names {entry.id} a second time", where=where, expected="every id once", fix="give it the next number")
        seen.add(entry.id)
    return tuple(entry for entry in entries if entry.promise == promise)


def log_of(promise: Path) -> Path:
    """Where the deviations from a promise are logged: beside it, or above a folder of superseded ones."""
    folder = promise.parent
    return (folder.parent if folder.name == "superseded" else folder) / "deviations.yaml"


def unlogged(promised: Mapping[str, Any], executed: Mapping[str, Any], log: Iterable[Deviation]) -> list[tuple[str, Any, Any]]:
    """Field, promised and executed value of every difference that no entry states; both maps by `slice.leaves`."""
    stated = {(entry.field, _text(entry.planned), _text(entry.done)) for entry in log}
    found = [(field, promised.get(field), executed.get(field)) for field in dict.fromkeys((*promised, *executed))]
    return [item for item in found if item[1] != item[2] and (item[0], _text(item[1]), _text(item[2])) not in stated]


def undone(executed: Mapping[str, Any], log: Sequence[Deviation]) -> list[Deviation]:
    """Entries that say something was done which was not."""
    return [entry for entry in log if _text(executed.get(entry.field)) != _text(entry.done)]


def _text(value: Any) -> str:
    return "nothing" if value is None else str(value)
