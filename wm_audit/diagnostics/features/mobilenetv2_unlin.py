"""Distance in the stages of a MobileNetV2 trained on ImageNet (Sandler et al. 2018), without trained heads.

Five stages, those before each halving and the last: every position's channels are scaled to a unit vector, squared differences are
summed over channels, averaged over positions and over stages: 0 for equal images, 4 at most. It sees content; it is
not fitted to human judgements.
"""

from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import conv2d

from wm_audit.diagnostics.features.paired import ImageFeature, unit
from wm_audit.diagnostics.features.weights import WEIGHT_FILES, Weights, load_weights

NAME = "mobilenetv2_unlin"
BLOCKS = 17
HALVING = (2, 4, 7, 14)
STAGES = (1, 3, 6, 13, 17)
IMAGENET_MEAN, IMAGENET_DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@cache
def load() -> ImageFeature | None:
    """The feature, or None where its weight file is not installed.

    Raises:
        AuditError: the weight file holds other bytes than the pinned ones.
    """
    weights = load_weights(NAME)
    return None if weights is None else ImageFeature(NAME, WEIGHT_FILES[NAME].sha256, _Trunk(weights).embed)


class _Trunk:
    """Inverted residual blocks, each a list of convolutions with their batch normalisation folded in."""

    def __init__(self, weights: Weights) -> None:
        self.entry = _folded(weights, "features.0.0", "features.0.1")
        self.blocks = [self._block(weights, f"features.{block}.conv") for block in range(1, BLOCKS + 1)]
        self.mean, self.deviation = (torch.tensor(item).view(1, 3, 1, 1) for item in (IMAGENET_MEAN, IMAGENET_DEVIATION))

    @staticmethod
    def _block(weights: Weights, name: str) -> list[tuple[Tensor, Tensor]]:
        places = [place for place in (0, 3, 6) if f"{name}.{place}.weight" in weights]
        return [_folded(weights, f"{name}.{place}", f"{name}.{place + 1}") for place in places]

    def embed(self, images: Tensor) -> list[Tensor]:
        """(n, 3, 64, 64) in [0, 1] to stages of 16 x 32 x 32, 24 x 16 x 16, 32 x 8 x 8, 96 x 4 x 4 and 320 x 2 x 2."""
        x = ((images - self.mean) / self.deviation).contiguous(memory_format=torch.channels_last)
        x = conv2d(x, *self.entry, stride=2, padding=1).clamp_(0.0, 6.0)
        stages = []
        for number, block in enumerate(self.blocks, start=1):
            before = x
            for weight, bias in block[:-1]:
                deep = weight.shape[1] == 1
                stride = 2 if deep and number in HALVING else 1
                x = conv2d(x, weight, bias, stride=stride, padding=int(deep), groups=len(weight) if deep else 1).clamp_(0.0, 6.0)
            x = conv2d(x, *block[-1])
            x = x + before if x.shape == before.shape else x
            if number in STAGES:
                stages.append(x)
        return [unit(stage, len(STAGES) ** -0.5) for stage in stages]


def _folded(weights: Weights, conv: str, norm: str) -> tuple[Tensor, Tensor]:
    """Kernel and bias of a convolution followed by batch normalisation with its running moments, computed in float64."""
    scale = weights[f"{norm}.weight"].double() / (weights[f"{norm}.running_var"].double() + 1e-5).sqrt()
    bias = weights[f"{norm}.bias"].double() - scale * weights[f"{norm}.running_mean"].double()
    kernel = weights[f"{conv}.weight"].double() * scale.view(-1, 1, 1, 1)
    return kernel.float().contiguous(memory_format=torch.channels_last), bias.float()
