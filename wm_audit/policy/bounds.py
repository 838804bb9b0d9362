"""The box of allowed actions, and the numbers inside it that are really executed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Stream

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lowest and highest action, (A,) each; every bound is a float32 number inside the box that was asked for.

    Actions are kept as float64 arrays of float32 numbers: what a float32 model was asked about, what the data set
    stores and what the environment executes is then the same number, bit for bit.
    """

    low: Floats
    high: Floats

    @classmethod
    def of(cls, low: Sequence[float] | Floats, high: Sequence[float] | Floats) -> "Bounds":
        """The float32 box inside [low, high].

        Raises:
            ValueError: bounds that are not finite, not of one shape (A,), or not in order.
        """
        lowest, highest = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
        if lowest.ndim != 1 or lowest.shape != highest.shape or lowest.size == 0:
            raise ValueError(f"low and high must both be (A,), found {lowest.shape} and {highest.shape}")
        if not (np.isfinite(lowest).all() and np.isfinite(highest).all()):
            raise ValueError("low and high must be finite")
        box = cls(low=-_at_most(-lowest), high=_at_most(highest))
        if not (box.low < box.high).all():
            raise ValueError(f"low must be below high by more than float32 can round away, found {lowest.tolist()} and {highest.tolist()}")
        return box

    @property
    def span(self) -> Floats:
        """(A,): width of the box."""
        return self.high - self.low

    @property
    def middle(self) -> Floats:
        """(A,): the centre of the box, the action of a planner that knows nothing; zero may lie outside."""
        return self.inside(0.5 * (self.low + self.high))

    def inside(self, action: Floats) -> Floats:
        """(..., A): clipped to the box, then rounded to float32; rounding cannot leave it, its edges being float32 numbers."""
        return np.clip(action, self.low, self.high).astype(np.float32).astype(np.float64)

    def draw(self, stream: Stream) -> Floats:
        """(A,): a uniform action."""
        return self.inside(self.low + self.span * stream.uniform(self.low.shape))


def _at_most(number: Floats) -> Floats:
    """The largest float32 numbers that are not above `number`."""
    rounded = number.astype(np.float32)
    below = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded.astype(np.float64) > number, below, rounded).astype(np.float64)
