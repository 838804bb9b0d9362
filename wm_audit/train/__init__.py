"""Training of ensembles."""

from wm_audit.train.compiled import compiled, is_compiled, missing
from wm_audit.train.fit import Report, active_units, fit
from wm_audit.train.settings import Settings

__all__ = ["Report", "Settings", "active_units", "compiled", "fit", "is_compiled", "missing"]
