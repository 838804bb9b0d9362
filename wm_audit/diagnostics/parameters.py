"""The locked settings that a diagnostic's number depends on."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from wm_audit.core import AuditError


@dataclass(frozen=True, slots=True)
class Parameters:
    """Settings of all diagnostics; each of them can move a number, so each belongs to the promise.

    Attributes:
        batch: rows of one evaluation batch. Short batches are padded to it, because a matrix product may round a row
            differently in another batch size.
        bins: equal-mass bins of the calibration and dispersion errors.
        rtol_float32: two values closer than this (relative) are tied when the model computed them in float32.
        rtol_float64: the same for values that were float64 from the start.
        features: settings of the learned features by name; their own module says which it reads.
    """

    batch: int = 64
    bins: int = 10
    rtol_float32: float = 1e-6
    rtol_float64: float = 1e-12
    features: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses settings under which no number is defined."""
        for name in ("batch", "bins"):
            if getattr(self, name) < 1:
                raise AuditError(f"is {getattr(self, name)}", where=f"diagnostics parameter {name}", expected="an integer of at least 1")
        for name in ("rtol_float32", "rtol_float64"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise AuditError(f"is {getattr(self, name)}", where=f"diagnostics parameter {name}", expected="a number in [0, 1)")

    def rtol(self, single_precision: bool) -> float:
        """The tie tolerance of values by the precision they were computed in."""
        return self.rtol_float32 if single_precision else self.rtol_float64

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> "Parameters":
        """The parameters a configuration names; what it leaves out keeps its default.

        Raises:
            AuditError: a name that is no parameter, or a value out of range.
        """
        known = [item.name for item in fields(cls)]
        unknown = sorted(set(entry) - set(known))
        if unknown:
            raise AuditError(f"{unknown[0]!r} is no parameter", where="diagnostics", expected=f"one of {', '.join(known)}")
        return cls(**entry)
