"""Labels from an interval: strict bounds, and no interval means no answer."""

import math

from wm_audit.core import Label
from wm_audit.stats.results import Interval

Bounds = Interval | tuple[float | None, float | None] | None


def equivalence(interval: Bounds, margin: float) -> Label:
    """Is the quantity smaller than the margin in size?

    SUPPORTED where the interval lies strictly inside (-margin, margin), CONTRADICTED where it lies strictly outside on one side,
    INCONCLUSIVE otherwise and without an interval. With a 90% interval this is the two one-sided tests of Schuirmann (1987) at .05.

    Args:
        interval: an `Interval`, (low, high), or None.
        margin: positive, in the unit of the interval.

    Raises:
        ValueError: margin not positive and finite, or low above high.
    """
    if isinstance(margin, bool) or not 0.0 < margin < math.inf:
        raise ValueError(f"margin must be positive and finite, found {margin!r}")
    bounds = _bounds(interval)
    if bounds is None:
        return Label.INCONCLUSIVE
    low, high = bounds
    if -margin < low and high < margin:
        return Label.SUPPORTED
    return Label.CONTRADICTED if low > margin or high < -margin else Label.INCONCLUSIVE


def superiority(interval: Bounds, threshold: float) -> Label:
    """Does the quantity exceed the threshold?

    SUPPORTED where the whole interval lies strictly above it, CONTRADICTED strictly below, INCONCLUSIVE otherwise and without an interval.

    Args:
        interval: an `Interval`, (low, high), or None.
        threshold: in the unit of the interval.

    Raises:
        ValueError: threshold not finite, or low above high.
    """
    if isinstance(threshold, bool) or not math.isfinite(threshold):
        raise ValueError(f"threshold must be finite, found {threshold!r}")
    bounds = _bounds(interval)
    if bounds is None:
        return Label.INCONCLUSIVE
    low, high = bounds
    if low > threshold:
        return Label.SUPPORTED
    return Label.CONTRADICTED if high < threshold else Label.INCONCLUSIVE


def _bounds(interval: Bounds) -> tuple[float, float] | None:
    """(low, high), or None where either is missing or NaN."""
    low, high = (interval.low, interval.high) if isinstance(interval, Interval) else (None, None) if interval is None else interval
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return None
    if low > high:
        raise ValueError(f"interval must have low <= high, found ({low}, {high})")
    return float(low), float(high)
