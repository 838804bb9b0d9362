"""What is seen: the large thing that does not matter, the tiny thing that decides, and motion below a pixel."""

import numpy as np
import pytest

from wm_audit.core import stream
from wm_audit.envs import Floats, Images, make
from wm_audit.envs.pixel_nav import COLUMNS
from wm_audit.envs.pixel_nav.render import AGENT, CUES, FLOOR, GOAL, WALL

N = 60
WORLDS = pytest.mark.parametrize("name", ["pixel_nav", "two_room"])
SIZES = pytest.mark.parametrize("image", [16, 32, 64])
PHYSICS = np.r_[0:10]  # every column but the distractor's


def begin(name: str) -> Floats:
    env = make(name, {})
    env.reset(stream(5, "pictures"), N)
    return env.snapshot()


def draw(name: str, state: Floats, **choices: str | int) -> Images:
    env = make(name, choices)
    env.restore(state)
    return env.render()


def changed(left: Images, right: Images, levels: int) -> Floats:
    """Share of pixels per picture in which some channel differs by more than `levels`."""
    apart = np.abs(left.astype(np.int64) - right.astype(np.int64)).max(axis=1) > levels
    return np.asarray(apart.mean(axis=(1, 2)), dtype=np.float64)


@WORLDS
@SIZES
def test_the_distractor_covers_most_of_the_picture(name: str, image: int) -> None:
    state = begin(name)
    drawn = draw(name, state, image=image)
    assert changed(drawn, draw(name, state, image=image, distractor="none"), 10).min() > 0.3
    later = state.copy()
    later[:, COLUMNS["phase"]] = (state[:, COLUMNS["phase"]] + 10 * state[:, COLUMNS["drift"]]) % 1.0  # ten steps of drift
    assert changed(drawn, draw(name, later, image=image), 10).min() > 0.3


@WORLDS
def test_the_distractor_moves_by_itself_and_strongly(name: str) -> None:
    env = make(name, {})
    first = env.reset(stream(5, "pictures"), N)
    for _ in range(10):
        last = env.step(np.zeros((N, 2))).obs
    assert changed(first, last, 10).min() > 0.3
    phase = env.snapshot()[:, COLUMNS["phase"]]
    assert phase.min() >= 0
    assert phase.max() < 1
    still = make(name, {"distractor": "none"})
    first = still.reset(stream(5, "pictures"), N)
    for _ in range(10):
        last = still.step(np.zeros((N, 2))).obs
    np.testing.assert_array_equal(first, last)


@WORLDS
@pytest.mark.parametrize("reward", ["dense", "sparse"])
def test_the_distractor_changes_nothing_but_pixels(name: str, reward: str) -> None:
    with_it, without = (make(name, {"image": 16, "distractor": choice, "reward": reward}) for choice in ("drift", "none"))
    elsewhere = with_it.fork()
    with_it.reset(stream(5, "same"), N)
    without.reset(stream(5, "same"), N)
    other = with_it.snapshot()
    other[:, COLUMNS["phase"]] = 0.25
    other[:, COLUMNS["drift"]] = -0.02
    elsewhere.restore(other)
    for push in stream(5, "push").uniform((50, N, 2), -1, 1):
        outcomes = [world.advance(push) for world in (with_it, without, elsewhere)]
        states = [world.snapshot()[:, PHYSICS] for world in (with_it, without, elsewhere)]
        for outcome, state in zip(outcomes[1:], states[1:], strict=True):
            for one, two in zip(outcomes[0], outcome, strict=True):
                np.testing.assert_array_equal(one, two)
            np.testing.assert_array_equal(states[0], state)


@WORLDS
@SIZES
def test_the_cue_is_tiny_and_decides(name: str, image: int) -> None:
    state = begin(name)
    flipped = state.copy()
    flipped[:, COLUMNS["paying"]] = 1.0 - state[:, COLUMNS["paying"]]
    share = changed(draw(name, state, image=image), draw(name, flipped, image=image), 0)
    assert (share > 0).all()
    assert share.max() < 0.02
    assert round(share.max() * image**2) == (image // 16) ** 2
    world = make(name, {"image": image})
    rewards = []
    for start in (state, flipped):
        world.restore(start)
        rewards.append(np.sum([world.advance(np.zeros((N, 2))).reward for _ in range(5)], axis=0))
    assert (np.abs(rewards[0] - rewards[1]) > 1e-3).mean() > 0.9
    sparse = make(name, {"image": image, "reward": "sparse"})
    for start, pays in ((state, 1.0), (flipped, 0.0)):
        here = start.copy()
        goals = here[:, COLUMNS["goals"]]
        here[:, COLUMNS["position"]] = np.where(state[:, COLUMNS["paying"]] == 0, goals[:, :2], goals[:, 2:])
        sparse.restore(here)
        np.testing.assert_array_equal(sparse.advance(np.zeros((N, 2))).reward, pays)


@WORLDS
def test_without_the_cue_only_the_paying_goal_is_seen(name: str) -> None:
    state = begin(name)
    quiet: dict[str, str | int] = {"distractor": "none", "image": 64}
    with_it, without = draw(name, state, cue="dot", **quiet), draw(name, state, cue="none", **quiet)
    green = np.array(GOAL)[:, None, None]
    area = np.pi * (0.1 * 64) ** 2
    pure_two, pure_one = ((pictures == green).all(axis=1).sum(axis=(1, 2)) for pictures in (with_it, without))
    np.testing.assert_allclose(pure_one, area, rtol=0.25)
    np.testing.assert_allclose(pure_two, 2 * area, rtol=0.25)
    column = (state[:, COLUMNS["paying"].start]).astype(np.int64)
    goals = state[:, COLUMNS["goals"]].reshape(N, 2, 2)
    for pictures, which, seen in (
        (without, column, True),
        (without, 1 - column, False),
        (with_it, column, True),
        (with_it, 1 - column, True),
    ):
        place = goals[np.arange(N), which]
        row, col = ((1 - place[:, 1]) * 64).astype(np.int64), (place[:, 0] * 64).astype(np.int64)
        colour = pictures[np.arange(N), :, row, col]
        assert ((colour == np.array(GOAL)).all(axis=1) == seen).all()


@WORLDS
def test_the_agent_is_drawn_where_it_is(name: str) -> None:
    state = begin(name)
    for image in (16, 32, 64):
        pictures = draw(name, state, image=image, distractor="none", cue="none").astype(np.float64)
        weight = np.clip(pictures[:, 0] - GOAL[0], 0, None)  # red beyond floor and goal: walls and agent
        inner = slice(image // 16, -(image // 16))
        grey = pictures[:, 2] > WALL[2] - 1
        weight = np.where(grey, 0.0, weight)[:, inner, inner]
        centres = (np.arange(image) + 0.5) / image
        x = (weight * centres[inner]).sum(axis=(1, 2)) / weight.sum(axis=(1, 2))
        y = 1 - (weight * centres[inner, None]).sum(axis=(1, 2)) / weight.sum(axis=(1, 2))
        np.testing.assert_allclose(np.stack([x, y], axis=1), state[:, COLUMNS["position"]], atol=0.35 / image)


@WORLDS
def test_motion_below_a_pixel_is_seen_at_every_size(name: str) -> None:
    state = begin(name)
    nudged = state.copy()
    nudged[:, COLUMNS["position"].start] += 0.1 / 16
    for image in (16, 32, 64):
        assert (changed(draw(name, state, image=image), draw(name, nudged, image=image), 4) > 0).all()


@WORLDS
def test_velocity_and_time_are_not_in_one_picture(name: str) -> None:
    state = begin(name)
    moving = state.copy()
    moving[:, COLUMNS["velocity"]] = 0.05
    moving[:, COLUMNS["step"]] = 33
    moving[:, COLUMNS["drift"]] *= -1
    np.testing.assert_array_equal(draw(name, state), draw(name, moving))


def test_colours_are_far_apart() -> None:
    colours = np.array([AGENT, GOAL, WALL, FLOOR, *CUES], dtype=np.float64)
    apart = np.abs(colours[:, None] - colours).max(axis=2)
    assert apart[~np.eye(len(colours), dtype=np.bool_)].min() > 80


@pytest.mark.parametrize("n", [1, 170, 171, 400])
def test_drawing_in_portions_is_drawing_at_once(n: int) -> None:
    env = make("two_room", {})
    env.reset(stream(6, "portions"), n)
    state, pictures = env.snapshot(), env.render()
    for copy in (0, n // 2, n - 1):
        np.testing.assert_array_equal(draw("two_room", state[copy : copy + 1])[0], pictures[copy])
