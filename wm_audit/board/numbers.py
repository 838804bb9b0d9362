"""How numbers look: the same number always looks the same, and an interval is read at a glance."""

import math
from collections.abc import Sequence

import numpy as np

from wm_audit.stats.distributions import student_quantile

MISSING = "–"


def plain(value: float) -> str:
    """Three significant digits, without an exponent where a person can do without: 0.0123, 1.23, 1234, 1.2e-07."""
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size < -4 or size >= 6:
        return f"{value:.1e}"
    return f"{value:.{max(2 - size, 0)}f}"


def rho(value: float) -> str:
    """A correlation: sign and three decimals, so that a bound just inside a threshold does not look like the threshold."""
    return f"{value:+.3f}"


def probability(value: float) -> str:
    """A p-value: four decimals, or the order of magnitude below that."""
    return f"{value:.4f}" if value >= 0.00005 else f"{value:.0e}"


def bounds(interval: Sequence[float] | None, look: str = "rho") -> str:
    """`[low, high]`, or the sign for a missing one."""
    form = rho if look == "rho" else plain
    return MISSING if interval is None else f"[{form(interval[0])}, {form(interval[1])}]"


def percent(level: float) -> str:
    """0.9 -> 90%."""
    return f"{100 * level:g}%"


def mean_interval(values: Sequence[float], level: float) -> tuple[float, tuple[float, float] | None]:
    """The mean and Student's interval around it; None below two values.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("values must not be empty")
    array = np.array(values, dtype=np.float64)
    mean = float(array.mean())
    if array.size < 2:
        return mean, None
    half = student_quantile(0.5 + level / 2.0, array.size - 1) * float(array.std(ddof=1)) / math.sqrt(array.size)
    return mean, (mean - half, mean + half)
