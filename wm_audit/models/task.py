"""What a model family is asked for: an ensemble of one capacity, for one world, on one data set."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Stream

Accelerate = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """An order for one ensemble.

    Attributes:
        image: (C, h, w) of the observations.
        actions: A.
        hidden, embed: the capacity.
        settings: the `model` section of the promise.
        streams: one per member, for its initial weights.
        centre: mean picture of the training data (C, h, w), in [0, 1].
        accelerate: may compile a function of tensors; the identity where that is unwanted or impossible.
    """

    image: tuple[int, int, int]
    actions: int
    hidden: int
    embed: int
    settings: Mapping[str, Any]
    streams: tuple[Stream, ...]
    centre: NDArray[np.float32]
    accelerate: Accelerate
