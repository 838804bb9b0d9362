from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from wm_audit.core import AuditError, Stream, stream
from wm_audit.data import Act, Behaviour, Now, correlated, held, noisy, uniform
from wm_audit.envs.protocol import Floats, Oracle


def played(behaviour: Behaviour, world: Oracle, n: int, first: int = 0) -> NDArray[np.float64]:
    """(n, T, A): the actions of n episodes that all run to the limit."""
    act = behaviour(world, [stream(5, i) for i in range(first, first + n)])
    blank = np.zeros((n, *world.spec.image), dtype=np.uint8)
    return np.stack([act(Now(blank, t, np.arange(n))) for t in range(world.spec.limit)], axis=1)


def middle(env: Oracle, streams: Sequence[Stream]) -> Act:
    def act(now: Now) -> Floats:
        return np.zeros((now.rows.size, 2))

    return act


BEHAVIOURS = {
    "uniform": uniform,
    "correlated": correlated(0.8),
    "held": held(4),
    "noisy": noisy(uniform, 0.3),
    "spread": noisy(middle, (0.1, 1)),
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_an_episode_does_not_know_its_neighbours(name: str, make_world: Callable[..., Oracle]) -> None:
    world, behaviour = make_world(limit=20), BEHAVIOURS[name]
    together = played(behaviour, world, 6)
    assert np.array_equal(together[4:5], played(behaviour, world, 1, first=4))
    act = behaviour(world, [stream(5, i) for i in range(6)])
    left = np.array([1, 4])
    assert np.array_equal(act(Now(np.zeros((2, 3, 8, 8), dtype=np.uint8), 9, left)), together[left, 9])


def test_uniform_actions_fill_their_bounds_and_forget(make_world: Callable[..., Oracle]) -> None:
    actions = played(uniform, make_world(limit=100, high=3.0), 100)
    assert actions.min(axis=(0, 1)) == pytest.approx([-1, -1], abs=0.01)
    assert actions.max(axis=(0, 1)) == pytest.approx([1, 3], abs=0.01)
    assert actions.std(axis=(0, 1)) == pytest.approx([2 / np.sqrt(12), 4 / np.sqrt(12)], rel=0.02)
    assert abs(np.corrcoef(actions[:, 1:, 0].ravel(), actions[:, :-1, 0].ravel())[0, 1]) < 0.03


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.95])
def test_correlated_actions_have_the_stated_correlation_and_scale(correlation: float, make_world: Callable[..., Oracle]) -> None:
    actions = played(correlated(correlation, scale=0.1), make_world(limit=100, high=3.0), 400)
    assert np.corrcoef(actions[:, 1:, 0].ravel(), actions[:, :-1, 0].ravel())[0, 1] == pytest.approx(correlation, abs=0.03)
    assert actions.mean(axis=(0, 1)) == pytest.approx([0, 1], abs=0.03)
    assert actions.std(axis=(0, 1)) == pytest.approx([0.1, 0.2], rel=0.06)
    assert actions[:, 0].std(axis=0) == pytest.approx([0.1, 0.2], rel=0.15)  # stationary from the first step


def test_held_actions_change_exactly_at_their_boundaries(make_world: Callable[..., Oracle]) -> None:
    actions = played(held(4), make_world(limit=10), 5)
    same = np.all(actions[:, 1:] == actions[:, :-1], axis=2)
    assert np.array_equal(same, np.tile(np.arange(1, 10) % 4 != 0, (5, 1)))


def test_noise_is_added_to_the_policy_in_half_ranges(make_world: Callable[..., Oracle]) -> None:
    world = make_world(limit=200, high=3.0)
    assert np.array_equal(played(noisy(middle, 0.0), world, 2), np.zeros((2, 200, 2)))
    assert played(noisy(middle, 0.25), world, 50).std(axis=(0, 1)) == pytest.approx([0.25, 0.5], rel=0.05)
    spread = played(noisy(middle, (0.1, 1.0)), world, 50)[:, :, 0].std(axis=1)
    assert spread.min() < 0.3
    assert spread.max() > 0.8


def test_settings_that_mean_nothing_are_refused() -> None:
    wrong: list[Callable[[], object]] = [
        lambda: held(0),
        lambda: correlated(1.0),
        lambda: correlated(-0.1),
        lambda: correlated(0.5, scale=0.0),
        lambda: correlated(float("nan")),
        lambda: noisy(uniform, -1.0),
        lambda: noisy(uniform, (0.5, 0.1)),
        lambda: noisy(uniform, float("inf")),
    ]
    for make in wrong:
        with pytest.raises(AuditError):
            make()
