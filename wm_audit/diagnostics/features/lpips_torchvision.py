"""LPIPS on AlexNet (Zhang et al. 2018, "The unreasonable effectiveness of deep features as a perceptual metric") with a user's own files.

No package ships the trunk that the published heads were trained on, so both files are the user's: torchvision's AlexNet weights
(`alexnet-owt-7be5be79.pth`) and the heads of LPIPS 0.1 (`alex.pth`). Their digests are in the measurement. The slot
`pixel_lpips` never takes this feature by itself: `pixel_lpips.measure_with(evidence, load(trunk, heads))`.
"""

from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import conv2d, max_pool2d

from wm_audit.core import AuditError
from wm_audit.core.strict_json import digest
from wm_audit.diagnostics.features.paired import ImageFeature, unit
from wm_audit.diagnostics.features.weights import Weights, read_weights

NAME = "lpips_torchvision"
CONVS = {0: (64, 3, 11, 11), 3: (192, 64, 5, 5), 6: (384, 192, 3, 3), 8: (256, 384, 3, 3), 10: (256, 256, 3, 3)}
POOLED = (3, 6)
SHIFT, SCALE = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)


def load(trunk: Path, heads: Path) -> ImageFeature:
    """The feature.

    Args:
        trunk: tensors `features.<0 3 6 8 10>.<weight bias>`; others are ignored.
        heads: tensors `lin<0..4>.model.1.weight`.

    Raises:
        AuditError: a file cannot be read, or a tensor is missing, has another shape, or is a negative head.
    """
    fix = "give the files that the documentation of this feature names"
    (body, body_digest), (top, top_digest) = read_weights(trunk, None, fix=fix), read_weights(heads, None, fix=fix)
    for place, shape in CONVS.items():
        _check(body, f"features.{place}.weight", shape, trunk)
        _check(body, f"features.{place}.bias", shape[:1], trunk)
    for stage, shape in enumerate(CONVS.values()):
        _check(top, f"lin{stage}.model.1.weight", (1, shape[0], 1, 1), heads)
        if bool((top[f"lin{stage}.model.1.weight"] < 0.0).any()):
            raise AuditError(f"lin{stage} has a negative weight", where=str(heads), expected="heads of LPIPS 0.1", fix=fix)
    return ImageFeature(NAME, digest({"trunk": body_digest, "heads": top_digest}), _Trunk(body, top).embed)


class _Trunk:
    """Five rectified stages, each position's channels scaled to a unit vector and weighted by the trained head."""

    def __init__(self, body: Weights, top: Weights) -> None:
        self.convs = [(place, body[f"features.{place}.weight"], body[f"features.{place}.bias"]) for place in CONVS]
        self.heads = [top[f"lin{stage}.model.1.weight"].sqrt() for stage in range(len(CONVS))]
        self.shift, self.scale = (torch.tensor(item).view(1, 3, 1, 1) for item in (SHIFT, SCALE))

    def embed(self, images: Tensor) -> list[Tensor]:
        """(n, 3, 64, 64) in [0, 1] to stages of 64 x 15 x 15, 192 x 7 x 7, 384 x 3 x 3, 256 x 3 x 3 and 256 x 3 x 3."""
        x, stages = (2.0 * images - 1.0 - self.shift) / self.scale, []
        for place, weight, bias in self.convs:
            x = max_pool2d(x, 3, stride=2) if place in POOLED else x
            x = conv2d(x, weight, bias, stride=4 if place == 0 else 1, padding=2 if place in (0, 3) else 1).relu()
            stages.append(x)
        return [unit(stage, head) for stage, head in zip(stages, self.heads, strict=True)]


def _check(tensors: Weights, name: str, shape: tuple[int, ...], path: Path) -> None:
    found = tuple(tensors[name].shape) if name in tensors else None
    if found != shape:
        raise AuditError(f"{name} is {'missing' if found is None else found}", where=str(path), expected=str(shape))
