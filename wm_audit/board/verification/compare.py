"""Two JSON values side by side: where do they differ by more than rounding?"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from wm_audit.board.schema import pointer
from wm_audit.board.verification.check import Place

TOLERANCE = 1e-9
"""Absolute below 1, relative above: processors differ in the last bits of `exp` and `arctanh`, and in nothing more."""

_ABSENT = object()


def differences(stored: Any, fresh: Any, where: str = "") -> Iterator[Place]:
    """Every place where a stored value is not the recomputed one; seals are left out, for they hold the last bits.

    Args:
        stored: from the file.
        fresh: recomputed.
        where: JSON pointer of both.
    """
    if isinstance(stored, Mapping) and isinstance(fresh, Mapping):
        for name in dict.fromkeys((*stored, *fresh)):
            if name != "sha256":
                yield from differences(stored.get(name, _ABSENT), fresh.get(name, _ABSENT), where + pointer(name))
    elif isinstance(stored, list) and isinstance(fresh, list) and len(stored) == len(fresh):
        for index, (one, two) in enumerate(zip(stored, fresh, strict=True)):
            yield from differences(one, two, where + pointer(index))
    elif not same(stored, fresh):
        yield Place(where, text(stored), text(fresh))


def same(one: Any, two: Any) -> bool:
    """Numbers within the tolerance, everything else exactly."""
    numbers = all(isinstance(item, int | float) and not isinstance(item, bool) for item in (one, two))
    if numbers and (isinstance(one, float) or isinstance(two, float)):
        return bool(abs(one - two) <= TOLERANCE * max(1.0, abs(one), abs(two)))
    return type(one) is type(two) and bool(one == two)


def text(value: Any) -> str:
    """A value as people would quote it, cut where it grows long."""
    if value is _ABSENT:
        return "nothing"
    quoted = json.dumps(value, ensure_ascii=False)
    return quoted if len(quoted) <= 100 else quoted[:97] + "..."
