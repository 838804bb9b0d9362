"""Ranks: what is missing gets none, and ties are tolerant without chaining."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from wm_audit.stats import ranks
from wm_audit.stats.ranks import masked_ranks, tie_codes

few = settings(max_examples=80, deadline=None)
TOLERANCES = [(0.0, 0.0), (1e-12, 0.0), (1e-6, 0.0), (0.1, 0.0), (0.0, 0.5), (0.3, 0.2)]


def by_the_rule(values: list[float], rtol: float, atol: float) -> tuple[list[float], int]:
    """The definition, one value at a time."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    groups: list[list[int]] = []
    for item in order:
        head = values[groups[-1][0]] if groups else math.nan
        if groups and values[item] - head <= atol + rtol * max(abs(head), abs(values[item])):
            groups[-1].append(item)
        else:
            groups.append([item])
    result, before = [0.0] * len(values), 0
    for group in groups:
        for item in group:
            result[item] = before + (len(group) + 1) / 2
        before += len(group)
    return result, len(groups)


@few
@given(st.lists(st.one_of(st.floats(-4, 4), st.integers(-3, 3).map(float)), max_size=25), st.sampled_from(TOLERANCES))
def test_ranks_follow_the_rule(values: list[float], tolerance: tuple[float, float]) -> None:
    expected, groups = by_the_rule(values, *tolerance)
    found = ranks(values, *tolerance)
    assert found.ranks.tolist() == expected
    assert found.groups == groups


@few
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_at_zero_tolerance_ranks_are_scipys(values: list[float]) -> None:
    assert ranks(values, rtol=0.0).ranks.tolist() == rankdata(values).tolist()


def test_nan_is_never_ranked_last() -> None:
    found = ranks([2.0, math.nan, 1.0, math.inf, -math.inf, 3.0])
    assert np.isnan(found.ranks).tolist() == [False, True, False, True, True, False]
    assert found.ranks[[2, 0, 5]].tolist() == [1.0, 2.0, 3.0]
    assert found.groups == 3


def test_ties_do_not_chain() -> None:
    assert ranks([0.0, 0.7, 1.4], 0.0, 1.0).ranks.tolist() == [1.5, 1.5, 3.0]


def test_a_gap_of_exactly_the_tolerance_is_a_tie() -> None:
    assert ranks([0.0, 0.5, 0.75], 0.0, 0.5).ranks.tolist() == [1.5, 1.5, 3.0]
    assert ranks([1.0, 2.0, 5.0], 0.5, 0.0).ranks.tolist() == [1.5, 1.5, 3.0]


def test_a_huge_value_does_not_merge_the_small_ones() -> None:
    assert ranks([1.0, 2.0, 1e300]).ranks.tolist() == [1.0, 2.0, 3.0]


def test_a_long_run_of_near_values_is_cut_by_the_rule() -> None:
    values = 1.0 + np.arange(200) * 0.3e-12
    assert ranks(values, 1e-12).ranks.tolist() == by_the_rule(values.tolist(), 1e-12, 0.0)[0]


def test_values_at_the_limits_of_float64_are_told_apart() -> None:
    assert ranks([-1.7e308, 1.7e308, 0.0, 5e-324]).ranks.tolist() == [1.0, 4.0, 2.0, 3.0]


def test_nothing_has_no_rank() -> None:
    assert ranks([]).groups == 0
    assert ranks([math.nan]).groups == 0


@few
@given(st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=1, max_size=5), st.data())
def test_masked_ranks_rank_what_is_present(rows: list[list[int]], data: st.DataObject) -> None:
    codes = np.array(rows)
    present = np.array(data.draw(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=len(rows), max_size=len(rows))))
    found = masked_ranks(codes, present)
    for row, there, result in zip(codes, present, found, strict=True):
        assert result[there].tolist() == rankdata(row[there]).tolist()
        assert not result[~there].any()


def test_tie_codes_leave_absent_values_to_the_end() -> None:
    assert tie_codes(np.array([[2.0, np.inf, 1.0, 2.0]]), 1e-12, 0.0)[0, [0, 2, 3]].tolist() == [1, 0, 1]


@pytest.mark.parametrize(("rtol", "atol", "name"), [(1.0, 0.0, "rtol"), (-1e-9, 0.0, "rtol"), (0.0, -1.0, "atol"), (0.0, math.inf, "atol")])
def test_tolerances_without_meaning_are_refused(rtol: float, atol: float, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        ranks([1.0], rtol, atol)
