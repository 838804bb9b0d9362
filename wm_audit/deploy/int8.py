"""INT8 twins: weights per output channel, activations per row.

A weight matrix (K, in, out) is stored as int8 with one scale per member and output channel; an activation row is scaled by
its own largest magnitude at the moment it is used. So a row's result depends on that row and the weights alone, never on
what else is in its batch (activations scaled per batch would let a planner's population size change its predictions).

    w ~ q_w * s_w,  s_w = max|w[:, o]| / 127        x ~ q_x * s_x,  s_x = max|x[row]| / 127        y = (q_x @ q_w) * s_x * s_w

Symmetric, rounded half to even, no zero points: Jacob et al. (2018), section 2.1, with zero point 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

LEVELS = 127
EXACT_FLOAT32 = 2**24
"""Integers below this are exact in float32, so a float32 product of int8 values is integer arithmetic as long as sums stay below."""
ENGINE = "exact integer arithmetic emulated in float32"


@dataclass(frozen=True, slots=True)
class Int8Matrix:
    """A quantised matrix: `values` int8 (K, in, out), `scale` float32 (K, 1, out), and the values once more as floats to multiply with."""

    values: Tensor
    scale: Tensor
    factor: Tensor

    @classmethod
    def of(cls, weight: Tensor) -> "Int8Matrix":
        """Quantises a float matrix (K, in, out); a channel of zeros keeps scale 1."""
        scale = weight.abs().amax(dim=1, keepdim=True) / LEVELS
        scale = torch.where(scale > 0.0, scale, torch.ones_like(scale))
        return cls.stored(torch.round(weight / scale).clamp(-LEVELS, LEVELS).to(torch.int8), scale)

    @classmethod
    def stored(cls, values: Tensor, scale: Tensor) -> "Int8Matrix":
        """From what a file holds."""
        wide = values.shape[1] * LEVELS * LEVELS >= EXACT_FLOAT32
        return cls(values, scale, values.to(torch.float64 if wide else torch.float32))

    @property
    def dequantised(self) -> Tensor:
        """The float matrix it stands for."""
        return self.values.to(torch.float32) * self.scale


def quantise_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Integers as floats (K, B, in) and one scale a row (K, B, 1); a row of zeros keeps scale 1."""
    scale = x.abs().amax(dim=-1, keepdim=True) / LEVELS
    scale = torch.where(scale > 0.0, scale, torch.ones_like(scale))
    return torch.round(x / scale).clamp(-LEVELS, LEVELS), scale


def int8_product(x: Tensor, weight: Tensor | Int8Matrix) -> Tensor:
    """(K, B, in) times (K, in, out): in integers where the matrix is quantised, in floats where it is not."""
    if not isinstance(weight, Int8Matrix):
        return torch.bmm(x, weight)
    integers, scale = quantise_rows(x)
    sums = torch.bmm(integers.to(weight.factor.dtype), weight.factor)
    return (sums * scale * weight.scale).to(torch.float32)


def quantise(weights: Mapping[str, Tensor], paths: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Quantises every matrix (names ending in `_w`) of the given paths, of all paths by default."""
    return {
        name: Int8Matrix.of(item) if name.endswith("_w") and (paths is None or name.split(".")[0] in paths) else item
        for name, item in weights.items()
    }


def quantised_share(weights: Mapping[str, Any]) -> dict[str, float]:
    """Per path, the share of all its numbers (biases and log-variances included) that is stored as int8."""
    whole: dict[str, int] = {}
    small: dict[str, int] = {}
    for name, item in weights.items():
        path = name.split(".")[0]
        count = item.values.numel() if isinstance(item, Int8Matrix) else item.numel()
        whole[path] = whole.get(path, 0) + count
        small[path] = small.get(path, 0) + (count if isinstance(item, Int8Matrix) else 0)
    return {path: small[path] / whole[path] for path in whole}
