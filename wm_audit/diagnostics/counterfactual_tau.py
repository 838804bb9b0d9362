"""Does the model rank actions as the world does? Kendall's tau-b between true and imagined rewards of actions tried in one state.

The number is the mean over states: a state that only the model cannot tell apart counts 0, one in which the truth is constant
asks nothing, is dropped and counted. The pooled variant, one tau-b over all pairs of state and action, also scores how good
each state is, so that a model blind to actions does well by it; it serves the published point rule and no composite.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Measurement, Reason
from wm_audit.diagnostics.evidence import Evidence, Gap, gap_of
from wm_audit.models.members import members_mean
from wm_audit.stats import kendall_tau_b, kendall_within, ranks

UNIT, ORIENTATION = "1", 1


def measure(evidence: Evidence) -> Measurement:
    """Mean over states, for every member, then over members; the standard error is that of the states."""
    imagined = _imagined(evidence)
    if isinstance(imagined, Gap):
        return imagined.measurement(UNIT, ORIENTATION)
    members = [_within(evidence, np.arange(len(member)), member) for member in imagined]
    values = [member.value for member in members if member.value is not None]
    n, dropped = members[0].n, members[0].n_dropped  # states are dropped by the truth alone, so for all members alike
    if not values:
        return Measurement.null(Reason.PROBE_DEGENERATE, unit=UNIT, n=n, n_dropped=dropped, orientation=ORIENTATION)
    value, se = float(members_mean(np.array(values))), _standard_error(evidence, imagined)
    return Measurement(value, unit=UNIT, n=n, n_dropped=dropped, orientation=ORIENTATION, se=se)


def measure_pooled(evidence: Evidence) -> Measurement:
    """One tau-b over all pairs of state and action, for every member, then over members."""
    imagined = _imagined(evidence)
    if isinstance(imagined, Gap):
        return imagined.measurement(UNIT, ORIENTATION)
    truth, rtol = evidence.counterfactual.reward.ravel(), evidence.parameters.rtol_float64
    members = [kendall_tau_b(truth, _ranked(evidence, member.ravel()), rtol=rtol) for member in imagined]
    values = [member.value for member in members if member.value is not None]
    if len(values) < len(members):
        reason = next(member.reason for member in members if member.reason is not None)
        return Measurement.null(reason, unit=UNIT, n=truth.size, orientation=ORIENTATION)
    return Measurement(float(members_mean(np.array(values))), unit=UNIT, n=truth.size, orientation=ORIENTATION)


def details(evidence: Evidence) -> dict[str, Any]:
    """How many states told their actions apart."""
    measured, probe = measure(evidence), evidence.counterfactual
    return {
        "states": measured.n,
        "states_dropped": measured.n_dropped,
        "actions": int(probe.actions.shape[1]),
        "hold": int(probe.hold),
    }


def _imagined(evidence: Evidence) -> NDArray[np.float64] | Gap:
    imagined = evidence.imagined
    if imagined is None:
        return Gap(Reason.NO_REWARD_HEAD, 0, 0)
    gap = gap_of(np.asarray(np.isfinite(imagined.reward).all(axis=(0, 2))))
    return imagined.reward if gap is None else gap


def _within(evidence: Evidence, states: NDArray[np.int64], member: NDArray[np.float64]) -> Measurement:
    """The mean tau-b over some states of one member, `member` (B, M)."""
    truth = evidence.counterfactual.reward[states]
    guess = np.stack([_ranked(evidence, member[state]) for state in states])
    groups = np.repeat(states, truth.shape[1])
    return kendall_within(groups, truth.ravel(), guess.ravel(), rtol=evidence.parameters.rtol_float64)


def _ranked(evidence: Evidence, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
    """The model's rewards as ranks under their own tolerance, so that the truth can keep its narrower one."""
    single_precision = evidence.imagined is not None and evidence.imagined.single_precision
    return ranks(rewards, rtol=evidence.parameters.rtol(single_precision)).ranks


def _standard_error(evidence: Evidence, imagined: NDArray[np.float64]) -> float | None:
    alone = [[_within(evidence, np.array([b]), member).value for b in range(len(member))] for member in imagined]
    table = np.array(alone, dtype=np.float64)  # (K, B), NaN where the state was dropped
    kept = members_mean(table[:, np.isfinite(table).all(axis=0)])
    return float(kept.std(ddof=1)) / math.sqrt(kept.size) if kept.size > 1 else None
