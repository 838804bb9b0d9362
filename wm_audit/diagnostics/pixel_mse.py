"""Mean squared error of predicted frames, intensities in [0, 1]."""

import numpy as np

from wm_audit.core import Measurement
from wm_audit.diagnostics.evidence import Evidence, Gap, Loop
from wm_audit.diagnostics.scores import summarise

UNIT, ORIENTATION = "squared intensity in [0, 1]", -1


def measure(evidence: Evidence) -> Measurement:
    """One step ahead."""
    return _measure(evidence, "one_step")


def measure_open_loop(evidence: Evidence) -> Measurement:
    """Over the whole imagined future."""
    return _measure(evidence, "open_loop")


def _measure(evidence: Evidence, loop: Loop) -> Measurement:
    mean = evidence.prediction(loop, "mean")
    if isinstance(mean, Gap):
        return mean.measurement(UNIT, ORIENTATION)
    errors = (np.subtract(mean[:, b], real, dtype=np.float64) for b, real in enumerate(evidence.real))  # a segment at a time saves memory
    scores = [np.square(error).mean(axis=(-3, -2, -1)) for error in errors]
    return summarise(np.stack(scores, axis=1), unit=UNIT, orientation=ORIENTATION)
