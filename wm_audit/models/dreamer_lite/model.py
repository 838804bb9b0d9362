"""dreamer_lite: an ensemble of K recurrent state-space models that live in one tensor.

In training the latents are sampled; in evaluation they are propagated by their means, so that a prediction is a function
of what was seen.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.core import Stream
from wm_audit.models.dreamer_lite.cell import (
    Product,
    advance,
    bounded,
    decoder_tokens,
    dense,
    embed,
    head,
    posterior,
    prior,
    sigmoid,
)
from wm_audit.models.dreamer_lite.config import Config
from wm_audit.models.dreamer_lite.gradient import Window, gradient
from wm_audit.models.dreamer_lite.layout import initialise, unpack
from wm_audit.models.dreamer_lite.loss import Losses
from wm_audit.models.dreamer_lite.patches import centred, from_patches, patch_tensor, to_patches
from wm_audit.models.protocol import Pixels, State

Step = Callable[[Tensor, Window, Tensor, Config], tuple[Losses, Tensor]]


class DreamerLite:
    """A `WorldModel` that also decodes, predicts rewards and continuation, and can be trained.

    Args:
        config: sizes and loss weights.
        weights: named weights (K, ...); matrices may be compressed ones, then `product` multiplies them.
        centre: the mean picture of the training data as patches (P, V), in [0, 1].
        product: multiplies activations (K, B, in) with a matrix of `weights`.
    """

    def __init__(self, config: Config, weights: Mapping[str, Any], centre: Tensor, product: Product = dense) -> None:
        self.config, self.weights, self.centre, self.product = config, weights, centre, product

    @property
    def members(self) -> int:
        """K."""
        return int(self.weights["encoder.out_b"].shape[0])

    def reweighted(self, weights: Mapping[str, Any], product: Product) -> "DreamerLite":
        """The same model with other weights under the same names, multiplied by `product`: a compressed twin."""
        return DreamerLite(self.config, weights, self.centre, product)

    def initial(self, batch: int) -> State:
        """Zero state: nothing was seen."""
        zeros = torch.zeros(self.members, batch, self.config.features)
        return {"hidden": zeros[..., : self.config.hidden], "latent": zeros[..., self.config.hidden :]}

    @torch.inference_mode()
    def observe(self, state: State, action: Tensor, obs: Tensor) -> State:
        """Posterior mean after `action` (B, A) led to `obs` (B, C, h, w) uint8."""
        hidden = self._advance(state, action)
        rows = centred(patch_tensor(obs, self.config.patch).to(torch.float32, copy=True), self.centre)
        rows = rows.transpose(0, 1).unsqueeze(0).expand(self.members, -1, -1, -1)
        belief = posterior(hidden, embed(rows, self.weights, self.product), self.weights, self.config.min_std, self.product)
        return {"hidden": hidden, "latent": belief.mean}

    @torch.inference_mode()
    def imagine(self, state: State, action: Tensor) -> State:
        """Prior mean after `action` (B, A)."""
        hidden = self._advance(state, action)
        return {"hidden": hidden, "latent": prior(hidden, self.weights, self.config.min_std, self.product).mean}

    @torch.inference_mode()
    def decode(self, state: State) -> Pixels:
        """The picture every state stands for; means are clamped to [0, 1], where intensities live."""
        c = self.config
        tokens = decoder_tokens(_features(state), self.weights, self.product)
        k, n, _ = tokens.shape
        rows = self.product(tokens.view(k, n * c.patches, -1), self.weights["decoder.patch_w"]).view(k, n, c.patches, -1)
        rows = rows + self.weights["decoder.patch_b"].unsqueeze(1) + self.centre
        spread = bounded(self.weights["decoder.variance_b"], c.log_variance).unsqueeze(1).expand_as(rows)
        return Pixels(from_patches(rows.clamp(0.0, 1.0), c.image, c.patch), from_patches(spread, c.image, c.patch))

    @torch.inference_mode()
    def reward(self, state: State) -> Tensor:
        """(K, B): the reward received on arriving here."""
        return head(_features(state), self.weights, "reward", self.product)

    @torch.inference_mode()
    def continues(self, state: State) -> Tensor:
        """(K, B): probability that this state is not terminal."""
        return sigmoid(head(_features(state), self.weights, "continue", self.product))

    def _advance(self, state: State, action: Tensor) -> Tensor:
        push = action.to(torch.float32).unsqueeze(0).expand(self.members, -1, -1)
        return advance(state["hidden"], state["latent"], push, self.weights, self.product)


class Trainable:
    """The same model while it is trained: parameters in one tensor, and their gradient on a batch of sequences.

    Args:
        config: sizes and loss weights.
        streams: one per member, for its initial weights.
        centre: mean picture of the training data (C, h, w), in [0, 1].
        step: computes the gradient; `dreamer_lite.gradient`, possibly compiled.
    """

    def __init__(self, config: Config, streams: list[Stream], centre: NDArray[np.float32], step: Step = gradient) -> None:
        self.config, self.step = config, step
        self.parameters = initialise(config, streams)
        self.centre = patch_tensor(torch.from_numpy(centre).unsqueeze(0), config.patch)[0]

    def arrange(self, images: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """How training pictures are kept in memory: (N, C, h, w) -> (N, P, V) uint8, done once."""
        return to_patches(images, self.config.patch)

    def gradient(self, batch: Any, generator: torch.Generator) -> tuple[Losses, Tensor]:
        """Losses and gradient (K, n) of a batch whose arrays are (K, B, T, ...), see `wm_audit.data.replay`."""
        return self.step(self.parameters, self.window(batch, generator), self.centre, self.config)

    def window(self, batch: Any, generator: torch.Generator) -> Window:
        """The batch as tensors, with noise for its latents."""
        k, b, t = batch.reward.shape
        noise = torch.randn(k, t, b, self.config.stoch, generator=generator)
        obs, action, reward, first, terminal = map(
            torch.from_numpy, (batch.obs, batch.action, batch.reward, batch.is_first, batch.terminal)
        )
        return Window(obs, action, reward, first, terminal, noise)

    def trained(self) -> DreamerLite:
        """The model as it stands, for evaluation."""
        weights = {name: view.contiguous() for name, view in unpack(self.parameters.clone(), self.config).items()}
        return DreamerLite(self.config, weights, self.centre)


def _features(state: State) -> Tensor:
    return torch.cat([state["hidden"], state["latent"]], dim=-1)
