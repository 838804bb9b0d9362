"""What every member of `ENVS` promises, over several settings each."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from wm_audit.core import AuditError, Stream, stream
from wm_audit.envs import ENVS, Floats, Images, Oracle, expand_id, make

# A member that is not named here is tested with its defaults.
_NAV: tuple[dict[str, Any], ...] = (
    {},
    {"image": 16, "limit": 9, "reward": "sparse", "distractor": "none", "cue": "none", "terminal": "goal"},
    {"image": 64, "limit": 6, "cue": "none"},
    {"image": 16, "distractor": "none", "wind": 0.01, "drag": 0.5, "gain": 0.03, "terminal": "goal"},
)
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {"pixel_nav": _NAV, "two_room": _NAV}
CASES = [(name, settings) for name in ENVS for settings in SETTINGS.get(name, ({},))]
COPIES = 7


def test_only_members_are_given_settings() -> None:
    assert set(SETTINGS) <= set(ENVS)


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{','.join(f'{k}={v}' for k, v in case[1].items()) or 'defaults'}")
def env(request: pytest.FixtureRequest) -> Oracle:
    name, settings = request.param
    return make(name, settings)


def episode(name: str | int = 0) -> Stream:
    return stream(7, "contract", name)


def actions(env: Oracle, steps: int, n: int) -> Floats:
    """(steps, n, A) inside the bounds; copy i's actions do not depend on n."""
    low, high = np.array(env.spec.action_low), np.array(env.spec.action_high)
    unit = np.stack([stream(8, "actions", copy).uniform((steps, len(low))) for copy in range(n)], axis=1)
    return np.asarray(low + (high - low) * unit, dtype=np.float64)


def play(env: Oracle, pushes: Floats) -> tuple[Images, Floats, Floats]:
    """Everything that comes out of a sequence of steps: pictures, (reward, terminated, truncated), snapshots."""
    pictures, outcomes, states = [], [], []
    for push in pushes:
        step = env.step(push)
        pictures.append(step.obs)
        outcomes.append(np.stack([step.reward, step.terminated, step.truncated]))
        states.append(env.snapshot())
    return np.stack(pictures), np.stack(outcomes), np.stack(states)


def assert_same(left: tuple[Any, ...], right: tuple[Any, ...]) -> None:
    for one, other in zip(left, right, strict=True):
        np.testing.assert_array_equal(one, other)


def test_spec_says_what_comes_out(env: Oracle) -> None:
    spec = env.spec
    first = env.reset(episode(), COPIES)
    step = env.step(actions(env, 1, COPIES)[0])
    for obs in (first, step.obs, env.render()):
        assert obs.shape == (COPIES, *spec.image)
        assert obs.dtype == np.uint8
    assert spec.image[0] == 3
    for values, kind in ((step.reward, np.float64), (step.terminated, np.bool_), (step.truncated, np.bool_)):
        assert values.shape == (COPIES,)
        assert values.dtype == kind
    snapshot = env.snapshot()
    assert snapshot.dtype == np.float64
    assert snapshot.shape[0] == COPIES == env.n
    assert np.isfinite(snapshot).all()
    assert len(spec.action_low) == len(spec.action_high)
    assert all(low < high for low, high in zip(spec.action_low, spec.action_high, strict=True))
    assert spec.limit >= 1
    assert spec.step_seconds > 0
    assert spec.renderer


def test_settings_of_the_spec_build_the_same_world(env: Oracle) -> None:
    twin = make(env.spec.id, env.spec.settings)
    assert twin.spec == env.spec
    pushes = actions(env, 4, COPIES)
    env.reset(episode(), COPIES)
    twin.reset(episode(), COPIES)
    assert_same(play(env, pushes), play(twin, pushes))


def test_one_stream_repeats_and_another_differs(env: Oracle) -> None:
    pushes = actions(env, 4, COPIES)
    first, states = env.reset(episode(), COPIES), env.snapshot()
    run = play(env, pushes)
    again = env.reset(episode(), COPIES)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(states, env.snapshot())
    assert_same(run, play(env, pushes))
    env.reset(episode("other"), COPIES)
    assert (env.snapshot() != states).any(axis=1).all()
    assert len({tuple(row) for row in states}) == COPIES  # copies differ from each other


def test_copies_depend_neither_on_each_other_nor_on_n(env: Oracle) -> None:
    pushes = actions(env, 5, COPIES)
    first = env.reset(episode(), COPIES)
    pictures, outcomes, states = play(env, pushes)
    few = 3
    np.testing.assert_array_equal(env.reset(episode(), few), first[:few])
    changed = pushes[:, :few].copy()
    changed[:, 1] = np.array(env.spec.action_high)  # another copy acts differently
    obs, outcome, state = play(env, changed)
    for copy in (0, 2):
        np.testing.assert_array_equal(obs[:, copy], pictures[:, copy])
        np.testing.assert_array_equal(outcome[:, :, copy], outcomes[:, :, copy])
        np.testing.assert_array_equal(state[:, copy], states[:, copy])


def test_order_of_copies_is_irrelevant(env: Oracle) -> None:
    pushes = actions(env, 5, COPIES)
    env.reset(episode(), COPIES)
    start = env.snapshot()
    pictures, outcomes, states = play(env, pushes)
    order = stream(9, "order").permutation(COPIES)
    env.restore(start[order])
    obs, outcome, state = play(env, pushes[:, order])
    assert_same((obs, outcome, state), (pictures[:, order], outcomes[:, :, order], states[:, order]))


def test_reaching_the_limit_truncates(env: Oracle) -> None:
    env.reset(episode(), COPIES)
    over = np.zeros(COPIES, dtype=np.bool_)
    for count, push in enumerate(actions(env, env.spec.limit, COPIES), start=1):
        step = env.advance(push)
        assert not (step.terminated & step.truncated).any()
        if count < env.spec.limit:
            assert not step.truncated.any()
        over |= step.terminated
    np.testing.assert_array_equal(step.truncated, ~step.terminated)
    assert (step.truncated | over).all()


def test_restoring_in_mid_episode_replays_bit_exactly(env: Oracle) -> None:
    pushes = actions(env, env.spec.limit, COPIES)
    env.reset(episode(), COPIES)
    middle = env.spec.limit // 2
    play(env, pushes[:middle])
    held, picture = env.snapshot(), env.render()
    rest = play(env, pushes[middle:])
    env.reset(episode("other"), COPIES + 2)
    env.restore(held)
    assert env.n == COPIES
    np.testing.assert_array_equal(env.snapshot(), held)
    np.testing.assert_array_equal(env.render(), picture)
    assert_same(play(env, pushes[middle:]), rest)
    fresh = make(env.spec.id, env.spec.settings)  # and in a world that never was reset
    fresh.restore(held)
    assert_same(play(fresh, pushes[middle:]), rest)


@pytest.mark.parametrize("n", [1, COPIES])
def test_snapshots_are_copies(env: Oracle, n: int) -> None:
    env.reset(episode(), n)
    held = env.snapshot()
    kept = held.copy()
    env.advance(actions(env, 1, n)[0])
    np.testing.assert_array_equal(held, kept)
    env.restore(held)
    held += 1.0
    np.testing.assert_array_equal(env.snapshot(), kept)
    env.snapshot()[:] = 0.0
    np.testing.assert_array_equal(env.snapshot(), kept)


def test_restore_changes_n(env: Oracle) -> None:
    env.reset(episode(), COPIES)
    start = env.snapshot()
    for rows in (start[:1], np.repeat(start, 3, axis=0)):
        env.restore(rows)
        assert env.n == len(rows)
        assert env.render().shape == (len(rows), *env.spec.image)
        assert env.advance(actions(env, 1, len(rows))[0]).reward.shape == (len(rows),)


def test_a_fork_is_independent(env: Oracle) -> None:
    pushes = actions(env, 4, COPIES)
    env.reset(episode(), COPIES)
    env.advance(pushes[0])
    held = env.snapshot()
    fork = env.fork()
    assert fork.spec == env.spec
    if fork.n:  # whether a fork stands where the original stands is its own business
        fork.advance(pushes[1, : fork.n])
        np.testing.assert_array_equal(env.snapshot(), held)
    fork.restore(held)
    expected = play(fork, pushes)
    np.testing.assert_array_equal(env.snapshot(), held)  # the fork moved, the original did not
    fork.reset(episode("other"), 2)
    assert_same(play(env, pushes), expected)
    assert fork.n == 2


def test_advance_is_step_without_drawing(env: Oracle) -> None:
    other = env.fork()
    env.reset(episode(), COPIES)
    other.reset(episode(), COPIES)
    for push in actions(env, 6, COPIES):
        step, outcome = env.step(push), other.advance(push)
        assert_same(step[1:], outcome)
        np.testing.assert_array_equal(env.snapshot(), other.snapshot())
        np.testing.assert_array_equal(step.obs, other.render())


def test_actions_matter() -> None:
    for name in ENVS:
        env = make(name, {})
        n = 64
        env.reset(stream(7, "held"), n)
        start = env.snapshot()
        totals = []
        for held in (env.spec.action_low, env.spec.action_high):
            env.restore(start)
            push = np.tile(np.array(held), (n, 1))
            totals.append(np.sum([env.advance(push).reward for _ in range(10)], axis=0))
        different = np.abs(totals[0] - totals[1]) > 1e-6
        assert different.mean() > 0.9, name


def test_actions_are_clipped_to_the_bounds(env: Oracle) -> None:
    env.reset(episode(), COPIES)
    start, push = env.snapshot(), np.tile(np.array(env.spec.action_high), (COPIES, 1))
    env.advance(push)
    inside = env.snapshot()
    env.restore(start)
    env.advance(push * 1e9)
    np.testing.assert_array_equal(env.snapshot(), inside)


def test_wrong_actions_are_refused(env: Oracle) -> None:
    env.reset(episode(), COPIES)
    before = env.snapshot()
    good = actions(env, 1, COPIES)[0]
    for wrong in (good[0], good[:-1], good[:, :-1], np.concatenate([good, good], axis=1), good[None]):
        with pytest.raises(ValueError, match="shape"):
            env.step(wrong)
    for value in (np.nan, np.inf, -np.inf):
        broken = good.copy()
        broken[[2, 5], 0] = value
        with pytest.raises(ValueError, match="copies 2, 5"):
            env.advance(broken)
    np.testing.assert_array_equal(env.snapshot(), before)


def test_wrong_snapshots_are_refused(env: Oracle) -> None:
    env.reset(episode(), COPIES)
    before = env.snapshot()
    for wrong in (before[:, :-1], before[0], np.concatenate([before, before], axis=1)):
        with pytest.raises(AuditError, match="shape"):
            env.restore(wrong)
    broken = before.copy()
    broken[4, 0] = np.nan
    with pytest.raises(AuditError, match="copies 4"):
        env.restore(broken)
    np.testing.assert_array_equal(env.snapshot(), before)


def test_reset_needs_a_copy(env: Oracle) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        env.reset(episode(), 0)


@pytest.mark.parametrize("name", ENVS)
def test_unknown_settings_and_values_are_refused_by_name(name: str) -> None:
    with pytest.raises(AuditError, match="surely_unknown"):
        make(name, {"surely_unknown": 1})
    known = list(make(name, {}).spec.settings)
    for setting, near in ((key, key[:-1] + "_") for key in known):
        with pytest.raises(AuditError, match=setting):
            make(name, {near: 1})
        with pytest.raises(AuditError, match=setting):
            make(name, {setting: "no such value"})
        with pytest.raises(AuditError, match=setting):
            make(name, {setting: None})


def test_ids_are_unique_after_expansion() -> None:
    for name in ENVS:
        assert expand_id(name) == name == make(name, {}).spec.id
    assert all(one != other for one, other in pairwise(sorted(ENVS)))
