"""Sets of rows or clusters drawn from data, evaluated many at a time."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Stream
from wm_audit.stats.arrays import Floats, Ints

Statistic = Callable[..., Floats]
Arrays = tuple[NDArray[Any], ...]
Labels = NDArray[Any] | list[Any]
_CELLS = 2_000_000  # row indices held at once


class Units(NamedTuple):
    """What is drawn as a whole: unit u holds the rows order[start[u] : start[u] + size[u]]."""

    order: Ints
    start: Ints
    size: Ints


def checked_arrays(data: Any) -> Arrays:
    """One array or a tuple of arrays with the same rows.

    Raises:
        ValueError: not real numbers, or the numbers of rows differ.
    """
    arrays = tuple(np.asarray(item) for item in (data if isinstance(data, tuple) else (data,)))
    for item in arrays:
        if item.dtype.kind not in "iuf" or item.ndim == 0:
            raise ValueError(f"data must hold arrays of real numbers, found {item.dtype} of shape {item.shape}")
    if not arrays or len({len(item) for item in arrays}) != 1:
        raise ValueError(f"data must hold arrays with the same number of rows, found {[len(item) for item in arrays]}")
    return arrays


def make_units(rows: int, cluster: Labels | None) -> Units:
    """Rows as their own units, or grouped by label in the labels' order.

    Raises:
        ValueError: not one integer or text label for each row.
    """
    if cluster is None:
        return Units(np.arange(rows), np.arange(rows), np.ones(rows, dtype=np.int64))
    labels = np.asarray(cluster)
    if labels.shape != (rows,) or (rows and labels.dtype.kind not in "iuUS"):
        raise ValueError(f"cluster must hold one integer or text label for each of {rows} rows, found {labels.dtype} {labels.shape}")
    order = np.argsort(labels, kind="stable")
    _, start, size = np.unique(labels[order], return_index=True, return_counts=True)
    return Units(order, start.astype(np.int64), size.astype(np.int64))


def with_replacement(units: int, resamples: int, stream: Stream) -> Iterator[Ints]:
    """As many units as there are, drawn with replacement, in chunks of resamples; the chunk size does not move the draws."""
    step = max(1, _CELLS // units)
    for first in range(0, resamples, step):
        yield stream.integers(units, (min(step, resamples - first), units))


def one_left_out(units: int) -> Iterator[Ints]:
    """All units but one, in chunks."""
    step = max(1, _CELLS // units)
    for first in range(0, units, step):
        left_out = np.arange(first, min(first + step, units))[:, None]
        others = np.arange(units - 1)[None]
        yield others + (others >= left_out)


def evaluate(statistic: Statistic, arrays: Arrays, units: Units, chunks: Iterator[Ints]) -> Floats:
    """The statistic of every drawn set of units; sets with the same number of rows are evaluated together.

    Raises:
        ValueError: the statistic does not return one value a resample.
    """
    return np.concatenate([_evaluate_chunk(statistic, arrays, units, chunk) for chunk in chunks])


def _evaluate_chunk(statistic: Statistic, arrays: Arrays, units: Units, drawn: Ints) -> Floats:
    values = np.empty(len(drawn))
    rows = units.size[drawn].sum(axis=1)
    for count in np.unique(rows):
        same = np.flatnonzero(rows == count)
        index = _row_index(units, drawn[same]).reshape(same.size, count)
        result = np.asarray(statistic(*(item[index] for item in arrays)), dtype=np.float64)
        if result.shape != (same.size,):
            raise ValueError(f"statistic must return one value for each of {same.size} resamples, found shape {result.shape}")
        values[same] = result
    return values


def _row_index(units: Units, drawn: Ints) -> Ints:
    """The rows of all drawn units, one after the other."""
    size = units.size[drawn].ravel()
    before = np.cumsum(size) - size
    place = np.arange(size.sum()) - np.repeat(before, size)
    index: Ints = units.order[place + np.repeat(units.start[drawn].ravel(), size)]
    return index
