"""Numbers about a world model: how its predictions look, what they are worth to a planner, whether its doubt can be believed."""

from wm_audit.diagnostics.catalogue import DIAGNOSTICS, EXTRAS
from wm_audit.diagnostics.diagnostic import Diagnostic
from wm_audit.diagnostics.evidence import Evidence
from wm_audit.diagnostics.measure import find, measure_all
from wm_audit.diagnostics.parameters import Parameters

__all__ = ["DIAGNOSTICS", "EXTRAS", "Diagnostic", "Evidence", "Parameters", "find", "measure_all"]
