"""A number or a reason: no NaN passes, and files give back what was measured."""

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wm_audit.core import Key, Label, Measurement, Reason, Row, Verdict, strict_json

finite = st.floats(allow_nan=False, allow_infinity=False)
optional = st.none() | finite
shared = {
    "unit": st.sampled_from(["1", "return"]),
    "n": st.integers(0, 99),
    "n_dropped": st.integers(0, 9),
    "orientation": st.sampled_from([-1, 0, 1]),
    "se": optional,
    "repeat": optional,
    "feature": st.none() | st.just("stlpips_alex"),
    "feature_digest": st.none() | st.just("sha256:ab"),
}
measurements = st.builds(Measurement, value=finite, reason=st.none(), **shared) | st.builds(
    Measurement, value=st.none(), reason=st.sampled_from(list(Reason)), **shared
)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["value", "se", "repeat"])
def test_no_number_that_is_not_finite_passes(name: str, number: float) -> None:
    with pytest.raises(ValueError, match=f"Measurement.{name} must be finite"):
        Measurement(1.0).with_(**{name: number})


def test_a_value_or_a_reason_and_never_both_or_neither() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        Measurement(None)
    with pytest.raises(ValueError, match="exactly one"):
        Measurement(1.0, Reason.COVERAGE)
    assert Measurement.null(Reason.COVERAGE, n=3).n == 3
    assert Measurement(0.0).value == 0


@pytest.mark.parametrize("orientation", [2, -2, 0.5])
def test_three_orientations(orientation: Any) -> None:
    with pytest.raises(ValueError, match="orientation"):
        Measurement(1.0, orientation=orientation)


def test_measurements_do_not_change() -> None:
    item = Measurement(1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        item.value = 2.0  # type: ignore[misc]
    assert item.with_(n=4) == Measurement(1.0, n=4)
    with pytest.raises(ValueError, match="must be finite"):
        item.with_(value=math.nan)


@given(measurements)
def test_files_give_it_back(item: Measurement) -> None:
    entry = strict_json.loads(strict_json.dumps(item.to_json()), where="x")
    assert Measurement.from_json(entry) == item
    assert list(entry)[:6] == ["value", "reason", "unit", "n", "n_dropped", "orientation"]
    assert None not in [entry[name] for name in list(entry)[6:]]


def test_an_unknown_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="bad_luck"):
        Measurement.from_json(Measurement.null(Reason.COVERAGE).to_json() | {"reason": "bad_luck"})


def test_every_reason_is_a_code_and_a_sentence() -> None:
    sentences = [reason.sentence for reason in Reason]
    assert len(set(sentences)) == len(sentences)
    for reason in Reason:
        assert reason.value == reason.name.lower()
        assert reason.sentence[0].islower()
        assert not reason.sentence.endswith(".")
        assert len(reason.sentence.split()) >= 2


def test_reasons_that_other_pages_name() -> None:
    named = """no_change no_decisive_tests no_discordant_pairs no_reward_head reference_degenerate reference_missing thresholds_missing
    tied_winner tied_boundary too_few_pairs degenerate_resamples coverage no_spread single_member identical_members zero_dispersion
    nonfinite_prediction probe_degenerate feature_weights_missing image_too_small too_few_samples capability_missing collapsed_latent
    no_termination_events"""
    assert {Reason(code).value for code in named.split()} == set(named.split())


KEY = Key("pixel_nav", 16, 32, 4, compression="int8")


def test_keys_are_ordered_readable_and_complete() -> None:
    assert KEY.text() == "pixel_nav-16x32-seed4-trained-int8"
    assert list(KEY.to_json()) == ["env", "hidden", "embed", "seed", "arm", "compression"]
    assert Key(**KEY.to_json()) == KEY
    assert min([KEY, Key("pixel_nav", 4, 4, 10), Key("pixel_nav", 4, 4, 9), Key("a", 99, 1, 1)]).env == "a"
    assert Key("e", 4, 4, 9) < Key("e", 4, 4, 10) < Key("e", 16, 4, 0)


@given(measurements, measurements)
def test_rows_come_back(outcome: Measurement, other: Measurement) -> None:
    row = Row(KEY, outcome, {"pixel_mse": other}, {"returns": [1.5, None]}, {"code": "sha256:ab"})
    entry = strict_json.loads(strict_json.dumps(row.to_json()), where="x")
    assert list(entry) == ["key", "outcome", "diagnostics", "details", "manifest"]
    assert Row.from_json(entry) == row
    assert Row.from_json(entry | {"sha256": "sha256:00"}) == row


def test_the_form_of_a_verdict() -> None:
    verdict = Verdict(
        question="H1",
        environment="pixel_nav",
        lever=None,
        label=Label.INCONCLUSIVE,
        reason=None,
        rule="90% interval inside (-0.4, 0.4)",
        estimate=0.1,
        interval=(-0.5, 0.6),
        interval_reason=None,
        p_raw=0.4,
        p_adjusted=None,
        caveats=("fragile",),
        point_rule_label=Label.SUPPORTED,
    )
    entry = verdict.to_json()
    assert (entry["env"], entry["label"], entry["interval"], entry["caveats"]) == ("pixel_nav", "INCONCLUSIVE", [-0.5, 0.6], ["fragile"])
    assert entry["claim"] == "exploratory"
    assert strict_json.loads(strict_json.dumps(entry), where="x") == entry
    null = dataclasses.replace(verdict, label=Label.UNMEASURABLE, reason=Reason.NULL_MEMBER, estimate=None, interval=None).to_json()
    assert (null["reason"], null["interval"]) == ("null_member", None)
    assert [label.value for label in Label] == ["SUPPORTED", "CONTRADICTED", "INCONCLUSIVE", "UNMEASURABLE"]
