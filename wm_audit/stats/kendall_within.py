"""Kendall's tau-b inside groups, averaged over groups."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Measurement, Reason
from wm_audit.stats.arrays import Floats, Numbers, real_array, same_shape, tolerances
from wm_audit.stats.kendall import kendall_tau_b


def kendall_within(groups: NDArray[Any] | list[Any], x: Numbers, y: Numbers, *, rtol: float = 1e-12, atol: float = 0.0) -> Measurement:
    """The mean over groups of tau-b between a reference and a prediction inside the group.

    A group in which the reference is constant (a single item too) asks nothing: it is dropped and counted. One in which only the
    prediction is constant was asked and not answered: it counts 0. There is no least size and no least number of distinct values.

    Args:
        groups: (n,) labels, integers or text.
        x: (n,) reference values.
        y: (n,) predicted values.
        rtol: relative tie tolerance: 1e-12 for float64 values, 1e-6 for values computed in float32.
        atol: absolute tie tolerance.

    Returns:
        The mean over `n` groups, `n_dropped` groups dropped; null `probe_degenerate` where no group is left.

    Raises:
        ValueError: wrong use; the message names the argument.
    """
    tolerances(rtol, atol)
    reference, prediction = real_array("x", x, 1), real_array("y", y, 1)
    same_shape("x", reference, "y", prediction)
    labels = np.asarray(groups)
    if labels.shape != reference.shape or (labels.size and labels.dtype.kind not in "iuUS"):
        raise ValueError(
            f"groups must hold one integer or text label for each of the {reference.size} items, found {labels.dtype} {labels.shape}"
        )
    order = np.argsort(labels, kind="stable")
    borders = np.unique(labels[order], return_index=True)[1][1:]
    values = [tau for inside in np.split(order, borders) if (tau := _inside(reference[inside], prediction[inside], rtol, atol)) is not None]
    dropped = (borders.size + 1 if labels.size else 0) - len(values)
    if not values:
        return Measurement.null(Reason.PROBE_DEGENERATE, n_dropped=dropped)
    return Measurement(float(np.mean(np.sort(values))), n=len(values), n_dropped=dropped)  # sorted: the labels' order adds nothing


def _inside(x: Floats, y: Floats, rtol: float, atol: float) -> float | None:
    tau = kendall_tau_b(x, y, rtol=rtol, atol=atol, min_n=2, min_distinct=2)
    return 0.0 if tau.reason is Reason.CONSTANT_Y else tau.value
