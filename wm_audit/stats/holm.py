"""Holm's correction for a family of tests."""

import math
from collections.abc import Sequence

from wm_audit.stats.arrays import real_array, whole


def holm(p: Sequence[float | None], m: int | None = None) -> list[float | None]:
    """Adjusted p-values (Holm 1979): the i-th smallest times m - i + 1, never below a smaller one's, never above 1.

    Args:
        p: p-values; a null (None or not finite) keeps its place and stays null.
        m: how many tests the family was planned to hold; by default the length of `p`. Nulls count in it.

    Returns:
        The adjusted values in the order of the input.

    Raises:
        ValueError: a p-value outside [0, 1], or `m` smaller than the number of p-values that are not null.
    """
    values = [float(value) for value in real_array("p", p, 1)]
    present = sorted((value, place) for place, value in enumerate(values) if math.isfinite(value))
    if present and not 0.0 <= present[0][0] <= present[-1][0] <= 1.0:
        raise ValueError(f"p must lie in [0, 1], found {[value for value, _ in present]}")
    planned = len(values) if m is None else whole("m", m, 0)
    if planned < len(present):
        raise ValueError(f"m must be at least the number of p-values that are not null, {len(present)}, found {planned}")
    adjusted: list[float | None] = [None] * len(values)
    running = 0.0
    for step, (value, place) in enumerate(present):
        running = max(running, min(1.0, (planned - step) * value))
        adjusted[place] = running
    return adjusted
