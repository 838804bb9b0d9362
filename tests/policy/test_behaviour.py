"""The oracle planner as a source of data."""

import numpy as np
import pytest

from wm_audit.data.behaviours import uniform
from wm_audit.data.collect import collect
from wm_audit.envs.protocol import Oracle
from wm_audit.policy.behaviour import oracle_behaviour
from wm_audit.policy.cem import CemSettings


@pytest.mark.parametrize("kind", ["world", "ending_world", "lopsided_world"])
def test_it_collects_better_episodes_than_chance_and_does_not_depend_on_the_chunk(kind: str, request: pytest.FixtureRequest) -> None:
    world: Oracle = request.getfixturevalue(kind)
    planner = oracle_behaviour(CemSettings(horizon=5, candidates=12, elites=3, iterations=2), 0.2)
    behaviours, shares = {"oracle": planner, "uniform": uniform}, {"oracle": 0.5, "uniform": 0.5}
    whole, pieces = (collect(world, behaviours, shares, 12 * world.spec.limit, root=0, seed=1, chunk=chunk) for chunk in (256, 4))
    np.testing.assert_array_equal(whole.action, pieces.action)
    planned, drawn = whole.reward[whole.behaviour == 0], whole.reward[whole.behaviour == 1]
    assert planned.sum(axis=1).mean() > drawn.sum(axis=1).mean() + 1.0


def test_noise_spreads_the_actions(world: Oracle) -> None:
    chosen = CemSettings(horizon=4, candidates=8, elites=2, iterations=1)
    quiet, noisy = (
        collect(world, {"o": oracle_behaviour(chosen, noise)}, {"o": 1.0}, 4 * world.spec.limit, root=0, seed=1)
        for noise in (0.0, (0.3, 0.6))
    )
    assert not np.array_equal(quiet.action, noisy.action)
