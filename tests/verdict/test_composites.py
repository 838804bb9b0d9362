from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from wm_audit.core import Measurement, Reason, Row
from wm_audit.verdict.composites import Group, entries, group, missing
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Floats, Table

Make = Callable[..., list[Row]]
Change = Callable[..., list[Row]]


def perceptual(rows: list[Row]) -> tuple[Table, Group]:
    rules = Rules.default()
    table = Table.of(rows, "pixel_nav", rules)
    return table, group(table, "perceptual", rules.perceptual, rules)


def test_strict_is_the_mean_of_oriented_ranks_inside_each_capacity(make: Make) -> None:
    table, item = perceptual(make(seeds=6))
    for c in range(3):
        ranked = [rankdata(-table.values(name)[:, c]) for name in ("pixel_mse", "pixel_nll", "pixel_lpips", "rollout_fvd")]
        ranked.append(rankdata(table.values("pixel_ssim")[:, c]))
        assert item.strict(table.outcome())[:, c] == pytest.approx(np.mean(ranked, axis=0), abs=1e-12)


def test_an_incomplete_seed_leaves_every_capacity_and_the_others_are_ranked_without_it(make: Make, change: Change) -> None:
    null = Measurement.null(Reason.FEATURE_WEIGHTS_MISSING, orientation=-1)
    rows = change(make(seeds=6), lambda key: key.seed == 2 and key.hidden == 64, {"rollout_fvd": null})
    table, item = perceptual(rows)
    without, reduced = perceptual([row for row in rows if row.key.seed != 2])
    strict = item.strict(table.outcome())
    assert np.isnan(strict[2]).all()
    assert strict[[0, 1, 3, 4, 5]] == pytest.approx(reduced.strict(without.outcome()), abs=1e-12)


def test_relaxed_keeps_the_incomplete_seed_and_says_how_much_of_it_is_there(make: Make, change: Change) -> None:
    null = Measurement.null(Reason.FEATURE_WEIGHTS_MISSING, orientation=-1)
    _, item = perceptual(change(make(seeds=4), lambda key: key.seed == 2 and key.hidden == 64, {"rollout_fvd": null}))
    relaxed, present = item.relaxed()
    assert np.isfinite(relaxed).all()
    assert present[2].tolist() == [5, 4, 5]
    assert item.members[3] == "rollout_fvd"
    column = [(rankdata(item.values[m, :, 1]) - 0.5) / 4 for m in (0, 1, 2, 4)]
    assert relaxed[2, 1] == pytest.approx(np.mean([member[2] for member in column]))
    # the seeds that have the member are ranked among the three of them
    three = (rankdata(item.values[3, [0, 1, 3], 1]) - 0.5) / 3
    assert relaxed[0, 1] == pytest.approx(np.mean([*(member[0] for member in column), three[0]]))


def test_pooled_ranks_all_rows_at_once(make: Make) -> None:
    table, item = perceptual(make(seeds=5))
    ranked = [rankdata(values.ravel()) for values in item.values]
    assert item.pooled().ravel() == pytest.approx(np.mean(ranked, axis=0), abs=1e-12)
    assert item.pooled().shape == table.shape


def test_entries_add_up_and_a_null_is_null_with_a_reason(make: Make, change: Change) -> None:
    null = Measurement.null(Reason.FEATURE_WEIGHTS_MISSING, orientation=-1)
    table, item = perceptual(change(make(seeds=4), lambda key: key.seed == 2 and key.hidden == 64, {"rollout_fvd": null}))
    listed = {(entry["seed"], entry["hidden"]): entry for entry in entries(table, [item], table.outcome())}
    assert len(listed) == 12
    assert listed[2, 64]["strict_reason"] == "null_member"
    assert listed[2, 32]["strict_reason"] == "coverage"
    assert listed[2, 64]["coverage"] == pytest.approx(0.8)
    assert listed[2, 64]["pooled_reason"] == "null_member"
    for entry in listed.values():
        assert (entry["strict"] is None) == (entry["strict_reason"] is not None)
        assert entry["coverage"] == entry["present"] / entry["planned"]
    assert missing(table, item.members) == {"rollout_fvd": {"feature_weights_missing": 1}}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(3, 7), st.integers(1, 3))
def test_a_monotone_map_of_every_member_moves_no_composite(seed: int, seeds: int, capacities: int) -> None:
    values: Floats = np.random.default_rng(seed).normal(size=(3, seeds, capacities))
    outcome = np.zeros((seeds, capacities))
    one, two = (Group("g", ("a", "b", "c"), item, (0.0, 0.0, 0.0)) for item in (values, np.exp(values)))
    assert np.array_equal(one.strict(outcome), two.strict(outcome))
    assert np.array_equal(one.relaxed()[0], two.relaxed()[0])
    assert np.array_equal(one.pooled(), two.pooled())


def test_rounding_noise_of_float32_values_is_a_tie() -> None:
    values = np.array([[[1.0], [1.0 + 1e-8], [2.0]]])
    assert Group("g", ("a",), values, (1e-6,)).strict(np.zeros((3, 1))).ravel().tolist() == [1.5, 1.5, 3.0]
