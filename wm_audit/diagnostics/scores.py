"""From a score of every frame to the row's number."""

import math

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Measurement
from wm_audit.models.members import members_mean


def summarise(scores: NDArray[np.float64], *, unit: str, orientation: int) -> Measurement:
    """Mean over segments and steps for every member, then over members.

    The standard error treats segments as the independent items; two segments of one episode are not quite that.

    Args:
        scores: (K, B, H), finite.
        unit: what a score counts.
        orientation: whether larger is better.
    """
    value = float(members_mean(scores.mean(axis=(1, 2))))
    segments = members_mean(scores.mean(axis=2))
    n = len(segments)
    se = float(segments.std(ddof=1)) / math.sqrt(n) if n > 1 else None
    return Measurement(value, unit=unit, n=n, orientation=orientation, se=se)
