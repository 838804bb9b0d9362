"""Sums over subsets of seeds: one enumeration for the sign-flip test and for the interval that inverts it.

Flipping the signs of a subset T changes the total by -2 sum(T), so the flipped total is at least the observed one exactly when
sum(T) <= 0. Test and interval therefore ask the same question of the same sums.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import stream
from wm_audit.stats.arrays import Floats, Ints

EXACT_SEEDS = 20  # about a million subsets
RANDOM_SUBSETS = 100_000
_CELLS = 4_000_000


class Subsets(NamedTuple):
    """Nonempty subsets of values.

    Attributes:
        sums: (N,) the sum of each subset, in units of `scale`, rounding noise set to 0.
        rest: (N,) the sum of the values outside each subset, likewise.
        sizes: (N,) how many values each subset holds.
        total: the sum of all values, likewise.
        scale: a power of two, so that scaling is exact and no sum overflows.
    """

    sums: Floats
    rest: Floats
    sizes: Ints
    total: float
    scale: float


def subsets(values: Floats, root: int) -> Subsets:
    """Every nonempty subset of up to 20 values; above, 100,000 random ones, the same ones for the same number of values and root.

    Sums within 1e-12 * max|d| * S of zero are zero: otherwise rounding would separate the test from the interval.

    Args:
        values: (S,) finite values, S >= 1.
        root: root seed of the random subsets.
    """
    scale = power_of_two(values)
    unit = np.sort(values) / scale  # sorted, so that the order of the rows cannot move a rounded sum
    sums, sizes = _all(unit) if values.size <= EXACT_SEEDS else _random(unit, root)
    total = unit.sum(keepdims=True)
    noise = 1e-12 * float(np.abs(unit).max()) * values.size

    def snapped(numbers: Floats) -> Floats:
        return np.where(np.abs(numbers) <= noise, 0.0, numbers)

    return Subsets(snapped(sums), snapped(total - sums), sizes, float(snapped(total)[0]), scale)


def power_of_two(values: Floats) -> float:
    """The largest power of two that does not exceed the largest size; 1 for zeros."""
    largest = float(np.abs(values).max())
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest else 1.0


def mean_of(values: Floats) -> float:
    """The mean, whatever the order of the values, without overflow."""
    scale = power_of_two(values)
    return float((np.sort(values) / scale).mean() * scale)


def _all(values: Floats) -> tuple[Floats, Ints]:
    """Sum and size of the 2^S - 1 nonempty subsets, doubling with each value."""
    sums, sizes = np.zeros(1), np.zeros(1, dtype=np.int64)
    for value in values:
        sums, sizes = np.concatenate((sums, sums + value)), np.concatenate((sizes, sizes + 1))
    return sums[1:], sizes[1:]


def _random(values: Floats, root: int) -> tuple[Floats, Ints]:
    """Sum and size of uniform nonempty subsets."""
    masks = list(random_masks(values.size, root))
    return np.concatenate([bits @ values for bits in masks]), np.concatenate([bits.sum(axis=1, dtype=np.int64) for bits in masks])


def random_masks(size: int, root: int) -> Iterator[NDArray[np.uint8]]:
    """100,000 uniform nonempty subsets of `size` values in pieces of (N, size) zeros and ones; an empty draw is drawn again."""
    draws = stream(root, "stats", "subsets", size)
    step, missing = max(1, min(RANDOM_SUBSETS, _CELLS // size)), RANDOM_SUBSETS
    while missing:
        words = draws.words((min(step, missing), -(-size // 64)))
        bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, count=size, bitorder="little")
        kept = bits[bits.any(axis=1)]
        missing -= len(kept)
        yield kept
