"""Pictures, log-variances, rewards and endings of a model at rest."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wm_audit.core import stream
from wm_audit.models.dreamer_lite import Config, DreamerLite
from wm_audit.models.dreamer_lite.cell import bounded, sigmoid, silu
from wm_audit.models.protocol import State

Make = Callable[..., Any]


def somewhere(model: DreamerLite, batch: int = 4, spread: float = 1.0) -> State:
    shape = (model.members, batch, model.config.features)
    drawn = torch.from_numpy(spread * stream(11, "state").normal(shape)).float()
    return {"hidden": drawn[..., : model.config.hidden], "latent": drawn[..., model.config.hidden :]}


@pytest.mark.parametrize("variance", ["pixel", "scalar"])
@pytest.mark.parametrize("spread", [1.0, 100.0])
def test_a_picture_stays_where_intensities_live(variance: str, spread: float, make_config: Make, trainable: Make) -> None:
    model = trainable(make_config(variance=variance)).trained()
    pixels = model.decode(somewhere(model, spread=spread))
    assert pixels.mean.shape == pixels.log_variance.shape == (3, 4, 3, 16, 16)
    assert 0.0 <= float(pixels.mean.min()) <= float(pixels.mean.max()) <= 1.0
    low, high = model.config.log_variance
    assert low <= float(pixels.log_variance.min()) <= float(pixels.log_variance.max()) <= high
    distinct = len(torch.unique(pixels.log_variance[0, 0]))
    assert distinct == 1 if variance == "scalar" else distinct > 700
    assert torch.equal(pixels.log_variance[:, 0], pixels.log_variance[:, -1])


@given(raw=st.floats(-1e30, 1e30), low=st.floats(-20, 5), width=st.floats(1e-3, 20))
@settings(max_examples=50)
def test_a_log_variance_cannot_leave_its_bounds(raw: float, low: float, width: float) -> None:
    found = float(bounded(torch.tensor(raw, dtype=torch.float64), (low, low + width)))
    assert low <= found <= low + width + 1e-9


def test_a_decoder_that_says_nothing_shows_the_centre(config: Config, trainable: Make, centre: np.ndarray[Any, Any]) -> None:
    """With a decoder of zeros the picture is the mean picture, pixel by pixel in its place."""
    model = trainable(config).trained()
    silent = {name: torch.zeros_like(item) if name.startswith("decoder.") else item for name, item in model.weights.items()}
    quiet = model.reweighted(silent, model.product)
    assert torch.equal(quiet.decode(somewhere(model)).mean, torch.from_numpy(centre).expand(3, 4, 3, 16, 16))


def test_the_picture_is_the_one_the_loss_compares(config: Config, trainable: Make, centre: np.ndarray[Any, Any]) -> None:
    """Decoded by hand from the tokens: weight, bias, centre, clamp, in the order of the patches of a picture."""
    model = trainable(config).trained()
    state = somewhere(model)
    pixels = model.decode(state)
    features = torch.cat([state["hidden"], state["latent"]], dim=-1).double()
    w = {name: item.double() for name, item in model.weights.items()}
    for k in range(3):
        inner = torch.nn.functional.silu(features[k] @ w["decoder.in_w"][k] + w["decoder.in_b"][k])
        tokens = torch.nn.functional.silu(inner @ w["decoder.tokens_w"][k] + w["decoder.tokens_b"][k])
        rows = torch.stack([z.view(config.patches, -1) @ w["decoder.patch_w"][k] + w["decoder.patch_b"][k] for z in tokens])
        rows = (rows + torch.from_numpy(to_patches_of(centre, config.patch))).clamp(0.0, 1.0)
        drawn = torch.from_numpy(np.stack([to_patches_of(image, config.patch) for image in pixels.mean[k].numpy()]))
        torch.testing.assert_close(drawn.double(), rows, rtol=1e-4, atol=1e-5)


def to_patches_of(image: np.ndarray[Any, Any], patch: int) -> np.ndarray[Any, Any]:
    """(C, h, w) -> (P, V) by two loops."""
    _, h, w = image.shape
    return np.stack([image[:, i : i + patch, j : j + patch].reshape(-1) for i in range(0, h, patch) for j in range(0, w, patch)])


def test_predictions_carry_no_gradient_and_are_the_same_twice(config: Config, trainable: Make) -> None:
    model = trainable(config).trained()
    obs = torch.from_numpy(stream(12).integers(256, (4, 3, 16, 16)).astype(np.uint8))
    action = torch.from_numpy(stream(13).uniform((4, 2), -1, 1)).float()

    def everything() -> list[torch.Tensor]:
        seen = model.observe(model.initial(4), action, obs)
        ahead = model.imagine(seen, action)
        return [*seen.values(), *ahead.values(), *model.decode(ahead), model.reward(ahead), model.continues(ahead)]

    for one, other in zip(everything(), everything(), strict=True):
        assert torch.equal(one, other)
        assert not one.requires_grad


def test_training_on_leaves_the_finished_model_alone(config: Config, trainable: Make) -> None:
    learner = trainable(config)
    model = learner.trained()
    before = {name: item.clone() for name, item in model.weights.items()}
    with torch.no_grad():
        learner.parameters.add_(1.0)
    assert all(torch.equal(before[name], item) for name, item in model.weights.items())


def test_the_probability_of_going_on_is_one(config: Config, trainable: Make) -> None:
    model = trainable(config).trained()
    for spread in (1.0, 1000.0):
        chance = model.continues(somewhere(model, spread=spread))
        assert chance.shape == (3, 4)
        assert 0.0 <= float(chance.min()) <= float(chance.max()) <= 1.0
        assert bool(torch.isfinite(chance).all())


def test_gates_are_the_same_with_and_without_gradients() -> None:
    """The two routines agree to rounding, from one end of float32 to the other."""
    x = torch.cat([torch.linspace(-30, 30, 4001), torch.tensor([-3e38, -1e4, -100.0, -89.0, 0.0, 89.0, 1e4, 3e38])])
    with torch.no_grad():
        calm = sigmoid(x), silu(x)
    torch.testing.assert_close(calm[0], torch.sigmoid(x), rtol=1e-6, atol=1e-37)
    torch.testing.assert_close(calm[1], torch.nn.functional.silu(x), rtol=1e-6, atol=1e-35)
    leaf = x.clone().requires_grad_()
    assert torch.equal(sigmoid(leaf), torch.sigmoid(x))
    (gradient,) = torch.autograd.grad(silu(leaf).sum(), [leaf])
    assert bool(torch.isfinite(gradient).all())


@pytest.mark.parametrize("function", [sigmoid, silu], ids=lambda f: f.__name__)
def test_k35_a_gate_does_not_look_at_its_neighbours(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Any length, any offset: the same bits as in the whole."""
    x = torch.from_numpy(4.0 * stream(14).normal(2000)).float()
    with torch.inference_mode():
        whole = function(x)
        for length in (*range(1, 41), 63, 64, 65, 129, 1000):
            for offset in (0, 1, 5, 16, 31, 500):
                assert torch.equal(function(x[offset : offset + length].clone()), whole[offset : offset + length]), (length, offset)
