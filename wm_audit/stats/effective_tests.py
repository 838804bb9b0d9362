"""How many independent tests a set of correlated ones amounts to."""

import numpy as np

from wm_audit.core import Measurement, Reason
from wm_audit.stats.arrays import Numbers, real_array


def effective_tests(matrix: Numbers) -> Measurement:
    """(sum sqrt(l))^2 / sum l over the eigenvalues l of a correlation matrix, negative ones set to 0 (Galwey 2009).

    Args:
        matrix: (k, k) symmetric correlations; a null entry makes the result null.

    Returns:
        A number between 1 and k; null `null_member` where an entry is missing, `too_few_samples` for an empty matrix,
        `no_spread` where no eigenvalue is positive.

    Raises:
        ValueError: the matrix is not square or not symmetric.
    """
    values = real_array("matrix", matrix, 2)
    tests = values.shape[0]
    if values.shape != (tests, tests):
        raise ValueError(f"matrix must be square, found shape {values.shape}")
    if tests == 0:
        return Measurement.null(Reason.TOO_FEW_SAMPLES)
    if not np.isfinite(values).all():
        return Measurement.null(Reason.NULL_MEMBER, n=tests)
    if not np.allclose(values, values.T, rtol=1e-9, atol=1e-12):
        raise ValueError("matrix must be symmetric")
    size = np.maximum(np.linalg.eigvalsh(values), 0.0)
    if not size.sum() > 0.0:
        return Measurement.null(Reason.NO_SPREAD, n=tests)
    return Measurement(float(np.sqrt(size).sum() ** 2 / size.sum()), n=tests)
