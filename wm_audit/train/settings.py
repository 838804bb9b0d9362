"""How an ensemble is trained."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Budget and optimiser.

    Attributes:
        steps: gradient steps; one step updates all members once.
        batch: B, sequences per member and step.
        length: T, transitions per sequence; 1 trains a per-transition model without temporal learning.
        learning_rate: of Adam (Kingma and Ba 2015), after warm-up.
        warmup: steps of linear growth of the learning rate.
        decay: share of the steps, at the end, over which the learning rate falls linearly to zero.
        clip: largest gradient norm of a member, for a loss in nats per channel value.
        weight_decay: decoupled (Loshchilov and Hutter 2019); 0 is plain Adam.
    """

    steps: int
    batch: int = 4
    length: int = 8
    learning_rate: float = 1e-3
    warmup: int = 1000
    decay: float = 0.0
    clip: float = 10.0
    weight_decay: float = 0.0
