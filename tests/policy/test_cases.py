"""Planning failures that happened in published tools, one test each, named as in the list of cases."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from wm_audit.core import stream
from wm_audit.envs.protocol import Oracle
from wm_audit.models.controls import oracle
from wm_audit.policy.agents import Agent, ModelAgent, OracleAgent, RandomAgent
from wm_audit.policy.bounds import Bounds
from wm_audit.policy.cem import CemSettings, plan, select_elites
from wm_audit.policy.closed_loop import closed_loop, start_states, summary
from wm_audit.policy.mpc import RecedingHorizon

Floats = NDArray[np.float64]


def test_k23_one_elite_is_refused() -> None:
    with pytest.raises(ValueError, match="elites must be at least 2"):
        CemSettings(horizon=5, candidates=10, elites=1, iterations=3)


def test_k24_returns_that_are_not_finite_never_win() -> None:
    np.testing.assert_array_equal(select_elites(np.array([[-3.0, np.nan, -1.0, -2.0]]), 2), [[2, 3]])
    np.testing.assert_array_equal(select_elites(np.array([[-3.0, np.inf, -1.0]]), 2), [[2, 0]])
    chosen = CemSettings(horizon=2, candidates=12, elites=3, iterations=2)
    memory = RecedingHorizon(Bounds.of([-1.0], [1.0]), chosen)
    memory.reset([stream(0, i) for i in range(2)])

    def score(actions: Floats) -> Floats:
        returns: Floats = -np.abs(actions).sum(axis=(2, 3))
        returns[1, 3:] = np.nan
        return returns

    decision = memory.decide(score, 0)
    np.testing.assert_array_equal(decision.nonfinite, [False, True])
    assert np.isfinite(decision.action).all()


def test_k25_all_actions_inside_asymmetric_bounds_and_spread_above_its_floor(recorder: Any) -> None:
    low, high = np.array([-0.3, 0.1]), np.array([1.1, 0.7])
    chosen = CemSettings(horizon=3, candidates=16, elites=4, iterations=50, init_std=2.0, std_floor=0.05)
    score = recorder(lambda actions: (actions * [5.0, -5.0]).sum(axis=(2, 3)), [])  # the optimum is a corner
    trace = plan(score, low, high, batch=3, settings=chosen, stream=stream(0))
    assert len(score.seen) == 50
    for actions in [*score.seen, trace.plan]:
        assert (actions >= low).all()
        assert (actions <= high).all()
    assert (trace.std >= 0.05 * Bounds.of(low, high).span).all()
    np.testing.assert_allclose(trace.plan[..., 0], 1.1, atol=0.02)
    np.testing.assert_allclose(trace.plan[..., 1], 0.1, atol=0.02)


def test_k25_executed_actions_are_inside_too(lopsided_world: Any, settings: CemSettings) -> None:
    executed: list[Floats] = []
    push = type(lopsided_world).advance

    class Watched(type(lopsided_world)):  # type: ignore[misc]  # the test's own world
        def advance(self, action: Floats) -> Any:
            if len(action) == 20:  # the searches inside run more copies
                executed.append(action)
            return push(self, action)

    world = Watched(low=-0.3, high=1.1)
    closed_loop(world, start_states(world, 20, stream(0)), OracleAgent(world.spec, settings), steps=15, stream=stream(0))
    assert len(executed) == 15
    assert np.min(executed) >= -0.3
    assert np.max(executed) <= 1.1


@pytest.mark.parametrize("kind", ["model", "oracle", "random"])
def test_k26_two_equal_episodes_in_a_row_have_equal_actions(kind: str, world: Oracle, settings: CemSettings) -> None:
    agents: dict[str, Agent] = {
        "model": ModelAgent(oracle(world), world.spec, settings),
        "oracle": OracleAgent(world.spec, settings),
        "random": RandomAgent(world.spec),
    }
    agent, episodes = agents[kind], []
    for _ in range(2):
        copy = world.fork()
        obs = copy.reset(stream(0, "start"), 3)
        agent.reset(3, stream(0, "noise"))
        actions = []
        for t in range(4):
            actions.append(agent.act(copy, obs, t).action)
            obs = copy.step(actions[-1]).obs
        episodes.append(np.stack(actions))
    np.testing.assert_array_equal(episodes[0], episodes[1])
    assert not np.array_equal(episodes[0][0], episodes[0][1])


def test_k26_the_next_search_starts_from_the_shifted_plan_and_a_reset_flushes_it(recorder: Any) -> None:
    box, chosen = Bounds.of([-0.3], [1.1]), CemSettings(horizon=3, candidates=8, elites=2, iterations=2)
    memory = RecedingHorizon(box, chosen)
    score = recorder(lambda actions: -((actions - 0.9) ** 2).sum(axis=(2, 3)), [])
    streams = [stream(0, i) for i in range(2)]
    memory.reset(streams)
    memory.decide(score, 0)
    first = plan(score.inner, box.low, box.high, batch=2, settings=chosen, stream=[item.child("plan", 0) for item in streams])
    memory.decide(score, 1)
    warm = score.seen[2][:, 0]  # candidate 0 of the second search
    np.testing.assert_array_equal(warm[:, :2], first.plan[:, 1:])
    np.testing.assert_array_equal(warm[:, 2], np.broadcast_to(box.middle, (2, 1)))
    memory.reset(streams)
    memory.decide(score, 0)
    np.testing.assert_array_equal(score.seen[4], score.seen[0])


def test_k27_the_interval_of_one_evaluation_covers_what_others_find(world: Oracle) -> None:
    agent, covered = RandomAgent(world.spec), []
    runs = [
        summary(closed_loop(world, start_states(world, 25, stream(i, "starts")), agent, steps=15, stream=stream(i, "noise")))
        for i in range(40)
    ]
    truth = np.mean([item.value for item in runs if item.value is not None])
    for item in runs[:10]:
        assert item.value is not None
        assert item.se is not None
        covered.append(abs(item.value - truth) <= 2.064 * item.se)  # t quantile, 24 degrees of freedom, 95%
    assert sum(covered) >= 8
