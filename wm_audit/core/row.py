"""One row of evidence: which model, which outcome, which diagnostics."""

from dataclasses import asdict, dataclass, field
from typing import Any

from wm_audit.core.measurement import Measurement


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What tells a row from every other; hidden and embed are always the float model's (0 for arms without one)."""

    env: str
    hidden: int
    embed: int
    seed: int
    arm: str = "trained"
    compression: str = "none"

    def text(self) -> str:
        """A readable identifier that is also a safe file name."""
        return f"{self.env}-{self.hidden}x{self.embed}-seed{self.seed}-{self.arm}-{self.compression}"

    def to_json(self) -> dict[str, Any]:
        """Members in the order of the results file."""
        return asdict(self)

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> "Key":
        """The inverse of `to_json`.

        Raises:
            ValueError: a name is not printable text.
            TypeError: a number is not whole, or a member is missing or not known.
        """
        key = cls(**entry)
        for name in ("env", "arm", "compression"):
            found = getattr(key, name)
            if not isinstance(found, str) or not found or not found.isprintable():
                raise ValueError(f"{name} must be printable text, found {found!r}")
        for name in ("hidden", "embed", "seed"):
            found = getattr(key, name)
            if isinstance(found, bool) or not isinstance(found, int):
                raise TypeError(f"{name} must be a whole number, found {found!r}")
        return key


@dataclass(frozen=True, slots=True)
class Row:
    """A key with its numbers. `details` holds what a verifier needs beside the values; `manifest` where they come from."""

    key: Key
    outcome: Measurement
    diagnostics: dict[str, Measurement]
    details: dict[str, Any] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Without the row's own sha256, which the writer adds."""
        return {
            "key": self.key.to_json(),
            "outcome": self.outcome.to_json(),
            "diagnostics": {name: item.to_json() for name, item in self.diagnostics.items()},
            "details": self.details,
            "manifest": self.manifest,
        }

    @classmethod
    def from_json(cls, entry: dict[str, Any]) -> "Row":
        """The inverse of `to_json`; a `sha256` member is ignored here and checked by the reader of the file.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: the entry is no row.
        """
        return cls(
            key=Key.from_json(entry["key"]),
            outcome=Measurement.from_json(entry["outcome"]),
            diagnostics={name: Measurement.from_json(item) for name, item in entry["diagnostics"].items()},
            details=entry["details"],
            manifest=entry["manifest"],
        )
