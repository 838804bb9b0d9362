"""All diagnostics of one model, over one shared pass of predictions."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from wm_audit.core import AuditError, Measurement
from wm_audit.diagnostics.catalogue import DIAGNOSTICS, EXTRAS
from wm_audit.diagnostics.diagnostic import Diagnostic
from wm_audit.diagnostics.evidence import Evidence


def find(name: str) -> Diagnostic:
    """A diagnostic or an extra by name.

    Raises:
        AuditError: there is none; the message names the nearest.
    """
    known = DIAGNOSTICS | EXTRAS
    if name in known:
        return known[name]
    near = get_close_matches(name, known, n=1, cutoff=0.0)
    raise AuditError(f"{name!r} is no diagnostic", where="diagnostics", expected=f"a known name, the nearest is {near[0]!r}")


def measure_all(evidence: Evidence, names: Sequence[str]) -> tuple[dict[str, Measurement], dict[str, Any]]:
    """Measures in the order asked for.

    Args:
        evidence: the model and its probes.
        names: members of `DIAGNOSTICS` and `EXTRAS`.

    Returns:
        The measurements by name, and the row's details: those of each diagnostic under its own name, the measurements of the
        extras beside it under theirs, with `coverage`: how many of the names got a number.

    Raises:
        AuditError: an unknown name, before anything is measured.
    """
    chosen = [find(name) for name in names]
    measured = {item.name: item.measure(evidence) for item in chosen}
    details: dict[str, Any] = {}
    for item in chosen:
        if item.details is not None:
            details[item.name] = item.details(evidence)
        details |= {name: EXTRAS[name].measure(evidence).to_json() for name in item.beside if name not in measured}
    present = sum(item.value is not None for item in measured.values())
    return measured, {**details, "coverage": {"present": present, "planned": len(measured)}}
