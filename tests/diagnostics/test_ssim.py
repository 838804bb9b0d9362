import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from wm_audit.core import stream
from wm_audit.diagnostics.ssim import ssim


def pair(seed: int, shape: tuple[int, ...] = (2, 3, 13, 16)) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    draw = stream(seed, "images")
    first = draw.uniform(shape)
    return first, np.clip(first + 0.2 * draw.normal(shape), 0.0, 1.0)


def by_loops(x: NDArray[np.float64], y: NDArray[np.float64], data_range: float) -> float:
    """One plane: every window position, every pixel, written out."""
    c1, c2 = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    bell = [[math.exp(-((i - 5) ** 2 + (j - 5) ** 2) / (2 * 1.5**2)) for j in range(11)] for i in range(11)]
    total = sum(map(sum, bell))
    scores = []
    for top in range(x.shape[0] - 10):
        for left in range(x.shape[1] - 10):
            cells = [(bell[i][j] / total, float(x[top + i, left + j]), float(y[top + i, left + j])) for i in range(11) for j in range(11)]
            mx, my = sum(w * a for w, a, _ in cells), sum(w * b for w, _, b in cells)
            vx, vy = sum(w * (a - mx) ** 2 for w, a, _ in cells), sum(w * (b - my) ** 2 for w, _, b in cells)
            cov = sum(w * (a - mx) * (b - my) for w, a, b in cells)
            scores.append((2 * mx * my + c1) * (2 * cov + c2) / ((mx * mx + my * my + c1) * (vx + vy + c2)))
    return sum(scores) / len(scores)


def test_equals_the_formula_written_as_loops() -> None:
    first, second = pair(0)
    expected = [sum(by_loops(first[i, c], second[i, c], 1.0) for c in range(3)) / 3 for i in range(2)]
    assert ssim(first, second, data_range=1.0) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_is_symmetric_bounded_and_one_for_equal_images(seed: int) -> None:
    first, second = pair(seed)
    value = ssim(first, second, data_range=1.0)
    assert np.array_equal(value, ssim(second, first, data_range=1.0))
    assert (np.abs(value) < 1.0).all()
    assert (ssim(first, first, data_range=1.0) == 1.0).all()


@pytest.mark.parametrize("brightness", [0.03, 1.0])
def test_k10_the_same_pair_as_bytes_and_as_fractions_agrees(brightness: float) -> None:
    first, second = (np.round(255 * brightness * item).astype(np.uint8) for item in pair(1))
    bytes_ = ssim(first, second, data_range=255.0)
    fractions = ssim(first.astype(np.float32) / np.float32(255), second.astype(np.float32) / np.float32(255), data_range=1.0)
    assert bytes_ == pytest.approx(fractions, abs=1e-6)
    wrong = ssim(first.astype(np.float64) / 255, second.astype(np.float64) / 255, data_range=2.0)
    assert (wrong > fractions + 1e-3).all(), "too wide a range flatters the images, which is why it is never guessed"


def test_the_range_is_required_and_checked() -> None:
    first, second = pair(2)
    with pytest.raises(TypeError):
        ssim(first, second)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match=r"first must lie in \[0, 1.0\]"):
        ssim(255 * first, second, data_range=1.0)


@pytest.mark.parametrize("shape", [(3, 10, 16), (3, 16, 10)])
def test_refuses_images_smaller_than_the_window(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="at least 11 x 11"):
        ssim(np.zeros(shape), np.zeros(shape), data_range=1.0)


def test_refuses_different_shapes() -> None:
    with pytest.raises(ValueError, match="one shape"):
        ssim(np.zeros((3, 16, 16)), np.zeros((3, 16, 17)), data_range=1.0)


def test_an_image_scores_the_same_in_any_company() -> None:
    first, second = pair(3, (150, 3, 12, 12))
    whole = ssim(first, second, data_range=1.0)
    assert np.array_equal(whole[[0, 77, 149]], [ssim(first[i], second[i], data_range=1.0) for i in (0, 77, 149)])
    assert ssim(first[:0], second[:0], data_range=1.0).shape == (0,)


def test_falls_with_noise_and_ignores_no_structure() -> None:
    first, _ = pair(4)
    noise = stream(4, "noise").normal(first.shape)
    scores = [float(ssim(first, np.clip(first + s * noise, 0, 1), data_range=1.0).mean()) for s in (0.0, 0.05, 0.1, 0.3)]
    assert scores == sorted(scores, reverse=True)
    assert float(ssim(first, 1.0 - first, data_range=1.0).max()) < 0.0
