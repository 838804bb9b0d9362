"""From what a caller passes to clean float64 arrays, or to a sentence naming the argument that is wrong."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Numbers = NDArray[Any] | Sequence[Any]


def real_array(name: str, values: Numbers, *shape: int) -> Floats:
    """`values` as float64; None becomes NaN, so that a list of nulls and numbers can be passed as it is.

    Args:
        name: the argument's name, for the message.
        values: numbers, integers or None.
        shape: how many axes are allowed, one number for each choice.

    Raises:
        ValueError: not an array of real numbers (bool, complex, text), or the wrong number of axes.
    """
    try:
        raw = np.asarray(values.filled(np.nan) if isinstance(values, np.ma.MaskedArray) else values)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name} must be an array of real numbers: {error}") from error
    if raw.dtype == object:
        raw = np.array([_number(name, item) for item in raw.ravel()], dtype=np.float64).reshape(raw.shape)
    if raw.dtype.kind not in "iuf":
        raise ValueError(f"{name} must hold real numbers, found {raw.dtype}")
    if raw.ndim not in shape:
        raise ValueError(f"{name} must have {' or '.join(str(axes) for axes in shape)} axes, found shape {raw.shape}")
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite, which every caller drops
        return raw.astype(np.float64)


def _number(name: str, item: Any) -> float:
    if item is None:
        return math.nan
    if isinstance(item, bool | np.bool_) or not isinstance(item, int | float | np.integer | np.floating):
        raise ValueError(f"{name} must hold real numbers or None, found {item!r}")  # noqa: TRY004  wrong use is always ValueError
    return float(item)


def same_shape(name: str, values: Floats, other_name: str, other: Floats) -> None:
    """Raises ValueError where two arrays that belong together differ in shape."""
    if values.shape != other.shape:
        raise ValueError(f"{other_name} must have the shape of {name}, {values.shape}, found {other.shape}")


def finite_pairs(x: Numbers, y: Numbers, names: tuple[str, str] = ("x", "y")) -> tuple[Floats, Floats, Bools]:
    """Two vectors without the pairs that are not finite on both sides, and which pairs were kept."""
    first, second = real_array(names[0], x, 1), real_array(names[1], y, 1)
    same_shape(names[0], first, names[1], second)
    keep = np.isfinite(first) & np.isfinite(second)
    return first[keep], second[keep], keep


def open_unit(name: str, value: float) -> float:
    """A level or an alpha: strictly between 0 and 1."""
    if isinstance(value, bool) or not 0.0 < value < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, found {value!r}")
    return float(value)


def whole(name: str, value: int, least: int) -> int:
    """A count: an integer of at least `least`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, found {value!r}")
    return int(value)


def tolerances(rtol: float, atol: float) -> None:
    """Refuses tolerances under which a tie has no meaning."""
    if not 0.0 <= rtol < 1.0:
        raise ValueError(f"rtol must lie in [0, 1), found {rtol!r}")
    if not 0.0 <= atol < math.inf:
        raise ValueError(f"atol must be finite and not negative, found {atol!r}")
