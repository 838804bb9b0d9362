"""Types and primitives that every other folder stands on; numpy only."""

from wm_audit.core.errors import AuditError, TrainingError, UsageError
from wm_audit.core.measurement import Measurement
from wm_audit.core.reasons import Reason
from wm_audit.core.row import Key, Row
from wm_audit.core.streams import Stream, stream
from wm_audit.core.verdict import Label, Verdict

__all__ = ["AuditError", "Key", "Label", "Measurement", "Reason", "Row", "Stream", "TrainingError", "UsageError", "Verdict", "stream"]
