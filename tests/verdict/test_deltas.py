import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wm_audit.core import Key, Measurement, Reason, Row
from wm_audit.verdict.deltas import baseline, delta, noise_floor, seed_sd
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Table


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(1, 3))
def test_the_scale_is_the_pooled_standard_deviation_inside_capacities(seed: int, seeds: int, capacities: int) -> None:
    values = np.random.default_rng(seed).normal(size=(seeds, capacities)) + 100.0 * np.arange(capacities)
    scale, reason = seed_sd(values, 1e-12)
    assert reason is None
    assert scale == pytest.approx(math.sqrt(np.mean(values.var(axis=0, ddof=1))))


def test_missing_values_weigh_capacities_by_what_is_there() -> None:
    values = np.array([[1.0, 10.0], [3.0, 14.0], [np.nan, 12.0]])
    assert seed_sd(values, 1e-12)[0] == pytest.approx(math.sqrt((2.0 + 8.0) / 3.0))


def test_seeds_that_do_not_differ_give_no_scale() -> None:
    assert seed_sd(np.array([[1.0, 2.0], [1.0, 2.0]]), 1e-12) == (None, Reason.NO_SPREAD)
    assert seed_sd(np.array([[1.0], [1.0 + 1e-8]]), 1e-6) == (None, Reason.NO_SPREAD)
    assert seed_sd(np.array([[1.0, 2.0]]), 1e-12) == (None, Reason.TOO_FEW_SEEDS)


def test_the_noise_floor_is_half_the_mean_squared_gap() -> None:
    value, repeat = np.array([[1.0, 2.0], [3.0, np.nan]]), np.array([[1.5, 2.5], [2.0, 7.0]])
    assert noise_floor(value, repeat) == pytest.approx(math.sqrt((0.25 + 0.25 + 1.0) / 3 / 2))
    assert noise_floor(value, np.full((2, 2), np.nan)) is None


def test_worse_is_positive_whichever_way_a_diagnostic_is_turned(make: Callable[..., list[Row]]) -> None:
    table = Table.of(make(seeds=5, levers={"int8": (0.7, 0.2)}, lever_noise=0.0), "pixel_nav", Rules.default())
    for name, expected in (("pixel_mse", 0.7), ("pixel_ssim", 0.7), ("return_ece", 0.2), ("uncertainty_rho", 0.2)):
        assert delta(table, name, "int8", Rules.default()).mean == pytest.approx(expected)


def test_a_taught_student_is_compared_with_an_untaught_one(make: Callable[..., list[Row]]) -> None:
    levers = {"untaught.8x8": (2.0, 2.0), "distill.8x8": (0.5, 0.5)}
    table = Table.of(make(seeds=5, levers=levers, lever_noise=0.0), "pixel_nav", Rules.default())
    assert baseline("distill.8x8") == "untaught.8x8"
    assert delta(table, "pixel_ssim", "distill.8x8", Rules.default()).mean == pytest.approx(-1.5)


def test_pairs_are_made_on_the_exact_key(make: Callable[..., list[Row]]) -> None:
    rows = [row for row in make(seeds=3, levers={"int8": (1.0, 1.0)}) if row.key != Key("pixel_nav", 64, 32, 1, "trained", "int8")]
    found = delta(Table.of(rows, "pixel_nav", Rules.default()), "pixel_mse", "int8", Rules.default())
    assert found.n == 8
    assert np.isnan(found.value[1, 1])
    assert found.missing == {"row_missing": 1}


def test_a_change_within_the_evaluation_noise_is_flagged(make: Callable[..., list[Row]]) -> None:
    rules = Rules.default()
    small = Table.of(make(seeds=5, levers={"int8": (1e-4, 1e-4)}, lever_noise=0.0), "pixel_nav", rules)
    large = Table.of(make(seeds=5, levers={"int8": (1.0, 1.0)}, lever_noise=0.0), "pixel_nav", rules)
    assert delta(small, "pixel_mse", "int8", rules).below_noise_floor
    found = delta(large, "pixel_mse", "int8", rules)
    assert not found.below_noise_floor


@pytest.mark.parametrize(("share", "flagged"), [(0.999, True), (1.001, False)])
def test_the_flag_is_raised_up_to_the_stated_multiple_of_the_floor(make: Callable[..., list[Row]], share: float, flagged: bool) -> None:
    rules = Rules.default()
    floor = delta(Table.of(make(seeds=5, levers={"int8": (1.0, 1.0)}), "pixel_nav", rules), "pixel_ssim", "int8", rules).floor
    assert floor is not None
    change = share * 1.645 * floor * math.sqrt(2 / 15)
    table = Table.of(make(seeds=5, levers={"int8": (change, change)}, lever_noise=0.0), "pixel_nav", rules)
    assert delta(table, "pixel_ssim", "int8", rules).below_noise_floor is flagged


def test_without_a_repeat_nothing_is_flagged(make: Callable[..., list[Row]], change: Callable[..., list[Row]]) -> None:
    rows = make(seeds=5, levers={"int8": (1e-4, 1e-4)}, lever_noise=0.0)

    def once(row: Row) -> Measurement:
        return row.diagnostics["pixel_mse"].with_(repeat=None)

    found = delta(
        Table.of(change(rows, lambda key: True, {"pixel_mse": once}), "pixel_nav", Rules.default()), "pixel_mse", "int8", Rules.default()
    )
    assert found.floor is None
    assert not found.below_noise_floor
