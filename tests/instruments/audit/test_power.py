"""Power is the audit's own decision on grids whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest

from wm_audit.core import Label, Reason, stream
from wm_audit.instruments.audit.one_diagnostic import power_of_one, significant
from wm_audit.instruments.audit.power import Simulation, detectable, power_table
from wm_audit.instruments.audit.simulate import Plan, Question, associated, contrasted, grids, intervals, spread
from wm_audit.stats import block_permutation_test, equivalence, hartigan_interval, jackknife_z, superiority
from wm_audit.stats.icc import icc_3_1
from wm_audit.stats.orders import orders_for
from wm_audit.verdict import Rules

RULES = Rules.default()
SE = 3 * np.sqrt(0.05 * 0.95 / 400)  # three standard errors of a share of .05 over 400 repetitions: .033


def simulation(seeds: int, icc: float = 0.0, *, capacities: int = 3, repetitions: int = 400, root: int = 0) -> Simulation:
    return Simulation(Plan(seeds, capacities, icc), replace(RULES, root=root), repetitions)


@pytest.mark.parametrize(("rho", "icc"), [(0.0, 0.5), (0.4, 0.0), (0.8, 0.5), (-0.6, 0.9)])
def test_grids_have_the_correlations_they_are_said_to_have(rho: float, icc: float) -> None:
    from scipy.stats import spearmanr

    x, y = grids(Plan(60_000, 2, icc), rho, 1, stream(1, "grid"))
    for capacity in range(2):
        assert spearmanr(x[0, :, capacity], y[0, :, capacity]).statistic == pytest.approx(
            rho, abs=0.01
        )  # Pearson in place of Spearman is .015 off
    for side in (x, y):
        assert icc_3_1(side[0]).value == pytest.approx(icc, abs=0.015)
        assert side.std() == pytest.approx(1.0, abs=0.01)


def test_designs_that_differ_by_truth_or_icc_share_their_draws() -> None:
    one, other = (grids(Plan(5, 3, icc), rho, 2, stream(2, "grid")) for icc, rho in ((0.5, 0.1), (0.5, 0.9)))
    assert np.array_equal(one[0], other[0])
    assert not np.array_equal(one[1], other[1])
    whole = spread(Plan(5, 3, 1.0), 2, stream(2, "grid"))
    assert np.array_equal(whole, np.repeat(whole[:, :, :1], 3, axis=2))


def test_labels_are_those_of_the_audit_itself() -> None:
    x, y = grids(Plan(6, 2, 0.5), 0.7, 40, stream(3, "grid"))
    single = [jackknife_z(a, b, RULES.level) for a, b in zip(x, y, strict=True)]
    found = intervals(x, y, RULES)
    assert associated(found, "H1", RULES) == [equivalence(item, RULES.margin) if item.bounds else None for item in single]
    assert associated(found, "H2", RULES) == [superiority(item, RULES.threshold) if item.bounds else None for item in single]
    cells = x + 0.5
    assert contrasted(cells, RULES, 0) == [superiority(hartigan_interval(row.mean(axis=1), 0.05), 0.0) for row in cells]
    assert contrasted(cells[:, :4], RULES, 0) == [None] * 40


@pytest.mark.parametrize(("question", "at"), [("H1", 40), ("H2", 60), ("H3", 0)])
@pytest.mark.parametrize("icc", [0.0, 0.5])
def test_at_the_bound_power_is_the_size_of_the_rule(question: Question, at: int, icc: float) -> None:
    share = simulation(20, icc).share(question, at)
    # each side has a nominal error of .05; the jackknife is known to spend up to .08 of it
    assert 0.005 < share.supported < 0.08 + SE
    assert 0.005 < share.contradicted < 0.08 + SE


@pytest.mark.parametrize(("question", "at"), [("H1", 0), ("H2", 85), ("H3", 40)])
def test_power_grows_with_seeds_and_shrinks_with_what_they_have_in_common(question: Question, at: int) -> None:
    few, many, more = (simulation(seeds).share(question, at).supported for seeds in (6, 12, 20))
    assert few + SE < many < more - SE
    assert simulation(20, 0.9).share(question, at).supported < more - SE


@pytest.mark.parametrize(
    ("question", "label"),
    [("H1", Label.CONTRADICTED), ("H2", Label.SUPPORTED), ("H2", Label.CONTRADICTED), ("H3", Label.SUPPORTED), ("H3", Label.CONTRADICTED)],
)
def test_a_detectable_value_has_the_asked_power_also_on_other_draws(question: Question, label: Label) -> None:
    found = detectable(simulation(20, 0.5), question, label, 0.8)
    assert found.value is not None
    at, away = round(100 * found.value), 1 if label is Label.SUPPORTED or question == "H1" else -1
    assert simulation(20, 0.5).share(question, at).of(label) >= 0.8
    assert simulation(20, 0.5).share(question, at - away).of(label) < 0.8
    assert simulation(20, 0.5, root=1).share(question, at).of(label) == pytest.approx(0.8, abs=0.07)


def test_weakness_is_detectable_from_within() -> None:
    found = detectable(simulation(30), "H1", Label.SUPPORTED, 0.8)
    assert found.value is not None
    assert 0.0 < found.value < 0.2
    assert simulation(30).share("H1", round(100 * found.value) + 1).supported < 0.8
    assert detectable(simulation(5), "H1", Label.SUPPORTED, 0.8).reason is Reason.POWER_NOT_REACHED


@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_designs_that_never_have_an_interval_give_null_with_the_reason(seeds: int) -> None:
    for design in power_table([Plan(seeds, 3, 0.5)], RULES, repetitions=50)["designs"]:
        for found in design["questions"]:
            assert found["reason"] == "too_few_seeds"
            assert found["curve"] == []
            assert {item["reason"] for item in found["detectable"].values()} == {"too_few_seeds"}


def test_one_capacity_is_a_design_in_which_seeds_have_nothing_to_agree_on() -> None:
    one, other = (power_table([Plan(8, 1, icc)], RULES, repetitions=200)["designs"][0]["questions"] for icc in (0.0, 0.5))
    for a, b in zip(one, other, strict=True):
        assert a["reason"] is None
        gaps = [abs(x["supported"] - y["supported"]) for x, y in zip(a["curve"], b["curve"], strict=True)]
        assert max(gaps) < 0.15  # other draws, the same law


def test_four_seeds_decide_associations_and_no_contrast() -> None:
    found = power_table([Plan(4, 2, 0.0)], RULES, repetitions=50)["designs"][0]["questions"]
    assert [item["reason"] for item in found] == [None, None, "too_few_seeds"]


def test_a_design_does_not_depend_on_its_company() -> None:
    plans = [Plan(5, 2, 0.5), Plan(6, 2, 0.0)]
    together = power_table(plans, RULES, repetitions=40)["designs"]
    assert together == [power_table([plan], RULES, repetitions=40)["designs"][0] for plan in plans]


def test_what_no_grid_can_be_is_refused() -> None:
    for seeds, capacities, icc in ((0, 3, 0.0), (5, 0, 0.0), (5, 3, 1.5), (5, 3, -0.1)):
        with pytest.raises(ValueError, match="must"):
            Plan(seeds, capacities, icc)
    for wrong in ({"repetitions": 0}, {"power": 1.0}):
        with pytest.raises(ValueError, match="must"):
            power_table([Plan(5, 3, 0.0)], RULES, **wrong)


def test_one_diagnostic_is_found_when_the_primary_test_says_so() -> None:
    for plan, level in ((Plan(9, 2, 0.5), 0.05), (Plan(5, 3, 0.0), 0.1), (Plan(12, 1, 0.2), 0.01)):
        x, y = grids(plan, 0.6, 60, stream(5, "grid"))
        orders, _ = orders_for(plan.seeds, 2_500, stream(6, "orders"))
        tests = [block_permutation_test(a, b, stream=stream(6, "orders"), draws=2_500) for a, b in zip(x, y, strict=True)]
        expected = [test.p is not None and test.p <= level for test in tests]
        assert 5 < sum(expected) < 55
        assert significant(x, y, orders, level).tolist() == expected


def test_one_diagnostic_keeps_its_level_and_five_seeds_never_find_it() -> None:
    found = power_of_one(Plan(12, 3, 0.5), RULES, 400, 0.8)
    assert found["m"] == 11
    assert found["curve"][0]["significant"] <= 0.05 / 11 + 3 * np.sqrt(0.05 / 11 / 400)
    assert found["curve"][-1]["significant"] > 0.9
    at = found["detectable"]["value"]
    nearest = max(item["truth"] for item in found["curve"] if item["significant"] < 0.8)
    assert nearest < at <= nearest + 0.1
    few = power_of_one(Plan(5, 3, 0.0), RULES, 50, 0.8)  # the smallest p of 120 orders is above .05 / 11
    assert {item["significant"] for item in few["curve"]} == {0.0}
    assert few["detectable"]["reason"] == Reason.POWER_NOT_REACHED
