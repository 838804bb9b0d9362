"""Which share of the outcome's spread between seeds is not evaluation noise."""

import numpy as np

from wm_audit.core import Measurement, Reason
from wm_audit.stats.arrays import Bools, Floats, Ints, Numbers, real_array


def reliability(returns: Numbers) -> Measurement:
    """1 - s^2 / (n_starts v), clipped to [0, 1].

    s^2 is the residual mean square of the two-way layout cell x start: all cells share their starts, so what a start adds to
    every cell cancels. v is the variance (ddof 1) of cell means over seeds inside a capacity, pooled over capacities.

    Args:
        returns: (seeds, capacities, starts) return of each start; a cell with a missing start is dropped and counted.

    Returns:
        The share, `n` cells used; null `no_finite_pairs` (no complete cell), `too_few_samples` (one start or one cell),
        `too_few_seeds` (no capacity with two complete cells), `no_spread` (cell means do not differ between seeds).

    Raises:
        ValueError: not a three-way array of real numbers.
    """
    values = real_array("returns", returns, 3)
    complete: Bools = np.asarray(np.isfinite(values).all(axis=2))
    cells, dropped, starts = int(complete.sum()), int((~complete).sum()), values.shape[2]
    reason = _reason(complete.sum(axis=0), starts)
    if reason is not None:
        return Measurement.null(reason, n=cells, n_dropped=dropped)
    largest = np.abs(values[complete]).max()
    scaled = np.where(complete[:, :, None], values / (largest or 1.0), np.nan)  # reliability has no unit, and squares stay finite
    spread = _spread_inside(scaled.mean(axis=2), complete)
    if spread <= 1e-24:  # the tie tolerance, squared
        return Measurement.null(Reason.NO_SPREAD, n=cells, n_dropped=dropped)
    value = 1.0 - _residual(scaled[complete]) / (starts * spread)
    return Measurement(float(np.clip(value, 0.0, 1.0)), n=cells, n_dropped=dropped)


def _reason(seeds: Ints, starts: int) -> Reason | None:
    cells = int(seeds.sum())
    if cells == 0 or starts == 0:
        return Reason.NO_FINITE_PAIRS
    if starts < 2 or cells < 2:
        return Reason.TOO_FEW_SAMPLES
    return Reason.TOO_FEW_SEEDS if int(seeds.max()) < 2 else None


def _residual(cells: Floats) -> float:
    """The residual mean square of (cells, starts) after cell and start means."""
    residual = cells - cells.mean(axis=1, keepdims=True) - cells.mean(axis=0, keepdims=True) + cells.mean()
    return float((residual**2).sum() / ((cells.shape[0] - 1) * (cells.shape[1] - 1)))


def _spread_inside(means: Floats, complete: Bools) -> float:
    """The variance of cell means over seeds inside a capacity, pooled over capacities; (seeds, capacities)."""
    squares, freedom = 0.0, 0
    for capacity in range(means.shape[1]):
        inside = means[complete[:, capacity], capacity]
        if inside.size > 1:
            squares += float(((inside - inside.mean()) ** 2).sum())
            freedom += inside.size - 1
    return squares / freedom
