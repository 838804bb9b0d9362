"""What training runs in a few large products is the cell, one step at a time, and the state that evaluation sees."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from wm_audit.core import stream
from wm_audit.models.dreamer_lite import Config, Trainable
from wm_audit.models.dreamer_lite.cell import Gaussian, advance, decoder_tokens, embed, posterior
from wm_audit.models.dreamer_lite.columns import embed_columns, token_columns
from wm_audit.models.dreamer_lite.gradient import arranged
from wm_audit.models.dreamer_lite.layout import unpack
from wm_audit.models.dreamer_lite.loss import Losses, Sequences, losses, unroll
from wm_audit.models.dreamer_lite.patches import from_patches

Make = Callable[..., Any]


def run(flat: Tensor, batch: Sequences, config: Config) -> tuple[Tensor, Tensor, Gaussian]:
    weights = unpack(flat, config)
    return unroll(embed_columns(batch.rows, weights), batch, weights, config)


def stepwise(flat: Tensor, batch: Sequences, config: Config) -> tuple[Tensor, Tensor, Gaussian]:
    """The same from `cell.advance` and `cell.posterior`, resetting by hand where an episode begins."""
    weights = unpack(flat, config)
    k, steps, size, _ = batch.action.shape
    rows = batch.rows.view(k, config.patches, steps, size, config.values)
    hidden, sample = flat.new_zeros(k, size, config.hidden), flat.new_zeros(k, size, config.stoch)
    record: tuple[list[Tensor], ...] = ([], [], [], [])
    for t in range(steps):
        action = batch.action[:, t].clone()
        for b in range(size):
            if batch.keep[0, t, b, 0] == 0:
                hidden[:, b], sample[:, b], action[:, b] = 0.0, 0.0, 0.0
        hidden = advance(hidden, sample, action, weights)
        belief = posterior(hidden, embed(rows[:, :, t], weights), weights, config.min_std)
        sample = belief.mean + belief.std * batch.noise[:, t]
        for kept, item in zip(record, (hidden, sample, *belief), strict=True):
            kept.append(item)
        hidden, sample = hidden.clone(), sample.clone()
    stacked = [torch.stack(item, dim=1) for item in record]
    return stacked[0], stacked[1], Gaussian(stacked[2].view(k, steps * size, -1), stacked[3].view(k, steps * size, -1))


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_the_unrolled_loss_is_the_cell_step_by_step(steps: int, config: Config, parameters: Make, sequences: Make) -> None:
    flat, batch = parameters(config, dtype=torch.float64), sequences(config, steps=steps)
    ours, theirs = run(flat, batch, config), stepwise(flat, batch, config)
    for one, other in zip((*ours[:2], *ours[2]), (*theirs[:2], *theirs[2]), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)
    assert ours[2].std.min() >= config.min_std


def test_k17_two_episodes_in_one_sequence_are_two_apart(config: Config, parameters: Make, sequences: Make) -> None:
    """States and losses of the halves, and the loss of the whole as their mean."""
    flat, batch = parameters(config, dtype=torch.float64), sequences(config, steps=6, batch=2)
    keep = torch.ones_like(batch.keep)
    keep[:, [0, 3]] = 0.0
    batch = batch._replace(keep=keep, reward=batch.reward * keep[..., 0])
    halves = [piece(batch, config, slice(0, 3)), piece(batch, config, slice(3, 6))]
    whole = run(flat, batch, config)
    apart = [run(flat, half, config) for half in halves]
    for one, *others in zip((*whole[:2], *whole[2]), *((*item[:2], *item[2]) for item in apart), strict=True):
        torch.testing.assert_close(one, torch.cat(others, dim=1), rtol=1e-12, atol=1e-12)
    together = losses(flat, batch, config)
    parts = [losses(flat, half, config) for half in halves]
    for name in Losses._fields[:5]:
        mean = 0.5 * (getattr(parts[0], name) + getattr(parts[1], name))
        torch.testing.assert_close(getattr(together, name), mean, rtol=1e-10, atol=1e-10)


def piece(batch: Sequences, config: Config, time: slice) -> Sequences:
    k, steps, size, _ = batch.action.shape
    rows = batch.rows.view(k, config.patches, steps, size, config.values)[:, :, time].reshape(k, config.patches, -1, config.values)
    return Sequences(rows, *(item[:, time].contiguous() for item in batch[1:]))


def test_k17_not_a_bit_crosses_the_start_of_an_episode(config: Config, parameters: Make, sequences: Make) -> None:
    """Other pictures, actions and noise before the boundary, and an action at it: every later state is the same number."""
    flat, batch = parameters(config), sequences(config, steps=6, batch=2, dtype=torch.float32)
    keep = torch.ones_like(batch.keep)
    keep[:, [0, 3]] = 0.0
    batch = batch._replace(keep=keep)
    rows = batch.rows.clone().view(3, config.patches, 6, 2, config.values)
    action, noise = batch.action.clone(), batch.noise.clone()
    rows[:, :, :3] += 1.0
    action[:, :4] -= 2.0
    noise[:, :3] *= -3.0
    other = batch._replace(rows=rows.view_as(batch.rows), action=action, noise=noise)
    one, two = run(flat, batch, config), run(flat, other, config)
    assert not torch.equal(one[0][:, :3], two[0][:, :3])
    assert torch.equal(one[0][:, 3:], two[0][:, 3:])
    assert torch.equal(one[1][:, 3:], two[1][:, 3:])
    open_ended = other._replace(keep=torch.ones_like(keep))
    assert not torch.equal(one[0][:, 3:], run(flat, open_ended, config)[0][:, 3:])


@pytest.mark.parametrize("steps", [1, 4])
def test_evaluation_follows_the_states_of_training_without_noise(steps: int, config: Config, trainable: Make, batch: Make) -> None:
    """`DreamerLite.observe` along the pictures of a batch, from uint8, against the unrolled loss with its noise at zero."""
    learner: Trainable = trainable(config)
    data = batch(config, steps=steps)
    drawn = arranged(learner.window(data, torch.Generator().manual_seed(0)), learner.centre)
    hidden, sample, _ = run(learner.parameters, drawn._replace(noise=torch.zeros_like(drawn.noise)), config)
    model = learner.trained()
    for k in range(3):
        state = model.initial(data.obs.shape[1])
        for t in range(steps):
            obs = from_patches(torch.from_numpy(data.obs[k, :, t]), config.image, config.patch)
            state = model.observe(state, torch.from_numpy(data.action[k, :, t]), obs)
            torch.testing.assert_close(state["hidden"][k], hidden[k, t].detach(), rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(state["latent"][k], sample[k, t].detach(), rtol=1e-4, atol=1e-5)


def test_k19_training_and_evaluation_see_the_same_floats(config: Config, trainable: Make, batch: Make) -> None:
    """Every shade from 0 to 255, minus the centre, to the last bit."""
    learner: Trainable = trainable(config)
    shades = np.arange(3 * 2 * 256, dtype=np.int64).reshape(3, 2, 256) % 256
    data = batch(config, size=1, steps=2)
    images = np.stack([shades.reshape(3, 2, 16, 16).transpose(1, 0, 2, 3)] * 3)  # (K, T, C, h, w)
    data.obs = learner.arrange(images.reshape(6, 3, 16, 16).astype(np.uint8)).reshape(3, 1, 2, config.patches, config.values)
    seen = arranged(learner.window(data, torch.Generator().manual_seed(0)), learner.centre)
    heard: list[Tensor] = []

    def product(x: Tensor, weight: Tensor) -> Tensor:
        heard.append(x)
        return torch.bmm(x, weight)

    model = learner.trained()
    model.reweighted(model.weights, product).observe(model.initial(2), torch.zeros(2, 2), torch.from_numpy(images[0].astype(np.uint8)))
    rows = next(item for item in heard if item.shape[-1] == config.values)
    assert torch.equal(rows.view(3, config.patches, 2, config.values), seen.rows)
    assert len(torch.unique(seen.rows + learner.centre.view(1, config.patches, 1, -1))) >= 256


def test_observing_leaves_the_picture_as_it_was(make_config: Make, trainable: Make) -> None:
    """Also where one patch is the picture and nothing needs to be rearranged."""
    config = make_config(patch=16)
    model = trainable(config).trained()
    obs = torch.full((2, 3, 16, 16), 7.0)
    model.observe(model.initial(2), torch.zeros(2, 2), obs)
    assert torch.equal(obs, torch.full_like(obs, 7.0))


def test_columns_are_what_evaluation_computes(config: Config, parameters: Make, sequences: Make) -> None:
    """Training's layout of pictures and tokens against the cell's, which evaluation uses."""
    weights, batch = unpack(parameters(config, dtype=torch.float64), config), sequences(config)
    k, p, n, _ = batch.rows.shape
    embedding = embed(batch.rows, weights)
    torch.testing.assert_close(embed_columns(batch.rows, weights).transpose(1, 2), embedding, rtol=1e-12, atol=1e-12)
    features = torch.from_numpy(stream(11).normal((k, n, config.features)))
    tokens = decoder_tokens(features, weights).view(k, n, p, -1).permute(0, 2, 3, 1)
    torch.testing.assert_close(token_columns(features, weights, p), tokens, rtol=1e-12, atol=1e-12)
