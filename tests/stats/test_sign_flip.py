"""The sign-flip test and the interval that inverts it."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wm_audit.core import Reason, stream
from wm_audit.stats import hartigan_interval, sign_flip

few = settings(max_examples=60, deadline=None)
# Multiples of a tenth: their float sums cancel only up to rounding, which is where a careless test goes wrong.
TENTHS = st.lists(st.integers(-9, 9), min_size=1, max_size=9)


def by_enumeration(integers: list[int]) -> tuple[int, int, int]:
    """Exact integer arithmetic over all sign patterns: at least as high, as low, as far from zero."""
    observed = sum(integers)
    sums = [sum(sign * d for sign, d in zip(signs, integers, strict=True)) for signs in product((1, -1), repeat=len(integers))]
    return (
        sum(s >= observed for s in sums),
        sum(s <= observed for s in sums),
        sum(abs(s) >= abs(observed) for s in sums),
    )


@few
@given(TENTHS)
def test_counts_are_those_of_exact_arithmetic(integers: list[int]) -> None:
    found = sign_flip([d / 10 for d in integers])
    assert (found.up.hits, found.down.hits, found.two_sided.hits) == by_enumeration(integers)
    assert found.up.total == 2 ** len(integers)


@few
@given(TENTHS, st.sampled_from([0.05, 0.025, 0.1, 0.25]))
def test_a_bound_excludes_zero_exactly_when_the_test_rejects(integers: list[int], alpha: float) -> None:
    d = [one / 10 for one in integers]
    interval, test = hartigan_interval(d, alpha), sign_flip(d)
    assert test.up.p is not None
    assert test.down.p is not None
    if interval.bounds is None:
        assert interval.reason is Reason.TOO_FEW_SEEDS
        assert alpha * 2 ** len(d) < 1
        return
    low, high = interval.bounds
    assert (low > 0) == (test.up.p <= alpha)
    assert (high < 0) == (test.down.p <= alpha)
    assert test.value is not None
    assert low <= test.value <= high


def test_a_p_of_exactly_alpha_rejects() -> None:
    for seeds in (2, 3, 5):
        d, alpha = np.arange(1.0, seeds + 1), 0.5**seeds
        assert sign_flip(d).up.p == alpha
        assert hartigan_interval(d, alpha).bounds == (1.0, seeds)


def test_the_case_in_which_rounding_would_break_the_equivalence() -> None:
    d = [0.6, 0.4, -0.1, 0, 0.4, 0.2, -0.3, 0.5]
    up, down, both = by_enumeration([6, 4, -1, 0, 4, 2, -3, 5])
    found, interval = sign_flip(d), hartigan_interval(d)
    assert (found.up.hits, found.down.hits, found.two_sided.hits) == (up, down, both)
    assert interval.low is not None
    assert (interval.low > 0) == (up / 256 <= 0.05)


@few
@given(st.lists(st.integers(-5, 5), min_size=21, max_size=30))
def test_many_integers_are_counted_exactly(integers: list[int]) -> None:
    """The distribution of the flipped sum, built one difference at a time."""
    counts = {0: 1}
    for d in integers:
        following: dict[int, int] = {}
        for total, ways in counts.items():
            for signed in (total + d, total - d):
                following[signed] = following.get(signed, 0) + ways
        counts = following
    observed, found = sum(integers), sign_flip(integers)
    assert found.up.total == 2 ** len(integers)
    assert found.up.hits == sum(ways for total, ways in counts.items() if total >= observed)
    assert found.down.hits == sum(ways for total, ways in counts.items() if total <= observed)
    assert found.two_sided.hits == sum(ways for total, ways in counts.items() if abs(total) >= abs(observed))


def test_thousands_of_integers_keep_a_positive_p() -> None:
    found = sign_flip([1] * 2000)
    assert found.up.p is not None
    assert 0.0 < found.up.p < 1e-300
    assert found.down.p == 1.0


@pytest.mark.parametrize("seeds", [21, 40, 70])
@pytest.mark.parametrize("alpha", [0.05, 0.025])
def test_above_twenty_seeds_test_and_interval_share_their_subsets(seeds: int, alpha: float) -> None:
    for seed in range(3):
        d = stream(seed, "differences").normal(seeds) + 0.2
        interval, test = hartigan_interval(d, alpha), sign_flip(d)
        assert test.up.total == 100_001
        assert test.up.p is not None
        assert test.two_sided.p is not None
        assert interval.low is not None
        assert (interval.low > 0) == (test.up.p <= alpha)
        assert test.up.p <= test.two_sided.p <= 1.0


def test_random_subsets_approach_the_convolution() -> None:
    d = stream(1, "integers").integers(11, 30) - 4.0
    exact, drawn = sign_flip(d).up, sign_flip(d / 3).up  # thirds are no integers, but have the same ties
    assert (exact.total, drawn.total) == (2**30, 100_001)
    assert exact.p is not None
    assert drawn.p == pytest.approx(exact.p, abs=4 * math.sqrt(exact.p / 100_000))


@few
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9), st.integers(0, 99))
def test_properties(d: list[float], seed: int) -> None:
    found = sign_flip(d)
    order = stream(seed, "rows").permutation(len(d))
    assert sign_flip(np.array(d)[order]) == found
    assert hartigan_interval(np.array(d)[order]) == hartigan_interval(d)
    mirrored = sign_flip([-one for one in d])
    assert (mirrored.up.hits, mirrored.down.hits) == (found.down.hits, found.up.hits)
    for test in (found.up, found.down, found.two_sided):
        assert test.p is not None
        assert test.floor is not None
        assert 0.0 < test.floor <= test.p <= 1.0
    longer = sign_flip([*d, math.nan, math.inf])
    assert (longer.up, longer.n_dropped) == (found.up, 2)


@few
@given(st.lists(st.floats(-1e3, 1e3), min_size=7, max_size=9))
def test_a_higher_level_never_gives_a_narrower_interval(d: list[float]) -> None:
    narrow, wide = hartigan_interval(d, 0.05), hartigan_interval(d, 0.025)
    assert narrow.bounds is not None
    assert wide.bounds is not None
    assert wide.bounds[0] <= narrow.bounds[0] <= narrow.bounds[1] <= wide.bounds[1]
    assert wide.level == 0.95


def test_degenerate_differences() -> None:
    assert sign_flip([]).reason is Reason.NO_FINITE_PAIRS
    assert sign_flip([math.nan, None]).n_dropped == 2
    assert hartigan_interval([]).reason is Reason.NO_FINITE_PAIRS
    zeros = sign_flip([0.0] * 6)
    assert (zeros.value, zeros.up.p, zeros.two_sided.p, zeros.up.floor) == (0.0, 1.0, 1.0, 1.0)
    assert hartigan_interval([0.0] * 6).bounds == (0.0, 0.0)
    assert hartigan_interval([0.1] * 6).bounds == pytest.approx((0.1, 0.1))
    assert hartigan_interval([1.7e308] * 6).bounds == pytest.approx((1.7e308, 1.7e308))
    assert hartigan_interval([5e-324] * 6).bounds == (5e-324, 5e-324)


def test_wrong_use_names_the_argument() -> None:
    for alpha in (0.0, 0.5, 1.0, math.nan, True):
        with pytest.raises(ValueError, match="alpha"):
            hartigan_interval([1, 2], alpha)
    with pytest.raises(ValueError, match="d must"):
        sign_flip([True, False])
    with pytest.raises(ValueError, match="d must"):
        hartigan_interval([[1.0]])
