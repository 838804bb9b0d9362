"""One training step up to the gradient, as one function of tensors: arranged, run forward and back, and compiled as a whole."""

from typing import NamedTuple

import torch
from torch import Tensor

from wm_audit.models.dreamer_lite.config import Config
from wm_audit.models.dreamer_lite.loss import Losses, Sequences, losses
from wm_audit.models.dreamer_lite.patches import centred


class Window(NamedTuple):
    """A training batch as it is drawn, batch before time.

    Attributes:
        obs: pictures as patches (K, B, T, P, V) uint8.
        action: (K, B, T, A), the action that led to obs[t].
        reward: (K, B, T), received on arriving at obs[t].
        is_first: (K, B, T), obs[t] begins an episode.
        terminal: (K, B, T), the world ended at obs[t].
        noise: (K, T, B, D), standard normal, for the latent samples.
    """

    obs: Tensor
    action: Tensor
    reward: Tensor
    is_first: Tensor
    terminal: Tensor
    noise: Tensor


def arranged(window: Window, centre: Tensor) -> Sequences:
    """The batch as the loss wants it, time before batch, pictures minus their `centre` (P, V)."""
    k, b, t, p, v = window.obs.shape
    pictures = window.obs.permute(0, 3, 2, 1, 4).to(torch.float32, memory_format=torch.contiguous_format, copy=True)
    return Sequences(
        centred(pictures, centre.view(1, p, 1, 1, v)).view(k, p, t * b, v),
        _time_first(window.action),
        _time_first(window.reward),
        1.0 - _time_first(window.is_first).unsqueeze(-1),
        _time_first(window.terminal),
        window.noise,
    )


def gradient(flat: Tensor, window: Window, centre: Tensor, config: Config) -> tuple[Losses, Tensor]:
    """Losses per member, and their gradient in nats per channel value, so that step sizes do not depend on the picture's size.

    Args:
        flat: all parameters (K, n).
        window: the batch.
        centre: mean picture of the training data as patches (P, V), in [0, 1].
        config: sizes and loss weights.

    Returns:
        the losses, detached, and (K, n).
    """
    leaf = flat.detach().requires_grad_()
    found = losses(leaf, arranged(window, centre), config)
    (pull,) = torch.autograd.grad(found.total.sum() / (config.patches * config.values), [leaf])
    return Losses(*(part.detach() for part in found)), pull


def _time_first(x: Tensor) -> Tensor:
    """(K, B, T, ...) -> (K, T, B, ...) float32."""
    return x.transpose(1, 2).to(torch.float32).contiguous()
