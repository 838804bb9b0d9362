import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from wm_audit.core import Label, Measurement, Reason, Row, Verdict
from wm_audit.stats.results import Interval
from wm_audit.verdict import Rules, judge
from wm_audit.verdict.robustness import Variant, _fragile, counterpart

Make = Callable[..., list[Row]]
Change = Callable[..., list[Row]]


def panel(rows: list[Row], rules: Rules, question: str) -> tuple[dict[str, Any], Verdict]:
    statistics, verdicts = judge(rows, rules)
    found = next(item for item in statistics["pixel_nav"]["robustness"] if item["question"] == question)
    return found, next(item for item in verdicts if item.question == question)


def variant(name: str, label: Label, holds: bool | None = True) -> Variant:
    return Variant(name, 0.1, None, Interval(0.0, 0.2, 0.9), label, holds)


def test_the_counterpart_of_a_threshold_on_taus_scale() -> None:
    """Kruskal (1958): rho_S = 6/pi asin(r/2) and tau = 2/pi asin(r), through the same r."""
    for r in (0.1, 0.42, 0.9):
        assert counterpart(6 / math.pi * math.asin(r / 2)) == pytest.approx(2 / math.pi * math.asin(r))
    assert counterpart(0.0) == 0.0


def test_every_promised_variant_is_there(make: Make, quick: Rules) -> None:
    statistics, _ = judge(make(seeds=5, levers={"int8": (0.1, 1.0)}), quick)
    h1, _, h3 = statistics["pixel_nav"]["robustness"]
    names = [item["variant"] for item in h1["variants"]]
    fixed = ["relaxed composite", "pooled over capacities", "tau-b", "tie tolerance x10", "jitter", "95% interval"]
    assert names == fixed + [f"without {name}" for name in quick.perceptual] + [f"without seed {seed}" for seed in range(5)]
    names = [item["variant"] for item in h3["variants"]]
    assert names[:2] == ["noise floor as scale", "float ladder"]
    assert sum(name.startswith("without seed") for name in names) == 5
    assert {f"without {name}" for name in (*quick.pixel, *quick.calibration)} < set(names)


def test_leaving_a_seed_out_is_judging_without_it(make: Make, quick: Rules) -> None:
    rows = make(seeds=6, capacities=((32, 16), (64, 32)), perceptual=0.5, levers={"int8": (0.3, 0.5)})
    statistics, _ = judge(rows, quick)
    _, alone = judge([row for row in rows if row.key.seed != 2], quick)
    for panels, verdict in zip(statistics["pixel_nav"]["robustness"], alone, strict=True):
        entry = next(item for item in panels["variants"] if item["variant"] == "without seed 2")
        assert panels["question"] == verdict.question
        assert (entry["estimate"], entry["label"]) == (pytest.approx(verdict.estimate), verdict.label.value)
        assert tuple(entry["interval"] or ()) == pytest.approx(verdict.interval or ())


def test_leaving_a_member_out_is_judging_a_smaller_composite(make: Make, quick: Rules) -> None:
    rows = make(seeds=6, perceptual=0.5)
    found, _ = panel(rows, quick, "H1")
    entry = next(item for item in found["variants"] if item["variant"] == "without pixel_ssim")
    _, alone = panel(rows, replace(quick, perceptual=quick.perceptual[:-1]), "H1")
    assert entry["estimate"] == pytest.approx(alone.estimate)


def test_a_clear_answer_is_not_fragile_though_the_pooled_correlation_says_the_opposite(make: Make, quick: Rules) -> None:
    found, verdict = panel(make(seeds=20, perceptual=0.0), quick, "H1")
    assert verdict.label is Label.SUPPORTED
    assert found["flips"][0] == "pooled over capacities"
    assert not found["fragile"]
    assert "fragile" not in verdict.caveats


@pytest.mark.parametrize(
    ("other", "fragile"),
    [
        (variant("without pixel_mse", Label.CONTRADICTED), True),
        (variant("without pixel_mse", Label.INCONCLUSIVE), False),
        (variant("95% interval", Label.INCONCLUSIVE), False),
        (variant("without seed 4", Label.INCONCLUSIVE), False),
        (variant("without seed 4", Label.UNMEASURABLE, None), False),
        (variant("without seed 4", Label.SUPPORTED, holds=False), True),
        (variant("without pixel_mse", Label.SUPPORTED, holds=False), False),
        (variant("relaxed composite", Label.INCONCLUSIVE), True),
        (variant("tau-b", Label.INCONCLUSIVE), True),
        (variant("jitter", Label.UNMEASURABLE), True),
        (variant("pooled over capacities", Label.CONTRADICTED), False),
    ],
)
def test_what_makes_a_label_fragile(other: Variant, fragile: bool) -> None:
    assert bool(_fragile(Label.SUPPORTED, True, [other])) is fragile
    assert _fragile(Label.INCONCLUSIVE, True, [other]) == []


def test_a_fragile_answer_says_so_last(make: Make, change: Change, quick: Rules) -> None:
    """Every seed with a gap weighs nothing in the strict composite; the relaxed one sees that they disagree."""
    null = Measurement.null(Reason.NONFINITE_PREDICTION, orientation=1)
    rows = make(seeds=20, control=0.93)

    def reversed_ranks(row: Row) -> Measurement:
        value = row.diagnostics["return_ece"].value
        assert value is not None
        return row.diagnostics["return_ece"].with_(value=-20.0 * value)

    rows = change(rows, lambda key: key.seed < 4, {"counterfactual_tau": null, "uncertainty_rho": null, "return_ece": reversed_ranks})
    found, verdict = panel(rows, quick, "H2")
    assert verdict.label is Label.SUPPORTED
    assert found["because"] == ["relaxed composite: INCONCLUSIVE"]
    assert verdict.caveats[-1] == "fragile"
