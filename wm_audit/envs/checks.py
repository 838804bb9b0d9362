"""Checks of what a person wrote in a settings table; every refusal names the found, the known and the nearest."""

import difflib
import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from wm_audit.core import AuditError


def known(found: object, names: Iterable[str], *, what: str, where: str) -> str:
    """`found` itself if it is one of `names`.

    Raises:
        AuditError: it is not; the message lists the names and proposes the nearest.
    """
    names = list(names)
    if isinstance(found, str) and found in names:
        return found
    nearest = difflib.get_close_matches(str(found).casefold(), names, n=1, cutoff=0.0)
    fix = f"did you mean {nearest[0]!r}?" if nearest else "leave it out"
    raise AuditError(f"unknown {what} {found!r}", where=where, expected=f"one of {', '.join(names)}", fix=fix)


def choice(found: Any, options: Sequence[str], *, where: str) -> str:
    """A name out of a short list.

    Raises:
        AuditError: any other value.
    """
    return known(found, options, what="value", where=where)


def whole(found: Any, *, low: int, high: int, where: str) -> int:
    """A whole number from low to high, both included; true and false are not numbers.

    Raises:
        AuditError: any other value.
    """
    if isinstance(found, bool) or not isinstance(found, int) or not low <= found <= high:
        raise AuditError(f"found {found!r}", where=where, expected=f"a whole number from {low} to {high}")
    return found


def number(found: Any, *, low: float, high: float, where: str) -> float:
    """A finite number from low to high, both included, as a float.

    Raises:
        AuditError: any other value.
    """
    numeric = isinstance(found, int | float | Decimal) and not isinstance(found, bool)
    if not numeric or not math.isfinite(found) or not low <= found <= high:
        raise AuditError(f"found {found!r}", where=where, expected=f"a number from {low:g} to {high:g}")
    return float(found)
