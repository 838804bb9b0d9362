from pathlib import Path
from typing import Any

import pytest
import yaml

from wm_audit.core import AuditError
from wm_audit.verdict import Rules


@pytest.fixture
def promise() -> dict[str, Any]:
    """The promise that the project ships, as plain data; exact decimals arrive as text."""
    path = Path(__file__).parents[2] / "configs" / "preregistration.yaml"
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    loaded["hypotheses"][0]["margin"] = "0.4"
    return loaded


def test_the_shipped_promise_states_the_published_rules(promise: dict[str, Any]) -> None:
    read, published = Rules.of_promise(promise), Rules.default()
    same = ("level", "margin", "threshold", "coverage", "m", "min_n", "min_distinct", "min_outcomes", "outcome_rtol", "control_tolerance")
    lists = ("resamples", "permutations", "slots", "perceptual", "control", "pixel", "calibration")
    assert {name: getattr(read, name) for name in (*same, *lists)} == {name: getattr(published, name) for name in (*same, *lists)}
    assert len(read.seeds) == 20
    assert len(read.capacities) == 3
    assert read.alpha == pytest.approx(0.05)


def test_an_extra_follows_its_own_entry_and_otherwise_its_slot(promise: dict[str, Any]) -> None:
    read = Rules.of_promise(promise)
    assert read.slot("pixel_lpips.mobilenetv2_unlin").orientation == -1
    assert read.slot("counterfactual_tau.pooled") == read.slots["counterfactual_tau"]
    assert read.slot("never heard of it").orientation == 0


def test_questions_at_different_levels_are_refused(promise: dict[str, Any]) -> None:
    promise["hypotheses"][1]["level"] = 0.95
    with pytest.raises(AuditError, match=r"rules\.level is \[0\.9, 0\.95\].*one level"):
        Rules.of_promise(promise)


def test_a_missing_field_is_named(promise: dict[str, Any]) -> None:
    del promise["statistics"]["coverage"]
    with pytest.raises(AuditError, match="no field 'coverage'"):
        Rules.of_promise(promise)


def test_a_field_of_the_wrong_kind_is_an_error_of_the_promise(promise: dict[str, Any]) -> None:
    promise["hypotheses"][0]["margin"] = "a little"
    with pytest.raises(AuditError, match="a little"):
        Rules.of_promise(promise)


def test_a_composite_of_unknown_members_is_refused() -> None:
    with pytest.raises(AuditError, match=r"rules\.control is \['charm'\]"):
        Rules(control=("charm",))


def test_a_family_smaller_than_its_tests_is_refused() -> None:
    with pytest.raises(AuditError, match=r"rules\.m is 9.*at least 11"):
        Rules(m=9)
