"""Expected calibration error of the imagined return of held-out segments.

The return is the sum of the H rewards imagined in open loop, in float64 and in step order, against that of the real rewards.
Segments are chosen so that all H steps were lived, so a predicted end of the episode weighs nothing here.
Where reward is rare a head that never speaks is nearly calibrated on average, so the segments that hold a reward are
asked apart, and their share is stored.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Measurement, Reason
from wm_audit.diagnostics.evidence import Evidence, Gap
from wm_audit.models.members import members_mean
from wm_audit.stats import Calibration, calibration_error

UNIT, ORIENTATION = "return", -1


class Returns(NamedTuple):
    """Imagined (K, B) and real (B,) returns, and which segments hold a reward that is not zero (B,)."""

    imagined: NDArray[np.float64]
    real: NDArray[np.float64]
    rewarded: NDArray[np.bool_]


def measure(evidence: Evidence) -> Measurement:
    """Over all segments; null `too_few_samples` with fewer segments than bins."""
    return _measure(evidence, rewarded=False)


def measure_rewarded(evidence: Evidence) -> Measurement:
    """Over the segments with a real reward that is not zero; null `too_few_samples` with fewer of them than bins."""
    return _measure(evidence, rewarded=True)


def details(evidence: Evidence) -> dict[str, Any]:
    """Every member's bins and the share of segments that hold a reward."""
    return _details(evidence, rewarded=False)


def details_rewarded(evidence: Evidence) -> dict[str, Any]:
    """The same on the segments with reward."""
    return _details(evidence, rewarded=True)


def in_step_order(reward: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., H) -> (...): first plus second plus third ..., the order in which an environment's return is added up."""
    total = np.zeros(reward.shape[:-1])
    for t in range(reward.shape[-1]):
        total = total + reward[..., t]
    return total


def _measure(evidence: Evidence, *, rewarded: bool) -> Measurement:
    returns = _returns(evidence)
    if isinstance(returns, Gap):
        return returns.measurement(UNIT, ORIENTATION)
    n = int(returns.rewarded.sum()) if rewarded else len(returns.real)
    if n < evidence.parameters.bins:
        return Measurement.null(Reason.TOO_FEW_SAMPLES, unit=UNIT, n=n, orientation=ORIENTATION)
    members = _calibrate(evidence, returns, rewarded=rewarded)
    values = [member.value for member in members if member.value is not None]
    if len(values) < len(members):
        reason = next(member.reason for member in members if member.reason is not None)
        return Measurement.null(reason, unit=UNIT, n=n, orientation=ORIENTATION)
    return Measurement(float(members_mean(np.array(values))), unit=UNIT, n=n, orientation=ORIENTATION)


def _details(evidence: Evidence, *, rewarded: bool) -> dict[str, Any]:
    returns = _returns(evidence)
    if isinstance(returns, Gap):
        return {}
    bins = [
        [{"n": item.n, "predicted": item.predicted, "actual": item.actual} for item in member.bins]
        for member in _calibrate(evidence, returns, rewarded=rewarded)
    ]
    return {"base_rate": float(returns.rewarded.mean()), "n_rewarded": int(returns.rewarded.sum()), "bins": bins}


def _returns(evidence: Evidence) -> Returns | Gap:
    reward = evidence.prediction("open_loop", "reward")
    if isinstance(reward, Gap):
        return reward
    real = evidence.segments.reward
    return Returns(in_step_order(reward.astype(np.float64)), in_step_order(real), (real != 0.0).any(axis=1))


def _calibrate(evidence: Evidence, returns: Returns, *, rewarded: bool) -> list[Calibration]:
    chosen = returns.rewarded if rewarded else np.ones_like(returns.rewarded)
    bins, rtol = evidence.parameters.bins, evidence.reward_rtol
    return [calibration_error(member[chosen], returns.real[chosen], bins, rtol=rtol) for member in returns.imagined]
