"""Structural similarity of image pairs (Wang, Bovik, Sheikh and Simoncelli 2004, "Image quality assessment", eq. 13)."""

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

WINDOW, SIGMA, K1, K2 = 11, 1.5, 0.01, 0.03
CHUNK = 64  # images filtered at once: bounds the memory; every image is filtered alone, so it moves no number


def ssim(first: NDArray[np.generic], second: NDArray[np.generic], *, data_range: float) -> NDArray[np.float64]:
    """Mean over window positions and channels of the local similarity, in float64.

    The window is Gaussian, 11 x 11, sigma 1.5, weights summing to 1; only positions at which it lies inside the image count.
    The range is never guessed from the type: a float image may hold 0..1 or 0..255.

    Args:
        first: (..., C, h, w), any real type, values in [0, data_range].
        second: the same shape.
        data_range: the span of intensities, e.g. 1.0 or 255.0.

    Returns:
        (...): one number per image, 1 exactly for two equal images.

    Raises:
        ValueError: shapes differ, an image is smaller than the window, or a value lies outside the range.
    """
    if first.shape != second.shape or first.ndim < 3:
        raise ValueError(f"first and second must be images of one shape, found {first.shape} and {second.shape}")
    if min(first.shape[-2:]) < WINDOW:
        raise ValueError(f"first and second must be at least {WINDOW} x {WINDOW}, found {first.shape[-2:]}")
    for name, images in (("first", first), ("second", second)):
        if images.size and not (images.min() >= 0 and images.max() <= data_range):
            raise ValueError(f"{name} must lie in [0, {data_range}], found {images.min()} .. {images.max()}")
    lead, channels, size = first.shape[:-3], first.shape[-3], first.shape[-2:]
    x, y = (images.reshape(-1, 1, *size) for images in (first, second))
    planes = np.empty(len(x))
    for start in range(0, len(x), CHUNK):
        rows = slice(start, start + CHUNK)
        local = _local(torch.from_numpy(x[rows].astype(np.float64)), torch.from_numpy(y[rows].astype(np.float64)), data_range)
        planes[rows] = local.mean(dim=(1, 2, 3)).numpy()
    return np.asarray(planes.reshape(*lead, channels).mean(axis=-1), dtype=np.float64)


def _local(x: Tensor, y: Tensor, data_range: float) -> Tensor:
    c1, c2 = (K1 * data_range) ** 2, (K2 * data_range) ** 2
    mean_x, mean_y, xx, yy, xy = torch.chunk(_blur(torch.cat([x, y, x * x, y * y, x * y])), 5)
    var_x, var_y, cov = xx - mean_x * mean_x, yy - mean_y * mean_y, xy - mean_x * mean_y
    similar: Tensor = (2 * mean_x * mean_y + c1) * (2 * cov + c2)
    return similar / ((mean_x * mean_x + mean_y * mean_y + c1) * (var_x + var_y + c2))


def _blur(planes: Tensor) -> Tensor:
    """Gaussian means of every window inside the image, one axis after the other, as sums of shifted copies.

    Elementwise, so that a plane's result does not depend on the planes beside it, and faster in float64 than a convolution.
    """
    weights = [math.exp(-0.5 * (offset / SIGMA) ** 2) for offset in range(WINDOW // 2 + 1)]
    total = weights[0] + 2.0 * sum(weights[1:])
    for axis in (-2, -1):
        places, middle = planes.shape[axis] - WINDOW + 1, WINDOW // 2
        mean = planes.narrow(axis, middle, places) * (weights[0] / total)
        for offset, weight in enumerate(weights[1:], start=1):
            both = planes.narrow(axis, middle - offset, places) + planes.narrow(axis, middle + offset, places)
            mean = mean.add_(both, alpha=weight / total)
        planes = mean
    return planes
