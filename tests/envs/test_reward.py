"""Walking distance against a brute-force oracle, and what is paid for it."""

import numpy as np
import pytest

from wm_audit.core import stream
from wm_audit.envs import Floats, make
from wm_audit.envs.pixel_nav import COLUMNS, OPEN, TWO_ROOMS, WIDTH, Layout
from wm_audit.envs.pixel_nav.distance import Walk
from wm_audit.envs.pixel_nav.layout import Box

LOWER, UPPER = TWO_ROOMS.blocks
PLACE, GOALS, PAYING = COLUMNS["position"], COLUMNS["goals"], COLUMNS["paying"]


def free_places(layout: Layout, n: int, name: str) -> Floats:
    """(n, 2) uniform over where the agent's centre can be."""
    places = stream(3, name).uniform((4 * n, 2), layout.floor.x_low, layout.floor.x_high)
    for block in layout.blocks:
        x, y = places.T
        places = places[~((x > block.x_low) & (x < block.x_high) & (y > block.y_low) & (y < block.y_high))]
    return np.asarray(places[:n], dtype=np.float64)


def walk(layout: Layout, places: Floats, goals: Floats) -> Floats:
    oracle = Walk(layout)
    return oracle.to_goal(places.T, goals.T, oracle.from_corners(goals.T))


def through_the_door(place: Floats, goal: Floats) -> float:
    """The shortest of all paths over one point of each door face: rooms and door are convex, so legs are straight."""
    level = np.linspace(LOWER.y_high, UPPER.y_low, 401)
    enter = np.hypot(place[0] - LOWER.x_low, place[1] - level)
    leave = np.hypot(goal[0] - LOWER.x_high, goal[1] - level)
    between = np.hypot(LOWER.x_high - LOWER.x_low, level[:, None] - level)
    return float((enter[:, None] + between + leave).min())


def test_an_open_arena_is_walked_straight() -> None:
    places, goals = free_places(OPEN, 200, "a"), free_places(OPEN, 200, "b")
    np.testing.assert_allclose(walk(OPEN, places, goals), np.hypot(*(places - goals).T), rtol=1e-14)


def test_rooms_are_walked_through_the_door() -> None:
    places, goals = free_places(TWO_ROOMS, 400, "a"), free_places(TWO_ROOMS, 400, "b")
    found = walk(TWO_ROOMS, places, goals)
    np.testing.assert_array_equal(found, walk(TWO_ROOMS, places, goals))
    np.testing.assert_allclose(found, walk(TWO_ROOMS, goals, places), rtol=1e-12)  # there and back
    left, right = places[:, 0] < LOWER.x_low, goals[:, 0] > LOWER.x_high
    checked = np.flatnonzero(left & right)
    assert checked.size > 50
    expected = np.array([through_the_door(places[i], goals[i]) for i in checked])
    np.testing.assert_allclose(found[checked], expected, rtol=1e-5)
    assert (found[checked] <= expected + 1e-12).all()
    same = np.flatnonzero(left & (goals[:, 0] < LOWER.x_low))
    np.testing.assert_allclose(found[same], np.hypot(*(places[same] - goals[same]).T), rtol=1e-14)


def test_a_slalom_turns_at_corners_that_do_not_see_each_other() -> None:
    walls = (Box(0.25, 0.0, 0.3125, 0.75), Box(0.5, 0.25, 0.5625, 1.0), Box(0.72, 0.0, 0.7825, 0.75))
    slalom = Layout(id="slalom", walls=walls, start=OPEN.start, goals=OPEN.goals, span=3.0)
    over, under, last = slalom.blocks
    start, goal = (0.14, 0.14), (0.86, 0.14)
    turns = [
        *((over.x_low, over.y_high), (over.x_high, over.y_high)),
        *((under.x_low, under.y_low), (under.x_high, under.y_low)),
        *((last.x_low, last.y_high), (last.x_high, last.y_high)),
    ]
    legs = np.diff(np.array([start, *turns, goal]), axis=0)
    found = walk(slalom, np.array([start, goal]), np.array([goal, start]))
    np.testing.assert_allclose(found, np.hypot(*legs.T).sum(), rtol=1e-14)


@pytest.mark.parametrize("layout", [OPEN, TWO_ROOMS], ids=lambda layout: layout.id)
def test_the_span_is_a_tight_bound(layout: Layout) -> None:
    floor = layout.floor
    x, y = [floor.x_low, floor.x_high], [floor.y_low, floor.y_high]
    corners = np.array([(a, b) for a in x for b in y])
    farthest = max(walk(layout, np.tile(corner, (4, 1)), corners).max() for corner in corners)
    places, goals = free_places(layout, 3000, "a"), free_places(layout, 3000, "b")
    assert walk(layout, places, goals).max() <= farthest <= layout.span <= 1.02 * farthest


@pytest.mark.parametrize("layout", [OPEN, TWO_ROOMS], ids=lambda layout: layout.id)
def test_the_slope_is_the_same_everywhere(layout: Layout) -> None:
    places = free_places(layout, 1500, "slope")
    goal = np.tile([(layout.goals[0].x_low + layout.goals[0].x_high) / 2, layout.goals[0].y_low], (len(places), 1))
    tiny = 1e-6
    slopes = []
    for axis in range(2):
        nudge = tiny * np.eye(2)[axis]
        slopes.append((walk(layout, places + nudge, goal) - walk(layout, places - nudge, goal)) / (2 * tiny))
    steep = np.hypot(*slopes)
    assert (np.abs(steep - 1) < 1e-4).mean() > 0.995  # the rest stands at a wall or at the edge of a shadow
    assert np.isfinite(walk(layout, places, goal)).all()


def test_dense_reward_is_nearness() -> None:
    env = make("two_room", {"image": 16})
    env.reset(stream(4, "dense"), 50)
    state = env.snapshot()
    reward = env.advance(np.zeros((50, 2))).reward
    goals = state[:, GOALS]
    paying = np.where(state[:, PAYING] == 0, goals[:, :2], goals[:, 2:])
    np.testing.assert_allclose(reward, 1 - walk(TWO_ROOMS, state[:, PLACE], paying) / TWO_ROOMS.span, atol=1e-15)
    assert ((reward > 0) & (reward < 1)).all()
    state[:, PLACE] = paying
    env.restore(state)
    np.testing.assert_array_equal(env.advance(np.zeros((50, 2))).reward, 1.0)


def test_reward_stays_bounded_where_nothing_should_be() -> None:
    for name in ("pixel_nav", "two_room"):
        env = make(name, {"image": 16})
        env.restore(np.stack([np.zeros(WIDTH), np.ones(WIDTH), np.full(WIDTH, 0.5), np.full(WIDTH, -3.0)]))
        reward = env.advance(np.zeros((4, 2))).reward
        assert ((reward >= 0) & (reward <= 1)).all()
        assert env.render().shape == (4, 3, 16, 16)


@pytest.mark.parametrize("cue", ["dot", "none"])
def test_sparse_reward_is_paid_inside_the_paying_goal_only(cue: str) -> None:
    env = make("pixel_nav", {"image": 16, "reward": "sparse", "cue": cue})
    env.reset(stream(4, "sparse"), 40)
    state = env.snapshot()
    goals, first_pays = state[:, GOALS], state[:, PAYING.start] == 0
    for offset, inside in ((0.0, True), (0.0999, True), (0.1001, False)):
        for goal, pays in ((goals[:, :2], first_pays), (goals[:, 2:], ~first_pays)):
            inwards = np.where(goal[:, 1] < 0.5, offset, -offset)
            state[:, PLACE] = goal + np.stack([np.zeros(40), inwards], axis=1)
            env.restore(state)
            outcome = env.advance(np.zeros((40, 2)))
            np.testing.assert_array_equal(outcome.reward, (pays & inside).astype(np.float64))
            assert not outcome.terminated.any()


@pytest.mark.parametrize("reward", ["dense", "sparse"])
def test_a_terminal_goal_ends_the_episode_with_one(reward: str) -> None:
    env = make("pixel_nav", {"image": 16, "reward": reward, "terminal": "goal", "limit": 1})
    env.reset(stream(4, "terminal"), 40)
    state = env.snapshot()
    first_pays = state[:, PAYING.start] == 0
    state[:, PLACE] = state[:, GOALS][:, :2] + np.array([0.09, 0.0])
    env.restore(state)
    outcome = env.advance(np.zeros((40, 2)))
    np.testing.assert_array_equal(outcome.terminated, first_pays)
    np.testing.assert_array_equal(outcome.truncated, ~first_pays)  # the limit is reached too, but an end is an end
    np.testing.assert_array_equal(outcome.reward[first_pays], 1.0)
    assert (outcome.reward[~first_pays] < 1).all()
