"""What `cell.embed` and `cell.decoder_tokens` compute, in the layout in which training needs no rearranging of a batch.

A picture is a column here: (K, features, N) instead of (K, N, features). Patches stay the last axis but one of every
product's result, so that it can be viewed as the next one's operand, and elementwise loops run along N.
"""

import torch
from torch import Tensor
from torch.nn import functional

from wm_audit.models.dreamer_lite.cell import Weights


def embed_columns(rows: Tensor, weights: Weights) -> Tensor:
    """Embeds patches (K, P, N, V) into (K, E, N)."""
    k, p, n, v = rows.shape
    tokens = _times(weights["encoder.patch_w"], rows.reshape(k, p * n, v).transpose(1, 2)).view(k, -1, p, n)
    tokens = functional.silu(tokens + weights["encoder.patch_b"].unsqueeze(-1)).view(k, -1, n)
    return functional.silu(_times(weights["encoder.out_w"], tokens) + weights["encoder.out_b"].unsqueeze(-1))


def token_columns(features: Tensor, weights: Weights, patches: int) -> Tensor:
    """The numbers by which the decoder describes every patch: (K, N, F) -> (K, P, W - 1, N)."""
    k, n, _ = features.shape
    inner = functional.silu(_times(weights["decoder.in_w"], features.transpose(1, 2)) + weights["decoder.in_b"].unsqueeze(-1))
    tokens = functional.silu(_times(weights["decoder.tokens_w"], inner) + weights["decoder.tokens_b"].unsqueeze(-1))
    return tokens.view(k, patches, -1, n)


def _times(weight: Tensor, columns: Tensor) -> Tensor:
    """(K, in, out) and (K, in, N) to (K, out, N)."""
    return torch.bmm(weight.transpose(1, 2), columns)
