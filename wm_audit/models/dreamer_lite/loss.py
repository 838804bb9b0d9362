"""The training loss: negative evidence lower bound of a sequence, per member."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from wm_audit.models.dreamer_lite.cell import Gaussian, bounded, head, latent, prior
from wm_audit.models.dreamer_lite.columns import embed_columns, token_columns
from wm_audit.models.dreamer_lite.config import Config
from wm_audit.models.dreamer_lite.image_loss import LOG_2PI, negative_log_likelihood, squared_error, weighted_loss
from wm_audit.models.dreamer_lite.layout import Parameters, unpack
from wm_audit.models.dreamer_lite.through_time import PathWeights, joined, posterior_path

KL_RULE = "free nats are applied to the KL of each time step, summed over the latent, before averaging over time and batch"


class Sequences(NamedTuple):
    """A training batch as the loss wants it, time before batch.

    Attributes:
        rows: centred pictures as patches (K, P, T*B, V).
        action: (K, T, B, A), the action that led to obs[t].
        reward: (K, T, B), received on arriving at obs[t].
        keep: (K, T, B, 1), 0 where an episode begins, else 1.
        terminal: (K, T, B), 1 where the world ended.
        noise: (K, T, B, D), standard normal, for the latent samples.
    """

    rows: Tensor
    action: Tensor
    reward: Tensor
    keep: Tensor
    terminal: Tensor
    noise: Tensor


class Losses(NamedTuple):
    """Per member (K,): the total, its parts in nats, the raw KL, and the posterior means (K, B*T, D)."""

    total: Tensor
    image: Tensor
    reward: Tensor
    continues: Tensor
    kl: Tensor
    means: Tensor


def kl_divergence(q: Gaussian, p: Gaussian) -> Tensor:
    """KL(q || p) of diagonal Gaussians, summed over the latent: (K, B)."""
    ratio = q.std / p.std
    return (-torch.log(ratio) + 0.5 * (ratio.square() + ((q.mean - p.mean) / p.std).square() - 1.0)).sum(dim=-1)


def balanced_kl(q: Gaussian, p: Gaussian, config: Config) -> tuple[Tensor, Tensor]:
    """KL balancing (Hafner et al. 2021, DreamerV2, algorithm 2; 2023, DreamerV3, equation 5): `KL_RULE` says where free nats enter.

    Returns:
        the weighted loss and the raw KL, per member (K,).
    """
    dynamics = kl_divergence(Gaussian(q.mean.detach(), q.std.detach()), p)
    representation = kl_divergence(q, Gaussian(p.mean.detach(), p.std.detach()))
    free = config.free_nats
    loss = config.kl_dynamics * dynamics.clamp_min(free) + config.kl_representation * representation.clamp_min(free)
    return loss.mean(dim=1), dynamics.mean(dim=1).detach()


def unroll(embedding: Tensor, sequences: Sequences, weights: Parameters, config: Config) -> tuple[Tensor, Tensor, Gaussian]:
    """Runs the posterior over a sequence, resetting state and action wherever an episode begins.

    Args:
        embedding: (K, E, T*B), see `columns`.
        sequences: the batch.
        weights: named weights.
        config: sizes.

    Returns:
        hidden and sampled latents (K, T, B, .), and the posterior over (K, T*B, D).
    """
    action, keep, noise = sequences.action, sequences.keep, sequences.noise
    k, steps, batch, _ = action.shape
    gates = 2 * config.hidden
    latent_w, action_w = torch.split(weights["dynamics.input_w"], [config.stoch, config.actions], dim=1)
    seen = torch.bmm(embedding.transpose(1, 2), weights["dynamics.posterior_embed_w"])
    seen = (seen + weights["dynamics.posterior_b"].unsqueeze(1)).view(k, steps, batch, -1)
    push = torch.bmm((action * keep).reshape(k, steps * batch, -1), action_w)
    push = (push + weights["dynamics.input_b"].unsqueeze(1)).view(k, steps, batch, -1)
    gate_b, candidate_b = (part.view(k, 1, 1, -1) for part in torch.split(weights["dynamics.hidden_b"], [gates, config.hidden], dim=1))
    gate_push, candidate_push = torch.split(push, [gates, config.hidden], dim=-1)
    push = torch.cat([gate_push + gate_b, candidate_push, candidate_b.expand(k, steps, batch, -1)], dim=-1)
    path = PathWeights(
        joined(latent_w, weights["dynamics.hidden_w"]),
        weights["dynamics.posterior_hidden_w"],
        weights["dynamics.posterior_out_w"],
        weights["dynamics.posterior_out_b"].unsqueeze(1),
    )
    hidden, out = posterior_path(push, seen, keep, noise, path, min_std=config.min_std)
    belief = latent(out, config.min_std)
    sample = belief.mean + belief.std * noise
    return hidden, sample, Gaussian(belief.mean.reshape(k, steps * batch, -1), belief.std.reshape(k, steps * batch, -1))


def losses(flat: Tensor, sequences: Sequences, config: Config) -> Losses:
    """The loss of every member on its own batch; members never mix.

    Args:
        flat: all parameters (K, n).
        sequences: the batch.
        config: sizes and loss weights.
    """
    weights = unpack(flat, config)
    k, steps, batch, _ = sequences.action.shape
    hidden, sample, belief = unroll(embed_columns(sequences.rows, weights), sequences, weights, config)
    hidden = hidden.view(k, steps * batch, -1)
    features = torch.cat([hidden, sample.view(k, steps * batch, -1)], dim=-1)
    kl_loss, kl = balanced_kl(belief, prior(hidden, weights, config.min_std), config)

    error = squared_error(
        sequences.rows, token_columns(features, weights, config.patches), weights["decoder.patch_w"], weights["decoder.patch_b"]
    )
    spreads = bounded(weights["decoder.variance_b"], config.log_variance)
    image = negative_log_likelihood(error.detach(), spreads.detach(), steps * batch)
    image_loss = weighted_loss(error, spreads, steps * batch, config.variance_beta)

    # the first observation of an episode has no reward: it is left out of the mean
    arrived = sequences.keep.reshape(k, -1)
    spread = bounded(weights["reward.variance_b"], config.log_variance)
    miss = (head(features, weights, "reward") - sequences.reward.reshape(k, -1)).square()
    nats = 0.5 * (LOG_2PI + spread + torch.exp(-spread) * miss)
    reward_nats = (nats * arrived).sum(dim=1) / arrived.sum(dim=1).clamp_min(1.0)

    alive = 1.0 - sequences.terminal.reshape(k, -1)
    goes_on = functional.binary_cross_entropy_with_logits(head(features, weights, "continue"), alive, reduction="none").mean(dim=1)
    total = image_loss + config.reward_scale * reward_nats + config.continue_scale * goes_on + kl_loss
    return Losses(total, image, reward_nats.detach(), goes_on.detach(), kl, belief.mean.detach())
