"""The sign-flip counts of many samples at once: simulations ask them thousands of times."""

import math
from typing import NamedTuple

import numpy as np

from wm_audit.core import Label
from wm_audit.stats.arrays import Floats, Ints, Numbers, real_array
from wm_audit.stats.subsets import EXACT_SEEDS, RANDOM_SUBSETS, power_of_two, random_masks

_SUBSETS = 4_096  # summed in one go: a thousand samples then take 32 MB


class Flips(NamedTuple):
    """For each of R samples: sign patterns at least as high, at least as low as the observed one, (R,) each; of how many."""

    up: Ints
    down: Ints
    total: int


def flips_many(d: Numbers, *, root: int = 0) -> Flips:
    """The one-sided hits of `sign_flip` for every row of d, without integers' convolution.

    Up to 20 differences the patterns are counted without being listed: the sums over each half of the differences are sorted, and
    for each sum of one half a search says how many of the other half's keep the total at most zero (Horowitz and Sahni 1974).

    Args:
        d: (R, S) finite differences, S >= 1.
        root: root seed of the random subsets that more than 20 differences need.

    Raises:
        ValueError: not a matrix of finite numbers.
    """
    values = real_array("d", d, 2)
    if values.shape[1] == 0 or not np.isfinite(values).all():
        raise ValueError(f"d must hold at least one difference a row, all finite, found shape {values.shape}")
    scale = np.array([power_of_two(row) for row in values]).reshape(-1, 1)
    unit = np.sort(values, axis=1) / scale
    noise = 1e-12 * np.abs(unit).max(axis=1) * values.shape[1]  # as in `subsets`: rounding noise is zero
    if values.shape[1] <= EXACT_SEEDS:
        pairs = [_halves(row, limit) for row, limit in zip(unit, noise, strict=True)]
        up, down = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return Flips(up, down, 2 ** values.shape[1])
    up, down = (np.ones(len(unit), dtype=np.int64) for _ in range(2))
    for bits in random_masks(values.shape[1], root):
        for first in range(0, len(bits), _SUBSETS):
            sums = unit @ bits[first : first + _SUBSETS].T.astype(np.float64)
            up += [int(np.count_nonzero(row <= limit)) for row, limit in zip(sums, noise, strict=True)]
            down += [int(np.count_nonzero(row >= -limit)) for row, limit in zip(sums, noise, strict=True)]
    return Flips(up, down, RANDOM_SUBSETS + 1)


def directions(flips: Flips, alpha: float) -> list[Label]:
    """`superiority(hartigan_interval(d, alpha), 0)` of every sample: the interval inverts the test, so the counts decide alike."""
    k = math.floor(alpha * flips.total)
    return [
        Label.SUPPORTED if up <= k else Label.CONTRADICTED if down <= k else Label.INCONCLUSIVE
        for up, down in zip(flips.up.tolist(), flips.down.tolist(), strict=True)
    ]


def _halves(values: Floats, noise: float) -> tuple[int, int]:
    """How many of all subsets, the empty one included, have a sum of at most zero, and of at least zero."""
    middle = len(values) // 2
    one, other = _sums(values[:middle]), np.sort(_sums(values[middle:]))
    up = np.searchsorted(other, noise - one, side="right").sum()
    below = np.searchsorted(other, -noise - one, side="left").sum()
    return int(up), one.size * other.size - int(below)


def _sums(values: Floats) -> Floats:
    """The sum of every subset, doubling with each value."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate((sums, sums + value))
    return sums
