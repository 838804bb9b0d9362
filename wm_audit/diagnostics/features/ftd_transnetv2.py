"""A clip's description by TransNet V2, a network trained to find shot boundaries (Soucek and Lokoc 2020, "TransNet V2").

It sees time: every block looks 1, 2, 4 and 8 frames back and ahead. The description is the mean and the standard deviation, over
frames and positions, of every channel of its three stages (64, 128 and 256 channels: 896 numbers). The Frechet distance between
sets of such descriptions is not the field's FVD, which uses a network trained on actions, and its numbers are not comparable.

The network takes frames of 27 x 48 in [0, 1] whatever their aspect; a space-time convolution there is a convolution in space
followed by one in time with nothing between, so that both run as planar convolutions.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import avg_pool2d, conv2d

from wm_audit.diagnostics.features.images import check_images, resized
from wm_audit.diagnostics.features.weights import WEIGHT_FILES, Weights, load_weights

NAME = "ftd_transnetv2"
SIZE = (27, 48)
DILATIONS = (1, 2, 4, 8)
STAGES, BLOCKS = 3, 2
WIDTH = 896


class _Kernels(NamedTuple):
    """One dilation's share of a block: (2F, C, 3, 3) in space, then (F, 2F, 3, 1) in time with the block's normalisation folded in."""

    space: Tensor
    time: Tensor
    bias: Tensor


@dataclass(frozen=True, slots=True)
class ClipFeature:
    """A description of clips.

    Attributes:
        name: what it is called.
        digest: sha256 of the weight file.
        stages: blocks of kernels, three stages of two.
    """

    name: str
    digest: str
    stages: list[list[list[_Kernels]]] = field(repr=False)

    def describe(self, clips: NDArray[np.float32]) -> NDArray[np.float64]:
        """One vector a clip. Every clip is evaluated alone, so its numbers do not depend on how many others there are.

        Args:
            clips: (n, T, C, h, w) in [0, 1].

        Returns:
            (n, 896).

        Raises:
            ValueError: not clips, or frames that are not what `check_images` asks for.
        """
        if clips.ndim != 5:
            raise ValueError(f"clips must be (n, T, C, h, w), found {clips.shape}")
        check_images("clips", clips)
        with torch.inference_mode():
            vectors = [_moments(self.embed(resized(clip, SIZE))) for clip in clips]
        return torch.stack(vectors).numpy() if vectors else np.empty((0, WIDTH))

    def embed(self, frames: Tensor) -> list[Tensor]:
        """Frames of one clip (T, 3, 27, 48) in [0, 1] to stages (T, 64, 13, 24), (T, 128, 6, 12) and (T, 256, 3, 6)."""
        x, found = _last(frames), []
        for first, second in self.stages:
            x = _block(x, first)
            x = avg_pool2d(_block(x, second).add_(x), 2)
            found.append(x)
        return found


@cache
def load() -> ClipFeature | None:
    """The feature, or None where its weight file is not installed.

    Raises:
        AuditError: the weight file holds other bytes than the pinned ones.
    """
    weights = load_weights(NAME)
    if weights is None:
        return None
    names = [[f"SDDCNN.{stage}.DDCNN.{block}" for block in range(BLOCKS)] for stage in range(STAGES)]
    return ClipFeature(NAME, WEIGHT_FILES[NAME].sha256, [[_read(weights, name) for name in stage] for stage in names])


def _read(weights: Weights, name: str) -> list[_Kernels]:
    scale = weights[f"{name}.bn.weight"].double() / (weights[f"{name}.bn.running_var"].double() + 1e-3).sqrt()
    bias = weights[f"{name}.bn.bias"].double() - scale * weights[f"{name}.bn.running_mean"].double()
    share = len(scale) // len(DILATIONS)
    kernels = []
    for i, dilation in enumerate(DILATIONS):
        mine = slice(i * share, (i + 1) * share)
        space, time = (weights[f"{name}.Conv3D_{dilation}.layers.{layer}.weight"] for layer in (0, 1))
        folded = (time[..., 0].double() * scale[mine].view(-1, 1, 1, 1)).float()
        kernels.append(_Kernels(_last(space[:, :, 0]), _last(folded), bias[mine].float()))
    return kernels


def _block(x: Tensor, kernels: list[_Kernels]) -> Tensor:
    """(T, C, h, w) to (T, 4F, h, w), rectified; beyond both ends of the clip there are zeros."""
    steps, _, height, width = x.shape
    shares = []
    for dilation, (space, time, bias) in zip(DILATIONS, kernels, strict=True):
        plane = conv2d(x, space, padding=1).permute(0, 2, 3, 1).reshape(1, steps, height * width, -1).permute(0, 3, 1, 2)
        shares.append(conv2d(plane, time, bias, padding=(dilation, 0), dilation=(dilation, 1)))
    joined = torch.cat(shares, dim=1).relu_().permute(0, 2, 3, 1)
    return joined.reshape(steps, height, width, -1).permute(0, 3, 1, 2)


def _moments(stages: list[Tensor]) -> Tensor:
    """Mean and standard deviation over frames and positions of every channel, accumulated in float64."""
    flat = [stage.permute(0, 2, 3, 1).flatten(0, 2).double() for stage in stages]
    return torch.cat([item.mean(dim=0) for item in flat] + [item.std(dim=0, correction=0) for item in flat])


def _last(x: Tensor) -> Tensor:
    return x.contiguous(memory_format=torch.channels_last)
