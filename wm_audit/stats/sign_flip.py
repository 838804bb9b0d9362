"""The sign-flip test of seeds' differences."""

import math
from dataclasses import dataclass

import numpy as np

from wm_audit.core import Reason
from wm_audit.stats.arrays import Floats, Numbers, real_array
from wm_audit.stats.results import TestResult, share
from wm_audit.stats.subsets import EXACT_SEEDS, mean_of, subsets

_MOST_WORK = 150_000_000_000  # bits moved by a convolution


@dataclass(frozen=True, slots=True)
class SignFlip:
    """The test in all three directions.

    Attributes:
        value: the mean difference.
        up: one-sided, against no increase.
        down: one-sided, against no decrease.
        two_sided: against no difference.
        n: differences used.
        n_dropped: differences dropped because they are not finite.
        reason: why there is no test, or None.
    """

    value: float | None
    up: TestResult
    down: TestResult
    two_sided: TestResult
    n: int
    n_dropped: int
    reason: Reason | None = None


def sign_flip(d: Numbers, *, root: int = 0) -> SignFlip:
    """Under the null every difference is as likely with the other sign (Fisher 1935): how many sign patterns reach the observed mean?

    All patterns are enumerated up to 20 differences. Above, integers are counted exactly by the convolution of their distributions
    (thousands of small ones: sum |d| * n^2 up to 1.5e11, some seconds), and other values use 100,000 random subsets,
    p = (hits + 1) / 100,001.

    Args:
        d: (S,) differences; None and NaN are dropped and counted.
        root: root seed of the random subsets.

    Returns:
        The tests; null `no_finite_pairs` where no difference is finite.

    Raises:
        ValueError: `d` is not a vector of real numbers.
    """
    given = real_array("d", d, 1)
    values = given[np.isfinite(given)]
    dropped = given.size - values.size
    if values.size == 0:
        null = TestResult.null(Reason.NO_FINITE_PAIRS)
        return SignFlip(None, null, null, null, 0, dropped, Reason.NO_FINITE_PAIRS)
    integers = _as_integers(values) if values.size > EXACT_SEEDS else None
    up, down, both, total = _counted(values, root) if integers is None else _convolved(integers)
    exact = integers is not None or values.size <= EXACT_SEEDS
    mean = mean_of(values)
    smallest = 2 ** int(np.count_nonzero(values == 0.0)) if exact else 1
    tests = [
        TestResult(mean, share(hits, total), hits, total, share(min(total, sides * smallest), total))
        for hits, sides in ((up, 1), (down, 1), (both, 2 if exact else 1))
    ]
    return SignFlip(mean, tests[0], tests[1], tests[2], values.size, dropped)


def _counted(values: Floats, root: int) -> tuple[int, int, int, int]:
    """Sign patterns at least as high, at least as low, at least as far from zero as the observed one; of how many."""
    found = subsets(values, root)
    total = found.sums.size + 1  # the empty subset is the observed pattern itself
    up = 1 + int(np.count_nonzero(found.sums <= 0.0))
    down = 1 + int(np.count_nonzero(found.sums >= 0.0))
    if found.total == 0.0:
        return up, down, total, total
    sign = 1.0 if found.total > 0.0 else -1.0
    # Flipping T leaves the total as far from zero when sum(T) has the other sign, or when what is left unflipped has.
    both = 1 + int(np.count_nonzero((sign * found.sums <= 0.0) | (sign * found.rest <= 0.0)))
    return up, down, both, total


def _as_integers(values: Floats) -> list[int] | None:
    """The values as integers, if they are and their distribution is small enough to hold."""
    if np.abs(values).max() > 2.0**53 or not np.array_equal(values, np.rint(values)):
        return None
    integers = [int(value) for value in values]
    unit = math.gcd(*integers) or 1
    integers = sorted((value // unit for value in integers), key=abs)  # small ones first: the distribution grows late
    return integers if sum(abs(value) for value in integers) * len(integers) ** 2 <= _MOST_WORK else None


def _convolved(values: list[int]) -> tuple[int, int, int, int]:
    """The same counts from the exact distribution of subset sums of |d|, held as the digits of one large integer.

    With N the size of the negative values' sum, the subsets of d with sum <= 0 are as many as the subsets of |d| with sum <= N.
    """
    width = len(values) + 2  # bits of a digit: no count exceeds 2^S
    counts = 1
    for value in values:
        counts += counts << (abs(value) * width)
    negative, positive = -sum(value for value in values if value < 0), sum(value for value in values if value > 0)
    total = 2 ** len(values)
    up = _digit_sum(counts & ((1 << ((negative + 1) * width)) - 1), width)
    # By symmetry of the distribution, the sums >= N are as many as the sums <= P.
    down = _digit_sum(counts & ((1 << ((positive + 1) * width)) - 1), width)
    both = total if positive == negative else min(total, 2 * min(up, down))
    return up, down, both, total


def _digit_sum(number: int, width: int) -> int:
    """The sum of the digits to the base 2^width, known to be below 2^width - 1."""
    return number % ((1 << width) - 1)
