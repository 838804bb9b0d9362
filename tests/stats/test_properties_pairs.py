"""What must hold for any pairs: what is missing moves nothing, only order counts, sides may change places, one stream gives one answer.

spearman and kendall_tau_b alone have theirs in test_correlations.py.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from wm_audit.core import Stream, stream
from wm_audit.stats import Interval, bootstrap, correlation_bootstrap, kendall_within, permutation_test

Floats = NDArray[np.float64]
Answer = Callable[..., tuple[object, ...]]
few = settings(max_examples=30, deadline=None)
JUNK = st.lists(st.sampled_from([(math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (0.0, -math.inf), (math.nan, math.nan)]), max_size=4)


def pairs(least: int, most: int) -> st.SearchStrategy[Floats]:
    """Values on a coarse grid: tied often, and never within a tolerance of each other without being equal."""
    one = st.tuples(st.integers(-6, 6), st.integers(-6, 6))
    return st.lists(one, min_size=least, max_size=most).map(lambda items: np.array(items, dtype=np.float64).T * 0.37)


# Each as (value, two-sided p or bounds, reason): what must stay. Streams carry a name, so every call draws the same numbers.
def free_spearman(x: Floats, y: Floats, rtol: float = 1e-12) -> tuple[object, ...]:
    found = permutation_test(x, y, stream=stream(1, "p"), draws=99, min_n=2, min_distinct=2, rtol=rtol)
    return found.value, found.p, found.hits, found.floor, found.reason


def free_kendall(x: Floats, y: Floats, rtol: float = 1e-12) -> tuple[object, ...]:
    found = permutation_test(x, y, "kendall", stream=stream(1, "p"), draws=99, min_n=2, min_distinct=2, rtol=rtol)
    return found.value, found.p, found.hits, found.floor, found.reason


def resampled_spearman(x: Floats, y: Floats, rtol: float = 1e-12) -> tuple[object, ...]:
    found = correlation_bootstrap(x, y, stream=stream(1, "b"), resamples=60, min_n=2, min_distinct=2, rtol=rtol)
    return found.bounds, found.n_degenerate, found.reason


def resampled_kendall(x: Floats, y: Floats, rtol: float = 1e-12) -> tuple[object, ...]:
    found = correlation_bootstrap(x, y, "kendall", stream=stream(1, "b"), resamples=60, min_n=2, min_distinct=2, method="bca", rtol=rtol)
    return found.bounds, found.n_degenerate, found.reason


ANSWERS = pytest.mark.parametrize("answer", [free_spearman, free_kendall, resampled_spearman, resampled_kendall])
TESTS = pytest.mark.parametrize("answer", [free_spearman, free_kendall])


@ANSWERS
@few
@given(data=pairs(2, 14), junk=JUNK)
def test_appended_pairs_that_are_not_finite_change_nothing(answer: Answer, data: Floats, junk: list[tuple[float, float]]) -> None:
    longer = np.concatenate((data.T, np.array(junk).reshape(-1, 2))).T
    assert answer(*longer) == answer(*data)


@ANSWERS
@few
@given(data=pairs(2, 14))
def test_increasing_maps_change_nothing(answer: Answer, data: Floats) -> None:
    x, y = data
    assert answer(np.exp(x), y**3 + y, 0.0) == answer(x, y, 0.0)


@ANSWERS
@few
@given(data=pairs(2, 14))
def test_one_stream_one_answer(answer: Answer, data: Floats) -> None:
    assert answer(*data) == answer(*data)


@TESTS
@few
@given(data=pairs(2, 7))
def test_the_two_sides_may_change_places_and_signs(answer: Answer, data: Floats) -> None:
    x, y = data
    value, p, hits, floor, _ = answer(x, y)
    assert answer(y, x)[:4] == (value, p, hits, floor)
    assert answer(x, -y)[1:4] == (p, hits, floor)


@TESTS
@few
@given(data=pairs(2, 7), seed=st.integers(0, 99))
def test_where_all_orders_are_tried_the_order_of_the_rows_is_irrelevant(answer: Answer, data: Floats, seed: int) -> None:
    order = stream(seed, "rows").permutation(data.shape[1])
    assert answer(*data[:, order]) == answer(*data)


@TESTS
@few
@given(data=pairs(2, 12))
def test_p_is_positive_at_most_one_and_never_below_its_floor(answer: Answer, data: Floats) -> None:
    value, p, _, floor, reason = answer(*data)
    if reason is not None:
        assert (value, p, floor) == (None, None, None)
        return
    assert isinstance(value, float)
    assert isinstance(p, float)
    assert isinstance(floor, float)
    assert abs(value) <= 1
    assert 0 < floor <= p <= 1


@few
@given(data=pairs(2, 7))
def test_one_sided_p_values_share_the_observed_order(data: Floats) -> None:
    x, y = data
    up, down = (permutation_test(x, y, alternative=side, min_n=2, min_distinct=2) for side in ("greater", "less"))
    assert up.hits + down.hits >= up.total  # every order is on one side, those that tie with the data on both
    assert permutation_test(x, -y, alternative="less", min_n=2, min_distinct=2).hits == up.hits


@few
@given(data=pairs(6, 20), statistic=st.sampled_from(["spearman", "kendall"]), method=st.sampled_from(["percentile", "bca"]))
def test_a_resampled_interval_turns_with_its_data(data: Floats, statistic: str, method: str) -> None:
    def interval(x: Floats, y: Floats) -> tuple[float, float] | None:
        return correlation_bootstrap(x, y, statistic, stream=stream(2, "b"), resamples=40, method=method, min_n=2, min_distinct=2).bounds  # type: ignore[arg-type]

    x, y = data
    bounds = interval(x, y)
    assert interval(y, x) == bounds
    if bounds is not None and method == "percentile":
        assert interval(x, -y) == pytest.approx((-bounds[1], -bounds[0]), abs=1e-12)


def mean_of(values: list[float], draws: Stream, level: float = 0.9) -> Interval:
    return bootstrap(lambda rows: rows.mean(axis=1), np.array(values), stream=draws, resamples=50, level=level)


@few
@given(values=st.lists(st.integers(-99, 99).map(float), min_size=2, max_size=20), seed=st.integers(0, 9))
def test_an_interval_moves_with_its_data_widens_with_its_level_and_holds_the_estimate(values: list[float], seed: int) -> None:
    found, again = (mean_of(values, stream(seed, "b")) for _ in range(2))
    assert found == again
    twice = mean_of([2 * value for value in values], stream(seed, "b"))
    wider = mean_of(values, stream(seed, "b"), 0.95)
    if found.bounds is None or wider.bounds is None:
        assert found.reason is not None or wider.reason is not None
        return
    assert twice.bounds == (2 * found.bounds[0], 2 * found.bounds[1])
    assert found.bounds[0] - 1e-9 <= np.mean(values) <= found.bounds[1] + 1e-9
    assert wider.bounds[0] <= found.bounds[0]
    assert found.bounds[1] <= wider.bounds[1]


@few
@given(values=st.lists(st.integers(-99, 99).map(float), min_size=2, max_size=12), seed=st.integers(0, 9))
def test_clusters_of_one_row_are_rows(values: list[float], seed: int) -> None:
    def interval(cluster: list[int] | None) -> Interval:
        return bootstrap(lambda rows: rows.mean(axis=1), np.array(values), stream=stream(seed, "b"), resamples=30, cluster=cluster)

    assert interval(list(range(len(values)))).bounds == pytest.approx(interval(None).bounds, abs=1e-12)


@few
@given(data=pairs(1, 20), junk=JUNK, seed=st.integers(0, 99))
def test_inside_groups_nothing_but_order_counts(data: Floats, junk: list[tuple[float, float]], seed: int) -> None:
    x, y = data
    groups = stream(seed, "groups").integers(3, x.size)
    found = kendall_within(groups, x, y)
    order = stream(seed, "rows").permutation(x.size)
    assert kendall_within(groups[order], x[order], y[order]).value == pytest.approx(found.value, abs=1e-14)
    assert kendall_within(groups, np.exp(x), y**3, rtol=0.0).value == kendall_within(groups, x, y, rtol=0.0).value
    assert kendall_within(groups, x + 100 * groups, y - 50 * groups).value == found.value  # a group's level says nothing
    longer = np.concatenate((data.T, np.array(junk).reshape(-1, 2))).T
    assert kendall_within(np.append(groups, np.zeros(len(junk), dtype=np.int64)), *longer).value == found.value
    down = kendall_within(groups, x, -y).value
    assert down == pytest.approx(None if found.value is None else -found.value, abs=1e-15)  # the mean adds in another order
