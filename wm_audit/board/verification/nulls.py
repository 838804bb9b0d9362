"""Check 6: every missing number says why, and what is missing is counted."""

from collections.abc import Iterator, Mapping
from typing import Any

from wm_audit.board.schema import pointer
from wm_audit.board.verification.check import Check, Place, judged
from wm_audit.board.verification.compare import same, text
from wm_audit.board.verification.subject import Subject
from wm_audit.core import Reason

NAME = "nulls"
_CODES = frozenset(reason.value for reason in Reason)
_BESIDE = {"value": "reason", "rho": "reason", "estimate": "reason", "interval": "interval_reason"}
"""A number that may be null, and the member beside it that then says why."""


def nulls(subject: Subject) -> Check:
    """A null has a known reason, a number has none; coverage of composites adds up."""
    document = subject.document
    found = {part: document[part] for part in ("rows", "statistics", "verdicts")}
    counted = [0]
    places = [*_walk(found, "", counted), *_coverage(document["statistics"])]
    return judged(
        NAME,
        places,
        good=f"{counted[0]} missing numbers, each with its reason; no NaN; coverage adds up",
        bad="a missing number without a reason, or a count that does not add up",
    )


def _walk(value: Any, where: str, counted: list[int]) -> Iterator[Place]:
    if isinstance(value, Mapping):
        for number, reason in _BESIDE.items():
            if number in value and reason in value:
                counted[0] += value[number] is None
                yield from _explained(value, number, reason, where)
        for name, item in value.items():
            yield from _walk(item, where + pointer(name), counted)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, where + pointer(index), counted)


def _explained(entry: Mapping[str, Any], number: str, reason: str, where: str) -> Iterator[Place]:
    code = entry[reason]
    if entry[number] is None and code not in _CODES:
        yield Place(where + pointer(reason), text(code), f"a known reason why {number} is null")
    if entry[number] is not None and code is not None:
        yield Place(where + pointer(reason), text(code), f"null, for {number} is there")


def _coverage(statistics: Mapping[str, Any]) -> Iterator[Place]:
    """Members present, planned, and their share; a strict value needs all members, a relaxed one at least one."""
    for env, block in statistics.items():
        for index, entry in enumerate(block["composites"]):
            where = pointer("statistics", env, "composites", index)
            present, planned = entry["present"], entry["planned"]
            if not 0 <= present <= planned:
                yield Place(where + "/present", text(present), f"a number of members from 0 to {planned}")
            elif not same(float(entry["coverage"]), present / planned):
                yield Place(where + "/coverage", text(entry["coverage"]), repr(present / planned))
            if entry["strict"] is not None and present < planned:
                yield Place(where + "/strict", text(entry["strict"]), f"null, for {planned - present} members are missing")
            if (entry["relaxed"] is None) != (present == 0):
                yield Place(where + "/relaxed", text(entry["relaxed"]), "a value exactly where a member is present")
