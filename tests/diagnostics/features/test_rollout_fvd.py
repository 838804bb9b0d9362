"""The distance between real and imagined clips: what a clip is, which damage it sees, and when there is no number."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from wm_audit.core import AuditError, Reason, stream
from wm_audit.diagnostics.evidence import Evidence
from wm_audit.diagnostics.features import ftd_transnetv2, rollout_fvd
from wm_audit.diagnostics.features.frechet import principal_frechet

Frames = NDArray[np.float32]
Bytes = NDArray[np.uint8]
SMALL: dict[str, Any] = {"fvd_clips": 6, "fvd_components": 3}


def unit(frames: Bytes) -> Frames:
    return frames.astype(np.float32) / np.float32(255.0)


class Counting:
    """Three means instead of a network: fast, and it keeps what it was shown."""

    digest = "sha256:0"

    def __init__(self) -> None:
        self.shown: list[Frames] = []

    def describe(self, clips: Frames) -> NDArray[np.float64]:
        self.shown.append(np.array(clips))
        parts = [clips[..., :16].mean(axis=(1, 2, 3, 4)), clips[:, -1].mean(axis=(1, 2, 3)), clips[..., 8:].std(axis=(1, 2, 3, 4))]
        return np.stack(parts, axis=1).astype(np.float64)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    feature = Counting()
    monkeypatch.setattr(ftd_transnetv2, "load", lambda: feature)
    rollout_fvd._remembered.cache_clear()
    yield feature
    rollout_fvd._remembered.cache_clear()


@pytest.fixture
def real(make_discs: Callable[..., Bytes]) -> Bytes:
    """(14, 2 + 5, 3, 32, 32)."""
    return make_discs(14, 7, 32, stream(3, "real"))


@pytest.fixture
def evidence(real: Bytes, make_evidence: Callable[..., Evidence]) -> Callable[..., Evidence]:
    """`evidence(open_loop, fvd_clips=6)`: two context frames, five to predict."""
    return lambda open_loop, **features: make_evidence(real[:, 2:], real[:, :2], None, open_loop, **features)


def test_a_clip_is_the_last_context_and_the_future(real: Bytes, evidence: Callable[..., Evidence]) -> None:
    for settings, expected in (
        ({}, real[:, 1:]),
        ({"fvd_context": 2}, real),
        ({"fvd_context": 0}, real[:, 2:]),
        ({"fvd_length": 3}, real[:, 1:4]),
        ({"fvd_context": 2, "fvd_length": 3}, real[:, :3]),
    ):
        given = evidence(None, **settings)
        assert np.array_equal(rollout_fvd.clips(given, given.real[3:5], slice(3, 5)), unit(expected[3:5]))
    with pytest.raises(AuditError, match="fvd_context"):
        rollout_fvd.clips(evidence(None, fvd_context=3), unit(real[:1, 2:]), slice(0, 1))


def test_members_take_turns(real: Bytes, evidence: Callable[..., Evidence], counting: Counting) -> None:
    members = np.stack([unit(real[::-1, 2:]), np.float32(0.5) * unit(real[:, 2:])])
    found = rollout_fvd.measure(evidence(members, **SMALL))
    future = [members[0, 0], members[1, 1], members[0, 2], members[1, 3], members[0, 4], members[1, 5]]
    context = unit(real[:6, 1:2])
    truth, imagined = (counting.describe(np.concatenate([context, side], axis=1)) for side in (unit(real[:6, 2:]), np.stack(future)))
    assert found.value == principal_frechet(truth, imagined, 3)
    assert (found.n, found.unit, found.orientation) == (6, "distance", -1)
    assert (found.feature, found.feature_digest) == ("ftd_transnetv2", "sha256:0")
    alone, copies = (rollout_fvd.measure(evidence(np.stack([members[0]] * k), **SMALL)) for k in (1, 3))
    assert alone.value == copies.value


def test_real_clips_are_described_once(real: Bytes, evidence: Callable[..., Evidence], counting: Counting) -> None:
    """Also for another model of the same probe; the split adds only the clips it sees first."""
    future = unit(real[:, 2:])
    for _ in range(2):
        assert rollout_fvd.measure(evidence(future[None], **SMALL)).value == pytest.approx(0.0, abs=1e-12)
    assert len(counting.shown) == 1 + 2
    split = rollout_fvd.measure_split(evidence(None, **SMALL))
    assert len(counting.shown) == 4
    assert np.array_equal(counting.shown[-1], unit(real[6:12, 1:]))
    first, other = counting.describe(unit(real[:6, 1:])), counting.describe(unit(real[6:12, 1:]))
    assert split.value == principal_frechet(first, other, 3)
    assert (split.n, split.orientation) == (6, 0)


def test_a_short_probe_is_split_in_halves(evidence: Callable[..., Evidence], counting: Counting) -> None:
    assert rollout_fvd.measure_split(evidence(None, fvd_clips=32, fvd_components=3)).n == 7
    assert [len(item) for item in counting.shown] == [7, 7]


def test_reasons(
    real: Bytes, evidence: Callable[..., Evidence], make_evidence: Callable[..., Evidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    future = unit(real[:, 2:])[None]
    spoiled = future.copy()
    spoiled[0, 0, 0, 0, 0, 0] = np.inf
    small = make_evidence(real[:, 2:, :, :15], real[:, :2, :, :15], None, future[..., :15, :])
    still = make_evidence(np.repeat(real[:1, 2:], 14, axis=0), np.repeat(real[:1, :2], 14, axis=0), None, future, **SMALL)
    monkeypatch.setattr(ftd_transnetv2, "load", Counting)
    cases = [
        (evidence(None, **SMALL), Reason.CAPABILITY_MISSING),
        (evidence(spoiled, **SMALL), Reason.NONFINITE_PREDICTION),
        (small, Reason.IMAGE_TOO_SMALL),
        (evidence(future), Reason.TOO_FEW_SAMPLES),
        (still, Reason.TOO_FEW_SAMPLES),
    ]
    for given, reason in cases:
        found = rollout_fvd.measure(given)
        assert (found.value, found.reason, found.feature, found.orientation) == (None, reason, "ftd_transnetv2", -1)
    assert rollout_fvd.measure_split(evidence(future)).reason is Reason.TOO_FEW_SAMPLES
    assert rollout_fvd.measure_split(still).reason is Reason.TOO_FEW_SAMPLES
    monkeypatch.setattr(ftd_transnetv2, "load", lambda: None)
    for measure in (rollout_fvd.measure, rollout_fvd.measure_split):
        assert measure(evidence(future, **SMALL)).reason is Reason.FEATURE_WEIGHTS_MISSING
