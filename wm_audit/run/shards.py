"""`--shard i/N`: a fixed part of the grid for one machine of N, counted from 0."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from wm_audit.core import UsageError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` of `count`."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Reads `i/N`.

        Raises:
            UsageError: not of that form, or i is not one of 0 .. N-1.
        """
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        if match is None:
            raise UsageError(f"found {text!r}", where="--shard", expected="i/N, counted from 0", fix="write 0/2 for the first half")
        index, count = int(match[1]), int(match[2])
        if index >= count:
            expected = f"0/{count} to {count - 1}/{count}" if count else "at least one shard"
            raise UsageError(f"there is no shard {text}", where="--shard", expected=expected, fix="count from 0")
        return cls(index, count)

    def of(self, groups: Mapping[str, T]) -> dict[str, T]:
        """This shard's groups: dealt out in turn in the order of their names, so every shard gets every kind of model."""
        mine = sorted(groups)[self.index :: self.count]
        return {name: item for name, item in groups.items() if name in set(mine)}


WHOLE = Shard(0, 1)
"""The whole grid."""
