"""A bank of random filters: a named stand-in where no learned feature is wanted, and a negative control beside the learned ones.

Each seed draws 32 zero-mean filters of 7 x 7 with unit norm; their rectified responses are taken at the image's size and at a half
and a quarter of it. Squared differences of these raw responses are averaged over filters, positions and scales. Nothing
here was learned, so the spread between seeds says how much of a number is the accident of the filters.
"""

from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, conv2d

from wm_audit.core import stream
from wm_audit.core.strict_json import digest
from wm_audit.diagnostics.features.paired import ImageFeature

NAME = "fixed_filters"
FILTERS, SIDE, STRIDE, SCALES = 32, 7, 2, 3


class FixedFilterFeatures:
    """The filters of one seed."""

    def __init__(self, seed: int) -> None:
        drawn = torch.from_numpy(stream(seed, NAME).normal((FILTERS, 3, SIDE, SIDE)))
        drawn = drawn - drawn.mean(dim=(1, 2, 3), keepdim=True)
        norm = drawn.square().sum(dim=(1, 2, 3), keepdim=True).sqrt()
        self.filters = (drawn / norm).float().contiguous(memory_format=torch.channels_last)

    def embed(self, images: Tensor) -> list[Tensor]:
        """(n, 3, 64, 64) in [0, 1] to three scales of (n, 32, C, C) with C = 29, 13 and 5."""
        x, scaled = images.contiguous(memory_format=torch.channels_last), []
        for _ in range(SCALES):
            scaled.append(conv2d(x, self.filters, stride=STRIDE).relu_() * (FILTERS * SCALES) ** -0.5)
            x = avg_pool2d(x, 2)
        return scaled


@cache
def load(seed: int) -> ImageFeature:
    """The feature of one seed. Its digest is that of its declaration, since no file stands behind it."""
    declared = {"name": NAME, "seed": seed, "filters": FILTERS, "side": SIDE, "stride": STRIDE, "scales": SCALES}
    return ImageFeature(NAME, digest(declared), FixedFilterFeatures(seed).embed)
