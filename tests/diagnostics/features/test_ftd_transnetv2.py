"""What the clip network sees that no feature of single frames can: the order of frames."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from wm_audit.core import stream
from wm_audit.diagnostics.evidence import Evidence
from wm_audit.diagnostics.features import ftd_transnetv2, rollout_fvd
from wm_audit.diagnostics.features.frechet import principal_frechet

Frames = NDArray[np.float32]


@pytest.fixture
def feature(installed: Callable[[Any], Any]) -> Any:
    return installed(ftd_transnetv2.load())


def discs(make_discs: Callable[..., NDArray[np.uint8]], n: int, steps: int, root: int) -> Frames:
    return make_discs(n, steps, 32, stream(root, "clips")).astype(np.float32) / np.float32(255.0)


def test_k13_every_clip_is_alone(feature: Any, make_discs: Callable[..., NDArray[np.uint8]]) -> None:
    clips = discs(make_discs, 3, 4, 0)
    together = feature.describe(clips)
    assert together.shape == (3, 896)
    assert together.dtype == np.float64
    assert np.array_equal(feature.describe(clips[1:2])[0], together[1])
    assert np.array_equal(feature.describe(clips[::-1])[::-1], together)
    assert feature.describe(clips[:0]).shape == (0, 896)


def test_the_slot_goes_through_the_network(
    feature: Any, make_discs: Callable[..., NDArray[np.uint8]], make_evidence: Callable[..., Evidence]
) -> None:
    real = make_discs(4, 3, 16, stream(5, "slot"))
    future = real[:, 1:].astype(np.float32) / np.float32(255.0)
    evidence = make_evidence(real[:, 1:], real[:, :1], None, future[None], fvd_clips=3, fvd_components=2)
    found = rollout_fvd.measure(evidence)
    assert found.value == pytest.approx(0.0, abs=1e-9)
    assert (found.feature, found.feature_digest) == (feature.name, feature.digest)


def test_one_frame_is_a_clip(feature: Any, make_discs: Callable[..., NDArray[np.uint8]]) -> None:
    assert np.isfinite(feature.describe(discs(make_discs, 1, 1, 0))).all()


def test_clips_have_five_axes(feature: Any) -> None:
    with pytest.raises(ValueError, match="clips must be"):
        feature.describe(np.zeros((4, 3, 32, 32), np.float32))


def test_shuffled_frozen_and_still_clips_are_far(feature: Any, make_discs: Callable[..., NDArray[np.uint8]]) -> None:
    """A mean over frames would call the shuffled clips equal to the ordered ones."""
    n, steps = 10, 8
    clips = discs(make_discs, 2 * n, steps, 1)
    first, second = clips[:n], clips[n:]
    shuffled = second[:, [4, 0, 6, 2, 7, 1, 5, 3]]
    assert np.allclose(shuffled.mean(axis=1), second.mean(axis=1), atol=1e-6)
    still = np.repeat(second[:, :1], steps, axis=1)
    frozen = np.concatenate([second[:, : steps // 2], np.repeat(second[:, steps // 2 : steps // 2 + 1], steps // 2, axis=1)], axis=1)
    reference = feature.describe(first)
    real, *damaged = (principal_frechet(reference, feature.describe(item), 3) for item in (second, shuffled, frozen, still))
    assert isinstance(real, float)
    assert [float(value) / real > 1.5 for value in damaged] == [True, True, True]
