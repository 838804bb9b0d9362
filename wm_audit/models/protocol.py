"""What a world model is, in one protocol and its capabilities.

Shapes: K members, B batch, A action, image `C h w`. Every array of a state has leading axes (K, B).
A model without a capability gets the null reason `capability_missing`, never a zero.
"""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

State = dict[str, Tensor]


class Pixels(NamedTuple):
    """A Gaussian over images in [0, 1]: mean (K, B, C, h, w), log_variance of the same shape or None."""

    mean: Tensor
    log_variance: Tensor | None


class WorldModel(Protocol):
    """A recurrent latent model with K members. Evaluation is deterministic: latents are propagated by their means."""

    @property
    def members(self) -> int:
        """K."""
        ...

    def initial(self, batch: int) -> State:
        """The state before anything was seen, (K, B, ...)."""
        ...

    def observe(self, state: State, action: Tensor, obs: Tensor) -> State:
        """The posterior after `action` (B, A) led to `obs` (B, C, h, w) uint8.

        The first observation of an episode is fed to `initial` with a zero action.
        """
        ...

    def imagine(self, state: State, action: Tensor) -> State:
        """The prior after `action` (B, A), the same for every member."""
        ...


@runtime_checkable
class Decodes(Protocol):
    """The model can draw what it believes."""

    def decode(self, state: State) -> Pixels:
        """The predicted observation of every state."""
        ...


@runtime_checkable
class Rewards(Protocol):
    """The model predicts rewards."""

    def reward(self, state: State) -> Tensor:
        """(K, B): the reward that was received on arriving in this state."""
        ...


@runtime_checkable
class Continues(Protocol):
    """The model predicts whether the episode goes on."""

    def continues(self, state: State) -> Tensor:
        """(K, B): probability that this state is not terminal."""
        ...


@runtime_checkable
class Grounds(Protocol):
    """Control models with known answers only: the model may be told the true state, (B, S)."""

    def ground(self, snapshot: NDArray[np.float64]) -> State:
        """The state of every member that corresponds to the true one."""
        ...


def tile(state: State, times: int) -> State:
    """Repeats every batch item `times` times in place: (K, B, ...) -> (K, B * times, ...)."""
    return {name: item.repeat_interleave(times, dim=1) for name, item in state.items()}
