"""What a diagnostic is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wm_audit.core import Measurement
from wm_audit.diagnostics.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One number about a model.

    Attributes:
        name: the slot in results files.
        groups: what it speaks of: "perceptual", "control", "calibration"; empty for an extra.
        unit: what the number counts.
        orientation: +1 larger is better, -1 smaller is better, 0 neither.
        source: author and year of the definition.
        measure: the number, or the reason why there is none.
        details: what a verifier needs beside the number, as JSON types; None where the number says it all.
        beside: extras that are cheap once this one is measured: their measurements always stand in the row's details.
    """

    name: str
    groups: tuple[str, ...]
    unit: str
    orientation: int
    source: str
    measure: Callable[[Evidence], Measurement]
    details: Callable[[Evidence], dict[str, Any]] | None = None
    beside: tuple[str, ...] = ()
