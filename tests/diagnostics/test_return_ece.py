"""Claims about the calibration of imagined returns."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from wm_audit.core import Measurement, Reason
from wm_audit.diagnostics import return_ece

Make = Callable[..., Any]


def value(found: Measurement) -> float:
    assert found.value is not None, found.reason
    return found.value


def by_sorting(predicted: Any, actual: Any, bins: int) -> float:
    """Equal-mass bins written out, for predictions without ties."""
    order, n, total = sorted(range(len(predicted)), key=lambda i: predicted[i]), len(predicted), 0.0
    for b in range(bins):
        inside = [item for i, item in enumerate(order) if i * bins // n == b]
        if inside:
            total += abs(sum(predicted[i] for i in inside) - sum(actual[i] for i in inside)) / n
    return total


def test_the_oracle_is_calibrated_exactly(model: Make, evidence: Make, world: Any) -> None:
    found = return_ece.measure(evidence(model("oracle", world, drift=(0.0, 0.0, 0.0))))
    assert (found.value, found.n, found.n_dropped, found.unit, found.orientation) == (0.0, 24, 0, "return", -1)


def test_a_constant_error_of_every_step_adds_up(model: Make, evidence: Make, world: Any) -> None:
    assert value(return_ece.measure(evidence(model("judging", world, reward_error=(0.25,))))) == pytest.approx(5 * 0.25, rel=1e-12)


def test_is_the_mean_of_the_members_errors(model: Make, evidence: Make, world: Any) -> None:
    """+0.25 and -0.25 a step are both wrong; their mean prediction would be perfect."""
    found = return_ece.measure(evidence(model("judging", world, drift=(0.0, 0.0), reward_error=(0.25, -0.25))))
    assert value(found) == pytest.approx(1.25, rel=1e-12)


def test_lead_member_only_is_caught(model: Make, evidence: Make, world: Any) -> None:
    forward = return_ece.measure(evidence(model("judging", world, drift=(0.0, 2.0))))
    backward = return_ece.measure(evidence(model("judging", world, drift=(2.0, 0.0))))
    assert value(forward) == pytest.approx(value(backward), rel=1e-12)
    assert value(forward) > 0.0


def test_equals_the_bins_written_out(model: Make, evidence: Make, world: Any) -> None:
    segments = world.segments(n=23)
    start = segments.snapshot[:, 0]
    path = np.clip(start[:, None] + 0.5 * np.cumsum(segments.action[..., 0], axis=1), 0, 200) + np.arange(1, 6) * 1e-4
    found = return_ece.measure(evidence(model("judging", world, gain=0.5, drift=(1e-4,)), segments=segments))
    assert value(found) == pytest.approx(by_sorting((path / 100).sum(axis=1), segments.reward.sum(axis=1), 10), rel=1e-9)


def test_reward_shifted_by_one_step_is_caught(model: Make, evidence: Make, world: Any) -> None:
    """A model that hands out the reward of the state it left, not of the one it reached, is not calibrated."""
    late = model("judging", world)
    move, judge = late.imagine, late.reward
    late.imagine = lambda state, action: {**move({"position": state["position"]}, action), "left": state["position"]}
    late.reward = lambda state: judge({"position": state["left"]})
    assert value(return_ece.measure(evidence(model("judging", world)))) == 0.0
    assert value(return_ece.measure(evidence(late))) > 1e-3


def test_shifted_real_rewards_are_caught(model: Make, evidence: Make, world: Any) -> None:
    """The same mistake on the side of the data."""
    segments = world.segments()
    shifted = segments._replace(reward=np.roll(segments.reward, 1, axis=1) * [0, 1, 1, 1, 1])
    assert value(return_ece.measure(evidence(model("oracle", world), segments=shifted))) > 0.1


def test_k20_a_silent_head_is_heard_where_there_is_reward(model: Make, evidence: Make, make_world: Make) -> None:
    """Reward in a small share of segments: silence is nearly calibrated overall and 100% wrong where it matters."""
    world = make_world(sparse=True)
    segments = world.segments(n=600)
    silent = model("judging", world)
    silent.reward = lambda state: torch.zeros_like(state["position"])
    found = evidence(silent, segments=segments, batch=64)
    rewarded = (segments.reward != 0).any(axis=1)
    overall, apart = return_ece.measure(found), return_ece.measure_rewarded(found)
    assert value(overall) == pytest.approx(segments.reward.sum(axis=1).mean())
    assert value(apart) == pytest.approx(segments.reward.sum(axis=1)[rewarded].mean())
    assert value(apart) >= 1.0 > 8 * value(overall)
    details = return_ece.details(found)
    assert details["base_rate"] == pytest.approx(rewarded.mean())
    assert details["n_rewarded"] == apart.n == rewarded.sum()


def test_too_few_rewarded_segments_are_not_averaged(model: Make, evidence: Make, make_world: Make) -> None:
    world = make_world(sparse=True)
    found = evidence(model("judging", world), segments=world.segments(n=40))
    number = return_ece.measure_rewarded(found)
    assert number.reason is Reason.TOO_FEW_SAMPLES
    assert number.n == return_ece.details_rewarded(found)["n_rewarded"] < 10


def test_fewer_segments_than_bins_are_too_few(model: Make, evidence: Make, world: Any) -> None:
    nine, ten = (return_ece.measure(evidence(model("judging", world), segments=world.segments(n=n))) for n in (9, 10))
    assert nine.reason is Reason.TOO_FEW_SAMPLES
    assert value(ten) == 0.0


def test_segments_were_lived_so_a_predicted_end_weighs_nothing(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("mortal", world))
    assert return_ece.measure(found).value == 0.0
    assert (found.rollout.open_loop.continues == 0.5).all()


def test_dense_reward_makes_both_questions_one(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("judging", world, drift=(1.0,)))
    assert return_ece.measure(found).value == return_ece.measure_rewarded(found).value


def test_k14_every_segment_is_in_a_bin(model: Make, evidence: Make, world: Any) -> None:
    """Returns at both ends of their range, and many equal ones: the bins' counts sum to n, for every member."""
    segments = world.segments(n=30)
    ends = np.repeat([[0.0], [200.0], [100.0]], 10, axis=0)
    still = segments._replace(snapshot=ends, action=np.zeros_like(segments.action), reward=np.repeat(ends / 100, 5, axis=1))
    details = return_ece.details(evidence(model("oracle", world, drift=(0.0, 1.0)), segments=still))
    assert [sum(item["n"] for item in member) for member in details["bins"]] == [30, 30]
    assert [item["n"] for item in details["bins"][0]] == [10, 10, 10]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_reward_that_is_not_finite_is_counted_not_dropped(bad: float, model: Make, evidence: Make, world: Any) -> None:
    """One bad prediction in the last step of one segment of one member."""
    segments = world.segments()
    fine = model("judging", world, drift=(0.0, 0.0))
    judge, steps = fine.reward, []

    def reward(state: Any) -> torch.Tensor:
        steps.append(1)
        found: torch.Tensor = judge(state).clone()
        if len(steps) == 1:
            found[1, 3] = bad
        return found

    fine.reward = reward
    number = return_ece.measure(evidence(fine, segments=segments))
    assert (number.value, number.reason, number.n, number.n_dropped) == (None, Reason.NONFINITE_PREDICTION, 23, 1)


def test_without_a_reward_head_there_is_no_number(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("bare", world))
    assert return_ece.measure(found).reason is return_ece.measure_rewarded(found).reason is Reason.NO_REWARD_HEAD
    assert return_ece.details(found) == {}


def test_details_are_json_and_hold_the_number(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("judging", world, drift=(1.0, -2.0)))
    details = json.loads(json.dumps(return_ece.details(found), allow_nan=False))
    again = [sum(item["n"] * abs(item["predicted"] - item["actual"]) for item in member) / 24 for member in details["bins"]]
    assert sum(again) / 2 == pytest.approx(value(return_ece.measure(found)), rel=1e-12)
