"""The declared range is checked: an image in another range gives a plausible, wrong distance (case K11)."""

from typing import Any

import numpy as np
import pytest
import torch

from wm_audit.diagnostics.features.fixed_filters import load
from wm_audit.diagnostics.features.ftd_transnetv2 import ClipFeature
from wm_audit.diagnostics.features.images import check_images, resized, too_small
from wm_audit.diagnostics.features.paired import paired_distances

GOOD = np.linspace(0.0, 1.0, 2 * 3 * 16 * 16).reshape(2, 3, 16, 16).astype(np.float32)

BAD: dict[str, tuple[Any, str]] = {
    "uint8": ((GOOD * 255).astype(np.uint8), "float32"),
    "float64": (GOOD.astype(np.float64), "float32"),
    "0..255": (GOOD * np.float32(255.0), r"\[0, 1\]"),
    "-1..1": (GOOD * np.float32(2.0) - np.float32(1.0), r"\[0, 1\]"),
    "nan": (np.where(GOOD > 0.5, np.float32(np.nan), GOOD), r"\[0, 1\]"),
    "inf": (np.where(GOOD > 0.5, np.float32(np.inf), GOOD), r"\[0, 1\]"),
    "channel last": (GOOD.transpose(0, 2, 3, 1), "channels"),
    "too small": (GOOD[..., :15], "at least 16 x 16"),
}


@pytest.mark.parametrize("name", BAD)
def test_k11_images_in_another_range_or_type_are_refused(name: str) -> None:
    images, sentence = BAD[name]
    with pytest.raises(ValueError, match=sentence):
        check_images("predicted", images)


@pytest.mark.parametrize("name", BAD)
def test_k11_every_entry_checks(name: str) -> None:
    images, sentence = BAD[name]
    good = GOOD if images.shape == GOOD.shape else np.zeros(images.shape, np.float32)
    for real, predicted in ((images, good[None]), (good, images[None])):
        with pytest.raises(ValueError, match=sentence):
            paired_distances(load(0), real, predicted, 4)
    with pytest.raises(ValueError, match=sentence):
        ClipFeature("none", "none", []).describe(images[None])


def test_rounding_at_the_ends_is_let_through() -> None:
    check_images("real", np.full((1, 16, 16), 1.0 + 1e-6, np.float32))
    check_images("real", np.empty((0, 3, 16, 16), np.float32))


def test_resizing_keeps_what_is_constant_and_what_fits() -> None:
    flat = np.full((1, 3, 16, 20), 0.25, np.float32)
    assert torch.allclose(resized(flat, (27, 48)), torch.tensor(0.25), atol=1e-6)
    exact = GOOD[:, :, :, :]
    assert torch.equal(resized(exact, (16, 16)), torch.from_numpy(exact))


def test_doubling_is_plain_bilinear_interpolation() -> None:
    """With aligned pixel centres a doubled row holds 3/4 of the near pixel and 1/4 of the far one."""
    row = np.broadcast_to(np.arange(16, dtype=np.float32) / 16.0, (1, 1, 16, 16)).copy()
    doubled = resized(row, (32, 32))[0, 0, 5].numpy() * 16.0
    inner = np.stack([np.arange(15) + 0.25, np.arange(15) + 0.75], axis=1).ravel()
    assert np.allclose(doubled, [0.0, *inner, 15.0], atol=1e-6)


def test_halving_does_not_alias() -> None:
    """A checkerboard of single pixels becomes grey, not black or white."""
    board = (np.indices((128, 128)).sum(axis=0) % 2).astype(np.float32)[None, None]
    small = resized(board, (64, 64))[0, 0, 2:-2, 2:-2]
    assert torch.allclose(small, torch.tensor(0.5), atol=1e-6)


def test_a_read_only_image_is_copied_not_complained_about() -> None:
    locked = GOOD.copy()
    locked.flags.writeable = False
    assert torch.equal(resized(locked, (16, 16)), torch.from_numpy(GOOD))


def test_one_channel_is_repeated() -> None:
    image = GOOD[:, :1]
    assert torch.equal(resized(image, (16, 16)), torch.from_numpy(image).repeat(1, 3, 1, 1))


def test_too_small_looks_at_both_sides() -> None:
    assert [too_small(np.zeros(shape)) for shape in ((3, 16, 16), (3, 15, 64), (3, 64, 15))] == [False, True, True]
