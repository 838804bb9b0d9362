"""A measured number, or the reason why there is none. No NaN exists past this type."""

import math
from dataclasses import dataclass, replace
from typing import Any

from wm_audit.core.reasons import Reason


@dataclass(frozen=True, slots=True)
class Measurement:
    """A finite value or a reason code: never both, never neither.

    Attributes:
        value: the number, or None.
        reason: why there is none, or None.
        unit: what the number counts ("1" where it has no dimension).
        n: how many items it was computed from, after dropping.
        n_dropped: how many items were dropped because they were not finite or not defined.
        orientation: +1 larger is better, -1 smaller is better, 0 neither.
        se: standard error of the value, where one is known.
        repeat: the same quantity on a second, independent evaluation stream.
        feature: name of the learned feature behind the number, where there is one.
        feature_digest: sha256 of that feature's weight file.
    """

    value: float | None
    reason: Reason | None = None
    unit: str = "1"
    n: int = 0
    n_dropped: int = 0
    orientation: int = 0
    se: float | None = None
    repeat: float | None = None
    feature: str | None = None
    feature_digest: str | None = None

    def __post_init__(self) -> None:
        """Refuses what the type promises not to hold."""
        if (self.value is None) == (self.reason is None):
            raise ValueError("a Measurement holds a value or a reason, exactly one of them")
        for name in ("value", "se", "repeat"):
            number = getattr(self, name)
            if number is not None and not _finite(number):
                raise ValueError(f"Measurement.{name} must be finite, found {number!r}")
        if self.orientation not in (-1, 0, 1):
            raise ValueError(f"orientation must be -1, 0 or 1, found {self.orientation!r}")

    @classmethod
    def null(cls, reason: Reason, **fields: Any) -> "Measurement":
        """A missing number with its reason."""
        return cls(value=None, reason=reason, **fields)

    def with_(self, **fields: Any) -> "Measurement":
        """A copy with some fields replaced."""
        return replace(self, **fields)

    def to_json(self) -> dict[str, Any]:
        """The form the results file holds: optional members only where they are set."""
        entry: dict[str, Any] = {
            "value": self.value,
            "reason": None if self.reason is None else self.reason.value,
            "unit": self.unit,
            "n": self.n,
            "n_dropped": self.n_dropped,
            "orientation": self.orientation,
        }
        optional = {"se": self.se, "repeat": self.repeat, "feature": self.feature, "feature_digest": self.feature_digest}
        return entry | {name: item for name, item in optional.items() if item is not None}

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> "Measurement":
        """The inverse of `to_json`.

        Raises:
            ValueError: the entry breaks the type's promise, names an unknown reason, or holds a member of another type.
            KeyError, TypeError: a member is missing, or is not known.
        """
        for name, item in entry.items():
            kind = _KINDS.get(name)
            if kind and item is not None and (isinstance(item, bool) or not isinstance(item, kind)):
                raise ValueError(f"Measurement.{name} must be {_NAMES[kind]}, found {item!r}")
        reason = None if entry["reason"] is None else Reason(entry["reason"])
        return cls(**{**entry, "reason": reason})


_Kind = tuple[type, ...]
_NUMBER: _Kind = (int, float)
_WHOLE: _Kind = (int,)
_TEXT: _Kind = (str,)
_NAMES: dict[_Kind, str] = {_NUMBER: "a number", _WHOLE: "a whole number", _TEXT: "text"}
_KINDS: dict[str, _Kind] = (
    dict.fromkeys(("value", "se", "repeat"), _NUMBER)
    | dict.fromkeys(("n", "n_dropped", "orientation"), _WHOLE)
    | dict.fromkeys(("reason", "unit", "feature", "feature_digest"), _TEXT)
)


def _finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer beyond float64
        return False
