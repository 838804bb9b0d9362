from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wm_audit.core import Measurement, Reason, Row
from wm_audit.verdict import Rules, ladder
from wm_audit.verdict.table import Table

FINITE = st.floats(-1e6, 1e6)


def test_v28_reference_values() -> None:
    reference = np.array([1.0, 2.0, 2.0, 4.0, 5.0])
    assert ladder.insert(reference, np.array([0.0, 1.0, 2.0, 3.0, 5.0, 9.0])).tolist() == [0.0, 0.1, 0.4, 0.6, 0.9, 1.0]


@settings(max_examples=40, deadline=None)
@given(st.lists(FINITE, min_size=1, max_size=12), st.lists(FINITE, min_size=1, max_size=6))
def test_it_is_the_mean_of_count_below_and_count_at_or_below(reference: list[float], values: list[float]) -> None:
    expected = [(sum(r < v for r in reference) + sum(r <= v for r in reference)) / 2 / len(reference) for v in values]
    assert ladder.insert(np.array(reference), np.array(values), 0.0).tolist() == pytest.approx(expected, abs=1e-15)


def test_an_unmeasurable_value_stands_nowhere_and_never_on_the_worst_rung() -> None:
    assert np.isnan(ladder.insert(np.array([1.0, 2.0]), np.array([np.nan, np.inf]))).all()
    assert np.isnan(ladder.insert(np.array([]), np.array([1.0]))).all()


def test_another_lever_cannot_move_the_ladder(make: Callable[..., list[Row]]) -> None:
    rules = Rules.default()
    alone = Table.of(make(seeds=5, levers={"int8": (0.5, 0.5)}), "pixel_nav", rules)
    beside = Table.of(make(seeds=5, levers={"int8": (0.5, 0.5), "prune.0.5": (3.0, 3.0)}), "pixel_nav", rules)
    one, two = (ladder.degradation(table, "pixel_mse", "int8", rules) for table in (alone, beside))
    assert np.array_equal(one, two)


def test_positive_is_worse_and_a_null_stays_null(make: Callable[..., list[Row]], change: Callable[..., list[Row]]) -> None:
    rows = make(seeds=5, levers={"int8": (2.0, 2.0)})
    rows = change(rows, lambda key: key.compression == "int8" and key.seed == 1, {"pixel_mse": Measurement.null(Reason.CAPABILITY_MISSING)})
    table = Table.of(rows, "pixel_nav", Rules.default())
    found = ladder.degradation(table, "pixel_mse", "int8", Rules.default())
    assert np.isnan(found[1]).all()
    assert (found[[0, 2, 3, 4]] >= 0.0).all()
    assert np.nanmean(found) > 0.1
