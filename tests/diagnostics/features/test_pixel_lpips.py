"""The slot's number is the mean over members and chosen frames of the distance, or the reason why there is none."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from wm_audit.core import Measurement, Reason, stream
from wm_audit.diagnostics.evidence import Evidence
from wm_audit.diagnostics.features import fixed_filters, mobilenetv2_unlin, pixel_lpips, stlpips_alex
from wm_audit.diagnostics.features.paired import paired_distances
from wm_audit.diagnostics.features.pixel_lpips import choose

Frames = NDArray[np.float32]
MEASURES: dict[str, Callable[[Evidence], Measurement]] = {
    "stlpips_alex": pixel_lpips.measure,
    "mobilenetv2_unlin": pixel_lpips.measure_mobilenet,
    "fixed_filters": pixel_lpips.measure_filters,
}
MODULES: dict[str, Any] = {"stlpips_alex": stlpips_alex, "mobilenetv2_unlin": mobilenetv2_unlin}
MakeEvidence = Callable[..., Evidence]


@pytest.fixture
def moving(make_discs: Callable[..., NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """(6, 2 + 4, 3, 32, 32)."""
    return make_discs(6, 6, 32, stream(2, "moving"))


def unit(frames: NDArray[np.uint8]) -> Frames:
    return frames.astype(np.float32) / np.float32(255.0)


@pytest.mark.parametrize("name", MEASURES)
def test_a_perfect_model_is_at_zero(
    name: str, moving: NDArray[np.uint8], make_evidence: MakeEvidence, installed: Callable[[Any], Any]
) -> None:
    evidence = make_evidence(moving[:, 2:], moving[:, :2], unit(moving[:, 2:])[None], None, lpips_frames=5, filter_seeds=2)
    if name in MODULES:
        installed(MODULES[name].load())
    found = MEASURES[name](evidence)
    assert found.value == 0.0
    assert (found.n, found.orientation, found.unit, found.feature) == (5, -1, "distance", name)
    assert found.feature_digest is not None
    assert found.feature_digest.startswith("sha256:")


def test_value_is_the_mean_over_members_and_frames(moving: NDArray[np.uint8], make_evidence: MakeEvidence) -> None:
    """Brute force over every pair with the random filters; four segments' frames count equally."""
    real = moving[:4, 2:]
    predicted = np.stack([unit(moving[1:5, 2:]), unit(moving[2:6, 2:])])
    evidence = make_evidence(real, moving[:4, :2], predicted, None, lpips_frames=100, filter_seeds=1)
    feature = fixed_filters.load(0)
    scores = np.array([[[paired_distances(feature, a[None], b[None, None], 16)[0, 0] for a, b in zip(r, p, strict=True)]
                        for r, p in zip(unit(real), member, strict=True)] for member in predicted])  # fmt: skip
    found = pixel_lpips.measure_filters(evidence)
    assert found.n == 16
    assert found.value == pytest.approx(scores.mean(), rel=1e-12)
    single = pixel_lpips.measure_with(evidence, feature)
    assert single.value == found.value
    assert single.se == pytest.approx(scores.mean(axis=(0, 2)).std(ddof=1) / 2.0, rel=1e-12)


def test_equal_members_give_exactly_the_single_members_number(moving: NDArray[np.uint8], make_evidence: MakeEvidence) -> None:
    predicted = unit(moving[::-1, 2:])
    values = [
        pixel_lpips.measure_filters(make_evidence(moving[:, 2:], moving[:, :2], np.stack([predicted] * k), None, filter_seeds=1)).value
        for k in (1, 3, 5)
    ]
    assert values[0] == values[1] == values[2]


def test_seeds_of_the_filter_bank_are_shown(moving: NDArray[np.uint8], make_evidence: MakeEvidence) -> None:
    evidence = make_evidence(moving[:, 2:], moving[:, :2], unit(moving[::-1, 2:])[None], None, filter_seeds=3)
    shown = pixel_lpips.details_filters(evidence)
    assert len(shown["seeds"]) == 3
    assert pixel_lpips.measure_filters(evidence).value == pytest.approx(np.mean(shown["seeds"]))
    assert shown["spread"] == pytest.approx(np.std(shown["seeds"], ddof=1))
    assert shown["spread"] > 0.0


@pytest.mark.parametrize("name", MEASURES)
def test_reasons(name: str, moving: NDArray[np.uint8], make_evidence: MakeEvidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every null says why, carries the feature's name and never another feature's number."""
    real, context = moving[:, 2:], moving[:, :2]
    spoiled = unit(real)[None].repeat(2, axis=0)
    spoiled[1, 3, 0, 0, 0, 0] = np.nan
    small = make_evidence(real[..., :15], context[..., :15], unit(real)[None, ..., :15], None)
    cases = [
        (make_evidence(real, context, None, None), Reason.CAPABILITY_MISSING),
        (make_evidence(real, context, spoiled, None), Reason.NONFINITE_PREDICTION),
        (small, Reason.IMAGE_TOO_SMALL),
    ]
    if name in MODULES:
        monkeypatch.setattr(MODULES[name], "load", lambda: None)
        cases.append((make_evidence(real, context, unit(real)[None], None), Reason.FEATURE_WEIGHTS_MISSING))
    for evidence, reason in cases:
        found = MEASURES[name](evidence)
        assert (found.value, found.reason, found.feature, found.unit, found.orientation) == (None, reason, name, "distance", -1)
    assert pixel_lpips.details_filters(small) == {"seeds": [], "spread": None}


@given(segments=st.integers(1, 40), steps=st.integers(1, 20), frames=st.integers(1, 300))
@settings(max_examples=100, deadline=None)
def test_chosen_frames_are_different_and_spread(segments: int, steps: int, frames: int) -> None:
    chosen = choose(segments, steps, frames)
    n = min(frames, segments * steps)
    assert len(set(zip(chosen.segment.tolist(), chosen.step.tolist(), strict=True))) == n
    assert 0 <= chosen.segment.min() <= chosen.segment.max() < segments
    counts = np.bincount(chosen.segment, minlength=segments)
    assert counts.max() - counts.min() <= 1
    steps_seen = np.bincount(chosen.step, minlength=steps)
    assert steps_seen.max() - steps_seen.min() <= 1
