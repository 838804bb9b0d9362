"""Momentum, walls and what the agent can never do."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wm_audit.core import stream
from wm_audit.envs import ENVS, Floats, make
from wm_audit.envs.pixel_nav import COLUMNS, OPEN, TWO_ROOMS, Layout
from wm_audit.envs.pixel_nav.layout import AGENT_RADIUS, BORDER

LAYOUTS = {"pixel_nav": OPEN, "two_room": TWO_ROOMS}
RIGHT = np.array([[1.0, 0.0]])
STILL = np.zeros((1, 2))


def placed(position: tuple[float, float], velocity: tuple[float, float] = (0.0, 0.0), name: str = "pixel_nav") -> Floats:
    """(1, S): a state with the agent at a place."""
    env = make(name, {})
    env.reset(stream(0, "placed"), 1)
    state = env.snapshot()
    state[:, COLUMNS["position"]] = position
    state[:, COLUMNS["velocity"]] = velocity
    return state


def trail(name: str, state: Floats, actions: Iterator[Floats], **choices: float) -> Floats:
    """(T + 1, n, S): the states along a sequence of actions."""
    env = make(name, {"image": 16, **choices})
    env.restore(state)
    states = [env.snapshot()]
    for action in actions:
        env.advance(action)
        states.append(env.snapshot())
    return np.stack(states)


def depth(layout: Layout, position: Floats) -> Floats:
    """How deep the agent's disc is inside a wall or outside the arena, per place (..., 2); negative where it is free."""
    x, y = position[..., 0], position[..., 1]
    edge = BORDER + AGENT_RADIUS
    deep = np.max([edge - x, x - (1 - edge), edge - y, y - (1 - edge)], axis=0)
    for wall in layout.walls:
        off_x = np.maximum(np.maximum(wall.x_low - x, x - wall.x_high), 0.0)
        off_y = np.maximum(np.maximum(wall.y_low - y, y - wall.y_high), 0.0)
        deep = np.maximum(deep, AGENT_RADIUS - np.hypot(off_x, off_y))
    return np.asarray(deep, dtype=np.float64)


def test_velocity_follows_its_equation() -> None:
    states = trail("pixel_nav", placed((0.2, 0.5)), iter([RIGHT, RIGHT, STILL]))
    velocity, expected = states[:, 0, 2], [0.0, 0.01, 0.018, 0.0144]
    np.testing.assert_allclose(velocity, expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(states[:, 0, 0], 0.2 + np.cumsum(expected), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(states[:, 0, 1], 0.5)
    np.testing.assert_array_equal(states[:, 0, COLUMNS["step"].start], [0, 1, 2, 3])


def test_full_speed_crosses_the_arena_in_twenty_steps() -> None:
    velocity = trail("pixel_nav", placed((0.2, 0.5)), iter([RIGHT] * 9))[-1, 0, 2]
    assert 0.04 < velocity < 0.05  # close to gain / (1 - drag) = 1 / 20
    settled = trail("pixel_nav", placed((0.2, 0.5), (0.05, 0.0)), iter([RIGHT] * 5))
    np.testing.assert_allclose(np.diff(settled[:, 0, 0]), 1 / 20, rtol=1e-12)


def test_it_coasts() -> None:
    states = trail("pixel_nav", placed((0.3, 0.5), (0.05, 0.0)), iter([STILL] * 10))
    assert states[-1, 0, 0] - states[0, 0, 0] > 0.15


def test_wind_pushes_without_becoming_velocity() -> None:
    states = trail("pixel_nav", placed((0.3, 0.5)), iter([STILL] * 5), wind=0.015)
    np.testing.assert_allclose(states[:, 0, 0], 0.3 + 0.015 * np.arange(6), atol=1e-15)
    np.testing.assert_array_equal(states[:, 0, COLUMNS["velocity"]], 0.0)


def test_it_slides_along_a_wall() -> None:
    block = TWO_ROOMS.blocks[0]
    states = trail("two_room", placed((block.x_low - 0.01, 0.2), (0.05, 0.02), "two_room"), iter([np.array([[1.0, 0.5]])] * 3))
    np.testing.assert_array_equal(states[1:, 0, 0], block.x_low)
    np.testing.assert_array_equal(states[1:, 0, 2], 0.0)
    assert (np.diff(states[:, 0, 1]) > 0.01).all()
    assert (states[1:, 0, 3] > 0.02).all()


@pytest.mark.parametrize("corner", [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)])
def test_it_rests_in_a_corner(corner: tuple[float, float]) -> None:
    push = np.array([corner])
    states = trail("pixel_nav", placed((0.5, 0.5)), iter([push] * 40))
    edge = BORDER + AGENT_RADIUS
    expected = [1 - edge if way > 0 else edge for way in corner]
    np.testing.assert_array_equal(states[-5:, 0, COLUMNS["position"]], np.tile(expected, (5, 1)))
    np.testing.assert_array_equal(states[-5:, 0, COLUMNS["velocity"]], 0.0)


def test_it_leaves_a_wall_it_touches() -> None:
    block = TWO_ROOMS.blocks[0]
    states = trail("two_room", placed((block.x_low, 0.2), name="two_room"), iter([-RIGHT] * 3))
    np.testing.assert_allclose(np.diff(states[:, 0, 0]), [-0.01, -0.018, -0.0244], atol=1e-15)


@pytest.mark.parametrize("deep", [-1e-7, 0.0, 1e-7])
def test_a_state_that_was_rounded_stays_outside_the_wall(deep: float) -> None:
    lower, upper = TWO_ROOMS.blocks
    for place, push, column, face in (
        ((lower.x_low + deep, 0.2), (1.0, 0.0), 0, lower.x_low),
        ((upper.x_high - deep, 0.8), (-1.0, 0.0), 0, upper.x_high),
        ((0.5, lower.y_high - deep), (0.0, -1.0), 1, lower.y_high),
        ((0.5, upper.y_low + deep), (0.0, 1.0), 1, upper.y_low),
    ):
        states = trail("two_room", placed(place, name="two_room"), iter([np.array([push])] * 3))
        np.testing.assert_array_equal(states[1:, 0, column], face)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    name=st.sampled_from(sorted(ENVS.keys() & LAYOUTS.keys())),
    seed=st.integers(0, 2**32),
    gain=st.sampled_from([0.01, 0.05, 0.3, 1.0]),
    drag=st.sampled_from([0.0, 0.8, 0.99]),
    wind=st.sampled_from([0.0, 0.02, -0.4]),
    hold=st.sampled_from([1, 5]),
)
def test_it_is_never_in_a_wall_nor_outside(*, name: str, seed: int, gain: float, drag: float, wind: float, hold: int) -> None:
    draws = stream(seed, "walk")
    env = make(name, {"gain": gain, "drag": drag, "wind": wind})
    env.reset(draws, 16)
    pushes = np.repeat(np.sign(draws.uniform((40 // hold, 16, 2), -1, 1)) * draws.uniform((40 // hold, 16, 2)) ** 0.2, hold, axis=0)
    states = trail(name, env.snapshot(), iter(pushes), gain=gain, drag=drag, wind=wind)
    position = states[..., COLUMNS["position"]]
    assert depth(LAYOUTS[name], position).max() <= 1e-12
    for block in LAYOUTS[name].blocks:  # x is swept at the old y, then y at the new x: neither leg passes through
        (x, y), (x_to, y_to) = np.moveaxis(position[:-1], -1, 0), np.moveaxis(position[1:], -1, 0)
        level = (y > block.y_low) & (y < block.y_high)
        assert not (level & (np.minimum(x, x_to) < block.x_high) & (np.maximum(x, x_to) > block.x_low)).any()
        upright = (x_to > block.x_low) & (x_to < block.x_high)
        assert not (upright & (np.minimum(y, y_to) < block.y_high) & (np.maximum(y, y_to) > block.y_low)).any()


def test_the_other_room_is_reached_through_the_door_only() -> None:
    blocked = trail("two_room", placed((0.3, 0.2), name="two_room"), iter([RIGHT] * 30))
    assert blocked[-1, 0, 0] == TWO_ROOMS.blocks[0].x_low
    passed = trail("two_room", placed((0.3, 0.5), name="two_room"), iter([RIGHT] * 30))
    assert passed[-1, 0, 0] > TWO_ROOMS.blocks[0].x_high
