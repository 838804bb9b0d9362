"""Claims about the three pixel diagnostics, on a world whose frames are known."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from wm_audit.core import Measurement, Reason
from wm_audit.diagnostics import pixel_mse, pixel_nll, pixel_ssim
from wm_audit.diagnostics.evidence import Evidence

Make = Callable[..., Any]


def value(found: Measurement) -> float:
    assert found.value is not None, found.reason
    return found.value


MODULES = [pixel_mse, pixel_nll, pixel_ssim]


def test_a_model_that_knows_everything_is_perfect(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("oracle", world, log_variance=-2.0))
    for loop in ("measure", "measure_open_loop"):
        assert getattr(pixel_mse, loop)(found).value == pytest.approx(0.0, abs=1e-14)
        assert getattr(pixel_ssim, loop)(found).value == pytest.approx(1.0, abs=1e-12)
        assert getattr(pixel_nll, loop)(found).value == pytest.approx(0.5 * (math.log(2 * math.pi) - 2.0), rel=1e-12)


def test_a_constant_error_is_its_square(model: Make, evidence: Make, world: Any) -> None:
    found = pixel_mse.measure(evidence(model("walker", world, pixel_error=(0.25,))))
    assert found.value == pytest.approx(0.0625, rel=1e-5)
    assert (found.n, found.n_dropped, found.orientation) == (24, 0, -1)
    assert found.se == pytest.approx(0.0, abs=1e-8)


def test_one_step_sees_every_frame_and_open_loop_sees_none(model: Make, evidence: Make, world: Any) -> None:
    """A drift of 1 a step: always 1 off one step ahead, t off in the dream; the position fills one channel of three."""
    found = evidence(model("walker", world, drift=(1.0,)))
    unit = (1 / 255) ** 2 / 3
    assert pixel_mse.measure(found).value == pytest.approx(unit, rel=1e-4)
    assert pixel_mse.measure_open_loop(found).value == pytest.approx(unit * np.mean([1, 4, 9, 16, 25]), rel=1e-4)


@pytest.mark.parametrize("module", MODULES)
def test_errors_that_add_up_are_worse_in_the_dream(module: Any, model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("walker", world, drift=(2.0,), log_variance=-6.0))
    assert module.ORIENTATION * (value(module.measure(found)) - value(module.measure_open_loop(found))) > 0.0


def test_the_standard_error_is_that_of_the_segments(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("walker", world, gain=0.0, drift=(0.0, 2.0)))
    assert isinstance(found, Evidence)
    squares = np.square(found.one_step_mean.astype(np.float64) - found.real).mean(axis=(0, 2, 3, 4, 5))
    number = pixel_mse.measure(found)
    assert number.value == pytest.approx(squares.mean(), rel=1e-12)
    assert number.se == pytest.approx(squares.std(ddof=1) / math.sqrt(24), rel=1e-9)


def test_one_segment_has_no_standard_error(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("walker", world), segments=world.segments(n=1))
    assert pixel_mse.measure(found).se is None
    assert pixel_mse.measure(found).n == 1


def test_members_are_averaged_not_merged(model: Make, evidence: Make, world: Any) -> None:
    """Errors of +0.1 and -0.1 cancel in the mean picture but are both errors."""
    found = pixel_mse.measure(evidence(model("walker", world, drift=(0.0, 0.0), pixel_error=(0.1, -0.1))))
    assert found.value == pytest.approx(0.01, rel=1e-4)


def test_equal_members_give_exactly_the_number_of_one(model: Make, evidence: Make, world: Any) -> None:
    one = evidence(model("walker", world, drift=(0.7,), pixel_error=(0.03,), log_variance=-3.0))
    three = evidence(model("walker", world, drift=(0.7,) * 3, pixel_error=(0.03,) * 3, log_variance=-3.0))
    assert [m.measure(one) for m in MODULES] == [m.measure(three) for m in MODULES]


@pytest.mark.parametrize("module", MODULES)
def test_lead_member_only_is_caught(module: Any, model: Make, evidence: Make, world: Any) -> None:
    """A second member that is worse must show, and the order of members must not."""
    forward = module.measure(evidence(model("walker", world, drift=(0.0, 3.0), log_variance=-3.0)))
    backward = module.measure(evidence(model("walker", world, drift=(3.0, 0.0), log_variance=-3.0)))
    lead = module.measure(evidence(model("walker", world, drift=(0.0,), log_variance=-3.0)))
    assert forward.value == pytest.approx(backward.value, rel=1e-12)
    assert abs(forward.value - lead.value) > 1e-6


@pytest.mark.parametrize("module", MODULES)
def test_a_model_that_cannot_draw_has_no_pixel_numbers(module: Any, model: Make, evidence: Make, world: Any) -> None:
    for loop in ("measure", "measure_open_loop"):
        found: Measurement = getattr(module, loop)(evidence(model("judging", world)))
        assert found.reason is Reason.CAPABILITY_MISSING
        assert (found.unit, found.orientation) == (module.UNIT, module.ORIENTATION)


def test_without_a_variance_there_is_no_likelihood_but_an_error(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("walker", world))
    assert pixel_nll.measure(found).reason is Reason.CAPABILITY_MISSING
    assert pixel_mse.measure(found).value is not None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("module", MODULES)
def test_a_value_that_is_not_finite_ends_the_measurement(module: Any, bad: float, model: Make, evidence: Make, world: Any) -> None:
    """One member broken: every segment is; nothing is computed from the healthy one."""
    found = module.measure(evidence(model("walker", world, drift=(0.0, 0.0), pixel_error=(0.0, bad), log_variance=-1.0)))
    assert (found.value, found.reason, found.n, found.n_dropped) == (None, Reason.NONFINITE_PREDICTION, 0, 24)


def test_an_overflowing_likelihood_is_not_a_number(model: Make, evidence: Make, world: Any) -> None:
    found = pixel_nll.measure(evidence(model("walker", world, pixel_error=(0.1,), log_variance=-1e4)))
    assert found.reason is Reason.NONFINITE_PREDICTION


def test_small_images_have_no_ssim(model: Make, evidence: Make, make_world: Make) -> None:
    found = evidence(model("walker", make_world(size=8)))
    assert pixel_ssim.measure(found).reason is Reason.IMAGE_TOO_SMALL
    assert pixel_mse.measure(found).value is not None


def test_images_are_clipped_where_an_image_is_asked_and_nowhere_else(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("walker", world, pixel_error=(-2.0,)))
    assert (found.one_step_mean.min(), found.one_step_mean.max()) == (0.0, 0.0)
    assert -1.0 < value(pixel_ssim.measure(found)) < 1.0
    assert pixel_mse.measure(found).value == pytest.approx(4.0, rel=1e-4)


def test_pictures_need_no_action_one_step_ahead(model: Make, evidence: Make, world: Any) -> None:
    """Why pixel fidelity may mislead: a model blind to actions is off by at most one action in a frame it has just seen."""
    assert value(pixel_mse.measure(evidence(model("walker", world, gain=0.0)))) < 1e-4
    assert value(pixel_ssim.measure(evidence(model("walker", world, gain=0.0)))) > 0.99
