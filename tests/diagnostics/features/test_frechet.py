"""The distance of two Gaussians, against scipy's matrix square root, and the inputs that give no number (case K12)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm

from wm_audit.core import Reason, stream
from wm_audit.diagnostics.features.frechet import Doubles, frechet_distance, not_negative, principal_frechet


def sample(n: int, d: int, root: int, scale: float = 1.0) -> Doubles:
    draw = stream(root, "frechet")
    return np.asarray(draw.normal((n, d)) @ draw.normal((d, d)) * scale + draw.normal(d), np.float64)


def textbook(first: Doubles, second: Doubles) -> float:
    cov1, cov2 = np.cov(first, rowvar=False), np.cov(second, rowvar=False)
    shift = first.mean(axis=0) - second.mean(axis=0)
    return float(shift @ shift + np.trace(cov1 + cov2 - 2.0 * sqrtm(cov1 @ cov2).real))


@given(root=st.integers(0, 10_000), d=st.integers(2, 8), extra=st.integers(2, 20))
@settings(max_examples=30, deadline=None)
def test_agrees_with_the_matrix_square_root(root: int, d: int, extra: int) -> None:
    first, second = sample(d + extra, d, root), sample(d + extra, d, root + 1, 0.5)
    moments = [item for data in (first, second) for item in (data.mean(axis=0), np.cov(data, rowvar=False))]
    expected = textbook(first, second)
    assert frechet_distance(*moments) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert frechet_distance(*moments[2:], *moments[:2]) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert principal_frechet(first, second, d) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_one_dimension_by_hand() -> None:
    """(m1 - m2)^2 + (s1 - s2)^2."""
    one = np.eye(1)
    assert frechet_distance(np.array([1.0]), 4.0 * one, np.array([3.0]), 9.0 * one) == pytest.approx(5.0)


@given(root=st.integers(0, 1000), rank=st.integers(1, 5))
@settings(max_examples=20, deadline=None)
def test_a_singular_gaussian_is_at_zero_from_itself(root: int, rank: int) -> None:
    flat = sample(30, rank, root) @ stream(root, "embed").normal((rank, 6))
    mean, cov = flat.mean(axis=0), np.cov(flat, rowvar=False)
    assert frechet_distance(mean, cov, mean, cov) == pytest.approx(0.0, abs=1e-9 * np.trace(cov))
    assert frechet_distance(mean, cov, mean + 1.0, cov) == pytest.approx(6.0, rel=1e-6)


def test_k12_a_negative_value_is_an_error_and_never_its_absolute_value() -> None:
    assert not_negative(-1e-13, 1.0) == 0.0
    with pytest.raises(ValueError, match="negative"):
        not_negative(-1e-6, 1.0)
    zero, bad = np.zeros(2), np.diag([1.0, -0.5])
    for moments in ((zero, np.eye(2), zero, bad), (zero, bad, zero, np.eye(2))):
        with pytest.raises(ValueError, match="negative eigenvalue"):
            frechet_distance(*moments)


def test_k12_too_few_samples_is_no_number() -> None:
    many = sample(70, 64, 0)
    for real, other in ((many[:10], many[:10]), (many[:64], many), (many, many[:64]), (many[:1], many), (many[:0], many)):
        assert principal_frechet(real, other, 64) is Reason.TOO_FEW_SAMPLES
    assert isinstance(principal_frechet(many[:65], many, 64), float)


def test_k12_constant_features() -> None:
    """A constant real set spans nothing; a constant imagined one is a point, whose distance is defined."""
    real, constant = sample(20, 6, 1), np.full((20, 6), 0.3)
    assert principal_frechet(constant, real, 2) is Reason.TOO_FEW_SAMPLES
    assert principal_frechet(constant, constant, 2) is Reason.TOO_FEW_SAMPLES
    found = principal_frechet(real, constant, 6)
    shift = real.mean(axis=0) - 0.3
    assert found == pytest.approx(float(shift @ shift + np.trace(np.cov(real, rowvar=False))))


def test_a_real_set_of_lower_rank_spans_too_little() -> None:
    flat = sample(30, 3, 2) @ stream(2, "embed").normal((3, 10))
    assert isinstance(principal_frechet(flat, flat, 3), float)
    assert principal_frechet(flat, flat, 4) is Reason.TOO_FEW_SAMPLES
    assert principal_frechet(sample(30, 3, 2), sample(30, 3, 3), 4) is Reason.TOO_FEW_SAMPLES


def test_the_space_is_that_of_the_real_set_alone() -> None:
    """What the imagined set does outside the real set's components changes nothing."""
    real = sample(40, 2, 5) @ np.eye(2, 6)
    other = sample(40, 2, 6) @ np.eye(2, 6)
    beside = other + np.concatenate([np.zeros((40, 2)), 10.0 * stream(5, "beside").normal((40, 4))], axis=1)
    assert principal_frechet(real, beside, 2) == pytest.approx(principal_frechet(real, other, 2), rel=1e-9)


def test_invariances() -> None:
    real, other = sample(30, 5, 7), sample(25, 5, 8)
    turn, _ = np.linalg.qr(stream(7, "turn").normal((5, 5)))
    base = principal_frechet(real, other, 3)
    assert principal_frechet(real @ turn + 3.0, other @ turn + 3.0, 3) == pytest.approx(base, rel=1e-9)
    assert principal_frechet(real[::-1], other[::-1], 3) == pytest.approx(base, rel=1e-9)
    assert principal_frechet(real, real, 3) == pytest.approx(0.0, abs=1e-9)


def test_wrong_use_is_refused() -> None:
    good = sample(10, 3, 0)
    for real, other, components in ((good, good[:, :2], 2), (good[0], good, 2), (good, good, 0)):
        with pytest.raises(ValueError, match="real and other"):
            principal_frechet(real, other, components)
    spoiled = good.copy()
    spoiled[0, 0] = np.nan
    for pair in ((good, spoiled), (spoiled, good)):
        with pytest.raises(ValueError, match="finite"):
            principal_frechet(*pair, 2)
