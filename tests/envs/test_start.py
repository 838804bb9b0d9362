"""How episodes begin."""

import numpy as np
import pytest

from wm_audit.core import stream
from wm_audit.envs import Floats, make
from wm_audit.envs.pixel_nav import COLUMNS, OPEN, TWO_ROOMS, WIDTH, Layout
from wm_audit.envs.pixel_nav.layout import CLEARANCE, Box
from wm_audit.envs.pixel_nav.state import DRIFT_RANGE

N = 2000


@pytest.fixture(scope="module", params=[OPEN, TWO_ROOMS], ids=lambda layout: layout.id)
def begun(request: pytest.FixtureRequest) -> tuple[Layout, Floats]:
    env = make(request.param.id, {"image": 16})
    env.reset(stream(1, "start"), N)
    return request.param, env.snapshot()


def test_columns_cover_the_state() -> None:
    covered = [index for part in COLUMNS.values() for index in range(part.start, part.stop)]
    assert covered == list(range(WIDTH))


def test_everything_starts_where_it_may(begun: tuple[Layout, Floats]) -> None:
    layout, state = begun
    first, second = state[:, COLUMNS["goals"]][:, :2], state[:, COLUMNS["goals"]][:, 2:]
    assert inside(layout.start, state[:, COLUMNS["position"]]).all()
    assert inside(layout.goals[0], first).all()
    assert inside(layout.goals[1], second).all()
    np.testing.assert_array_equal(state[:, COLUMNS["velocity"]], 0.0)
    np.testing.assert_array_equal(state[:, COLUMNS["step"]], 0.0)
    for goal in (first, second):
        assert np.hypot(*(state[:, COLUMNS["position"]] - goal).T).min() >= CLEARANCE
    assert np.hypot(*(first - second).T).min() > 2 * 0.12  # the largest goals do not overlap


def test_the_coin_is_fair_and_alone(begun: tuple[Layout, Floats]) -> None:
    _, state = begun
    paying = state[:, COLUMNS["paying"].start]
    assert set(paying) == {0.0, 1.0}
    assert abs(paying.mean() - 0.5) < 4 * 0.5 / np.sqrt(N)
    numbers = np.delete(state, [*range(2, 5), COLUMNS["paying"].start], axis=1)
    correlation = np.corrcoef(numbers, paying, rowvar=False)[-1, :-1]
    assert np.abs(correlation).max() < 4.5 / np.sqrt(N)


def test_the_drift_is_slow_and_never_still(begun: tuple[Layout, Floats]) -> None:
    _, state = begun
    drift = state[:, COLUMNS["drift"]]
    assert np.abs(drift).min() >= DRIFT_RANGE[0]
    assert np.abs(drift).max() <= DRIFT_RANGE[1]
    assert abs((drift > 0).mean() - 0.5) < 4 * 0.5 / np.sqrt(drift.size)
    phase = state[:, COLUMNS["phase"]]
    assert phase.min() >= 0
    assert phase.max() < 1


def test_settings_do_not_change_what_is_drawn() -> None:
    states = []
    for settings in ({}, {"distractor": "none"}, {"cue": "none"}, {"reward": "sparse", "terminal": "goal", "goal_radius": 0.05}):
        env = make("two_room", settings)
        env.reset(stream(2, "common"), 20)
        states.append(env.snapshot())
    for other in states[1:]:
        np.testing.assert_array_equal(states[0], other)


def inside(box: Box, places: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    low, high = np.array([box.x_low, box.y_low]), np.array([box.x_high, box.y_high])
    return np.asarray(((places >= low) & (places <= high)).all(axis=1), dtype=np.bool_)
