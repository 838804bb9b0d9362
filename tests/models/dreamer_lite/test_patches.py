"""Patches and pictures are one content in two orders."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from wm_audit.core import stream
from wm_audit.models.dreamer_lite.patches import centred, from_patches, patch_tensor, to_patches

SIZES = {
    "n": st.integers(1, 4),
    "c": st.integers(1, 4),
    "down": st.integers(1, 5),
    "across": st.integers(1, 5),
    "patch": st.integers(1, 6),
}


@given(**SIZES)
def test_there_and_back(n: int, c: int, down: int, across: int, patch: int) -> None:
    shape = (n, c, down * patch, across * patch)
    images = stream(0, *shape).integers(256, shape).astype(np.uint8)
    rows = to_patches(images, patch)
    assert rows.shape == (n, down * across, c * patch * patch)
    assert rows.flags.c_contiguous
    np.testing.assert_array_equal(from_patches(torch.from_numpy(rows), shape[1:], patch).numpy(), images)
    np.testing.assert_array_equal(patch_tensor(torch.from_numpy(images), patch).numpy(), rows)
    led = torch.from_numpy(rows).expand(2, 3, *rows.shape)
    np.testing.assert_array_equal(from_patches(led, shape[1:], patch)[1, 2].numpy(), images)


@given(**SIZES)
def test_every_patch_is_a_square_of_the_picture(n: int, c: int, down: int, across: int, patch: int) -> None:
    shape = (n, c, down * patch, across * patch)
    images = stream(1, *shape).integers(256, shape).astype(np.uint8)
    rows = to_patches(images, patch).reshape(n, down, across, c, patch, patch)
    for i, j in np.ndindex(down, across):
        square = images[:, :, i * patch : (i + 1) * patch, j * patch : (j + 1) * patch]
        np.testing.assert_array_equal(rows[:, i, j], square)


def test_intensities_run_from_zero_to_one_exactly() -> None:
    shades = torch.arange(256, dtype=torch.float32)
    unit = centred(shades.clone(), torch.zeros(256))
    assert float(unit[0]) == 0.0
    assert float(unit[255]) == 1.0
    torch.testing.assert_close(unit, shades / 255.0, rtol=2e-7, atol=0.0)
    assert torch.equal(torch.round(unit * 255.0), shades)
