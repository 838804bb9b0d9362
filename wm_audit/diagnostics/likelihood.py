"""How probable the real frame was to the model."""

import math

import torch
from torch import Tensor


def gaussian_nll(mean: Tensor, log_variance: Tensor, truth: Tensor) -> Tensor:
    """Negative log likelihood of a diagonal Gaussian, in nats per channel value, its constant included.

    Args:
        mean: (K, B, C, h, w).
        log_variance: the same shape.
        truth: (B, C, h, w), intensities in [0, 1].

    Returns:
        (K, B) float64, averaged over channel values: 0.5 (log 2 pi + log v + (x - m)^2 / v).
    """
    log_v = log_variance.to(torch.float64)
    square = (truth.to(torch.float64) - mean.to(torch.float64)).square()
    return 0.5 * (math.log(2.0 * math.pi) + log_v + square * torch.exp(-log_v)).mean(dim=(-3, -2, -1))
