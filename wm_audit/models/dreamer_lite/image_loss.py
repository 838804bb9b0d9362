"""The image likelihood without an image-sized elementwise pass.

The decoder's mean of a patch is linear in its tokens z: x ~ W z + b. Summed over the N pictures of a batch, the squared
error of one pixel is

    sum_n (x_n - w . z~_n)^2 = sum_n x_n^2 - 2 w . (sum_n x_n z~_n) + w' (sum_n z~_n z~_n') w,     z~ = (z, 1), w = (W_row, b)

so one product of the pictures with the tokens and the tokens' Gram matrix carry everything; nothing of the size
N x pixels is ever written. Pictures are centred beforehand, which keeps the cancellation harmless in float32.
"""

import math

import torch
from torch import Tensor

LOG_2PI = math.log(2.0 * math.pi)


def squared_error(rows: Tensor, tokens: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Sum over the batch of the squared error of every pixel.

    Args:
        rows: pictures as patches (K, P, N, V).
        tokens: (K, N, P*W).
        weight: (K, W, V), shared by all patches.
        bias: (K, P, V).

    Returns:
        (K, P, V).
    """
    k, p, n, v = rows.shape
    z = tokens.view(k, n, p, -1).transpose(1, 2)
    z = torch.cat([z, torch.ones_like(z[..., :1])], dim=-1).reshape(k * p, n, -1)
    basis = torch.cat([weight.unsqueeze(1).expand(k, p, -1, v), bias.unsqueeze(2)], dim=2).reshape(k * p, -1, v)
    x = rows.reshape(k * p, n, v)
    cross = torch.bmm(z.transpose(1, 2), x)
    gram = torch.bmm(z.transpose(1, 2), z)
    explained = (basis * (torch.bmm(gram, basis) - 2.0 * cross)).sum(dim=1)
    return (x.square().sum(dim=1) + explained).view(k, p, v)


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
