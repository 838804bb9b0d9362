from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from wm_audit.core import AuditError, Stream
from wm_audit.data import Act, Behaviour, Episodes, Now, collect, uniform
from wm_audit.envs.protocol import Floats, Oracle

Pixels = Callable[[NDArray[np.floating]], NDArray[np.uint8]]


@pytest.fixture(scope="module")
def episodes(world: Oracle, record: Callable[..., Episodes]) -> Episodes:
    return record(world)


def test_episodes_are_counted_by_share_and_end_early_or_at_the_limit(episodes: Episodes) -> None:
    assert np.array_equal(np.bincount(episodes.behaviour), [20, 10, 10])
    assert episodes.behaviours == ("uniform", "correlated", "noisy")
    last = np.arange(episodes.count), episodes.length - 1
    assert np.all(episodes.terminated[last] | episodes.truncated[last])
    assert 0 < episodes.terminated[last].sum() < episodes.count
    assert 0 < episodes.truncated[last].sum() < episodes.count
    assert episodes.transitions == episodes.length.sum() < 480
    past = np.arange(episodes.limit) >= episodes.length[:, None]
    for array in (episodes.action, episodes.reward, episodes.terminated, episodes.obs[:, 1:], episodes.snapshot[:, 1:]):
        assert not array[past].any()


def test_replaying_from_the_first_snapshot_is_bit_exact(world: Oracle, episodes: Episodes) -> None:
    again = world.fork()
    for e in range(episodes.count):
        again.restore(episodes.snapshot[e, :1])
        assert np.array_equal(again.render()[0], episodes.obs[e, 0])
        for t in range(episodes.length[e]):
            step = again.step(episodes.action[e, t : t + 1].astype(np.float64))
            assert step.reward[0].tobytes() == episodes.reward[e, t].tobytes()
            assert np.array_equal(step.obs[0], episodes.obs[e, t + 1])
            assert again.snapshot().tobytes() == episodes.snapshot[e, t + 1].tobytes()
            assert (step.terminated[0], step.truncated[0]) == (episodes.terminated[e, t], episodes.truncated[e, t])


def same(a: Episodes, b: Episodes) -> bool:
    other = b.arrays()
    return all(array.tobytes() == other[name].tobytes() for name, array in a.arrays().items())


@pytest.mark.parametrize("chunk", [1, 3, 7, 20])
def test_k34_the_chunk_size_changes_no_byte(chunk: int, world: Oracle, episodes: Episodes, record: Callable[..., Episodes]) -> None:
    assert same(episodes, record(world, chunk=chunk))


def test_k34_another_share_or_budget_leaves_the_common_episodes_alone(world: Oracle) -> None:
    behaviours: dict[str, Behaviour] = {"a": uniform, "b": uniform}
    small = collect(world, behaviours, {"a": 0.5, "b": 0.5}, 120, root=1, seed=1)
    large = collect(world, behaviours, {"b": 0.2, "a": 0.8}, 240, root=1, seed=1)
    assert np.array_equal(small.obs[:5], large.obs[:5])
    assert np.array_equal(small.reward[5:9], large.reward[16:20])
    assert not np.array_equal(small.snapshot[0, 0], small.snapshot[5, 0])  # the same behaviour under another name draws anew


def test_seeds_and_roots_give_other_episodes(world: Oracle, episodes: Episodes, record: Callable[..., Episodes]) -> None:
    assert same(episodes, record(world))
    assert not same(episodes, record(world, seed=4))
    assert not same(episodes, record(world, root=8))


def shows_actions(obs: NDArray[np.uint8], action: NDArray[np.float32], pixels: Pixels) -> bool:
    """Whether every observation shows the action said to have led to it."""
    return np.array_equal(obs[..., 1, 0, :2], pixels(action))


def test_k16_actions_and_observations_are_aligned_and_a_shift_is_seen(episodes: Episodes, last_action_pixels: Pixels) -> None:
    valid = np.arange(episodes.limit) < episodes.length[:, None]
    assert shows_actions(episodes.obs[:, 1:][valid], episodes.action[valid], last_action_pixels)
    assert not shows_actions(episodes.obs[:, :-1][valid], episodes.action[valid], last_action_pixels)
    shifted = np.roll(episodes.action, 1, axis=1)
    assert not shows_actions(episodes.obs[:, 1:][valid], shifted[valid], last_action_pixels)


def test_the_world_handed_in_is_not_touched(make_world: Callable[..., Oracle], record: Callable[..., Episodes]) -> None:
    world = make_world()
    record(world)
    assert world.n == 0


def planner(env: Oracle, streams: Sequence[Stream]) -> Act:
    """Looks one step ahead in a fork and takes the better of two actions."""
    scratch = env.fork()

    def act(now: Now) -> Floats:
        state = env.snapshot()
        assert len(state) == now.rows.size
        assert np.array_equal(now.obs, env.render())
        assert np.all(state[:, 2] == now.step)
        rewards = []
        for sign in (-1.0, 1.0):
            scratch.restore(state)
            rewards.append(scratch.advance(np.full((now.rows.size, 2), sign)).reward)
        return np.repeat(np.where(rewards[1] > rewards[0], 1.0, -1.0)[:, None], 2, axis=1)

    return act


def test_a_planner_may_look_ahead_in_a_fork(world: Oracle) -> None:
    both = collect(world, {"planner": planner, "uniform": uniform}, {"planner": 0.5, "uniform": 0.5}, 240, root=1, seed=0, chunk=4)
    whole = collect(world, {"planner": planner, "uniform": uniform}, {"planner": 0.5, "uniform": 0.5}, 240, root=1, seed=0)
    assert same(both, whole)
    per_step = both.returns() / both.length
    assert per_step[both.behaviour == 0].mean() > per_step[both.behaviour == 1].mean() + 1


def meddler(env: Oracle, streams: Sequence[Stream]) -> Act:
    def act(now: Now) -> Floats:
        env.advance(np.zeros((now.rows.size, 2)))
        return np.zeros((now.rows.size, 2))

    return act


def hopeless(env: Oracle, streams: Sequence[Stream]) -> Act:
    def act(now: Now) -> Floats:
        return np.full((now.rows.size, 2), np.nan)

    return act


@pytest.mark.parametrize(("behaviour", "message"), [(meddler, "moved the world"), (hopeless, "not finite")])
def test_behaviours_that_break_the_rules_are_refused(behaviour: Behaviour, message: str, world: Oracle) -> None:
    with pytest.raises(AuditError, match=message):
        collect(world, {"x": behaviour}, {"x": 1.0}, 24, root=0, seed=0)


def test_rewards_that_are_not_finite_are_refused(make_world: Callable[..., Oracle]) -> None:
    with pytest.raises(AuditError, match="reward is not finite"):
        collect(make_world(weight=np.inf), {"x": uniform}, {"x": 1.0}, 24, root=0, seed=0)


@pytest.mark.parametrize(
    ("shares", "steps", "chunk"), [({"y": 1.0}, 24, 1), ({"x": 1.0}, 0, 1), ({"x": 1.0}, 24, 0), ({"x": 0.99, "y": 0.01}, 24, 1)]
)
def test_requests_that_cannot_be_met_are_refused(shares: dict[str, float], steps: int, chunk: int, world: Oracle) -> None:
    behaviours: dict[str, Behaviour] = {"x": uniform} if len(shares) == 1 else {"x": uniform, "y": uniform}
    with pytest.raises(AuditError):
        collect(world, behaviours, shares, steps, root=0, seed=0, chunk=chunk)
