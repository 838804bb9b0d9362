"""What was lived through: whole episodes, and where each number stands in time.

The time diagram of the project. `T` is the step limit, `L` the length of an episode that ended early:

    snapshot[0]          snapshot[1]          snapshot[2]    ...    snapshot[L]
    obs[0] --action[0]--> obs[1] --action[1]--> obs[2]       ...    obs[L]         then zeros up to index T
                          reward[0]             reward[1]    ...    reward[L-1]
                          terminated[0]         terminated[1]       terminated[L-1]

`action[t]` is chosen on seeing `obs[t]`; `reward[t]`, `terminated[t]` and `truncated[t]` belong to the state that
`action[t]` reached, which `obs[t+1]` shows and `snapshot[t+1]` holds. A sequence for training (`replay.py`) is
written the other way round: beside `obs[t]` stand the action that led to it and the reward received on arriving.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import AuditError

Bytes = NDArray[np.uint8]
Singles = NDArray[np.float32]
Doubles = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

# name -> (dtype, axes); "+" is the axis with T + 1 entries
LAYOUT: dict[str, tuple[str, str]] = {
    "obs": ("|u1", "E+chw"),
    "action": ("<f4", "ETA"),
    "reward": ("<f8", "ET"),
    "terminated": ("|b1", "ET"),
    "truncated": ("|b1", "ET"),
    "length": ("<i8", "E"),
    "snapshot": ("<f8", "E+S"),
    "behaviour": ("<i8", "E"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """E episodes of at most T steps, padded with zeros past their length.

    Attributes:
        obs: (E, T+1, C, h, w) uint8.
        action: (E, T, A) float32; the world was given the float64 of exactly these numbers.
        reward: (E, T) float64.
        terminated: (E, T) the world ended.
        truncated: (E, T) the time was up.
        length: (E,) number of valid actions; `length + 1` observations and snapshots are valid.
        snapshot: (E, T+1, S) float64, the true state behind every observation.
        behaviour: (E,) index into `behaviours`.
        behaviours: the names of the behaviours that chose the actions.
    """

    obs: Bytes
    action: Singles
    reward: Doubles
    terminated: Flags
    truncated: Flags
    length: Ints
    snapshot: Doubles
    behaviour: Ints
    behaviours: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuses arrays that do not belong together.

        Raises:
            AuditError: a dtype or a shape is not the one of the diagram, or a length or behaviour is out of range.
        """
        sizes: dict[str, int] = {}
        for name, array in self.arrays().items():
            dtype, axes = LAYOUT[name]
            fits = array.dtype.str == dtype and array.ndim == len(axes)
            shape = tuple(size - 1 if axis == "+" else size for axis, size in zip(axes, array.shape, strict=False))
            keys = axes.replace("+", "T")
            if not fits or any(sizes.setdefault(key, size) != size for key, size in zip(keys, shape, strict=False)):
                found, expected = (
                    f"has dtype {array.dtype.str} and shape {array.shape}",
                    f"{dtype} ({axes}), + being T + 1, with sizes {sizes}",
                )
                raise AuditError(found, where=f"episodes.{name}", expected=expected)
        if not np.all((self.length >= 1) & (self.length <= sizes["T"])):
            raise AuditError("holds a length outside the limit", where="episodes.length", expected=f"1 to {sizes['T']}")
        if not np.all((self.behaviour >= 0) & (self.behaviour < len(self.behaviours))):
            raise AuditError("names no behaviour", where="episodes.behaviour", expected=f"0 to {len(self.behaviours) - 1}")

    @property
    def count(self) -> int:
        """E."""
        return int(self.length.shape[0])

    @property
    def limit(self) -> int:
        """T."""
        return int(self.reward.shape[1])

    @property
    def transitions(self) -> int:
        """How many actions were taken in all."""
        return int(self.length.sum())

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """The arrays by name, in a fixed order."""
        return {name: getattr(self, name) for name in LAYOUT}

    def returns(self) -> Doubles:
        """(E,): the sum of rewards of every episode, added in step order."""
        total = np.zeros(self.count)
        for t in range(self.limit):
            total += self.reward[:, t]
        return total
