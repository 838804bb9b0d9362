"""Images on their way into a trunk: their range is checked, their size made the trunk's own.

Every function of this folder takes float32 intensities in [0, 1]; what a trunk expects instead ([-1, 1], ImageNet's mean and
deviation) is its own business and happens inside it. An image in another range gives a plausible, wrong distance.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import interpolate

SMALLEST = 16
TOLERANCE = 1e-4


def check_images(name: str, images: NDArray[np.generic]) -> None:
    """Refuses what would give a wrong number silently.

    Args:
        name: what to call the array in the message.
        images: (..., C, h, w).

    Raises:
        ValueError: not float32, not images with 1 or 3 channels, smaller than 16 x 16, or values outside [0, 1].
    """
    if images.dtype != np.float32:
        raise ValueError(f"{name} must be float32 intensities in [0, 1], found {images.dtype}")
    if images.ndim < 3 or images.shape[-3] not in (1, 3):
        raise ValueError(f"{name} must be (..., C, h, w) with 1 or 3 channels, found {images.shape}")
    if min(images.shape[-2:]) < SMALLEST:
        raise ValueError(f"{name} must be at least {SMALLEST} x {SMALLEST}, found {images.shape[-2:]}")
    if images.size and not (images.min() >= -TOLERANCE and images.max() <= 1.0 + TOLERANCE):
        raise ValueError(f"{name} must lie in [0, 1], found {images.min()} .. {images.max()}")


def too_small(images: NDArray[np.generic]) -> bool:
    """Whether a side of the images is below what the trunks can see anything in."""
    height, width = images.shape[-2:]
    return bool(height < SMALLEST or width < SMALLEST)


def resized(images: NDArray[np.float32], size: tuple[int, int]) -> Tensor:
    """The images at the trunk's size: bilinear, pixel centres aligned, the kernel widened where a side shrinks so that nothing aliases.

    Args:
        images: (n, C, h, w); one channel is repeated to three.
        size: height and width the trunk sees.

    Returns:
        (n, 3, *size) float32.
    """
    tensor = torch.from_numpy(
        np.require(images, requirements="W")
    )  # a memory-mapped array is copied, since torch cannot promise not to write
    if tensor.shape[-2:] != size:
        tensor = interpolate(tensor, size, mode="bilinear", align_corners=False, antialias=True)
    return tensor.expand(-1, 3, -1, -1)
