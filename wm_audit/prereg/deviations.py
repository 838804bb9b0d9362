"""The log of deviations: what was done otherwise than promised, why, and what it costs."""

from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from wm_audit.core import AuditError
from wm_audit.prereg.checks import Problem
from wm_audit.prereg.forms import exact
from wm_audit.prereg.promise import Promise
from wm_audit.prereg.schema import Fields, Items, Scalar, Text
from wm_audit.prereg.slice import leaves
from wm_audit.prereg.strict_yaml import load, nearest

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
        planned, done: its promised and its executed value; decimals as text, a list as the text `[0, 1]`, an absent one as `nothing`.
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


def load_deviations(promise: Promise) -> tuple[Deviation, ...]:
    """The logged deviations from a promise, in the log's order; none where there is no log.

    Raises:
        AuditError: the log cannot be read or breaks its schema, an id stands in it twice, or an entry says of the promise what is not
            so: it is a draft, it never planned that, or nothing was changed.
    """
    path = log_of(Path(promise.where))
    if not path.exists():
        return ()
    document = load(path, LOG)
    promised, seen, own = leaves(exact(promise.data)), set[str](), []
    for index, item in enumerate(document.value["deviations"]):
        entry = Deviation(**exact(item))
        problem = (
            _twice(entry, seen) or _no_day(entry) or (_misstated(entry, promise, promised) if entry.promise == promise.digest else None)
        )
        if problem:
            field, what, expected, fix = problem
            raise AuditError(what, where=document.place(f"deviations[{index}].{field}"), expected=expected, fix=fix)
        seen.add(entry.id)
        own += [entry] if entry.promise == promise.digest else []
    return tuple(own)


def log_of(promise: Path) -> Path:
    """Where the deviations from a promise are logged: beside it, or above a folder of superseded ones."""
    folder = promise.parent
    return (folder.parent if folder.name == "superseded" else folder) / "deviations.yaml"


def written(value: Any) -> str:
    """A value as the log writes it: `nothing`, `[0, 1]`, or itself."""
    if isinstance(value, list):
        return "[" + ", ".join(written(item) for item in value) + "]"
    return "nothing" if value is None else str(value)


def _twice(entry: Deviation, seen: Container[str]) -> Problem | None:
    return ("id", f"names {entry.id} a second time", "every id once", "give it the next number") if entry.id in seen else None


def _no_day(entry: Deviation) -> Problem | None:
    try:
        date.fromisoformat(entry.date)
    except ValueError:
        return "date", f"is {entry.date}", "a day of the calendar, YYYY-MM-DD", "correct it"
    return None


def _misstated(entry: Deviation, promise: Promise, promised: Mapping[str, Any]) -> Problem | None:
    """What an entry says of the promise and is not so; whether the run did it is for `undone` to say."""
    if promise.status != "locked":
        return "promise", f"is {promise.where}, a draft", "a locked promise", "change the draft, and take the entry back"
    planned, done, truth = written(entry.planned), written(entry.done), written(promised.get(entry.field))
    if planned != truth and entry.field != "code_version":  # the lock holds that one, and an entry that misstates it states nothing
        fix = f"write {truth}" if entry.field in promised else nearest(entry.field, promised)
        return "planned", f"is {planned} for {entry.field}", f"what was promised, {truth}", fix
    return ("done", f"is {done}, as planned", "what was done otherwise", "take the entry back") if done == planned else None
