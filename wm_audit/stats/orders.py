"""All orders of a few units, or random ones of many."""

from functools import lru_cache
from itertools import permutations

import numpy as np

from wm_audit.core import Stream
from wm_audit.stats.arrays import Floats, Ints
from wm_audit.stats.results import TestResult, share

EXACT_UNITS = 7  # 5,040 orders; 8 units would already have 40,320
TIE = 1e-12  # statistics this close are equal: rounding must not decide what is as extreme as the data


@lru_cache(maxsize=EXACT_UNITS + 1)
def all_orders(units: int) -> Ints:
    """Every order of 0 .. units-1, (units!, units), read-only; the first is the identity."""
    orders = np.array(list(permutations(range(units))), dtype=np.int64)
    orders.setflags(write=False)
    return orders


def random_orders(units: int, draws: int, stream: Stream) -> Ints:
    """Independent uniform orders, (draws, units), by sorting random words."""
    return np.argsort(stream.words((draws, units)), axis=1, kind="stable").astype(np.int64)


def orders_for(units: int, draws: int, stream: Stream | None) -> tuple[Ints, bool]:
    """The orders a test goes through, the identity first, and whether they are all there are.

    Raises:
        ValueError: random orders are needed and there is no stream.
    """
    if units <= EXACT_UNITS:
        return all_orders(units), True
    if stream is None:
        raise ValueError(f"stream must be given for more than {EXACT_UNITS} units, found {units}")
    return np.concatenate((np.arange(units)[None], random_orders(units, draws, stream))), False


def judged(observed: float, extremeness: Floats, *, exact: bool) -> TestResult:
    """The p-value of the first order among all.

    Args:
        observed: the statistic on the data.
        extremeness: (orders,) larger is more extreme; entry 0 is the data's, which counts as one order.
        exact: whether these are all orders, so that the share reaching the largest value is the smallest p the design allows.
    """
    total = int(extremeness.size)
    hits = int(np.count_nonzero(extremeness >= extremeness[0] - TIE))
    largest = int(np.count_nonzero(extremeness >= extremeness.max() - TIE)) if exact else 1
    return TestResult(observed, share(hits, total), hits, total, largest / total)
