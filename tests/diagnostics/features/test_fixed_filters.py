"""The random filter bank is the same everywhere for one seed, and nobody's perception."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.signal import correlate

from wm_audit.core import stream
from wm_audit.diagnostics.features.fixed_filters import FILTERS, SCALES, SIDE, STRIDE, FixedFilterFeatures, load
from wm_audit.diagnostics.features.paired import paired_distances


def image(root: int) -> NDArray[np.float32]:
    return stream(root, "filters").uniform((3, 64, 64)).astype(np.float32)


def brute(bank: NDArray[np.float64], picture: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    stages = []
    for _ in range(SCALES):
        maps = [correlate(picture, item, mode="valid")[0, ::STRIDE, ::STRIDE] for item in bank]
        stages.append(np.maximum(np.stack(maps), 0.0))
        picture = (picture[:, ::2, ::2] + picture[:, 1::2, ::2] + picture[:, ::2, 1::2] + picture[:, 1::2, 1::2]) / 4.0
    return stages


def test_distance_by_hand() -> None:
    bank = FixedFilterFeatures(3).filters.double().numpy()
    first, second = (brute(bank, image(root).astype(np.float64)) for root in (0, 1))
    expected = np.mean([np.square(a - b).mean() for a, b in zip(first, second, strict=True)])
    found = paired_distances(load(3), image(0)[None], image(1)[None, None], 1)[0, 0]
    assert found == pytest.approx(expected, rel=1e-5)


def test_filters_are_zero_mean_and_of_unit_norm() -> None:
    bank = FixedFilterFeatures(0).filters
    assert tuple(bank.shape) == (FILTERS, 3, SIDE, SIDE)
    assert torch.allclose(bank.mean(dim=(1, 2, 3)), torch.zeros(FILTERS), atol=1e-7)
    assert torch.allclose(bank.square().sum(dim=(1, 2, 3)), torch.ones(FILTERS), atol=1e-5)


def test_seeds_differ_in_number_and_digest() -> None:
    pair = image(0)[None], image(1)[None, None]
    assert paired_distances(load(0), *pair, 1) != paired_distances(load(1), *pair, 1)
    assert torch.equal(FixedFilterFeatures(0).filters, FixedFilterFeatures(0).filters)
    assert len({load(seed).digest for seed in range(4)}) == 4
    assert load(0).digest.startswith("sha256:")
