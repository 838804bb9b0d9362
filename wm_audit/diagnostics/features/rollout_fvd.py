"""Frechet distance between real clips and clips whose later frames the model imagined.

A clip is the last context frame or frames, then the future: as it was, or as the model imagined it without seeing more. Both
sides share context and actions. The ensemble is one generator, its members take turns: clip i is imagined by member i mod K, so that
every segment is imagined once and K equal members give exactly the single member's number. The number is a distance between two finite
samples: at a few dozen clips it is well above 0 also between real and real, which `measure_split` shows.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import AuditError, Measurement, Reason
from wm_audit.diagnostics.evidence import Evidence
from wm_audit.diagnostics.features import ftd_transnetv2
from wm_audit.diagnostics.features.frechet import principal_frechet
from wm_audit.diagnostics.features.ftd_transnetv2 import ClipFeature
from wm_audit.diagnostics.features.images import too_small
from wm_audit.diagnostics.features.settings import FeatureSettings

UNIT, ORIENTATION, NAME = "distance", -1, ftd_transnetv2.NAME
REMEMBERED = 4  # sets of real clips: those of one evaluation stream and its split serve a float model and its compressed twins

Describe = Callable[[NDArray[np.float32]], NDArray[np.float64]]


def measure(evidence: Evidence) -> Measurement:
    """Imagined against real futures."""
    gap = evidence.gap("open_loop", "mean")
    if gap is not None:
        return gap.measurement(UNIT, ORIENTATION).with_(feature=NAME)
    feature = _feature(evidence)
    if isinstance(feature, Reason):
        return _null(feature)
    settings = FeatureSettings.read(evidence.parameters.features)
    n = min(settings.fvd_clips, len(evidence.real))
    if n <= settings.fvd_components:
        return _null(Reason.TOO_FEW_SAMPLES, n)
    real = _described(feature, evidence, slice(0, n))
    turns = np.arange(n)
    imagined = evidence.open_loop_mean[turns % len(evidence.open_loop_mean), turns]
    distance = principal_frechet(real, feature.describe(clips(evidence, imagined, slice(0, n))), settings.fvd_components)
    return _null(distance, n) if isinstance(distance, Reason) else _value(distance, n, feature)


def measure_split(evidence: Evidence) -> Measurement:
    """Real against other real futures: what the distance is when nothing is wrong, at this number of clips.

    The first clips are those of `measure`; the others follow them in the probe. With fewer than twice `fvd_clips` segments
    both sides get half of what there is, and `n` says so. It says nothing of the model, so it has no orientation.
    """
    return _split(evidence).with_(orientation=0)


def _split(evidence: Evidence) -> Measurement:
    feature = _feature(evidence)
    if isinstance(feature, Reason):
        return _null(feature)
    settings = FeatureSettings.read(evidence.parameters.features)
    n = min(settings.fvd_clips, len(evidence.real) // 2)
    if n <= settings.fvd_components:
        return _null(Reason.TOO_FEW_SAMPLES, n)
    first, other = (_described(feature, evidence, slice(start, start + n)) for start in (0, n))
    distance = principal_frechet(first, other, settings.fvd_components)
    return _null(distance, n) if isinstance(distance, Reason) else _value(distance, n, feature)


def clips(evidence: Evidence, future: NDArray[np.float32], rows: slice) -> NDArray[np.float32]:
    """The last `fvd_context` context frames followed by the future, cut to `fvd_length` frames.

    Args:
        evidence: whose context it is.
        future: (n, H, C, h, w), of these segments.
        rows: which segments.

    Returns:
        (n, T, C, h, w).

    Raises:
        AuditError: the segments have fewer context frames than the clip needs.
    """
    settings = FeatureSettings.read(evidence.parameters.features)
    context, steps = settings.fvd_context, settings.fvd_length - settings.fvd_context
    seen = evidence.context_frames
    if seen.shape[1] < context:
        raise AuditError(
            f"is {context}",
            where="diagnostics feature setting fvd_context",
            expected=f"at most {seen.shape[1]}, the context of a segment",
            fix="lower it or lengthen the probe's context",
        )
    return np.concatenate([seen[rows, seen.shape[1] - context :], future[:, :steps]], axis=1)


def _feature(evidence: Evidence) -> ClipFeature | Reason:
    if too_small(evidence.real):
        return Reason.IMAGE_TOO_SMALL
    return ftd_transnetv2.load() or Reason.FEATURE_WEIGHTS_MISSING


def _described(feature: ClipFeature, evidence: Evidence, rows: slice) -> NDArray[np.float64]:
    """The real clips' descriptions, remembered by content: evidence with equal real frames gets them without a second look."""
    frames = clips(evidence, evidence.real[rows], rows)
    return _remembered(feature.describe, frames.shape, frames.tobytes())


@lru_cache(maxsize=REMEMBERED)
def _remembered(describe: Describe, shape: tuple[int, ...], content: bytes) -> NDArray[np.float64]:
    return describe(np.frombuffer(content, np.float32).reshape(shape))


def _value(value: float, n: int, feature: ClipFeature) -> Measurement:
    return Measurement(value, unit=UNIT, n=n, orientation=ORIENTATION, feature=NAME, feature_digest=feature.digest)


def _null(reason: Reason, n: int = 0) -> Measurement:
    return Measurement.null(reason, unit=UNIT, n=n, orientation=ORIENTATION, feature=NAME)
