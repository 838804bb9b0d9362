"""The claim of a results file in words: what it may be used for, and where it is only exploratory, why."""

from collections.abc import Mapping
from typing import Any

from wm_audit.prereg.claims import EXPLORATORY, INCOMPLETE

ELSEWHERE = "measured elsewhere"
"""What the environment of rows says that this project did not make."""


def name_of(document: Mapping[str, Any]) -> str:
    """The label as people read it: `confirmatory with deviations`."""
    return str(document["claim"]).replace("_", " ")


def why_exploratory(document: Mapping[str, Any]) -> str:
    """Why the result confirms nothing, or nothing where it does."""
    promise = document["preregistration"]
    if document["claim"] != EXPLORATORY.label:
        return ""
    if document["environment"].get("digest") == ELSEWHERE:
        return "the rows were measured elsewhere"
    if promise["status"] != "locked":
        return f"the promise is a {promise['status']}"
    if promise["locked_on"] is None:
        return "the promise was not locked when the rows were made"
    if document["missing"]:
        return INCOMPLETE.format(len(document["missing"]))
    return "the run is a part of what was promised, or made otherwise than its lock and its log say, or its lock is not here"
