"""Check 4: the cells that the configuration plans are the cells that are there."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from wm_audit.board.schema import pointer
from wm_audit.board.verification.check import Check, Place, State, judged
from wm_audit.board.verification.subject import Subject
from wm_audit.core import Key

NAME = "grid"
Planned = Callable[[Mapping[str, Any]], Iterable[Key]]
"""Every row that a configuration asks for."""


def grid(subject: Subject, planned: Planned) -> Check:
    """None missing, none twice, none extra; missing cells that the file names itself make it incomplete, not false."""
    document = subject.document
    try:
        wanted = set(planned(document["config"]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        place = Place("/config", f"{type(error).__name__} ({error})", "environments, capacities, seeds, arms and levers of a run")
        return judged(NAME, [place], good="", bad="the configuration plans no cells")
    present = [Key(**row["key"]) for row in document["rows"]]
    named = [Key(**entry) for entry in document["missing"]]
    places = list(_wrong(present, named, wanted))
    absent = sorted(wanted - set(present))
    if places or not absent:
        return judged(NAME, places, good=f"all {len(wanted)} planned cells are there, once", bad="cells are not the planned ones")
    names = ", ".join(key.text() for key in absent[:3]) + (f" and {len(absent) - 3} more" if len(absent) > 3 else "")
    sentence = f"partial: {len(absent)} of {len(wanted)} planned cells are missing, as stated ({names})"
    return Check(NAME, State.PASS, sentence, incomplete=True)


def _wrong(present: list[Key], named: list[Key], wanted: set[Key]) -> Iterator[Place]:
    counts = Counter(present)
    for index, key in enumerate(present):
        if key not in wanted:
            yield Place(pointer("rows", index, "key"), key.text(), "a cell that the configuration plans")
        if counts[key] > 1:
            yield Place(pointer("rows", index, "key"), f"{key.text()} {counts[key]} times", "every cell once")
    for key in sorted(wanted - set(present) - set(named)):
        yield Place("/missing", "nothing", f"{key.text()}, which has no row")
    for index, key in enumerate(named):
        if key in counts or key not in wanted:
            yield Place(pointer("missing", index), key.text(), "only planned cells without a row")
