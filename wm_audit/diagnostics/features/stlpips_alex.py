"""Shift-tolerant LPIPS on AlexNet (Ghildyal and Liu 2022, "Shift-tolerant perceptual similarity metric", ECCV).

Trained whole on human judgements of 64 x 64 patches. It is not the LPIPS of Zhang et al. (2018) and does not give its numbers.

    64 x 64 -> conv 11, blur / 2 -> 30 x 30 -> pool 3, blur / 2, conv 5 -> 15 x 15 -> pool 3, blur / 2, conv 3 -> 8 x 8 -> conv 3 -> conv 3

The blurs (Zhang 2019, "Making convolutional networks shift-invariant again") reflect at the border. The first one follows its
convolution with no rectifier between, so both are one strided convolution, computed at a quarter of the positions.
"""

from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import conv2d, max_pool2d, pad

from wm_audit.diagnostics.features.paired import ImageFeature, unit
from wm_audit.diagnostics.features.weights import WEIGHT_FILES, Weights, load_weights

NAME = "stlpips_alex"
EDGE, INNER = (0.5, 0.5), (0.25, 0.5, 0.25)


@cache
def load() -> ImageFeature | None:
    """The feature, or None where its weight file is not installed.

    Raises:
        AuditError: the weight file holds other bytes than the pinned ones.
    """
    weights = load_weights(NAME)
    return None if weights is None else ImageFeature(NAME, WEIGHT_FILES[NAME].sha256, _Trunk(weights).embed)


class _Trunk:
    """Five rectified stages, each position's channels scaled to a unit vector and weighted by the trained head."""

    def __init__(self, weights: Weights) -> None:
        self.shift, self.scale = weights["scaling_layer.shift"], weights["scaling_layer.scale"]
        first = weights["net.slice1.0.weight"]
        self.first = {rows + columns: _blurred(first, rows, columns) for rows in (INNER, EDGE) for columns in (INNER, EDGE)}
        self.bias = weights["net.slice1.0.bias"]
        self.blurs = [weights[f"net.slice{name}.filt"] for name in ("2.4", "3.8")]
        later = [f"net.slice{name}" for name in ("2.5", "3.9", "4.11", "5.13")]
        self.convs = [(_last(weights[f"{name}.weight"]), weights[f"{name}.bias"]) for name in later]
        # a head of non-negative weights on squared differences is the square of weighted differences
        self.heads = [weights[f"lin{stage}.model.1.weight"].sqrt() for stage in range(5)]

    def embed(self, images: Tensor) -> list[Tensor]:
        """(n, 3, 64, 64) in [0, 1] to stages of 64 x 30 x 30, 192 x 15 x 15, 384 x 8 x 8, 256 x 8 x 8 and 256 x 8 x 8."""
        x = self._entry(_last((2.0 * images - 1.0 - self.shift) / self.scale)).relu_()
        stages = [x]
        for stage, (weight, bias) in enumerate(self.convs):
            if stage < 2:
                x = pad(max_pool2d(x, 3, stride=1), (2, 2, 2, 2), mode="reflect")
                x = conv2d(x, self.blurs[stage], stride=2, groups=x.shape[1])
            x = conv2d(x, weight, bias, padding=weight.shape[-1] // 2).relu_()
            stages.append(x)
        return [unit(stage, head) for stage, head in zip(stages, self.heads, strict=True)]

    def _entry(self, x: Tensor) -> Tensor:
        """Convolution (58 x 58) and blur: output i averages rows 2i-2 .. 2i; -2 and -1 mirror 2 and 1, 58 mirrors 56."""
        x = pad(x, (2, 2, 2, 2))
        low, right = x[:, :, -12:], x[:, :, :, -12:]
        inner, edge = self._conv(x, INNER, INNER), self._conv(right, INNER, EDGE)
        bottom, corner = self._conv(low, EDGE, INNER), self._conv(low[:, :, :, -12:], EDGE, EDGE)
        body = torch.cat([torch.cat([inner, edge], dim=3), torch.cat([bottom, corner], dim=3)], dim=2)
        body = torch.cat([body[:, :, :1], body], dim=2)  # row 0 averages rows 2, 1, 0: the same as output 1
        return torch.cat([body[:, :, :, :1], body], dim=3)

    def _conv(self, x: Tensor, rows: tuple[float, ...], columns: tuple[float, ...]) -> Tensor:
        return conv2d(x, self.first[rows + columns], self.bias, stride=2)


def _blurred(weight: Tensor, rows: tuple[float, ...], columns: tuple[float, ...]) -> Tensor:
    """The kernel of `weight` followed by a weighted mean over neighbouring outputs, computed in float64."""
    height, width = weight.shape[-2:]
    wide = weight.new_zeros((*weight.shape[:2], height + len(rows) - 1, width + len(columns) - 1), dtype=torch.float64)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            wide[:, :, i : i + height, j : j + width] += row * column * weight.double()
    return _last(wide.float())


def _last(x: Tensor) -> Tensor:
    """Channels last in memory: pooling is then eight times faster."""
    return x.contiguous(memory_format=torch.channels_last)
