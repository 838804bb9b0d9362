"""Claims about the shared predictions: their time, their shapes, and that a row's batch cannot move it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from wm_audit.core import AuditError
from wm_audit.diagnostics.evidence import Evidence
from wm_audit.diagnostics.parameters import Parameters
from wm_audit.diagnostics.rollout import Forecast, padded

Make = Callable[..., Any]


def fields_of(found: Evidence) -> list[Any]:
    forecasts: list[Forecast] = [found.rollout.one_step, found.rollout.open_loop]
    assert found.imagined is not None
    return [item for f in forecasts for item in (f.mean, f.nll, f.reward)] + [found.imagined.reward]


def test_shapes_and_types(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("walker", world, drift=(0.0, 1.0, 2.0), log_variance=0.0))
    assert found.one_step_mean.shape == found.open_loop_mean.shape == (3, 24, 5, 3, 16, 16)
    assert found.one_step_mean.dtype == found.real.dtype == found.context_frames.dtype == np.float32
    assert (found.real.shape, found.context_frames.shape) == ((24, 5, 3, 16, 16), (24, 3, 3, 16, 16))
    assert found.rollout.open_loop.reward.shape == found.rollout.open_loop.nll.shape == (3, 24, 5)
    assert found.rollout.open_loop.reward.dtype == np.float64
    assert found.rollout.open_loop.continues is None
    assert found.imagined.reward.shape == (3, 6, 5)


def test_the_precision_of_the_rewards_sets_the_tolerance_of_ties(model: Make, evidence: Make, world: Any) -> None:
    single, double = (evidence(model(kind, world), rtol_float32=1e-5, rtol_float64=1e-13) for kind in ("dense", "walker"))
    assert (single.reward_rtol, double.reward_rtol) == (1e-5, 1e-13)


def test_the_first_step_is_the_same_in_both_loops(model: Make, evidence: Make, world: Any) -> None:
    found = evidence(model("dense", world))
    assert np.array_equal(found.one_step_mean[:, :, 0], found.open_loop_mean[:, :, 0])
    assert np.array_equal(found.rollout.one_step.reward[:, :, 0], found.rollout.open_loop.reward[:, :, 0])


def test_a_prediction_is_made_before_its_frame_is_seen(model: Make, evidence: Make, world: Any) -> None:
    """Changing the last frame changes no prediction; changing the first changes the one-step predictions after it only."""
    segments = world.segments()
    late, early = segments.obs.copy(), segments.obs.copy()
    late[:, -1], early[:, 0] = 9, 9
    plain, last, first = (evidence(model("walker", world), segments=segments._replace(obs=obs)) for obs in (segments.obs, late, early))
    assert np.array_equal(plain.one_step_mean, last.one_step_mean)
    assert np.array_equal(plain.open_loop_mean, first.open_loop_mean)
    assert np.array_equal(plain.one_step_mean[:, :, [0, 2, 3, 4]], first.one_step_mean[:, :, [0, 2, 3, 4]])
    assert not np.array_equal(plain.one_step_mean[:, :, 1], first.one_step_mean[:, :, 1])


def test_padding_repeats_the_last_row() -> None:
    assert [(rows, list(picked)) for rows, picked in padded(5, 3)] == [(slice(0, 3), [0, 1, 2]), (slice(3, 5), [3, 4, 4])]
    assert list(padded(0, 3)) == []


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_the_batch_moves_no_number_of_an_elementwise_model(batch: int, model: Make, evidence: Make, world: Any) -> None:
    walker = model("walker", world, drift=(0.5, -0.25), log_variance=-1.0)
    for found, expected in zip(fields_of(evidence(walker, batch=batch)), fields_of(evidence(walker, batch=8)), strict=True):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_the_batch_moves_matrix_products_by_rounding_only(batch: int, model: Make, evidence: Make, world: Any) -> None:
    dense = model("dense", world)
    for found, expected in zip(fields_of(evidence(dense, batch=batch)), fields_of(evidence(dense, batch=8)), strict=True):
        assert np.allclose(found, expected, rtol=0.0, atol=3e-6)


def test_k13_a_segment_is_predicted_the_same_in_any_company(model: Make, evidence: Make, world: Any) -> None:
    """Under one locked batch, bit for bit: alone, among 7, among 24."""
    dense, segments = model("dense", world), world.segments()
    whole = fields_of(evidence(dense, segments=segments))[:-1]
    for n in (1, 7):
        some = type(segments)(*(item[:n] for item in segments))
        for found, expected in zip(fields_of(evidence(dense, segments=some))[:-1], whole, strict=True):
            assert np.array_equal(found, expected[:, :n])


def test_the_shared_pass_runs_once(model: Make, evidence: Make, world: Any) -> None:
    walker = model("walker", world)
    calls: list[int] = []
    imagine = walker.imagine

    def counted(state: Any, action: torch.Tensor) -> Any:
        calls.append(len(action))
        return imagine(state, action)

    walker.imagine = counted
    found = evidence(walker)
    for _ in range(3):
        assert found.real.size
        assert found.one_step_mean.size
        assert found.open_loop_mean.size
    assert calls == [8] * 3 * (5 + 4)  # three batches of eight; step 0 is shared


def test_evidence_is_frozen(model: Make, evidence: Make, world: Any) -> None:
    with pytest.raises(AttributeError):
        evidence(model("walker", world)).model = None


@pytest.mark.parametrize(("method", "wrong"), [("reward", torch.zeros(1)), ("reward", torch.zeros(8, 1))])
def test_a_prediction_of_the_wrong_shape_is_refused(method: str, wrong: torch.Tensor, model: Make, evidence: Make, world: Any) -> None:
    walker = model("walker", world)
    setattr(walker, method, lambda _: wrong)
    with pytest.raises(AuditError, match="returned a tensor of shape"):
        assert evidence(walker).rollout


def test_images_are_refused_from_a_model_that_draws_none(model: Make, evidence: Make, world: Any) -> None:
    with pytest.raises(AuditError, match="does not decode"):
        assert evidence(model("bare", world)).one_step_mean.size


@pytest.mark.parametrize("entry", [{"batch": 0}, {"bins": 0}, {"rtol_float32": -1.0}, {"rtol_float64": 1.0}, {"batches": 3}])
def test_wrong_parameters_are_refused(entry: dict[str, Any]) -> None:
    with pytest.raises(AuditError, match="diagnostics"):
        Parameters.read(entry)


def test_parameters_keep_their_defaults() -> None:
    assert Parameters.read({"bins": 5}) == Parameters(bins=5)
