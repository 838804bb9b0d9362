"""What one check came to."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

SHOWN = 5
"""Places of a failed check that are printed; the rest is counted."""


class State(StrEnum):
    """The four answers. `CANNOT_CHECK` is an answer, not an error; `--strict` alone turns it into one."""

    PASS = "PASS"  # noqa: S105 - an answer, not a password
    FAIL = "FAIL"
    CANNOT_CHECK = "CANNOT CHECK"
    NOT_REQUESTED = "NOT REQUESTED"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is not what it should be.

    Attributes:
        where: a JSON pointer into the results file, or a file and a line.
        found: what stands there.
        expected: what should.
    """

    where: str
    found: str
    expected: str

    def line(self) -> str:
        """One line for people."""
        return f"{self.where}: found {self.found}, expected {self.expected}"


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its name, its answer, one sentence, and the places where it failed.

    Attributes:
        incomplete: planned evidence is missing; no failure, but the file does not hold what was promised.
    """

    name: str
    state: State
    sentence: str
    places: tuple[Place, ...] = ()
    incomplete: bool = False

    def lines(self) -> list[str]:
        """The check's line, and one for each of the first places."""
        shown = [f"    {place.line()}" for place in self.places[:SHOWN]]
        rest = len(self.places) - SHOWN
        return [f"{self.state:<13} {self.name}: {self.sentence}", *shown, *([f"    and {rest} more places"] if rest > 0 else [])]

    def to_json(self) -> dict[str, Any]:
        """For machines: everything, every place."""
        places = [{"where": place.where, "found": place.found, "expected": place.expected} for place in self.places]
        return {"check": self.name, "state": str(self.state), "sentence": self.sentence, "places": places}


def passed(name: str, sentence: str) -> Check:
    """The check holds."""
    return Check(name, State.PASS, sentence)


def cannot(name: str, sentence: str) -> Check:
    """The check cannot be made here; the sentence says why and what would make it possible."""
    return Check(name, State.CANNOT_CHECK, sentence)


def judged(name: str, places: Iterable[Place], *, good: str, bad: str) -> Check:
    """PASS with the sentence `good` where nothing is wrong, FAIL with `bad` and the places otherwise."""
    listed = tuple(places)
    return Check(name, State.FAIL, bad, listed) if listed else passed(name, good)
