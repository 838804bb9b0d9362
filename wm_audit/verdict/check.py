"""One known answer of a control, and what was found instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wm_audit.core import Reason


@dataclass(frozen=True, slots=True)
class Check:
    """One known answer, and what was found.

    Attributes:
        control: the control's name.
        check: what was looked at.
        status: passed, failed or not_checked.
        expected: the known answer in words.
        found: the number found, or None.
        reason: why there is no number, or None.
        p: a test's p-value where the check is a test.
        n: how many values it rests on.
        note: what else a reader should know.
    """

    control: str
    check: str
    status: str
    expected: str
    found: float | None = None
    reason: Reason | None = None
    p: float | None = None
    n: int = 0
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Members in the order of the results file."""
        return {
            "control": self.control,
            "check": self.check,
            "status": self.status,
            "expected": self.expected,
            "found": self.found,
            "reason": None if self.reason is None else self.reason.value,
            "p": self.p,
            "n": self.n,
            "note": self.note,
        }


def failures(checks: Sequence[Check]) -> tuple[str, ...]:
    """The caveats of controls that failed, then of those that are missing, each once, by name."""
    failed = sorted({item.control for item in checks if item.status == "failed"})
    absent = sorted({item.control for item in checks if item.check == "present" and item.status == "not_checked"})
    return tuple(f"control_failed:{name}" for name in failed) + tuple(f"control_missing:{name}" for name in absent)
