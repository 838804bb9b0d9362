"""The planner's memory: held decisions and episodes that leave."""

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import stream
from wm_audit.policy.bounds import Bounds
from wm_audit.policy.cem import CemSettings
from wm_audit.policy.mpc import RecedingHorizon

Floats = NDArray[np.float64]
BOX = Bounds.of([-1.0, -1.0], [1.0, 1.0])


def score(actions: Floats) -> Floats:
    return np.asarray(-((actions - 0.4) ** 2).sum(axis=(2, 3)))


def test_a_decision_is_held_and_searched_for_once() -> None:
    calls: list[tuple[int, ...]] = []

    def counted(actions: Floats) -> Floats:
        calls.append(actions.shape)
        return score(actions)

    memory = RecedingHorizon(BOX, CemSettings(horizon=2, candidates=8, elites=2, iterations=1, hold=3))
    memory.reset([stream(0, i) for i in range(2)])
    actions = [memory.decide(counted, t).action for t in range(7)]
    assert len(calls) == 3
    for t in range(6):
        assert np.array_equal(actions[t], actions[t + 1]) == (t % 3 != 2)


def test_an_episode_that_leaves_changes_nothing_for_the_others() -> None:
    chosen = CemSettings(horizon=3, candidates=8, elites=2, iterations=2, hold=2)
    streams = [stream(0, i) for i in range(4)]
    whole, shrinking = RecedingHorizon(BOX, chosen), RecedingHorizon(BOX, chosen)
    whole.reset(streams)
    shrinking.reset(streams)
    for t, rows in enumerate(([0, 1, 2, 3], [0, 1, 3], [0, 1, 3], [1, 3], [3])):
        running = np.array(rows, dtype=np.int64)
        np.testing.assert_array_equal(whole.decide(score, t).action[running], shrinking.decide(score, t, running).action)


def test_every_decision_searches_with_fresh_noise() -> None:
    asked: list[Floats] = []

    def hopeless(actions: Floats) -> Floats:  # the mean stays in the middle, so only the noise can differ
        asked.append(actions)
        return np.full(actions.shape[:2], np.nan)

    memory = RecedingHorizon(BOX, CemSettings(horizon=2, candidates=8, elites=2, iterations=1))
    memory.reset([stream(0)])
    for step in range(2):
        np.testing.assert_array_equal(memory.decide(hopeless, step).action, BOX.middle[None])
    assert not np.isclose(asked[0][:, 1:], asked[1][:, 1:]).all(axis=(2, 3)).any()
