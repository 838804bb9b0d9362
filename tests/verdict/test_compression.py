from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import permutation_test

from wm_audit.core import Label, Measurement, Reason, Row
from wm_audit.verdict.compression import Lever, lever, to_json
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Table

Make = Callable[..., list[Row]]
Change = Callable[..., list[Row]]


def judged(rows: list[Row], name: str = "int8", rules: Rules | None = None) -> tuple[Lever, Table]:
    rules = rules or Rules.default()
    table = Table.of(rows, "pixel_nav", rules)
    return lever(table, name, rules, 7), table


@pytest.mark.parametrize(("pixel", "calibration"), [(0.1, 1.0), (1.0, 0.1)])
def test_planted_degradation_is_attributed_to_its_side(make: Make, pixel: float, calibration: float) -> None:
    found, table = judged(make(seeds=8, levers={"int8": (pixel, calibration)}))
    entry = to_json(found, table, Rules.default())
    assert (entry["calibration"] > entry["pixel"]) == (calibration > pixel)
    assert entry["estimate"] == pytest.approx(entry["calibration"] - entry["pixel"])
    low, high = entry["interval"]
    assert (low > 0.0) if calibration > pixel else (high < 0.0)
    assert found.point_label == (Label.SUPPORTED if calibration > pixel else Label.CONTRADICTED)
    by_name = {item["diagnostic"]: item for item in entry["diagnostics"]}
    assert by_name["pixel_mse"]["mean_delta"] == pytest.approx(pixel, abs=0.1)
    assert by_name["return_ece"]["mean_delta"] == pytest.approx(calibration, abs=0.1)


def test_the_estimate_is_the_mean_over_seeds_of_scaled_contrasts(make: Make) -> None:
    found, table = judged(make(seeds=6, levers={"int8": (0.3, 0.8)}))
    rules, sides = Rules.default(), []
    for side in (rules.pixel, rules.calibration):
        scaled = []
        for name in side:
            before, after = table.values(name), table.values(name, "int8")
            scaled.append(rules.slot(name).orientation * (before - after) / np.sqrt(np.mean(before.var(axis=0, ddof=1))))
        sides.append(np.mean(scaled, axis=0).mean(axis=1))
    assert found.contrast.d == pytest.approx(sides[1] - sides[0])
    assert found.contrast.estimate == pytest.approx(float(np.mean(sides[1] - sides[0])))


def test_the_p_value_is_that_of_the_exact_sign_flip(make: Make) -> None:
    found, _ = judged(make(seeds=7, levers={"int8": (0.5, 0.5)}, lever_noise=0.5))
    oracle = permutation_test((found.contrast.d,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert found.contrast.test.two_sided.p == pytest.approx(oracle.pvalue)


def test_four_seeds_have_an_estimate_and_a_p_value_but_no_interval(make: Make) -> None:
    found, table = judged(make(seeds=4, levers={"int8": (0.1, 1.0)}))
    entry = to_json(found, table, Rules.default())
    assert entry["estimate"] is not None
    assert entry["p"] == pytest.approx(2 / 16)
    assert (entry["interval"], entry["interval_reason"]) == (None, "too_few_seeds")


def test_a_single_seed_has_no_scale(make: Make) -> None:
    found, _ = judged(make(seeds=1, levers={"int8": (0.1, 1.0)}))
    assert found.contrast.reason is Reason.TOO_FEW_SEEDS
    assert found.contrast.estimate is None


def test_no_rows_of_the_lever(make: Make) -> None:
    found, table = judged(make(seeds=5))
    assert found.contrast.reason is Reason.NO_LEVER_ROWS
    assert found.point_label is Label.UNMEASURABLE
    assert to_json(found, table, Rules.default())["p"] is None


def test_a_null_member_makes_the_seed_incomplete_and_too_many_of_them_the_estimate_null(make: Make, change: Change) -> None:
    null = Measurement.null(Reason.NONFINITE_PREDICTION, orientation=-1)
    rows = make(seeds=10, levers={"int8": (0.1, 1.0)})
    two, _ = judged(change(rows, lambda key: key.compression == "int8" and key.seed in (3, 4) and key.hidden == 32, {"return_ece": null}))
    assert two.contrast.seeds == 8
    assert two.contrast.reason is None
    three, _ = judged(
        change(rows, lambda key: key.compression == "int8" and key.seed in (3, 4, 5) and key.hidden == 32, {"return_ece": null})
    )
    assert three.contrast.reason is Reason.COVERAGE
    assert None not in three.ladder
    assert (three.point_label, three.point_rule()["reason"]) == (Label.UNMEASURABLE, "coverage")  # a rule labels no estimate's absence
    assert two.point_label is Label.SUPPORTED


def test_a_member_that_is_nowhere_defined_is_a_null_member(make: Make, change: Change) -> None:
    null = Measurement.null(Reason.FEATURE_WEIGHTS_MISSING, orientation=-1)
    found, _ = judged(change(make(seeds=5, levers={"int8": (0.1, 1.0)}), lambda key: True, {"rollout_fvd": null}))
    assert found.contrast.reason is Reason.NULL_MEMBER
    assert found.deltas["rollout_fvd"].missing == {"feature_weights_missing": 30}


@pytest.mark.parametrize("reason", [Reason.LEVER_WITHOUT_EFFECT, Reason.CAPABILITY_MISSING])
def test_a_lever_that_could_not_be_measured_at_all_says_why(make: Make, change: Change, reason: Reason) -> None:
    nulls = {name: Measurement.null(reason, orientation=slot.orientation) for name, slot in Rules.default().slots.items()}
    found, _ = judged(change(make(seeds=5, levers={"int8": (0.1, 1.0)}), lambda key: key.compression == "int8", nulls))
    assert found.contrast.reason is reason


def test_float_models_that_do_not_differ_give_no_scale(make: Make, change: Change) -> None:
    same = Measurement(1.0, n=64, orientation=-1)
    rows = change(make(seeds=5, levers={"int8": (0.1, 1.0)}), lambda key: key.compression == "none", {"pixel_mse": same})
    assert judged(rows)[0].contrast.reason is Reason.NO_SPREAD


def test_the_panel_without_a_noise_floor_is_null_and_does_not_touch_the_estimate(make: Make, change: Change) -> None:
    rows = make(seeds=6, levers={"int8": (0.1, 1.0)})

    def once(row: Row) -> Measurement:
        return row.diagnostics["pixel_mse"].with_(repeat=None)

    found, _ = judged(change(rows, lambda key: True, {"pixel_mse": once}))
    panels = dict(found.panels)
    assert panels["noise floor as scale"].reason is Reason.NO_SPREAD
    assert found.contrast.estimate == pytest.approx(judged(rows)[0].contrast.estimate)
    assert set(panels) == {
        "noise floor as scale",
        "float ladder",
        "control composite as the other side",
        "pixel side = pixel_mse, pixel_nll, pixel_ssim",
    }


def test_all_changes_below_the_noise_floor(make: Make) -> None:
    assert judged(make(seeds=6, levers={"int8": (1e-4, 1e-4)}, lever_noise=0.0))[0].below_noise_floor
    assert not judged(make(seeds=6, levers={"int8": (1e-4, 1.0)}, lever_noise=0.0))[0].below_noise_floor


def test_a_distilled_student_needs_its_untaught_twin(make: Make) -> None:
    levers = {"untaught.8x8": (1.0, 1.5), "distill.8x8": (0.5, 0.2)}
    found, table = judged(make(seeds=6, levers=levers), "distill.8x8")
    assert to_json(found, table, Rules.default())["baseline"] == "untaught.8x8"
    assert found.contrast.estimate == pytest.approx(-1.3 + 0.5, abs=0.3)
    alone, _ = judged(make(seeds=6, levers={"distill.8x8": (0.5, 0.2)}), "distill.8x8")
    assert alone.contrast.reason is Reason.NULL_MEMBER


def test_more_than_twenty_seeds_draw_subsets_from_the_seed_they_are_given(make: Make) -> None:
    rows = make(seeds=22, capacities=((32, 16),), levers={"int8": (0.1, 0.3)})
    rules = replace(Rules.default(), capacities=((32, 16),))
    once, again = judged(rows, rules=rules)[0], judged(rows, rules=rules)[0]
    assert once.contrast.interval == again.contrast.interval
    assert once.contrast.interval.low is not None
