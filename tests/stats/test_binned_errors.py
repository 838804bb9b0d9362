"""Calibration and dispersion errors against their definitions, one item at a time."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wm_audit.core import Reason, stream
from wm_audit.stats import calibration_error, dispersion_error

few = settings(max_examples=60, deadline=None)
ITEMS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=40)


def bins_by_the_rule(items: list[tuple[float, float]], bins: int) -> list[list[tuple[float, float]]]:
    """Item i is in bin floor(i * bins / n), a tie group in its first item's bin; empty bins are skipped."""
    ordered = sorted(items)
    filled: dict[int, list[tuple[float, float]]] = {}
    for item in ordered:
        first = next(j for j, other in enumerate(ordered) if other[0] == item[0])
        filled.setdefault(first * bins // len(ordered), []).append(item)
    return [filled[b] for b in sorted(filled)]


@few
@given(ITEMS, st.integers(1, 12))
def test_calibration_is_its_definition(items: list[tuple[float, float]], bins: int) -> None:
    expected = bins_by_the_rule(items, bins)
    x, y = np.array(items, dtype=np.float64).T
    found = calibration_error(x, y, bins)
    assert [one.n for one in found.bins] == [len(one) for one in expected]
    assert sum(one.n for one in found.bins) == found.n == len(items)
    means = [np.mean(one, axis=0) for one in expected]
    assert [one.predicted for one in found.bins] == pytest.approx([mean[0] for mean in means])
    assert [one.actual for one in found.bins] == pytest.approx([mean[1] for mean in means])
    value = sum(len(one) * abs(mean[0] - mean[1]) for one, mean in zip(expected, means, strict=True)) / len(items)
    assert found.value == pytest.approx(value, abs=1e-12)


@few
@given(ITEMS, st.integers(1, 12))
def test_dispersion_is_its_definition(items: list[tuple[float, float]], bins: int) -> None:
    expected = bins_by_the_rule(items, bins)
    x, y = np.array(items, dtype=np.float64).T
    found = dispersion_error(x, y, bins)
    total = math.sqrt(np.mean([item[1] for item in items]))
    if total == 0:
        assert found.reason is Reason.CONSTANT_Y
        return
    value = 0.0
    for one in expected:
        variance, error = np.mean(one, axis=0)
        value += len(one) * abs(math.sqrt(error) - math.sqrt(variance)) / len(items)
    assert found.value == pytest.approx(value / total, abs=1e-12)
    assert sum(one.n for one in found.bins) == len(items)


@few
@given(ITEMS, st.integers(0, 99))
def test_the_order_of_the_rows_changes_not_one_bit(items: list[tuple[float, float]], seed: int) -> None:
    x, y = np.array(items).T * 0.37
    order = stream(seed, "rows").permutation(len(items))
    assert calibration_error(x[order], y[order], 5) == calibration_error(x, y, 5)
    assert dispersion_error(x[order], y[order], 5) == dispersion_error(x, y, 5)


def test_predictions_that_differ_by_rounding_share_a_bin() -> None:
    predicted = 1.0 + np.arange(6) * 1e-15
    assert [one.n for one in calibration_error(predicted, range(6), 3).bins] == [6]
    assert [one.n for one in calibration_error(predicted, range(6), 3, rtol=0.0).bins] == [2, 2, 2]


def test_fewer_items_than_bins_and_a_single_item() -> None:
    assert [one.n for one in calibration_error([1, 2, 3], [1, 2, 4], 10).bins] == [1, 1, 1]
    assert calibration_error([1], [3], 10).value == 2.0


def test_missing_and_impossible_items_are_dropped_and_counted() -> None:
    found = calibration_error([1, math.nan, None, 2, math.inf], [1, 1, 1, math.nan, 1], 2)
    assert (found.value, found.n, found.n_dropped) == (0.0, 1, 4)
    impossible = dispersion_error([1, -1, 4], [1, 1, -1], 2)
    assert (impossible.value, impossible.n, impossible.n_dropped) == (0.0, 1, 2)


def test_degenerate_input_has_a_reason() -> None:
    assert calibration_error([], []).reason is Reason.NO_FINITE_PAIRS
    assert dispersion_error([math.nan], [1]).reason is Reason.NO_FINITE_PAIRS
    assert dispersion_error([1, 2], [0, 0]).reason is Reason.CONSTANT_Y
    assert calibration_error([1.7e308, 1.7e308], [-1.7e308, -1.7e308], 1).reason is Reason.NONFINITE_PREDICTION
    assert dispersion_error([1.7e308, 1.7e308], [1, 1], 1).reason is Reason.NONFINITE_PREDICTION
    assert dispersion_error([0.0, 0.0], [1, 4], 1).value == 1.0


def test_wrong_use_names_the_argument() -> None:
    for bins in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="bins"):
            calibration_error([1], [1], bins)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="bins"):
            dispersion_error([1], [1], bins)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="actual must have the shape of predicted"):
        calibration_error([1, 2], [1])
    with pytest.raises(ValueError, match="squared_error must have the shape of variance"):
        dispersion_error([1, 2], [1])
    with pytest.raises(ValueError, match="predicted must hold"):
        calibration_error([True], [1])
    with pytest.raises(ValueError, match="rtol"):
        dispersion_error([1], [1], rtol=1.0)
