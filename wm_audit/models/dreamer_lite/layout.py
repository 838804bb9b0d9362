"""All members' parameters in one tensor (K, n): which columns are which weight.

One tensor means one optimiser call, one gradient norm per member and one file entry; every weight is a view.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from wm_audit.core import Stream
from wm_audit.models.dreamer_lite.config import Config

Parameters = dict[str, Tensor]
PATHS = ("encoder", "dynamics", "decoder", "reward", "continue")


@dataclass(frozen=True, slots=True)
class Entry:
    """One weight.

    Attributes:
        name: "path.role"; matrices end in `_w`, everything else in `_b`.
        shape: (in, out), or that of a bias.
        fill: a bias starts at this value.
    """

    name: str
    shape: tuple[int, ...]
    fill: float = 0.0

    @property
    def size(self) -> int:
        """Numbers in it, for one member."""
        return math.prod(self.shape)

    @property
    def path(self) -> str:
        """encoder, dynamics, decoder, reward or continue."""
        return self.name.split(".")[0]

    @property
    def is_matrix(self) -> bool:
        """True for what multiplies activations: what compression acts on."""
        return self.name.endswith("_w")


def layout(config: Config) -> tuple[Entry, ...]:
    """Every weight of the model, in a fixed order."""
    h, e, s, a = config.hidden, config.embed, config.stoch, config.actions
    p, v, w, f = config.patches, config.values, config.width, config.features
    variances = (p, v) if config.variance == "pixel" else (1, 1)
    return (
        Entry("encoder.patch_w", (v, w)),
        Entry("encoder.patch_b", (w, p)),
        Entry("encoder.out_w", (w * p, e)),
        Entry("encoder.out_b", (e,)),
        Entry("dynamics.input_w", (s + a, 3 * h)),
        Entry("dynamics.input_b", (3 * h,)),
        Entry("dynamics.hidden_w", (h, 3 * h)),
        Entry("dynamics.hidden_b", (3 * h,)),
        Entry("dynamics.posterior_hidden_w", (h, h)),
        Entry("dynamics.posterior_embed_w", (e, h)),
        Entry("dynamics.posterior_b", (h,)),
        Entry("dynamics.posterior_out_w", (h, 2 * s)),
        Entry("dynamics.posterior_out_b", (2 * s,)),
        Entry("dynamics.prior_w", (h, h)),
        Entry("dynamics.prior_b", (h,)),
        Entry("dynamics.prior_out_w", (h, 2 * s)),
        Entry("dynamics.prior_out_b", (2 * s,)),
        Entry("decoder.in_w", (f, e)),
        Entry("decoder.in_b", (e,)),
        Entry("decoder.tokens_w", (e, p * (w - 1))),
        Entry("decoder.tokens_b", (p * (w - 1),)),
        Entry("decoder.patch_w", (w - 1, v)),
        Entry("decoder.patch_b", (p, v)),
        Entry("decoder.variance_b", variances),
        Entry("reward.in_w", (f, e)),
        Entry("reward.in_b", (e,)),
        Entry("reward.out_w", (e, 1)),
        Entry("reward.out_b", (1,)),
        Entry("reward.variance_b", (1,)),
        Entry("continue.in_w", (f, e)),
        Entry("continue.in_b", (e,)),
        Entry("continue.out_w", (e, 1)),
        Entry("continue.out_b", (1,), fill=2.0),
    )


def size(config: Config) -> int:
    """n: numbers per member."""
    return sum(entry.size for entry in layout(config))


def initialise(config: Config, streams: list[Stream]) -> Tensor:
    """Draws (K, n) float32, member k from streams[k] alone.

    Matrices are normal with standard deviation 1 / sqrt(in) (LeCun et al. 1998), biases constant.
    """
    members = []
    for stream in streams:
        pieces = []
        for entry in layout(config):
            if entry.is_matrix:
                pieces.append(stream.child(entry.name).normal(entry.size) / math.sqrt(entry.shape[0]))
            else:
                pieces.append(np.full(entry.size, entry.fill))
        members.append(np.concatenate(pieces))
    return torch.from_numpy(np.stack(members).astype(np.float32))


def unpack(flat: Tensor, config: Config) -> Parameters:
    """Named views (K, *shape) into the one tensor; gradients flow back into it."""
    entries = layout(config)
    columns = torch.split(flat, [entry.size for entry in entries], dim=1)
    return {entry.name: column.view(flat.shape[0], *entry.shape) for entry, column in zip(entries, columns, strict=True)}
