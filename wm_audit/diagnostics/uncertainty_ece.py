"""Is the ensemble's variance as large as its squared error? After Levi et al. (2022) and Laves et al. (2020).

sum_b (n_b / n) |sqrt(mean squared error_b) - sqrt(mean variance_b)| / sqrt(mean squared error), equal-mass bins on the variance
over members (ddof 1). Items are the open-loop steps of all segments.
"""

from typing import Any

from wm_audit.core import Measurement, Reason
from wm_audit.diagnostics.dispersion import Items, pixel_items, reward_items
from wm_audit.diagnostics.evidence import Evidence, Gap
from wm_audit.stats import Dispersion, dispersion_error

UNIT, ORIENTATION = "1", -1


def measure(evidence: Evidence) -> Measurement:
    """Over predicted frames; null `too_few_samples` with fewer items than bins."""
    return _measure(pixel_items(evidence), evidence.parameters.bins)


def measure_reward(evidence: Evidence) -> Measurement:
    """Over predicted rewards; null `too_few_samples` with fewer items than bins."""
    return _measure(reward_items(evidence), evidence.parameters.bins)


def details(evidence: Evidence) -> dict[str, Any]:
    """The bins over frames."""
    return _details(pixel_items(evidence), evidence.parameters.bins)


def details_reward(evidence: Evidence) -> dict[str, Any]:
    """The bins over rewards."""
    return _details(reward_items(evidence), evidence.parameters.bins)


def _measure(items: Items | Gap, bins: int) -> Measurement:
    if isinstance(items, Gap):
        return items.measurement(UNIT, ORIENTATION)
    n = items.variance.size
    if n < bins:
        return Measurement.null(Reason.TOO_FEW_SAMPLES, unit=UNIT, n=n, orientation=ORIENTATION)
    found = _dispersion(items, bins)
    return Measurement(found.value, found.reason, unit=UNIT, n=found.n, n_dropped=found.n_dropped, orientation=ORIENTATION)


def _details(items: Items | Gap, bins: int) -> dict[str, Any]:
    if isinstance(items, Gap):
        return {}
    found = _dispersion(items, bins)
    return {"bins": [{"n": item.n, "variance": item.variance, "squared_error": item.squared_error} for item in found.bins]}


def _dispersion(items: Items, bins: int) -> Dispersion:
    return dispersion_error(items.variance, items.squared_error, bins, rtol=items.rtol)
