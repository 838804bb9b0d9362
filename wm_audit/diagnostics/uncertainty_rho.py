"""Does the ensemble know where it is wrong? Spearman's rho between its standard deviation and the norm of its error.

Items are the open-loop steps of all segments. The standard deviation is the root of the variance over members (ddof 1)
averaged over values, the error that of the members' mean; a rank correlation does not see the norm's constant factor.
"""

import numpy as np

from wm_audit.core import Measurement
from wm_audit.diagnostics.dispersion import Items, pixel_items, reward_items
from wm_audit.diagnostics.evidence import Evidence, Gap
from wm_audit.stats import spearman

UNIT, ORIENTATION = "1", 1


def measure(evidence: Evidence) -> Measurement:
    """Over predicted frames."""
    return _measure(pixel_items(evidence))


def measure_reward(evidence: Evidence) -> Measurement:
    """Over predicted rewards."""
    return _measure(reward_items(evidence))


def _measure(items: Items | Gap) -> Measurement:
    if isinstance(items, Gap):
        return items.measurement(UNIT, ORIENTATION)
    rho = spearman(np.sqrt(items.variance), np.sqrt(items.squared_error), rtol=items.rtol)
    return rho.with_(unit=UNIT, orientation=ORIENTATION)
