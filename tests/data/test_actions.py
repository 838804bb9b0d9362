from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wm_audit.core import AuditError
from wm_audit.data.actions import bounds, executable
from wm_audit.envs.protocol import EnvSpec, Oracle


def spec_with(low: float, high: float) -> EnvSpec:
    return EnvSpec("x", (3, 8, 8), (low,), (high,), 5, 0.1, "dense", "none", "none", "r")


@given(low=st.floats(-10, 10), width=st.floats(1e-3, 10), action=st.floats(-1e6, 1e6))
def test_executable_actions_are_float32_inside_the_bounds(low: float, width: float, action: float) -> None:
    spec = spec_with(low, low + width)
    done = executable(np.array([[action]]), spec)
    assert done.dtype == np.float32
    assert low <= float(done[0, 0]) <= low + width
    assert np.array_equal(executable(done.astype(np.float64), spec), done)
    if low <= action <= low + width:
        assert abs(float(done[0, 0]) - action) <= np.spacing(np.float32(abs(action))) * 1.5


def test_bounds_without_a_float32_are_rounded_inwards() -> None:
    assert float(np.float32(0.1)) > 0.1
    assert float(executable(np.array([1.0]), spec_with(-0.1, 0.1))[0]) < 0.1
    assert float(executable(np.array([-1.0]), spec_with(-0.1, 0.1))[0]) > -0.1


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_actions_that_are_not_finite_are_refused(value: float, make_world: Callable[..., Oracle]) -> None:
    with pytest.raises(AuditError, match="not finite"):
        executable(np.array([[0.0, value]]), make_world().spec)


@pytest.mark.parametrize(("low", "high"), [((-np.inf,), (1.0,)), ((1.0,), (1.0,)), ((0.0, 0.0), (1.0,))])
def test_unusable_bounds_are_refused(low: tuple[float, ...], high: tuple[float, ...]) -> None:
    with pytest.raises(AuditError, match="bounds"):
        bounds(replace(spec_with(0, 1), action_low=low, action_high=high))
