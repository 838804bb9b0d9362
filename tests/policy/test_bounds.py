"""What a planner asks about and what an environment executes is one float32 number inside the box."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as trials
from hypothesis import strategies as st

from wm_audit.core import stream
from wm_audit.policy.bounds import Bounds


@trials(deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(1.0, 1e6), st.lists(st.floats(-1e7, 1e7), min_size=1, max_size=5))
def test_inside_gives_float32_numbers_within_the_bounds_asked_for(low: float, width: float, actions: list[float]) -> None:
    box = Bounds.of([low], [low + width])
    inside = box.inside(np.array(actions)[:, None])
    assert (inside >= low).all()
    assert (inside <= low + width).all()
    np.testing.assert_array_equal(inside, inside.astype(np.float32).astype(np.float64))
    np.testing.assert_array_equal(box.inside(inside), inside)


def test_edges_that_are_no_float32_numbers_are_moved_inwards() -> None:
    box = Bounds.of([-0.1], [0.1])  # float32(0.1) is above 0.1
    assert float(np.float32(0.1)) > 0.1
    assert -0.1 < box.low[0] < -0.0999999
    assert 0.0999999 < box.high[0] < 0.1


def test_the_middle_of_a_box_without_zero_is_inside() -> None:
    box = Bounds.of([0.5, -2.0], [1.0, 4.0])
    np.testing.assert_array_equal(box.middle, [0.75, 1.0])


def test_draws_fill_the_box() -> None:
    box, source = Bounds.of([-0.3], [1.1]), stream(0, "draws")
    drawn = np.concatenate([box.draw(source) for _ in range(2000)])
    assert drawn.min() >= -0.3
    assert drawn.max() <= 1.1
    assert abs(drawn.mean() - 0.4) < 4 * 1.4 / np.sqrt(12 * 2000)


@pytest.mark.parametrize(
    ("low", "high"),
    [([0.0], [0.0]), ([1.0], [0.0]), ([0.0, 0.0], [1.0]), ([-np.inf], [0.0]), ([0.0], [np.nan]), ([], []), ([1e6], [1e6 + 0.01])],
)
def test_useless_bounds_are_refused(low: list[float], high: list[float]) -> None:
    with pytest.raises(ValueError, match="low"):
        Bounds.of(low, high)
