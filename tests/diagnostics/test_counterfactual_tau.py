"""Claims about the ranking of actions."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

from wm_audit.core import Measurement, Reason
from wm_audit.diagnostics import counterfactual_tau, pixel_ssim

Make = Callable[..., Any]


def value(found: Measurement) -> float:
    assert found.value is not None, found.reason
    return found.value


def answering(model: Make, world: Any, table: Any) -> Any:
    """A model that promises `table` (K, B, M) whatever happens, for a probe evaluated in one batch and held once."""
    table = torch.as_tensor(table)
    judge = model("judging", world, drift=(0.0,) * len(table))
    judge.reward = lambda _: table.reshape(len(table), -1)
    return judge


def asked(world: Any, truth: Any) -> Any:
    truth = np.asarray(truth, np.float64)
    return world.probe(n=truth.shape[0], tried=truth.shape[1], hold=1)._replace(reward=truth)


def test_the_oracle_ranks_every_action_right(model: Make, evidence: Make, world: Any) -> None:
    found = counterfactual_tau.measure(evidence(model("oracle", world, drift=(0.0, 0.0))))
    assert (found.value, found.n, found.n_dropped, found.se, found.orientation) == (1.0, 6, 0, 0.0, 1)


def test_a_model_blind_to_actions_gets_nothing_for_good_pictures(model: Make, evidence: Make, world: Any) -> None:
    """Per state exactly 0; pooled it is rewarded for knowing how good the state is."""
    found = evidence(model("oracle", world, gain=0.0))
    assert counterfactual_tau.measure(found).value == 0.0
    assert value(counterfactual_tau.measure_pooled(found)) > 0.5
    assert value(pixel_ssim.measure(found)) > 0.99


def test_a_model_that_reverses_actions_is_reversed(model: Make, evidence: Make, world: Any) -> None:
    assert counterfactual_tau.measure(evidence(model("oracle", world, gain=-1.0))).value == -1.0


def test_equals_scipy_state_by_state(model: Make, evidence: Make, world: Any) -> None:
    noise = np.random.Generator(np.random.PCG64(0))
    truth, guess = noise.integers(0, 4, (7, 6)).astype(np.float64), noise.integers(0, 4, (2, 7, 6)).astype(np.float64)
    found = evidence(answering(model, world, guess), probe=asked(world, truth), batch=7)
    states = np.array([[kendalltau(truth[b], member[b]).statistic for b in range(7)] for member in guess])
    assert value(counterfactual_tau.measure(found)) == pytest.approx(states.mean(), rel=1e-12)
    assert counterfactual_tau.measure(found).se == pytest.approx(states.mean(axis=0).std(ddof=1) / math.sqrt(7), rel=1e-12)
    pooled = np.mean([kendalltau(truth.ravel(), member.ravel()).statistic for member in guess])
    assert value(counterfactual_tau.measure_pooled(found)) == pytest.approx(pooled, rel=1e-12)


def test_V29_pooled_scores_states_and_the_mean_over_states_does_not(model: Make, evidence: Make, world: Any) -> None:
    truth, guess = [[1.0, 2.0, 3.0], [10.0, 11.0, 12.0]], [[[2.0, 1.0, 0.0], [12.0, 13.0, 14.0]]]
    found = evidence(answering(model, world, guess), probe=asked(world, truth), batch=2)
    assert counterfactual_tau.measure(found).value == 0.0
    assert value(counterfactual_tau.measure_pooled(found)) > 0.5


def test_states_that_ask_nothing_are_dropped_and_states_not_answered_count_zero(model: Make, evidence: Make, world: Any) -> None:
    truth = [[1.0, 2.0, 3.0], [5.0, 5.0, 5.0], [1.0, 2.0, 3.0]]
    guess = [[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [7.0, 7.0, 7.0]]]
    found = evidence(answering(model, world, guess), probe=asked(world, truth), batch=3)
    number = counterfactual_tau.measure(found)
    assert (number.value, number.n, number.n_dropped) == (0.5, 2, 1)
    details = counterfactual_tau.details(found)
    assert (details["states"], details["states_dropped"], details["actions"], details["hold"]) == (2, 1, 3, 1)


def test_a_probe_that_tells_no_actions_apart_is_degenerate(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("oracle", world), probe=asked(world, np.ones((4, 5))))
    number = counterfactual_tau.measure(found)
    assert (number.value, number.reason, number.n, number.n_dropped) == (None, Reason.PROBE_DEGENERATE, 0, 4)
    assert counterfactual_tau.measure_pooled(found).reason is Reason.CONSTANT_X


def test_noise_of_single_precision_is_no_ranking_and_of_double_is(model: Make, evidence: Make, world: Any) -> None:
    truth = [[1.0, 2.0, 3.0]]
    guess = torch.tensor([[[1.0, 1.0 + 1e-7, 1.0 + 3e-7]]], dtype=torch.float64)
    for dtype, expected in ((torch.float32, 0.0), (torch.float64, 1.0)):
        found = evidence(answering(model, world, guess.to(dtype)), probe=asked(world, truth), batch=1)
        assert counterfactual_tau.measure(found).value == expected


def test_the_truth_keeps_its_own_tolerance(model: Make, evidence: Make, world: Any) -> None:
    """True rewards 1e-8 apart are different numbers, also where the model works in single precision."""
    guess = torch.tensor([[[1.0, 2.0, 3.0]]], dtype=torch.float32)
    found = evidence(answering(model, world, guess), probe=asked(world, [[1.0, 1.0 + 1e-8, 1.0 + 2e-8]]), batch=1)
    assert counterfactual_tau.measure(found).value == 1.0


@pytest.mark.parametrize("hold", [1, 4])
def test_rewards_are_those_of_the_held_steps(hold: int, model: Make, evidence: Make, world: Any) -> None:
    probe = world.probe(hold=hold)
    found = evidence(model("walker", world), probe=probe, batch=4)
    assert np.array_equal(found.imagined.reward[0], probe.reward)
    assert not found.imagined.single_precision
    assert evidence(model("dense", world), probe=probe).imagined.single_precision


def test_a_predicted_end_weighs_what_comes_after_it(model: Make, evidence: Make, world: Any) -> None:
    probes = [world.probe(hold=hold) for hold in (1, 2)]
    first, second = (evidence(model("walker", world), probe=probe).imagined.reward for probe in probes)
    weighed = evidence(model("mortal", world), probe=probes[1]).imagined.reward
    assert np.allclose(weighed, first + 0.5 * (second - first), rtol=1e-12)


def test_every_action_starts_from_its_own_state(model: Make, evidence: Make, world: Any) -> None:
    """Order of states and actions survives the tiling: permuting them permutes the answers."""
    probe = world.probe(n=5, tried=4)
    plain = evidence(model("dense", world), probe=probe).imagined.reward
    states, actions = np.array([3, 0, 4, 1, 2]), np.array([2, 0, 3, 1])
    moved = probe._replace(
        context_obs=probe.context_obs[states], context_action=probe.context_action[states], actions=probe.actions[states][:, actions]
    )
    assert np.allclose(evidence(model("dense", world), probe=moved).imagined.reward, plain[:, states][:, :, actions], atol=1e-6)


def test_lead_member_only_is_caught(model: Make, evidence: Make, world: Any) -> None:
    truth = [[1.0, 2.0, 3.0, 4.0]] * 2
    good, bad = [[1.0, 2.0, 3.0, 4.0]] * 2, [[4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 4.0, 3.0]]
    numbers = [
        counterfactual_tau.measure(evidence(answering(model, world, list(order)), probe=asked(world, truth), batch=2))
        for order in itertools.permutations([good, good, bad])
    ]
    assert {round(value(number), 12) for number in numbers} == {round((1 + 1 + (-1 + 2 / 3) / 2) / 3, 12)}


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_promise_that_is_not_finite_is_no_ranking(bad: float, model: Make, evidence: Make, world: Any) -> None:
    guess = torch.tensor([[[1.0, 2.0, 3.0], [1.0, bad, 3.0]]], dtype=torch.float64)
    found = evidence(answering(model, world, guess), probe=asked(world, [[1.0, 2.0, 3.0]] * 2), batch=2)
    for number in (counterfactual_tau.measure(found), counterfactual_tau.measure_pooled(found)):
        assert (number.value, number.reason, number.n, number.n_dropped) == (None, Reason.NONFINITE_PREDICTION, 1, 1)


def test_without_a_reward_head_there_is_no_ranking(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("bare", world))
    assert counterfactual_tau.measure(found).reason is Reason.NO_REWARD_HEAD
    assert counterfactual_tau.measure_pooled(found).reason is Reason.NO_REWARD_HEAD
