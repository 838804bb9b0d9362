"""Named streams of random numbers.

Every draw of the project comes from `stream(root, *names)`. A name is enough to get the same numbers again
(common random numbers), and adding a stage never shifts another's draws. All distributions are computed here
from the raw 64-bit words of PCG64, which numpy keeps stable; the methods of `numpy.random.Generator` are not
stable between numpy versions, so they are not used.
"""

import hashlib
import json

import numpy as np
from numpy.typing import NDArray

Shape = int | tuple[int, ...]


def stream(root: int, *names: str | int) -> "Stream":
    """The stream called `names` under the root seed.

    Args:
        root: the experiment's root seed.
        names: role, environment, seed, ... : anything that tells this use from every other.
    """
    return Stream((root, *names))


class Stream:
    """Random numbers under a name; successive calls continue the same sequence."""

    def __init__(self, name: tuple[str | int, ...]) -> None:
        self.name = name
        text = json.dumps(list(name), ensure_ascii=True, separators=(",", ":"))
        key = int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:16], "big")
        self._bits = np.random.PCG64(key)

    def child(self, *names: str | int) -> "Stream":
        """A fresh stream under a longer name; does not advance this one."""
        return Stream((*self.name, *names))

    def words(self, shape: Shape) -> NDArray[np.uint64]:
        """Raw 64-bit words."""
        count = int(np.prod(shape, dtype=np.int64))
        return np.asarray(self._bits.random_raw(count), dtype=np.uint64).reshape(shape)

    def seed(self) -> int:
        """A non-negative 63-bit seed for a foreign generator (torch)."""
        return int(self.words(1)[0] >> np.uint64(1))

    def uniform(self, shape: Shape, low: float = 0.0, high: float = 1.0) -> NDArray[np.float64]:
        """Uniform on [low, high), 53 random bits."""
        unit = (self.words(shape) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return low + (high - low) * unit

    def normal(self, shape: Shape) -> NDArray[np.float64]:
        """Standard normal (Box and Muller 1958), two uniforms a value, so that shapes do not interact."""
        radius = np.sqrt(-2.0 * np.log1p(-self.uniform(shape)))
        return np.asarray(radius * np.cos(2.0 * np.pi * self.uniform(shape)), dtype=np.float64)

    def integers(self, high: int, shape: Shape) -> NDArray[np.int64]:
        """Uniform on 0 .. high-1; the bias is below high * 2**-53.

        Raises:
            ValueError: `high` is smaller than 1.
        """
        if high < 1:
            raise ValueError(f"high must be at least 1, found {high}")
        return np.minimum((self.uniform(shape) * high).astype(np.int64), high - 1)

    def permutation(self, n: int) -> NDArray[np.int64]:
        """A uniform order of 0 .. n-1 (sorting by random words; stable, so always defined)."""
        return np.argsort(self.words(n), kind="stable").astype(np.int64)
