"""The recurrent state-space model, one step at a time (Hafner et al. 2019, PlaNet, equation 4).

    h[t] = GRU(h[t-1], s[t-1], a[t-1])        deterministic path
    prior      p(s[t] | h[t])                 what the model expects
    posterior  q(s[t] | h[t], e[t])           what it believes after seeing obs[t], embedded as e[t]

    obs[0] --action[0]--> reward[0], obs[1] --action[1]--> reward[1], obs[2] ...
    the state at obs[t+1] has seen action[t]; its reward head predicts reward[t].

All functions are batched over members: weights (K, in, out), activations (K, B, in).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

STD_SHIFT = 3.0
"""Latents start nearly certain: a first picture is learned through means that the noise does not drown."""

VARIANCE_RATE = 8.0
"""How much faster than a weight a log-variance moves under the same learning rate: it has farther to go."""

Weights = Mapping[str, Any]
Product = Callable[[Tensor, Any], Tensor]


class Gaussian(NamedTuple):
    """Mean and standard deviation of a diagonal Gaussian latent, (K, B, D) each."""

    mean: Tensor
    std: Tensor


def dense(x: Tensor, weight: Tensor) -> Tensor:
    """(K, B, in) times (K, in, out): one product for all members."""
    return torch.bmm(x, weight)


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x)), in evaluation without regard to where in an array a number stands.

    torch's own sigmoid and silu send the last few numbers of an array (of every thread's share of it) through another
    routine than the rest, so a row's last bits change with what stands behind it in the batch; its exp does not. In
    training a batch has one shape and gradients must survive large arguments, so there torch's own are used.
    """
    return torch.sigmoid(x) if torch.is_grad_enabled() else torch.exp(-x).add_(1.0).reciprocal_()


def silu(x: Tensor) -> Tensor:
    """The sigmoid-weighted x (Elfwing et al. 2018), with the same care."""
    return functional.silu(x) if torch.is_grad_enabled() else x / torch.exp(-x).add_(1.0)


def gru(x: Tensor, recurrent: Tensor, hidden: Tensor) -> Tensor:
    """Gated recurrent unit (Cho et al. 2014) from its two preactivations (K, B, 3H), biases included."""
    width: int = hidden.shape[-1]
    gates = sigmoid(x[..., : 2 * width] + recurrent[..., : 2 * width])
    reset, update = gates[..., :width], gates[..., width:]
    candidate = torch.tanh(x[..., 2 * width :] + reset * recurrent[..., 2 * width :])
    new: Tensor = candidate + update * (hidden - candidate)
    return new


def latent(out: Tensor, min_std: float) -> Gaussian:
    """Splits a head's output (K, B, 2D) into mean and standard deviation with a floor."""
    mean, raw = out.chunk(2, dim=-1)
    return Gaussian(mean, functional.softplus(raw - STD_SHIFT) + min_std)


def embed(rows: Tensor, weights: Weights, product: Product = dense) -> Tensor:
    """Embeds patches (K, P, N, V), centred on zero, into (K, N, E)."""
    k, p, n, v = rows.shape
    tokens = product(rows.reshape(k, p * n, v), weights["encoder.patch_w"]).view(k, p, n, -1)
    tokens = silu(tokens + weights["encoder.patch_b"].transpose(1, 2).unsqueeze(2))
    flat = tokens.permute(0, 2, 3, 1).reshape(k, n, -1)
    return silu(product(flat, weights["encoder.out_w"]) + weights["encoder.out_b"].unsqueeze(1))


def advance(hidden: Tensor, sample: Tensor, action: Tensor, weights: Weights, product: Product = dense) -> Tensor:
    """The deterministic path: h[t] from h[t-1], s[t-1] and the action (K, B, A) between them."""
    x = product(torch.cat([sample, action], dim=-1), weights["dynamics.input_w"]) + weights["dynamics.input_b"].unsqueeze(1)
    recurrent = product(hidden, weights["dynamics.hidden_w"]) + weights["dynamics.hidden_b"].unsqueeze(1)
    return gru(x, recurrent, hidden)


def prior(hidden: Tensor, weights: Weights, min_std: float, product: Product = dense) -> Gaussian:
    """What the deterministic path expects of the latent."""
    inner = silu(product(hidden, weights["dynamics.prior_w"]) + weights["dynamics.prior_b"].unsqueeze(1))
    return latent(product(inner, weights["dynamics.prior_out_w"]) + weights["dynamics.prior_out_b"].unsqueeze(1), min_std)


def posterior(hidden: Tensor, embedding: Tensor, weights: Weights, min_std: float, product: Product = dense) -> Gaussian:
    """The latent after the observation, embedded (K, B, E), was seen."""
    inner = product(hidden, weights["dynamics.posterior_hidden_w"]) + product(embedding, weights["dynamics.posterior_embed_w"])
    inner = silu(inner + weights["dynamics.posterior_b"].unsqueeze(1))
    return latent(product(inner, weights["dynamics.posterior_out_w"]) + weights["dynamics.posterior_out_b"].unsqueeze(1), min_std)


def head(features: Tensor, weights: Weights, name: str, product: Product = dense) -> Tensor:
    """A scalar head, "reward" or "continue": (K, B, F) -> (K, B)."""
    inner = silu(product(features, weights[f"{name}.in_w"]) + weights[f"{name}.in_b"].unsqueeze(1))
    out: Tensor = product(inner, weights[f"{name}.out_w"]) + weights[f"{name}.out_b"].unsqueeze(1)
    return out.squeeze(-1)


def decoder_tokens(features: Tensor, weights: Weights, product: Product = dense) -> Tensor:
    """The W numbers by which the decoder describes every patch: (K, N, F) -> (K, N, P*W)."""
    inner = silu(product(features, weights["decoder.in_w"]) + weights["decoder.in_b"].unsqueeze(1))
    return silu(product(inner, weights["decoder.tokens_w"]) + weights["decoder.tokens_b"].unsqueeze(1))


def bounded(raw: Tensor, bounds: tuple[float, float]) -> Tensor:
    """A log-variance that cannot leave its bounds."""
    low, high = bounds
    return low + (high - low) * torch.sigmoid(VARIANCE_RATE * raw)
