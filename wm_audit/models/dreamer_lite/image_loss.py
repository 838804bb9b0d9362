"""The image likelihood without an image-sized elementwise pass.

The decoder's mean of a patch is linear in its tokens z: x ~ W z + b. Summed over the N pictures of a batch, the squared
error of one pixel is

    sum_n (x_n - w . z~_n)^2 = sum_n x_n^2 - 2 w . (sum_n x_n z~_n) + w' (sum_n z~_n z~_n') w,     z~ = (z, 1), w = (W_row, b)

so one product of the pictures with the tokens and the tokens' Gram matrix carry everything; nothing of the size
N x pixels is ever written. Pictures are centred beforehand, which keeps the cancellation harmless in float32.
"""

import math
from typing import Any

import torch
from torch import Tensor

LOG_2PI = math.log(2.0 * math.pi)


def squared_error(rows: Tensor, tokens: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Sum over the batch of the squared error of every pixel.

    Args:
        rows: pictures as patches (K, P, N, V).
        tokens: (K, P, W, N), see `columns`.
        weight: (K, W, V), shared by all patches.
        bias: (K, P, V).

    Returns:
        (K, P, V).
    """
    k, p, n, v = rows.shape
    z = torch.cat([tokens, tokens.new_ones(k, p, 1, n)], dim=2).view(k * p, -1, n)
    basis = torch.cat([weight.unsqueeze(1).expand(k, p, -1, v), bias.unsqueeze(2)], dim=2).view(k * p, -1, v)
    x = rows.reshape(k * p, n, v)
    explained: Tensor = _Explained.apply(x, z, basis)  # type: ignore[no-untyped-call]
    return (x.square().sum(dim=1) + explained).view(k, p, v)


class _Explained(torch.autograd.Function):
    """What the squared error changes by when x (M, N, V) is described by z' w, z (M, W, N), w (M, W, V): (M, V).

    By hand, because the Gram matrix is symmetric, which autograd cannot know, and because its products are kept.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, z: Tensor, basis: Tensor) -> Tensor:
        cross = torch.bmm(z, x)
        fitted = torch.bmm(torch.bmm(z, z.transpose(1, 2)), basis)
        ctx.save_for_backward(x, z, basis, fitted - cross)
        return (basis * (fitted - 2.0 * cross)).sum(dim=1)

    @staticmethod
    def backward(ctx: Any, d_error: Tensor) -> tuple[Tensor | None, Tensor, Tensor]:
        x, z, basis, miss = ctx.saved_tensors
        pull = 2.0 * d_error.unsqueeze(1)
        scaled = pull * basis
        d_z = torch.bmm(torch.bmm(scaled, basis.transpose(1, 2)), z) - torch.bmm(scaled, x.transpose(1, 2))
        d_x = -torch.bmm(z.transpose(1, 2), scaled) if ctx.needs_input_grad[0] else None
        return d_x, d_z, pull * miss


def negative_log_likelihood(error: Tensor, log_variance: Tensor, count: int) -> Tensor:
    """Gaussian negative log-likelihood in nats per picture, (K,), from summed squared errors (K, P, V)."""
    return _nats(error, log_variance, count).sum(dim=(1, 2))


def _nats(error: Tensor, log_variance: Tensor, count: int) -> Tensor:
    """(K, P, V), mean over pictures."""
    nats: Tensor = 0.5 * (LOG_2PI + log_variance + torch.exp(-log_variance) * error / count)
    return nats.expand_as(error)


def weighted_loss(error: Tensor, log_variance: Tensor, count: int, beta: float) -> Tensor:
    """The same likelihood with every pixel weighted by its variance to the power `beta`, (K,) (Seitzer et al. 2022, equation 5).

    Under the plain likelihood a pixel that is not explained yet gets a large variance, hence a small gradient, and is explained
    never: small moving things are not drawn at all. The weights are constants to the gradient and average to 1.
    """
    weight = torch.exp(beta * log_variance.detach())
    weight = weight / weight.mean(dim=(1, 2), keepdim=True)
    return (weight * _nats(error, log_variance, count)).sum(dim=(1, 2))
