"""Perceptual distance of frames predicted one step ahead, in three feature spaces that are never swapped for one another."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Measurement, Reason
from wm_audit.diagnostics.evidence import Evidence
from wm_audit.diagnostics.features import fixed_filters, mobilenetv2_unlin, stlpips_alex
from wm_audit.diagnostics.features.images import too_small
from wm_audit.diagnostics.features.paired import ImageFeature, paired_distances
from wm_audit.diagnostics.features.settings import FeatureSettings
from wm_audit.models.members import members_mean

UNIT, ORIENTATION = "distance", -1


def measure(evidence: Evidence) -> Measurement:
    """Shift-tolerant LPIPS (`stlpips_alex`), the feature of the slot."""
    return _measure(evidence, stlpips_alex.NAME, stlpips_alex.load())


def measure_mobilenet(evidence: Evidence) -> Measurement:
    """Content distance (`mobilenetv2_unlin`), an extra."""
    return _measure(evidence, mobilenetv2_unlin.NAME, mobilenetv2_unlin.load())


def measure_filters(evidence: Evidence) -> Measurement:
    """Mean over seeds of the random filter bank (`fixed_filters`), an extra."""
    banks = _banks(evidence)
    first = banks[0]
    if first.value is None:
        return first
    return first.with_(value=float(np.mean([bank.value for bank in banks])), se=None)


def details_filters(evidence: Evidence) -> dict[str, Any]:
    """The random filter bank's number for every seed, and their standard deviation (null for one seed)."""
    values = [bank.value for bank in _banks(evidence) if bank.value is not None]
    return {"seeds": values, "spread": float(np.std(values, ddof=1)) if len(values) > 1 else None}


def measure_with(evidence: Evidence, feature: ImageFeature) -> Measurement:
    """The same measurement in a space of the caller's, e.g. `lpips_torchvision.load(trunk, heads)`."""
    return _measure(evidence, feature.name, feature)


class Chosen(NamedTuple):
    """Which frames are compared, (n,) each: segment and step."""

    segment: NDArray[np.int64]
    step: NDArray[np.int64]


def choose(segments: int, steps: int, frames: int) -> Chosen:
    """`frames` different frames, evenly over the segments and staggered over the steps; all where there are fewer.

    The choice depends on nothing but these numbers, so all models are compared on the same frames.
    """
    index = np.arange(min(frames, segments * steps), dtype=np.int64)
    return Chosen(index * segments // max(len(index), 1), index % steps)


def _banks(evidence: Evidence) -> list[Measurement]:
    seeds = FeatureSettings.read(evidence.parameters.features).filter_seeds
    return [_measure(evidence, fixed_filters.NAME, fixed_filters.load(seed)) for seed in range(seeds)]


def _measure(evidence: Evidence, name: str, feature: ImageFeature | None) -> Measurement:
    gap = evidence.gap("one_step", "mean")
    if gap is not None:
        return gap.measurement(UNIT, ORIENTATION).with_(feature=name)
    if too_small(evidence.real):
        return Measurement.null(Reason.IMAGE_TOO_SMALL, unit=UNIT, orientation=ORIENTATION, feature=name)
    if feature is None:
        return Measurement.null(Reason.FEATURE_WEIGHTS_MISSING, unit=UNIT, orientation=ORIENTATION, feature=name)
    settings = FeatureSettings.read(evidence.parameters.features)
    segments, steps = evidence.real.shape[:2]
    chosen = choose(segments, steps, settings.lpips_frames)
    real, predicted = evidence.real[chosen], evidence.one_step_mean[:, *chosen]
    scores = paired_distances(feature, real, predicted, settings.lpips_batch)
    return _summary(scores, chosen).with_(feature=name, feature_digest=feature.digest)


def _summary(scores: NDArray[np.float64], chosen: Chosen) -> Measurement:
    """Mean over frames for every member, then over members; the standard error treats segments as the independent items."""
    frames = members_mean(scores)
    counts = np.bincount(chosen.segment)
    used = counts > 0
    segments = (np.bincount(chosen.segment, weights=frames)[used] / counts[used]) if len(frames) else frames
    se = float(segments.std(ddof=1)) / math.sqrt(len(segments)) if len(segments) > 1 else None
    return Measurement(float(members_mean(scores.mean(axis=1))), unit=UNIT, n=len(frames), orientation=ORIENTATION, se=se)
