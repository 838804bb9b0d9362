"""What every diagnostic and every extra promises."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from wm_audit.core import AuditError, Measurement, Reason
from wm_audit.data.probe import Counterfactual, Segments
from wm_audit.diagnostics import DIAGNOSTICS, EXTRAS, Diagnostic, Evidence, Parameters, measure_all
from wm_audit.models.protocol import Pixels, State

FAMILY = DIAGNOSTICS | EXTRAS


class Blob:
    """Two members that differ a little; can neither draw nor judge."""

    members = 2

    def initial(self, batch: int) -> State:
        return {"x": torch.zeros(2, batch)}

    def observe(self, state: State, action: torch.Tensor, obs: torch.Tensor) -> State:
        return {"x": obs.float().mean(dim=(1, 2, 3)).repeat(2, 1) / 255.0}

    def imagine(self, state: State, action: torch.Tensor) -> State:
        return {"x": torch.tanh(state["x"] + 0.1 * action[:, 0] + torch.tensor([[0.01], [0.03]]))}


class Able(Blob):
    """Draws and judges; `spoil` is added to every prediction."""

    def __init__(self, spoil: float = 0.0) -> None:
        self.spoil = spoil

    def decode(self, state: State) -> Pixels:
        ramp = torch.linspace(0.2, 0.8, 16).view(1, 1, 1, 1, 16)
        mean = (0.5 + 0.5 * state["x"][..., None, None, None] * ramp).expand(-1, -1, 3, 16, 16) + self.spoil
        return Pixels(mean, torch.full_like(mean, -2.0) + self.spoil)

    def reward(self, state: State) -> torch.Tensor:
        return state["x"].square() + self.spoil


def evidence(model: Any, batch: int = 8) -> Evidence:
    noise = np.random.Generator(np.random.PCG64(7))
    n, tried = 16, 4
    base = noise.integers(0, 200, (n, 1, 1, 1, 1))
    frames = (base + noise.integers(0, 50, (n, 10, 3, 16, 16))).astype(np.uint8)
    action = noise.uniform(-1, 1, (n, 9, 1)).astype(np.float32)
    snapshot, reward = np.zeros((n, 1)), noise.uniform(0, 1, (n, 8))
    ids, blank = np.arange(n), np.zeros((n, 8), np.bool_)
    future = Segments(frames[:, :2], action[:, :1], snapshot, action[:, 1:], frames[:, 2:], reward, blank, ids, ids)
    actions = noise.uniform(-1, 1, (n, tried, 1)).astype(np.float32)
    probe = Counterfactual(frames[:, :2], action[:, :1], snapshot, actions, 2, noise.uniform(0, 1, (n, tried)), ids, ids)
    return Evidence(model, future, probe, Parameters(batch=batch, features={"lpips_frames": 12, "lpips_batch": 4, "filter_seeds": 2}))


@pytest.fixture(scope="module")
def able() -> Evidence:
    return evidence(Able())


@pytest.fixture(params=list(FAMILY.values()), ids=list(FAMILY))
def diagnostic(request: pytest.FixtureRequest) -> Diagnostic:
    found: Diagnostic = request.param
    return found


def test_the_preregistered_slots_stand_in_their_order() -> None:
    assert list(DIAGNOSTICS) == [
        "pixel_mse",
        "pixel_ssim",
        "pixel_nll",
        "pixel_lpips",
        "rollout_fvd",
        "return_ece",
        "counterfactual_tau",
        "uncertainty_rho",
        "uncertainty_ece",
    ]
    groups = {
        name: [item.name for item in DIAGNOSTICS.values() if name in item.groups] for name in ("perceptual", "control", "calibration")
    }
    assert groups == {
        "perceptual": ["pixel_mse", "pixel_ssim", "pixel_nll", "pixel_lpips", "rollout_fvd"],
        "control": ["return_ece", "counterfactual_tau", "uncertainty_rho"],
        "calibration": ["return_ece", "uncertainty_rho", "uncertainty_ece"],
    }


def test_extras_are_named_after_their_slot_and_belong_to_no_group() -> None:
    assert not set(DIAGNOSTICS) & set(EXTRAS)
    assert all(name.split(".")[0] in DIAGNOSTICS and not item.groups for name, item in EXTRAS.items())
    assert {name for item in DIAGNOSTICS.values() for name in item.beside} <= set(EXTRAS)


def test_is_described(diagnostic: Diagnostic) -> None:
    assert FAMILY[diagnostic.name] is diagnostic
    assert diagnostic.unit
    assert diagnostic.source
    assert diagnostic.orientation in {-1, 0, 1}


def test_measures_what_it_declares(diagnostic: Diagnostic, able: Evidence) -> None:
    found = diagnostic.measure(able)
    assert (found.unit, found.orientation) == (diagnostic.unit, diagnostic.orientation)
    assert found.reason in {None, Reason.FEATURE_WEIGHTS_MISSING, Reason.TOO_FEW_SAMPLES}
    assert diagnostic.measure(able) == found, "the same evidence gives the same number"


def test_details_are_json(diagnostic: Diagnostic, able: Evidence) -> None:
    if diagnostic.details is not None:
        found = diagnostic.details(able)
        assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("spoil", [float("nan"), float("inf")])
def test_never_hides_what_is_not_finite(diagnostic: Diagnostic, spoil: float) -> None:
    found = diagnostic.measure(evidence(Able(spoil)))
    if diagnostic.name == "rollout_fvd.split":  # compares real clips only
        return
    assert found.reason in {Reason.NONFINITE_PREDICTION, Reason.FEATURE_WEIGHTS_MISSING}
    assert (found.unit, found.orientation) == (diagnostic.unit, diagnostic.orientation)
    if found.reason is Reason.NONFINITE_PREDICTION:
        assert found.n_dropped > 0


def test_a_missing_capability_has_a_reason(diagnostic: Diagnostic) -> None:
    found = diagnostic.measure(evidence(Blob()))
    if diagnostic.name == "rollout_fvd.split":
        return
    assert found.reason in {Reason.CAPABILITY_MISSING, Reason.NO_REWARD_HEAD, Reason.FEATURE_WEIGHTS_MISSING}
    assert (found.unit, found.orientation) == (diagnostic.unit, diagnostic.orientation)


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_k13_the_batch_moves_nothing_but_rounding(batch: int, diagnostic: Diagnostic, able: Evidence) -> None:
    """torchmetrics#1620: a distance changed with the batch size."""
    other, found = diagnostic.measure(evidence(Able(), batch=batch)), diagnostic.measure(able)
    assert (other.reason, other.n, other.n_dropped) == (found.reason, found.n, found.n_dropped)
    if found.value is not None:
        assert other.value == pytest.approx(found.value, rel=1e-4, abs=1e-7)


def test_all_are_measured_over_one_pass(able: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["return_ece", "pixel_mse", "counterfactual_tau", "pixel_mse.open_loop"]
    rolled: list[int] = []
    roll: Callable[..., Any] = Evidence.rollout.func  # type: ignore[attr-defined]

    def counted(self: Evidence) -> Any:
        rolled.append(1)
        return roll(self)

    monkeypatch.setattr(Evidence.rollout, "func", counted)
    measured, details = measure_all(evidence(Able()), names)
    assert list(measured) == names
    assert len(rolled) == 1
    assert details["coverage"] == {"present": 4, "planned": 4}
    assert set(details) == {"return_ece", "return_ece.rewarded", "counterfactual_tau", "counterfactual_tau.pooled", "coverage"}
    pooled = Measurement.from_json(json.loads(json.dumps(details["counterfactual_tau.pooled"])))
    assert pooled == EXTRAS["counterfactual_tau.pooled"].measure(able)


def test_an_unknown_name_is_refused_before_anything_is_measured() -> None:
    with pytest.raises(AuditError, match="nearest is 'pixel_lpips'"):
        measure_all(evidence(None), ["pixel_mse", "pixel_lpip"])
