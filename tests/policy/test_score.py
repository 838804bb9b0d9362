"""What a sequence is worth, against step-by-step sums, through models and on the environment."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.core import AuditError, stream
from wm_audit.envs.protocol import Oracle
from wm_audit.models.controls import action_blind, oracle
from wm_audit.models.members import members_mean
from wm_audit.models.protocol import State
from wm_audit.policy.cem import CemSettings, plan
from wm_audit.policy.score import env_score, model_score

Floats = NDArray[np.float64]


@dataclass
class Toy:
    """x' = x + a; member k claims the reward slopes[k] * x; continues with probability sigmoid(x) where `ends` is set."""

    slopes: tuple[float, ...]

    @property
    def members(self) -> int:
        return len(self.slopes)

    def initial(self, batch: int) -> State:
        return {"x": torch.zeros(self.members, batch)}

    def observe(self, state: State, action: Tensor, obs: Tensor) -> State:
        return self.imagine(state, action)

    def imagine(self, state: State, action: Tensor) -> State:
        return {"x": state["x"] + action[:, 0]}

    def reward(self, state: State) -> Tensor:
        return state["x"] * torch.tensor(self.slopes)[:, None]


@dataclass
class Ending(Toy):
    def continues(self, state: State) -> Tensor:
        return torch.sigmoid(state["x"])


class Blind:
    members = 1

    def initial(self, batch: int) -> State:
        return {"x": torch.zeros(1, batch)}

    def observe(self, state: State, action: Tensor, obs: Tensor) -> State:
        return state

    def imagine(self, state: State, action: Tensor) -> State:
        return state


def sequences(batch: int, candidates: int, steps: int) -> Floats:
    drawn = stream(5, "sequences").uniform((batch, candidates, steps, 2), -1.0, 1.0)
    return drawn.astype(np.float32).astype(np.float64)


def test_environment_returns_are_sums_along_the_way(ending_world: Oracle) -> None:
    ending_world.reset(stream(0, "start"), 3)
    start, actions = ending_world.snapshot(), sequences(3, 40, 8)
    returns = env_score(ending_world, start, discount=0.9)(actions)
    np.testing.assert_array_equal(ending_world.snapshot(), start)
    world, ended = ending_world.fork(), 0
    for i in range(3):
        for j in range(40):
            world.restore(start[i : i + 1])
            total, alive = 0.0, True
            for t in range(8):
                outcome = world.advance(actions[i, j, t : t + 1])
                total += 0.9**t * float(outcome.reward[0]) * alive
                alive = alive and not outcome.terminated[0]
            ended += not alive
            assert returns[i, j] == pytest.approx(total, abs=1e-12)
    assert ended > 0


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("kind", ["world", "ending_world", "lopsided_world"])
@pytest.mark.parametrize("discount", [1.0, 0.97])
def test_oracle_return_matches_environment(kind: str, members: int, discount: float, request: pytest.FixtureRequest) -> None:
    """Bit for bit: a reward taken one step early or late, another order of summation or another dtype all show here."""
    world: Oracle = request.getfixturevalue(kind)
    world.reset(stream(0, "start"), 4)
    start, actions = world.snapshot(), sequences(4, 30, 7)
    model = oracle(world, members)
    imagined = model_score(model, model.ground(start), discount=discount)(actions)
    np.testing.assert_array_equal(imagined, env_score(world, start, discount=discount)(actions))
    assert np.unique(imagined).size > 100


def test_an_action_blind_model_cannot_tell_actions_apart(world: Oracle) -> None:
    world.reset(stream(0, "start"), 3)
    model = action_blind(world, 2)
    returns = model_score(model, model.ground(world.snapshot()), discount=1.0)(sequences(3, 10, 5))
    np.testing.assert_array_equal(returns, np.broadcast_to(returns[:, :1], returns.shape))


def test_rewards_belong_to_the_state_reached() -> None:
    actions = np.array([[[[1.0, 0.0], [2.0, 0.0]]]])
    returns = model_score(Toy((1.0,)), {"x": torch.full((1, 1), 10.0)}, discount=0.5)(actions)
    np.testing.assert_array_equal(returns, [[11.0 + 0.5 * 13.0]])


def test_candidates_stay_with_their_problem() -> None:
    state = {"x": torch.tensor([[0.0, 100.0]])}
    actions = np.zeros((2, 3, 1, 2))
    actions[:, :, 0, 0] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    np.testing.assert_array_equal(model_score(Toy((1.0,)), state, discount=1.0)(actions), [[1, 2, 3], [104, 105, 106]])


def test_rewards_are_weighted_by_the_probability_that_the_episode_still_runs() -> None:
    model, actions = Ending((1.0, -2.0)), sequences(2, 5, 6)
    returns = model_score(model, {"x": torch.zeros(2, 2)}, discount=0.9)(actions)
    for i in range(2):
        for j in range(5):
            x, running, total = 0.0, 1.0, 0.0
            for t in range(6):
                x += actions[i, j, t, 0]
                total += 0.9**t * running * (1.0 - 2.0) / 2.0 * x
                running *= 1.0 / (1.0 + np.exp(-x))
            assert returns[i, j] == pytest.approx(total, abs=1e-6)


def test_planning_uses_every_member() -> None:
    """The first member alone would push to the right; the three together push to the left."""
    model = Toy((1.0, -2.0, -2.0))
    state, chosen = {"x": torch.zeros(3, 2)}, CemSettings(horizon=2, candidates=40, elites=5, iterations=5)
    bounds = np.full(2, -1.0), np.full(2, 1.0)
    trace = plan(model_score(model, state, discount=1.0), *bounds, batch=2, settings=chosen, stream=stream(0))
    assert (trace.plan[:, 0, 0] < -0.8).all()
    lead = plan(model_score(Toy((1.0,)), {"x": state["x"][:1]}, discount=1.0), *bounds, batch=2, settings=chosen, stream=stream(0))
    assert (lead.plan[:, 0, 0] > 0.8).all()


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_broken_member_makes_the_return_not_finite(bad: float) -> None:
    for slopes in ((bad, 1.0, 1.0), (1.0, bad, 1.0)):
        returns = model_score(Toy(slopes), {"x": torch.ones(3, 1)}, discount=1.0)(np.ones((1, 4, 3, 2)))
        assert not np.isfinite(returns).any()
        ending = model_score(Ending(slopes), {"x": torch.full((3, 1), -1e30)}, discount=1.0)(np.ones((1, 4, 3, 2)))
        assert not np.isfinite(ending).any()


@pytest.mark.parametrize("rows", [1, 4, 7, 1000])
def test_the_number_of_rows_at_once_changes_nothing(rows: int) -> None:
    model, state, actions = Ending((0.3, 0.7)), {"x": torch.linspace(-1, 1, 6).reshape(2, 3)}, sequences(3, 5, 4)
    whole = model_score(model, state, discount=0.9)(actions)
    np.testing.assert_allclose(model_score(model, state, discount=0.9, rows=rows)(actions), whole, rtol=0, atol=1e-7)


def test_the_mean_of_identical_members_is_the_member() -> None:
    value = stream(0, "value").uniform(1000)
    for members in (1, 3, 7):
        np.testing.assert_array_equal(members_mean(np.broadcast_to(value, (members, 1000))), value)
    assert (np.broadcast_to(value, (7, 1000)).mean(axis=0) != value).any()  # what the plain mean would do
    spread = stream(0, "spread").normal((5, 1000))
    np.testing.assert_allclose(members_mean(spread), spread.mean(axis=0), atol=1e-14)


def test_a_model_without_rewards_cannot_be_planned_with() -> None:
    model: Any = Blind()
    with pytest.raises(AuditError, match="does not predict rewards"):
        model_score(model, model.initial(2), discount=1.0)
