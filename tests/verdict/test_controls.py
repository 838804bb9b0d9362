from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from wm_audit.core import Key, Measurement, Reason, Row, stream
from wm_audit.verdict.arms import arm_checks
from wm_audit.verdict.association import design_of
from wm_audit.verdict.check import Check, failures
from wm_audit.verdict.composites import Group, group
from wm_audit.verdict.copies import copy_check
from wm_audit.verdict.placebo import placebo_checks
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Table

Make = Callable[..., list[Row]]
Change = Callable[..., list[Row]]


def checked(rows: list[Row], rules: Rules | None = None) -> dict[tuple[str, str], Check]:
    rules = rules or Rules.default()
    return {(item.control, item.check): item for item in arm_checks(Table.of(rows, "pixel_nav", rules), rules)}


def with_details(rows: list[Row], arm: str, **details: object) -> list[Row]:
    return [Row(row.key, row.outcome, row.diagnostics, row.details | details, row.manifest) if row.key.arm == arm else row for row in rows]


def test_arms_with_their_known_answers_pass(make: Make) -> None:
    found = checked(make(seeds=3, arms=True))
    assert {item.status for key, item in found.items() if key != ("oracle", "return")} == {"passed"}
    assert found["oracle", "return"].status == "not_checked"
    assert failures(list(found.values())) == ()


@pytest.mark.parametrize(
    ("arm", "diagnostic", "broken"),
    [
        ("oracle", "return_ece", Measurement(0.01, orientation=-1)),
        ("oracle", "counterfactual_tau", Measurement(0.98, orientation=1)),
        ("oracle", "counterfactual_tau", Measurement.null(Reason.NONFINITE_PREDICTION)),
        ("oracle", "uncertainty_rho", Measurement(0.3, orientation=1)),
        ("oracle", "uncertainty_ece", Measurement.null(Reason.ZERO_DISPERSION)),
        ("action_blind", "counterfactual_tau", Measurement(0.7, orientation=1)),
        ("constant", "counterfactual_tau", Measurement(0.1, orientation=1)),
        ("shuffled_reward", "counterfactual_tau", Measurement(0.4, orientation=1)),
    ],
)
def test_every_wrong_answer_is_noticed(make: Make, change: Change, arm: str, diagnostic: str, broken: Measurement) -> None:
    found = checked(change(make(seeds=3, arms=True), lambda key: key.arm == arm, {diagnostic: broken}))
    assert found[arm, diagnostic].status == "failed"
    assert failures(list(found.values())) == (f"control_failed:{arm}",)


def test_a_degenerate_probe_is_not_the_controls_fault(make: Make, change: Change) -> None:
    null = Measurement.null(Reason.PROBE_DEGENERATE)
    found = checked(change(make(seeds=3, arms=True), lambda key: key.arm == "oracle", {"counterfactual_tau": null}))
    assert found["oracle", "counterfactual_tau"].status == "not_checked"


@pytest.mark.parametrize("arm", ["action_blind", "constant", "shuffled_reward"])
def test_a_control_that_plans_well_fails(make: Make, arm: str) -> None:
    returns = (12.0 + 0.1 * stream(0, "good").normal(8)).tolist()
    assert checked(with_details(make(seeds=3, arms=True), arm, returns=returns))[arm, "return"].status == "failed"


def test_a_control_that_is_worse_than_random_plans_nothing_either(make: Make) -> None:
    assert checked(with_details(make(seeds=3, arms=True), "constant", returns=[-9.0] * 8))["constant", "return"].status == "passed"


def test_without_an_oracle_above_random_the_return_cannot_be_judged(make: Make) -> None:
    rows = with_details(make(seeds=3, arms=True), "oracle", returns=[-5.0] * 8)
    assert checked(rows)["constant", "return"].reason is Reason.REFERENCE_DEGENERATE
    rows = [row for row in make(seeds=3, arms=True) if row.key.arm != "random"]
    assert checked(rows)["constant", "return"].reason is Reason.REFERENCE_MISSING


def test_the_oracle_model_plans_what_the_oracle_planner_plans_bit_for_bit(make: Make) -> None:
    rows = make(seeds=3, arms=True)
    returns = next(row.details["returns"] for row in rows if row.key.arm == "oracle")
    assert checked(with_details(rows, "oracle", planner_returns=list(returns)))["oracle", "return"].status == "passed"
    off = [*returns[:-1], float(np.nextafter(returns[-1], 100.0))]
    assert checked(with_details(rows, "oracle", planner_returns=off))["oracle", "return"].status == "failed"
    assert checked(with_details(rows, "oracle", planner_returns=returns[:-1]))["oracle", "return"].status == "failed"


def test_a_planned_arm_that_was_not_run_is_said_after_the_failures(make: Make, change: Change) -> None:
    rows = change(make(seeds=3, arms=True), lambda key: key.arm == "oracle", {"return_ece": Measurement(1.0, orientation=-1)})
    rows = [row for row in rows if row.key.arm != "constant"]
    found = checked(rows, replace(Rules.default(), arms=("trained", "oracle", "action_blind", "constant")))
    assert failures(list(found.values())) == ("control_failed:oracle", "control_missing:constant")


def test_a_copy_changes_nothing(make: Make) -> None:
    table = Table.of(make(seeds=3, levers={"copy": (0.0, 0.0)}), "pixel_nav", Rules.default())
    (found,) = copy_check(table)
    assert (found.status, found.found) == ("passed", 0.0)
    assert copy_check(Table.of(make(seeds=3), "pixel_nav", Rules.default())) == []


def test_a_model_that_cannot_be_copied_has_no_such_control(make: Make, change: Change) -> None:
    rows = make(seeds=3, levers={"copy": (0.0, 0.0)})
    unknown = Measurement.null(Reason.CAPABILITY_MISSING)
    nulls = dict.fromkeys(("outcome", *rows[0].diagnostics), unknown)
    rows = change(rows, lambda key: key.compression == "copy", nulls)
    (found,) = copy_check(Table.of(rows, "pixel_nav", Rules.default()))
    assert (found.status, failures([found])) == ("not_checked", ())


@pytest.mark.parametrize("broken", [Measurement(0.5, orientation=-1), Measurement.null(Reason.NONFINITE_PREDICTION)])
def test_a_copy_that_changes_anything_fails(make: Make, change: Change, broken: Measurement) -> None:
    rows = make(seeds=3, levers={"copy": (0.0, 0.0)})
    key = Key("pixel_nav", 64, 32, 1, "trained", "copy")
    (found,) = copy_check(Table.of(change(rows, lambda own: own == key, {"pixel_nll": broken}), "pixel_nav", Rules.default()))
    assert found.status == "failed"
    assert failures([found]) == ("control_failed:copy",)


def test_the_smallest_difference_of_a_copy_is_one_too_many(make: Make, change: Change) -> None:
    rows = make(seeds=3, levers={"copy": (0.0, 0.0)})

    def nudged(row: Row) -> Measurement:
        value = row.diagnostics["pixel_mse"].value
        assert value is not None
        return row.diagnostics["pixel_mse"].with_(value=float(np.nextafter(value, 10.0)))

    (found,) = copy_check(
        Table.of(change(rows, lambda key: key.compression == "copy" and key.seed == 0, {"pixel_mse": nudged}), "pixel_nav", Rules.default())
    )
    assert found.status == "failed"


def test_shuffled_returns_lose_the_association_that_capacity_keeps_up(make: Make, quick: Rules) -> None:
    table = Table.of(make(seeds=12, perceptual=0.9), "pixel_nav", quick)
    item = group(table, "perceptual", quick.perceptual, quick)
    shuffled, noise = placebo_checks([item], table.outcome(), quick, stream(1, "test"))
    assert shuffled.status == noise.status == "passed"
    assert shuffled.found == pytest.approx(0.0, abs=0.15)
    # the pooled correlation of the very same shuffles stays large: what capacity does to both sides
    assert float(shuffled.note.rsplit(" ", 1)[1]) > 0.6


def test_a_noise_metric_is_made_of_nothing_but_its_stream(make: Make, quick: Rules) -> None:
    table = Table.of(make(seeds=6), "pixel_nav", quick)
    item = group(table, "perceptual", quick.perceptual, quick)
    once, again = (placebo_checks([item], table.outcome(), quick, stream(3, "test"))[1] for _ in range(2))
    assert once == again
    assert once.p is not None


def test_placebos_need_seeds_and_an_outcome(quick: Rules) -> None:
    values = stream(0, "x").normal((2, 3, 2))
    design_of(Group("g", ("a", "b"), values, (1e-12, 1e-12)), quick)
    item = Group("g", ("a", "b"), values[:, :2], (1e-12, 1e-12))
    shuffled, noise = placebo_checks([item], np.zeros((2, 2)), quick, stream(0, "test"))
    assert (shuffled.status, shuffled.reason) == ("not_checked", Reason.TOO_FEW_SEEDS)
    assert noise.status == "not_checked"
    flat = placebo_checks([Group("g", ("a", "b"), values, (1e-12, 1e-12))], np.zeros((3, 2)), quick, stream(0, "test"))
    assert [entry.status for entry in flat] == ["not_checked", "not_checked"]
