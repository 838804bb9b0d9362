"""Images as rows of square patches: the layout in which one matrix product sees a whole batch of pictures."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def to_patches(images: NDArray[np.uint8], patch: int) -> NDArray[np.uint8]:
    """(N, C, h, w) -> (N, P, V) contiguous, with V = C * patch * patch values a patch."""
    n, c, h, w = images.shape
    grid = images.reshape(n, c, h // patch, patch, w // patch, patch).transpose(0, 2, 4, 1, 3, 5)
    return np.ascontiguousarray(grid.reshape(n, (h // patch) * (w // patch), c * patch * patch))


def patch_tensor(images: Tensor, patch: int) -> Tensor:
    """The same for a tensor (N, C, h, w)."""
    n, c, h, w = images.shape
    grid = images.reshape(n, c, h // patch, patch, w // patch, patch).permute(0, 2, 4, 1, 3, 5)
    return grid.reshape(n, (h // patch) * (w // patch), c * patch * patch)


def centred(values: Tensor, centre: Tensor) -> Tensor:
    """0..255 as float32, changed in place, to [0, 1] minus the mean picture: one way in for training and evaluation."""
    return values.mul_(1.0 / 255.0).sub_(centre)


def from_patches(rows: Tensor, image: tuple[int, int, int], patch: int) -> Tensor:
    """(..., P, V) -> (..., C, h, w)."""
    c, h, w = image
    lead = rows.shape[:-2]
    grid = rows.reshape(*lead, h // patch, w // patch, c, patch, patch)
    axes = len(lead)
    order = (*range(axes), axes + 2, axes, axes + 3, axes + 1, axes + 4)
    return torch.permute(grid, order).reshape(*lead, c, h, w)
