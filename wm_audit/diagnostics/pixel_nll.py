"""Negative log likelihood of real frames under the predicted Gaussian, nats per channel value, constant included."""

from wm_audit.core import Measurement
from wm_audit.diagnostics.evidence import Evidence, Gap, Loop
from wm_audit.diagnostics.scores import summarise

UNIT, ORIENTATION = "nats per channel value", -1


def measure(evidence: Evidence) -> Measurement:
    """One step ahead."""
    return _measure(evidence, "one_step")


def measure_open_loop(evidence: Evidence) -> Measurement:
    """Over the whole imagined future."""
    return _measure(evidence, "open_loop")


def _measure(evidence: Evidence, loop: Loop) -> Measurement:
    nll = evidence.prediction(loop, "nll")
    if isinstance(nll, Gap):
        return nll.measurement(UNIT, ORIENTATION)
    return summarise(nll, unit=UNIT, orientation=ORIENTATION)
