"""The Frechet distance between two Gaussians fitted to descriptions.

Dowson and Landau 1982, "The Frechet distance between multivariate normal distributions", equation 4; as an image metric Heusel et
al. 2017:

    d^2 = |m1 - m2|^2 + tr(S1 + S2 - 2 (S1^(1/2) S2 S1^(1/2))^(1/2))

The trace of the symmetric form's root is the sum of the singular values of S1^(1/2) S2^(1/2), which are real and not negative
whatever the rank of S1 and S2; the roots come from eigendecompositions of symmetric matrices. Nothing here can become complex.
"""

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Reason

Doubles = NDArray[np.float64]

ROUNDING = 1e-9
RANK = 1e-10


def frechet_distance(mean1: Doubles, cov1: Doubles, mean2: Doubles, cov2: Doubles) -> float:
    """The squared distance between two Gaussians.

    Args:
        mean1: (d,).
        cov1: (d, d), symmetric and positive semi-definite.
        mean2: (d,).
        cov2: as cov1.

    Raises:
        ValueError: a covariance, or the result, is negative by more than rounding. It is never turned into a positive number.
    """
    cross = np.linalg.svd(_root(cov1, "cov1") @ _root(cov2, "cov2"), compute_uv=False).sum()
    scale = float(np.square(mean1 - mean2).sum() + np.trace(cov1) + np.trace(cov2))
    return not_negative(scale - 2.0 * float(cross), scale)


def not_negative(value: float, scale: float) -> float:
    """A squared distance, 0 where it is negative by rounding only.

    Raises:
        ValueError: it is negative by more than rounding of terms of this scale.
    """
    if value < -ROUNDING * scale:
        raise ValueError(f"the squared distance is negative, {value}")
    return max(value, 0.0)


def principal_frechet(real: Doubles, other: Doubles, components: int) -> float | Reason:
    """The squared distance of two sets of descriptions in the real set's first principal components.

    The components are those of the real set alone: a model cannot choose the space it is judged in. No shrinkage: where
    the samples do not determine a Gaussian in that many dimensions there is no number.

    Args:
        real: (n, D) finite.
        other: (m, D) finite.
        components: how many principal components are kept.

    Returns:
        The distance, or `too_few_samples`: n or m not above `components`, or the real set varies in fewer directions.

    Raises:
        ValueError: the shapes do not fit, components below 1, or a value that is not finite.
    """
    if real.ndim != 2 or other.ndim != 2 or real.shape[1] != other.shape[1] or components < 1:
        raise ValueError(
            f"real and other must be (n, D) and (m, D), components at least 1, found {real.shape}, {other.shape}, {components}"
        )
    if not (np.isfinite(real).all() and np.isfinite(other).all()):
        raise ValueError("real and other must be finite")
    if min(len(real), len(other)) <= components:
        return Reason.TOO_FEW_SAMPLES
    centre = real.mean(axis=0)
    _, spread, directions = np.linalg.svd(real - centre, full_matrices=False)
    if len(spread) < components or spread[components - 1] <= RANK * max(float(spread[0]), float(np.abs(centre).max())):
        return Reason.TOO_FEW_SAMPLES
    basis = directions[:components].T
    first, second = (real - centre) @ basis, (other - centre) @ basis
    return frechet_distance(*_gaussian(first), *_gaussian(second))


def _gaussian(sample: Doubles) -> tuple[Doubles, Doubles]:
    """Mean and covariance with ddof 1; (d, d) also for one dimension."""
    mean = sample.mean(axis=0)
    centred = sample - mean
    return mean, centred.T @ centred / (len(sample) - 1)


def _root(cov: Doubles, name: str) -> Doubles:
    values, vectors = np.linalg.eigh((cov + cov.T) / 2.0)
    if values.min() < -ROUNDING * max(float(np.abs(values).max()), np.finfo(np.float64).tiny):
        raise ValueError(f"{name} has a negative eigenvalue, {values.min()}")
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T, dtype=np.float64)
