"""Structural similarity of predicted frames, clipped to [0, 1], with the real ones (Wang et al. 2004)."""

import numpy as np

from wm_audit.core import Measurement, Reason
from wm_audit.diagnostics.evidence import Evidence, Loop
from wm_audit.diagnostics.scores import summarise
from wm_audit.diagnostics.ssim import WINDOW, ssim

UNIT, ORIENTATION = "1", 1


def measure(evidence: Evidence) -> Measurement:
    """One step ahead."""
    return _measure(evidence, "one_step")


def measure_open_loop(evidence: Evidence) -> Measurement:
    """Over the whole imagined future."""
    return _measure(evidence, "open_loop")


def _measure(evidence: Evidence, loop: Loop) -> Measurement:
    gap = evidence.gap(loop, "mean")
    if gap is not None:
        return gap.measurement(UNIT, ORIENTATION)
    if min(evidence.real.shape[-2:]) < WINDOW:
        return Measurement.null(Reason.IMAGE_TOO_SMALL, unit=UNIT, orientation=ORIENTATION)
    mean = evidence.one_step_mean if loop == "one_step" else evidence.open_loop_mean
    scores = np.stack([ssim(member, evidence.real, data_range=1.0) for member in mean])
    return summarise(scores, unit=UNIT, orientation=ORIENTATION)
