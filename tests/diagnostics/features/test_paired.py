"""Claims about every image feature: exact zeros, independence of the batch, and the order in which damage is felt."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from wm_audit.core import stream
from wm_audit.diagnostics.features import fixed_filters, mobilenetv2_unlin, stlpips_alex
from wm_audit.diagnostics.features.paired import ImageFeature, paired_distances

Frames = NDArray[np.float32]
FEATURES: dict[str, Callable[[], ImageFeature | None]] = {
    "stlpips_alex": stlpips_alex.load,
    "mobilenetv2_unlin": mobilenetv2_unlin.load,
    "fixed_filters": lambda: fixed_filters.load(0),
}
LEARNED = ("stlpips_alex", "mobilenetv2_unlin")


@pytest.fixture(params=FEATURES)
def feature(request: pytest.FixtureRequest, installed: Callable[[Any], Any]) -> Any:
    return installed(FEATURES[request.param]())


@pytest.fixture
def scenes(make_discs: Callable[..., NDArray[np.uint8]]) -> Frames:
    """(12, 3, 32, 32)."""
    return make_discs(12, 1, 32, stream(1, "scenes"))[:, 0].astype(np.float32) / np.float32(255.0)


def test_equal_images_are_at_exactly_zero(feature: Any, scenes: Frames) -> None:
    assert (paired_distances(feature, scenes[:9], scenes[None, :9], 4) == 0.0).all()


def test_a_flat_image_has_a_finite_distance(feature: Any, scenes: Frames) -> None:
    """Where every channel is silent there is no direction to normalise."""
    for level in (0.0, 0.5, 1.0):
        flat = np.full((1, 1, 3, 32, 32), level, np.float32)
        found = paired_distances(feature, scenes[:1], flat, 1)
        assert np.isfinite(found).all()
        assert (found > 0.0).all()
        assert (paired_distances(feature, flat[0], flat, 1) == 0.0).all()


def test_order_of_the_pair_does_not_matter(feature: Any, scenes: Frames) -> None:
    first, second = scenes[:3], scenes[3:6]
    there, back = paired_distances(feature, first, second[None], 3), paired_distances(feature, second, first[None], 3)
    assert (there > 0.0).all()
    assert np.array_equal(there, back)


def test_k13_a_value_does_not_depend_on_how_many_others_there_are(feature: Any, scenes: Frames) -> None:
    """One locked batch, padded: bit for bit the same for pieces of 1, 7 and 64."""
    order = np.arange(9)
    real, predicted = scenes[order], scenes[np.roll(order, 1)][None]
    whole = paired_distances(feature, real, predicted, 4)
    for piece in (7, 64):
        cut = [paired_distances(feature, real[i : i + piece], predicted[:, i : i + piece], 4) for i in range(0, 9, piece)]
        assert np.array_equal(np.concatenate(cut, axis=1), whole)
    for i in (2, 7):
        assert np.array_equal(paired_distances(feature, real[i : i + 1], predicted[:, i : i + 1], 4), whole[:, i : i + 1])


def test_members_do_not_see_each_other(feature: Any, scenes: Frames) -> None:
    predicted = np.stack([scenes[:4], scenes[4:8], scenes[:4]])
    together = paired_distances(feature, scenes[:4], predicted, 4)
    assert (together[0] == 0.0).all()
    assert np.array_equal(together[0], together[2])
    assert np.array_equal(together[1], paired_distances(feature, scenes[:4], predicted[1:2], 4)[0])


def test_shapes_that_do_not_fit_are_refused(feature: Any, scenes: Frames) -> None:
    for predicted in (scenes, scenes[None, :3], scenes[None, :, :1]):
        with pytest.raises(ValueError, match="predicted must be"):
            paired_distances(feature, scenes, predicted, 4)
    assert paired_distances(feature, scenes[:0], scenes[None, :0], 4).shape == (1, 0)


@pytest.mark.parametrize("name", LEARNED)
def test_small_noise_and_a_small_shift_are_felt_less_than_blur(
    name: str, scenes: Frames, damage: dict[str, Callable[..., Frames]], installed: Callable[[Any], Any]
) -> None:
    """Squared error says the opposite of a shift; it is why learned features stand beside it."""
    blur = damage["blur"]
    damaged = np.stack([damage["noise"](scenes, 0.004, stream(1, "noise")), damage["shift"](scenes), blur(blur(scenes))])
    noisy, moved, blurry = paired_distances(installed(FEATURES[name]()), scenes, damaged, 8)
    assert np.mean(noisy < blurry) == 1.0
    assert np.mean(moved < blurry) >= 0.9
    squared = np.square(damaged - scenes).mean(axis=(2, 3, 4))
    assert np.mean(squared[1] < squared[2]) <= 0.1


def test_the_content_feature_feels_another_scene_most(
    scenes: Frames, damage: dict[str, Callable[..., Frames]], installed: Callable[[Any], Any]
) -> None:
    board = (np.indices((32, 32)) // 4).sum(axis=0) % 2
    other = np.broadcast_to(board.astype(np.float32), scenes.shape)
    blurry, foreign = paired_distances(installed(mobilenetv2_unlin.load()), scenes, np.stack([damage["blur"](scenes), other]), 8)
    assert np.mean(blurry < foreign) == 1.0
