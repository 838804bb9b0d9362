from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from wm_audit.core import Measurement, Reason, Row, stream
from wm_audit.verdict.association import Association, associate
from wm_audit.verdict.composites import group, missing
from wm_audit.verdict.description import comparison, independent_tests, point_rule
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Table

Make = Callable[..., list[Row]]
Change = Callable[..., list[Row]]


def associated(rows: list[Row], rules: Rules, members: tuple[str, ...] = ("pixel_mse",)) -> tuple[Association, Table]:
    table = Table.of(rows, "pixel_nav", rules)
    item = group(table, "perceptual" if len(members) > 1 else members[0], members, rules)
    return associate(item, table.outcome(), rules, stream(0, "test"), "diagnostic", missing=missing(table, members)), table


def test_a_diagnostic_is_turned_so_that_larger_is_better(make: Make, quick: Rules) -> None:
    """pixel_mse falls with skill; its correlation with the return must read as agreement."""
    found, table = associated(make(seeds=8, perceptual=0.9), quick)
    assert found.estimate.value is not None
    assert found.estimate.value > 0.5
    raw = [spearmanr(table.values("pixel_mse")[:, c], table.outcome()[:, c]).statistic for c in range(3)]
    assert found.estimate.value == pytest.approx(-np.mean(raw))


def test_the_description_is_the_published_analysis(make: Make, quick: Rules) -> None:
    found, table = associated(make(seeds=8, perceptual=0.3), quick)
    x, y = -table.values("pixel_mse").ravel(), table.outcome().ravel()
    oracle = spearmanr(x, y)
    assert found.pooled["descriptive"] is True
    assert found.pooled["rho"] == pytest.approx(oracle.statistic)
    assert found.pooled["p"] == pytest.approx(oracle.pvalue)
    assert found.pooled["tau_b"] == pytest.approx(kendalltau(x, y).statistic)
    for name in ("interval", "bca", "bonett_wright"):
        assert found.pooled[name][0] < found.pooled["rho"] < found.pooled[name][1]
        assert found.pooled[f"{name}_reason"] is None
    assert found.capacity_level == {"descriptive": True, "rho": pytest.approx(1.0), "reason": None, "n": 3}


def test_entries_count_cells_and_name_what_is_missing(make: Make, change: Change, quick: Rules) -> None:
    null = Measurement.null(Reason.NONFINITE_PREDICTION, orientation=-1)
    found, table = associated(change(make(seeds=10), lambda key: key.seed == 4 and key.hidden == 32, {"pixel_mse": null}), quick)
    entry = found.to_json(table.capacities, 0.5)
    assert (entry["n"], entry["n_dropped"], entry["n_seeds"], entry["n_planned_seeds"]) == (27, 3, 9, 10)
    assert entry["missing"] == {"pixel_mse": {"nonfinite_prediction": 1}}
    assert entry["p_adjusted"] == 0.5
    assert entry["pooled"]["n"] == 29


def test_a_constant_capacity_is_left_out_and_named(make: Make, change: Change, quick: Rules) -> None:
    found, table = associated(change(make(seeds=6), lambda key: key.hidden == 64, {"pixel_mse": Measurement(1.0, orientation=-1)}), quick)
    entry = found.to_json(table.capacities, None)
    assert entry["n_constant_capacities"] == 1
    assert entry["constant_capacities"] == [[64, 32]]


def test_a_member_that_is_nowhere_defined_is_blamed_for_the_composite(make: Make, change: Change, quick: Rules) -> None:
    null = Measurement.null(Reason.FEATURE_WEIGHTS_MISSING, orientation=-1)
    rows = change(make(seeds=6), lambda key: True, {"pixel_lpips": null})
    found, table = associated(rows, quick, quick.perceptual)
    entry = found.to_json(table.capacities, None)
    assert (entry["rho"], entry["reason"], entry["interval_reason"]) == (None, "null_member", "null_member")
    assert entry["missing"] == {"pixel_lpips": {"feature_weights_missing": 18}}
    # each null says why in its own line, the others are measured
    alone, _ = associated(rows, quick, ("pixel_ssim",))
    assert alone.estimate.value is not None


def test_too_many_incomplete_seeds_are_a_matter_of_coverage(make: Make, change: Change, quick: Rules) -> None:
    null = Measurement.null(Reason.NONFINITE_PREDICTION, orientation=-1)
    found, _ = associated(change(make(seeds=10), lambda key: key.seed < 3 and key.hidden == 32, {"pixel_mse": null}), quick)
    assert found.reason is Reason.COVERAGE


def test_diagnostics_are_compared_on_the_seeds_that_all_of_them_have(make: Make, change: Change, quick: Rules) -> None:
    null = Measurement.null(Reason.NONFINITE_PREDICTION, orientation=-1)
    rows = change(make(seeds=10), lambda key: key.seed == 1, {"pixel_mse": null})
    rows = change(rows, lambda key: key.seed == 2, {"return_ece": null})
    rows = change(rows, lambda key: True, {"rollout_fvd": Measurement.null(Reason.FEATURE_WEIGHTS_MISSING)})
    table = Table.of(rows, "pixel_nav", quick)
    groups = [group(table, name, (name,), quick) for name in quick.slots]
    found = comparison(groups, table.outcome(), quick)
    assert (found["n_seeds"], found["n"], found["left_out"]) == (8, 24, ["rollout_fvd"])
    kept = Table.of([row for row in rows if row.key.seed not in (1, 2)], "pixel_nav", quick)
    alone = associated(list(kept.rows.values()), quick, ("pixel_ssim",))[0].estimate.value
    assert found["associations"]["pixel_ssim"]["rho"] == pytest.approx(alone)


def test_copies_of_one_diagnostic_are_one_test(make: Make, change: Change, quick: Rules) -> None:
    copies = {name: lambda row: row.diagnostics["pixel_ssim"] for name in quick.slots}
    table = Table.of(change(make(seeds=5), lambda key: True, copies), "pixel_nav", quick)
    turned = [group(table, name, (name,), quick) for name in quick.slots if quick.slots[name].orientation == 1]
    assert independent_tests(turned)["value"] == pytest.approx(1.0)


def test_the_point_rule_reads_the_published_pooled_tau_where_it_was_measured(make: Make, change: Change, quick: Rules) -> None:
    rows = make(seeds=6)
    plain = point_rule(Table.of(rows, "pixel_nav", quick), "H2", Table.of(rows, "pixel_nav", quick).outcome(), quick)

    def reversed_tau(row: Row) -> Measurement:
        value = row.diagnostics["counterfactual_tau"].value
        assert value is not None
        return Measurement(-value, orientation=1)

    table = Table.of(change(rows, lambda key: True, {"counterfactual_tau.pooled": reversed_tau}), "pixel_nav", quick)
    other = point_rule(table, "H2", table.outcome(), quick)
    assert (plain["n"], other["n"]) == (18, 18)
    assert other["rho"] < plain["rho"]
