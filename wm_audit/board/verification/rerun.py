"""Check 10: some cells made again from nothing give the same numbers."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from wm_audit.board.schema import pointer
from wm_audit.board.verification.check import Check, Place, State, cannot, judged
from wm_audit.board.verification.compare import text
from wm_audit.board.verification.subject import Subject
from wm_audit.core import AuditError, Key

NAME = "re-run"
RELATIVE = 1e-6
"""On the processor that made the rows they come out bit for bit; this is what another one may change in an untrained number."""

Again = Callable[[Mapping[str, Any], Sequence[Key]], Mapping[Key, Mapping[str, Any]]]
"""From a results document and some of its keys to their rows, collected, trained and measured anew."""


def sample(subject: Subject, count: int) -> list[Key]:
    """Keys of random rows, from the system's own randomness: nobody can know beforehand which ones will be asked for."""
    keys = [Key(**row["key"]) for row in subject.document["rows"]]
    return sorted(random.SystemRandom().sample(keys, min(count, len(keys))))


def rerun(subject: Subject, count: int, again: Again | None) -> Check:
    """Makes `count` random rows again and compares outcome and diagnostics.

    Rows of another processor or library are compared too; where they differ, that is what the check says, for training
    amplifies the last bit.
    """
    if again is None or count < 1:
        return Check(NAME, State.NOT_REQUESTED, "--rerun K makes K random cells again")
    keys = sample(subject, count)
    try:
        made = again(subject.document, keys)
    except AuditError as error:
        return cannot(NAME, f"the cells cannot be made again here: {error.line()}")
    places = [place for index, row in enumerate(subject.document["rows"]) for place in _differing(index, row, made)]
    names = ", ".join(key.text() for key in keys)
    return judged(NAME, places, good=f"made again and the same: {names}", bad=f"made again and different, of {names}")


def _differing(index: int, row: Mapping[str, Any], made: Mapping[Key, Mapping[str, Any]]) -> list[Place]:
    fresh = made.get(Key(**row["key"]))
    if fresh is None:
        return []
    pairs: dict[tuple[str, ...], tuple[Any, Any]] = {("outcome", "value"): (row["outcome"]["value"], fresh["outcome"]["value"])}
    for name, measured in row["diagnostics"].items():
        pairs["diagnostics", name, "value"] = (measured["value"], fresh["diagnostics"].get(name, {}).get("value"))
    return [Place(pointer("rows", index, *path), text(one), text(two)) for path, (one, two) in pairs.items() if not _close(one, two)]


def _close(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return one is two
    return abs(one - two) <= RELATIVE * max(abs(one), abs(two))
