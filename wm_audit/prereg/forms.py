"""Two forms of one value: exact for files and digests, floating for arithmetic."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from wm_audit.core.strict_json import plain_decimal


def exact(value: Any) -> Any:
    """JSON types with decimals as text in plain notation; its canonical digest is that of the value itself."""
    if isinstance(value, Decimal):
        return plain_decimal(value)
    if isinstance(value, Mapping):
        return {name: exact(item) for name, item in value.items()}
    return [exact(item) for item in value] if isinstance(value, list | tuple) else value


def floating(value: Any) -> Any:
    """The same structure with every decimal as the nearest float64."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, Mapping):
        return {name: floating(item) for name, item in value.items()}
    return [floating(item) for item in value] if isinstance(value, list | tuple) else value


def restored(promised: Any, found: Any) -> Any:
    """From the form that files hold back to decimals: `exact` undone.

    Args:
        promised: the promise's data, which says where decimals stand.
        found: the same structure with decimals as text, selected and shrunk.
    """
    if isinstance(promised, Decimal):
        return Decimal(found)
    if isinstance(promised, Mapping) and isinstance(found, Mapping):
        return {name: restored(item, found[name]) for name, item in promised.items() if name in found}
    if isinstance(promised, list) and promised and isinstance(promised[0], Mapping) and isinstance(found, list):
        return [restored(promised[min(index, len(promised) - 1)], item) for index, item in enumerate(found)]
    return found
