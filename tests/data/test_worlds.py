"""The built-in worlds keep the promises that recorded data rest on."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from wm_audit.core import stream
from wm_audit.data import Episodes, assemble, check, collect, correlated, counterfactual, uniform
from wm_audit.envs import make
from wm_audit.envs.protocol import Oracle

WORLDS: list[tuple[str, dict[str, Any]]] = [
    ("pixel_nav", {"image": 16, "limit": 15}),
    ("pixel_nav", {"image": 16, "limit": 15, "terminal": "goal", "goal_radius": 0.12}),
    ("two_room", {"image": 16, "limit": 15}),
]


def recorded(world: Oracle, chunk: int) -> Episodes:
    behaviours = {"uniform": uniform, "correlated": correlated(0.9, scale=1.5)}
    return collect(world, behaviours, {"uniform": 0.5, "correlated": 0.5}, 360, root=5, seed=0, chunk=chunk)


@pytest.mark.parametrize(("name", "settings"), WORLDS)
def test_recorded_worlds_replay_to_the_bit_and_know_no_chunks(name: str, settings: dict[str, Any]) -> None:
    world = make(name, settings)
    whole, pieces = recorded(world, 256), recorded(world, 5)
    assert all(array.tobytes() == pieces.arrays()[key].tobytes() for key, array in whole.arrays().items())
    again = world.fork()
    for e in range(whole.count):
        again.restore(whole.snapshot[e, :1])
        assert np.array_equal(again.render()[0], whole.obs[e, 0])
        for t in range(int(whole.length[e])):
            step = again.step(whole.action[e, t : t + 1].astype(np.float64))
            assert step.reward[0].tobytes() == whole.reward[e, t].tobytes()
            assert np.array_equal(step.obs[0], whole.obs[e, t + 1])
            assert again.snapshot().tobytes() == whole.snapshot[e, t + 1].tobytes()


@pytest.mark.parametrize(("name", "settings"), WORLDS)
def test_dense_rewards_tell_held_actions_apart(name: str, settings: dict[str, Any]) -> None:
    world = make(name, settings)
    data = assemble(recorded(world, 256), world.spec, {"train": 0.5, "probe": 0.25, "held_out": 0.25}, 5, 0)
    share = check(counterfactual(data, world, n_states=16, n_actions=4, hold=4, context=2, stream=stream(1))).value
    assert share is not None
    assert share > 0.9


def test_data_are_recorded_and_read_without_torch() -> None:
    script = "import sys, wm_audit.data; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0
