"""The distance of image pairs in a feature space."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wm_audit.diagnostics.features.images import check_images, resized
from wm_audit.diagnostics.rollout import padded

SIDE = 64
EPSILON = 1e-10


@dataclass(frozen=True, slots=True)
class ImageFeature:
    """A space in which images are compared.

    Attributes:
        name: what the distance is called.
        digest: sha256 of what the feature is made of.
        embed: (n, 3, 64, 64) in [0, 1] to stages (n, C, h, w); the squared distance of two images is the sum over stages and
            channels of squared differences, averaged over positions. Weights and normalisation are part of the embedding.
    """

    name: str
    digest: str
    embed: Callable[[Tensor], list[Tensor]] = field(repr=False)


def unit(stage: Tensor, weight: Tensor | float = 1.0) -> Tensor:
    """A stage with a unit vector of channels at every position, then weighted (Zhang et al. 2018, equation 1)."""
    return stage / (stage.square().sum(dim=1, keepdim=True).sqrt() + EPSILON) * weight


def paired_distances(feature: ImageFeature, real: NDArray[np.float32], predicted: NDArray[np.float32], batch: int) -> NDArray[np.float64]:
    """Distances of every member's image to the real one. Real images are embedded once.

    Args:
        feature: the space.
        real: (n, C, h, w) in [0, 1].
        predicted: (K, n, C, h, w) in [0, 1].
        batch: images embedded together; a short batch is padded to it, so a pair's number does not depend on how many others there are.

    Returns:
        (K, n): 0 exactly for two equal images.

    Raises:
        ValueError: the shapes do not fit, or the images are not what `check_images` asks for.
    """
    if predicted.ndim != 5 or predicted.shape[1:] != real.shape:
        raise ValueError(f"predicted must be (K, *{real.shape}), found {predicted.shape}")
    check_images("real", real)
    check_images("predicted", predicted)
    found = np.empty(predicted.shape[:2], np.float64)
    with torch.inference_mode():
        for rows, picked in padded(len(real), batch):
            truth = feature.embed(resized(real[picked], (SIDE, SIDE)))
            for k, member in enumerate(predicted):
                seen = feature.embed(resized(member[picked], (SIDE, SIDE)))
                found[k, rows] = _distance(seen, truth)[: rows.stop - rows.start].numpy()
    return found


def _distance(first: list[Tensor], second: list[Tensor]) -> Tensor:
    stages = [(a - b).square_().sum(dim=1).mean(dim=(1, 2), dtype=torch.float64) for a, b in zip(first, second, strict=True)]
    return torch.stack(stages).sum(dim=0)
