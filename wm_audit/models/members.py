"""Numbers of an ensemble."""

import numpy as np
from numpy.typing import NDArray


def members_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over the leading axis, (K, ...) -> (...), as v[0] + mean(v - v[0]): K equal members give exactly the first one's number.

    Not finite where a member is not.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(values[0] + (values - values[0]).mean(axis=0), dtype=np.float64)


def members_variance(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Variance over the leading axis with ddof 1, (K, ...) -> (...); exactly 0 where the members are equal."""
    offset = values - values[0]
    return np.asarray(np.square(offset - offset.mean(axis=0)).sum(axis=0) / (len(values) - 1), dtype=np.float64)
