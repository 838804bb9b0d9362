"""Claims about ensemble dispersion."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from wm_audit.core import Measurement, Reason
from wm_audit.diagnostics import uncertainty_ece, uncertainty_rho
from wm_audit.models.members import members_mean, members_variance

Make = Callable[..., Any]
ALL = [uncertainty_rho.measure, uncertainty_ece.measure, uncertainty_rho.measure_reward, uncertainty_ece.measure_reward]


def value(found: Measurement) -> float:
    assert found.value is not None, found.reason
    return found.value


def test_equals_the_definitions_written_out(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("dense", world, members=3))
    frames = found.rollout.open_loop.mean.astype(np.float64)
    spread = np.sqrt(frames.var(axis=0, ddof=1).mean(axis=(2, 3, 4))).ravel()
    error = np.sqrt(np.square(frames.mean(axis=0) - found.real).sum(axis=(2, 3, 4))).ravel()
    assert value(uncertainty_rho.measure(found)) == pytest.approx(spearmanr(spread.round(6), error.round(5)).statistic, abs=1e-3)
    rewards = found.rollout.open_loop.reward
    deviation = np.abs(rewards.mean(axis=0) - found.segments.reward).ravel()
    expected = spearmanr(rewards.std(axis=0, ddof=1).ravel().round(6), deviation.round(6)).statistic
    assert value(uncertainty_rho.measure_reward(found)) == pytest.approx(expected, abs=1e-3)
    assert uncertainty_rho.measure(found).n == 24 * 5


def test_an_ensemble_that_spreads_where_it_errs_is_found(model: Make, evidence: Make, world: Any) -> None:
    """Members drift apart around a mean that drifts too: spread and error both grow with the step."""
    found = evidence(model("walker", world, drift=(0.5, 1.0, 1.5)))
    assert value(uncertainty_rho.measure(found)) > 0.9
    assert value(uncertainty_rho.measure_reward(found)) > 0.9


def test_dispersion_of_the_size_of_the_error_is_calibrated(model: Make, evidence: Make, world: Any) -> None:
    """Rewards off by 0.01 in the mean, members 0.01 apart in standard deviation: variance equals squared error in every item."""
    judge = model("judging", world, drift=(0.0, 0.0), reward_error=(0.01 * (1 + math.sqrt(0.5)), 0.01 * (1 - math.sqrt(0.5))))
    found = evidence(judge)
    assert value(uncertainty_ece.measure_reward(found)) == pytest.approx(0.0, abs=1e-9)
    narrow = model("judging", world, drift=(0.0, 0.0), reward_error=(0.01, 0.01 + 1e-9))
    assert value(uncertainty_ece.measure_reward(evidence(narrow))) == pytest.approx(1.0, abs=1e-6)


def test_lead_member_only_is_caught(model: Make, evidence: Make, world: Any) -> None:
    """The error is that of the members' mean, whichever member comes first."""
    orders = [(0.5, -2.0, 3.0), (3.0, 0.5, -2.0), (-2.0, 3.0, 0.5)]
    for measure in ALL:
        numbers = [value(measure(evidence(model("walker", world, drift=order, gain=0.8)))) for order in orders]
        assert numbers == pytest.approx([numbers[0]] * 3, abs=1e-3)


def test_k15_one_member_has_no_dispersion(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("walker", world, drift=(1.0,)))
    assert {measure(found).reason for measure in ALL} == {Reason.SINGLE_MEMBER}


def test_k15_copies_of_one_member_are_not_an_agreement(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("oracle", world, drift=(0.0, 0.0, 0.0)))
    assert {measure(found).reason for measure in ALL} == {Reason.IDENTICAL_MEMBERS}


def test_k15_saturated_members_are_told_from_copies(model: Make, evidence: Make, world: Any) -> None:
    """States differ, but every member draws white and promises the same: the dispersion of this probe is zero."""
    walker = model("walker", world, drift=(0.5, 1.0))
    draw = walker.decode
    walker.decode = lambda state: draw(state)._replace(mean=torch.ones_like(draw(state).mean))
    walker.reward = lambda state: torch.ones_like(state["position"])
    found = evidence(walker)
    assert {measure(found).reason for measure in ALL} == {Reason.ZERO_DISPERSION}


def test_spread_of_one_space_says_nothing_of_the_other(model: Make, evidence: Make, world: Any) -> None:
    walker = model("walker", world, drift=(0.0, 0.0), reward_error=(0.0, 0.1))
    assert uncertainty_rho.measure(evidence(walker)).reason is Reason.ZERO_DISPERSION
    assert uncertainty_ece.measure_reward(evidence(walker)).value is not None


def test_a_constant_spread_ranks_nothing(model: Make, evidence: Make, world: Any) -> None:
    walker = model("walker", world, drift=(0.0, 0.0), gain=0.5, reward_error=(0.0, 0.25))
    number = uncertainty_rho.measure_reward(evidence(walker))
    assert (number.value, number.reason, number.orientation) == (None, Reason.CONSTANT_X, 1)


@pytest.mark.parametrize("measure", ALL)
def test_a_prediction_that_is_not_finite_ends_it(measure: Any, model: Make, evidence: Make, world: Any) -> None:
    walker = model("walker", world, drift=(0.0, 1.0), pixel_error=(0.0, math.nan), reward_error=(0.0, math.inf))
    number = measure(evidence(walker))
    assert (number.reason, number.n, number.n_dropped) == (Reason.NONFINITE_PREDICTION, 0, 120)


def test_capabilities_that_are_missing_are_named(model: Make, evidence: Make, world: Any) -> None:
    drawn, judged = uncertainty_rho.measure, uncertainty_rho.measure_reward
    bare = evidence(model("bare", world, drift=(0.0, 1.0)))
    assert (drawn(bare).reason, judged(bare).reason) == (Reason.CAPABILITY_MISSING, Reason.NO_REWARD_HEAD)
    assert uncertainty_ece.details(bare) == uncertainty_ece.details_reward(bare) == {}


def test_fewer_items_than_bins_are_too_few(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("walker", world, drift=(0.0, 1.0)), segments=world.segments(n=1), bins=6)
    assert uncertainty_ece.measure(found).reason is Reason.TOO_FEW_SAMPLES


def test_details_are_json_and_hold_every_item(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("walker", world, drift=(0.5, -2.0, 3.0), gain=0.8))
    for details in (uncertainty_ece.details, uncertainty_ece.details_reward):
        bins = json.loads(json.dumps(details(found), allow_nan=False))["bins"]
        assert sum(item["n"] for item in bins) == 120


def test_equal_members_have_exactly_their_mean_and_no_variance() -> None:
    same = np.repeat([[0.1, 1 / 3, 1e9 + 0.1]], 3, axis=0)
    assert np.array_equal(members_mean(same), same[0])
    assert not members_variance(same).any()
    mixed = np.arange(12.0).reshape(3, 4) ** 2
    assert members_mean(mixed) == pytest.approx(mixed.mean(axis=0))
    assert members_variance(mixed) == pytest.approx(mixed.var(axis=0, ddof=1))
