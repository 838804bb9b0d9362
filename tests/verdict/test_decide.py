"""Every label is reachable, says why, and depends on nothing but the rows and the rules."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from wm_audit.core import AuditError, Label, Measurement, Reason, Row, Verdict
from wm_audit.verdict import Rules, judge

Make = Callable[..., list[Row]]
Change = Callable[..., list[Row]]


def verdicts(rows: list[Row], rules: Rules) -> dict[str, Verdict]:
    return {item.question if item.lever is None else f"{item.question} {item.lever}": item for item in judge(rows, rules)[1]}


@pytest.mark.parametrize(
    ("world", "question", "label"),
    [
        ({"seeds": 20, "perceptual": 0.0}, "H1", Label.SUPPORTED),
        ({"seeds": 20, "perceptual": 0.9}, "H1", Label.CONTRADICTED),
        ({"seeds": 6, "perceptual": 0.3}, "H1", Label.INCONCLUSIVE),
        ({"seeds": 20, "control": 0.95}, "H2", Label.SUPPORTED),
        ({"seeds": 20, "control": 0.0}, "H2", Label.CONTRADICTED),
        ({"seeds": 20, "control": 0.45}, "H2", Label.INCONCLUSIVE),
        ({"seeds": 6, "levers": {"int8": (0.1, 1.0)}}, "H3 int8", Label.SUPPORTED),
        ({"seeds": 6, "levers": {"int8": (1.0, 0.1)}}, "H3 int8", Label.CONTRADICTED),
        ({"seeds": 6, "levers": {"int8": (0.5, 0.5)}}, "H3 int8", Label.INCONCLUSIVE),
    ],
)
def test_each_label_is_reached_by_the_world_it_describes(
    make: Make, quick: Rules, world: dict[str, Any], question: str, label: Label
) -> None:
    found = verdicts(make(**world), quick)[question]
    assert (found.label, found.reason) == (label, None)
    assert found.interval is not None
    assert found.estimate is not None
    assert found.interval[0] <= found.estimate <= found.interval[1]
    assert found.p_raw is not None


def test_simpsons_reversal_gets_the_label_opposite_to_the_point_rule(make: Make, change: Change, quick: Rules) -> None:
    """V17 with a little noise: inside every capacity better pictures go with worse returns, pooled they seem to go with better ones."""
    rows = make(seeds=10, perceptual=-0.97, control=-0.97)
    found = verdicts(rows, quick)
    assert found["H1"].estimate is not None
    assert found["H1"].estimate < -0.7
    assert found["H2"].label is Label.CONTRADICTED
    assert found["H2"].point_rule_label is Label.SUPPORTED


def test_where_capacity_does_everything_the_point_rule_sees_a_relation_that_is_not_there(make: Make, quick: Rules) -> None:
    found = verdicts(make(seeds=20, perceptual=0.0), quick)["H1"]
    assert (found.label, found.point_rule_label) == (Label.SUPPORTED, Label.CONTRADICTED)


@pytest.mark.parametrize(
    ("seeds", "label", "reason"), [(1, Label.UNMEASURABLE, Reason.TOO_FEW_SEEDS), (2, Label.UNMEASURABLE, Reason.TOO_FEW_SEEDS)]
)
def test_one_or_two_seeds_cannot_be_judged(make: Make, quick: Rules, seeds: int, label: Label, reason: Reason) -> None:
    for question in ("H1", "H2"):
        found = verdicts(make(seeds=seeds), quick)[question]
        assert (found.label, found.reason, found.estimate, found.p_raw) == (label, reason, None, None)


def test_three_seeds_give_an_estimate_and_a_p_value_but_no_answer(make: Make, quick: Rules) -> None:
    rows = make(seeds=3, perceptual=0.4, levers={"int8": (0.1, 1.0)})
    statistics, found = judge(rows, quick)
    for item in found:
        assert item.label is Label.INCONCLUSIVE
        assert item.estimate is not None
        assert item.p_raw is not None
        assert item.interval is None
        assert item.interval_reason is not None
        assert item.caveats == (item.interval_reason.value,)
    assert found[0].interval_reason is Reason.TOO_FEW_SEEDS
    assert all(entry["floor"] == pytest.approx(entry["floor"]) for entry in statistics["pixel_nav"]["correlations"])
    assert all(entry["floor"] >= 1 / 6 for entry in statistics["pixel_nav"]["correlations"])


def test_a_slice_of_a_larger_plan_says_that_coverage_is_missing(make: Make, quick: Rules) -> None:
    found = verdicts(make(seeds=3), replace(quick, seeds=tuple(range(20))))["H1"]
    assert (found.label, found.reason) == (Label.UNMEASURABLE, Reason.COVERAGE)


def test_an_outcome_without_variation_cannot_be_predicted(make: Make, change: Change, quick: Rules) -> None:
    rows = change(
        make(seeds=8, levers={"int8": (0.1, 1.0)}),
        lambda key: True,
        {"outcome": lambda row: Measurement(float(row.key.seed % 3), orientation=1)},
    )
    found = verdicts(rows, quick)
    for question in ("H1", "H2"):
        assert (found[question].label, found[question].reason) == (Label.UNMEASURABLE, Reason.OUTCOME_WITHOUT_VARIATION)
        assert "tied_outcome" in found[question].caveats
    # H3 asks nothing of the outcome
    assert found["H3 int8"].label is Label.SUPPORTED
    assert found["H3 int8"].caveats == ()


def test_a_constant_outcome_is_the_same_case(make: Make, change: Change, quick: Rules) -> None:
    rows = change(make(seeds=8), lambda key: True, {"outcome": Measurement(1.0, orientation=1)})
    assert verdicts(rows, quick)["H1"].reason is Reason.OUTCOME_WITHOUT_VARIATION


def test_an_outcome_that_is_nowhere_defined_gives_its_own_reason(make: Make, change: Change, quick: Rules) -> None:
    rows = change(make(seeds=5), lambda key: True, {"outcome": Measurement.null(Reason.NO_REWARD_HEAD)})
    found = verdicts(rows, quick)["H2"]
    assert (found.label, found.reason) == (Label.UNMEASURABLE, Reason.NO_REWARD_HEAD)


def test_a_null_member_makes_its_composite_unmeasurable_and_is_named(make: Make, change: Change, quick: Rules) -> None:
    null = Measurement.null(Reason.FEATURE_WEIGHTS_MISSING, orientation=-1, feature="stlpips_alex")
    found = verdicts(change(make(seeds=6), lambda key: True, {"pixel_lpips": null}), quick)
    assert (found["H1"].label, found["H1"].reason) == (Label.UNMEASURABLE, Reason.NULL_MEMBER)
    assert found["H1"].caveats == ("null_member:pixel_lpips:feature_weights_missing:18",)
    assert found["H2"].label is not Label.UNMEASURABLE


def test_a_diagnostic_that_is_defined_nowhere_says_its_own_reason_and_not_that_of_a_composite(
    make: Make, change: Change, quick: Rules
) -> None:
    null = Measurement.null(Reason.FEATURE_WEIGHTS_MISSING, orientation=-1, feature="stlpips_alex")
    statistics, _ = judge(change(make(seeds=6), lambda key: True, {"pixel_lpips": null}), quick)
    (block,) = statistics.values()
    reason = {entry["diagnostic"]: entry["reason"] for entry in block["correlations"]}
    assert (reason["pixel_lpips"], reason["perceptual"], reason["pixel_mse"]) == ("feature_weights_missing", "null_member", None)


def test_a_failed_control_is_the_first_caveat_of_every_verdict(make: Make, change: Change, quick: Rules) -> None:
    rows = make(seeds=4, arms=True, levers={"copy": (0, 0), "int8": (0.1, 1.0)})
    rows = change(rows, lambda key: key.arm == "oracle", {"return_ece": Measurement(0.5, orientation=-1)})
    found = verdicts(rows, quick)
    assert set(found) == {"H1", "H2", "H3 int8"}
    for item in found.values():
        assert item.caveats[0] == "control_failed:oracle"
    assert found["H3 int8"].caveats[1] == "too_few_seeds"


def test_evaluation_noise_is_said(make: Make, quick: Rules) -> None:
    found = verdicts(make(seeds=6, outcome_noise=30.0, starts=3), quick)
    assert "noisy_outcome" in found["H1"].caveats
    assert "noisy_outcome" in found["H2"].caveats


def test_changes_below_the_noise_floor_decide_nothing(make: Make, quick: Rules) -> None:
    found = verdicts(make(seeds=6, levers={"int8": (1e-5, 1e-3)}, lever_noise=0.0), quick)["H3 int8"]
    assert found.interval is not None
    assert found.interval[0] > 0.0
    assert (found.label, found.caveats) == (Label.INCONCLUSIVE, ("below_noise_floor",))


def test_incomplete_seeds_are_counted(make: Make, change: Change, quick: Rules) -> None:
    null = Measurement.null(Reason.NONFINITE_PREDICTION, orientation=-1)
    rows = change(make(seeds=10, control=0.7), lambda key: key.seed == 2 and key.hidden == 32, {"return_ece": null})
    found = verdicts(rows, quick)
    assert found["H2"].caveats == ("incomplete_seeds:1", "null_member:return_ece:nonfinite_prediction:1")
    assert found["H1"].caveats == ()


def test_holm_counts_what_could_not_be_tested(make: Make, change: Change, quick: Rules) -> None:
    null = Measurement.null(Reason.FEATURE_WEIGHTS_MISSING, orientation=-1)
    statistics, found = judge(change(make(seeds=5), lambda key: True, {"pixel_lpips": null}), quick)
    block = statistics["pixel_nav"]
    assert block["holm"] == {"m_planned": 11, "m_tested": 9}
    smallest = min(entry["p"] for entry in block["correlations"] if entry["p"] is not None)
    assert min(entry["p_adjusted"] for entry in block["correlations"] if entry["p_adjusted"] is not None) == pytest.approx(
        min(1.0, 11 * smallest)
    )
    assert found[1].p_adjusted == next(entry["p_adjusted"] for entry in block["correlations"] if entry["diagnostic"] == "control")


def test_extras_stay_outside_composites_and_outside_the_family(make: Make, change: Change, quick: Rules) -> None:
    rows = make(seeds=5)
    with_extra = change(rows, lambda key: True, {"pixel_mse.open_loop": lambda row: row.diagnostics["return_ece"]})
    plain, extended = judge(rows, quick), judge(with_extra, quick)
    assert plain[1] == extended[1]
    assert plain[0]["pixel_nav"]["correlations"] == extended[0]["pixel_nav"]["correlations"]
    (extra,) = extended[0]["pixel_nav"]["extras"]
    assert (extra["diagnostic"], extra["kind"], extra["p_adjusted"]) == ("pixel_mse.open_loop", "extra", None)
    assert extra["rho"] is not None


def test_another_lever_moves_no_other_levers_numbers(make: Make, quick: Rules) -> None:
    small: dict[str, Any] = {"seeds": 4, "capacities": ((32, 16),)}
    alone = judge(make(**small, levers={"int8": (0.1, 1.0)}), quick)[0]["pixel_nav"]["compression"]
    beside = judge(make(**small, levers={"int8": (0.1, 1.0), "prune.0.5": (3.0, 0.1)}), quick)[0]["pixel_nav"]["compression"]
    assert alone == [entry for entry in beside if entry["lever"] == "int8"]


def test_environments_are_judged_apart(make: Make, quick: Rules) -> None:
    one, two = make(seeds=4), make(seeds=4, env="two_room", perceptual=0.9)
    statistics, found = judge(one + two, quick)
    assert list(statistics) == ["pixel_nav", "two_room"]
    assert [item.environment for item in found] == ["pixel_nav"] * 2 + ["two_room"] * 2
    assert statistics["two_room"] == judge(two, quick)[0]["two_room"]


def test_an_environment_that_was_not_planned_is_refused(make: Make, quick: Rules) -> None:
    with pytest.raises(AuditError, match="holds rows of 'pixel_nav'"):
        judge(make(seeds=3), replace(quick, environments=("two_room",)))


def test_a_promise_judges_as_its_rules_do(make: Make) -> None:
    promise = yaml.safe_load((Path(__file__).parents[2] / "configs" / "preregistration.yaml").read_text(encoding="utf-8"))
    promise |= {"environments": ["pixel_nav"], "seeds": [0, 1, 2, 3], "capacities": [{"hidden": 32, "embed": 16}]}
    rows = make(seeds=4, capacities=((32, 16),))
    statistics, found = judge(rows, promise)
    assert (statistics, found) == judge(rows, Rules.of_promise(promise))
    assert [item.label for item in found if item.question == "H3"] == [Label.UNMEASURABLE]


@pytest.fixture(scope="module")
def ordered(make: Make, quick: Rules) -> tuple[list[Row], str, list[Verdict]]:
    """Rows by key, and what is judged of them."""
    rows = make(seeds=4, capacities=((32, 16), (64, 32)), arms=True, levers={"copy": (0, 0), "int8": (0.3, 0.6)})
    statistics, found = judge(rows, quick)
    return rows, json.dumps(statistics), found


@settings(max_examples=3, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_means_nothing(ordered: tuple[list[Row], str, list[Verdict]], quick: Rules, random: Any) -> None:
    rows, expected, labels = ordered
    shuffled = list(rows)
    random.shuffle(shuffled)
    statistics, found = judge(shuffled, quick)
    assert json.dumps(statistics) == expected
    assert found == labels


def test_no_number_that_is_not_finite_reaches_the_statistics(make: Make, change: Change, quick: Rules) -> None:
    null = Measurement.null(Reason.NONFINITE_PREDICTION)
    worlds = [
        make(seeds=1),
        make(seeds=2, levers={"int8": (0.1, 1.0)}),
        change(make(seeds=4, levers={"int8": (0.1, 1.0)}), lambda key: True, dict.fromkeys((*quick.slots, "outcome"), null)),
        change(make(seeds=5), lambda key: key.seed != 0, {"outcome": null}),
    ]
    for rows in worlds:
        statistics, found = judge(rows, quick)
        json.dumps(statistics, allow_nan=False)
        json.dumps([item.to_json() for item in found], allow_nan=False)
        assert all(isinstance(item.label, Label) for item in found)


def test_numpy_numbers_do_not_leak_into_json(make: Make, quick: Rules) -> None:
    def plain(value: Any) -> bool:
        if isinstance(value, dict):
            return all(isinstance(key, str) and plain(item) for key, item in value.items())
        if isinstance(value, list | tuple):
            return all(plain(item) for item in value)
        return not isinstance(value, np.generic)

    assert plain(judge(make(seeds=4, levers={"int8": (0.1, 1.0)}), quick)[0])
