"""How much the members of an ensemble disagree, and how wrong they are: one item per segment and open-loop step."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wm_audit.core import Reason
from wm_audit.diagnostics.evidence import Evidence, Gap
from wm_audit.models.members import members_mean, members_variance


class Items(NamedTuple):
    """Items of one space.

    Attributes:
        variance: (B * H,) variance over members (ddof 1), averaged over the values of the item.
        squared_error: (B * H,) squared error of the members' mean, averaged over the values of the item.
        rtol: how close two of these numbers are when they are tied.
    """

    variance: NDArray[np.float64]
    squared_error: NDArray[np.float64]
    rtol: float


def pixel_items(evidence: Evidence) -> Items | Gap:
    """Items over predicted frames, as the model gave them."""
    mean = evidence.prediction("open_loop", "mean", by_step=True)
    return mean if isinstance(mean, Gap) else _items(evidence, mean, evidence.real, evidence.parameters.rtol_float32)


def reward_items(evidence: Evidence) -> Items | Gap:
    """Items over predicted rewards: one value each."""
    reward = evidence.prediction("open_loop", "reward", by_step=True)
    if isinstance(reward, Gap):
        return reward
    return _items(evidence, reward[..., None], evidence.segments.reward[..., None], evidence.reward_rtol)


def _items(evidence: Evidence, members: NDArray[np.floating], truth: NDArray[np.floating], rtol: float) -> Items | Gap:
    """(K, B, H, ...) and (B, H, ...) to items, or why there is no dispersion to ask about."""
    n = truth.shape[0] * truth.shape[1]
    if len(members) == 1:
        return Gap(Reason.SINGLE_MEMBER, n, 0)
    if not evidence.rollout.members_differ:
        return Gap(Reason.IDENTICAL_MEMBERS, n, 0)
    pairs = [_segment(members[:, b].astype(np.float64), real) for b, real in enumerate(truth)]  # one at a time: float64 is large
    variance, squared_error = np.array(pairs).swapaxes(0, 1).reshape(2, n)
    if not variance.any():
        return Gap(Reason.ZERO_DISPERSION, n, 0)
    return Items(variance, squared_error, rtol)


def _segment(members: NDArray[np.float64], truth: NDArray[np.floating]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(K, H, ...) and (H, ...) to variance and squared error, (H,) each."""
    values = tuple(range(1, truth.ndim))
    return members_variance(members).mean(axis=values), np.square(members_mean(members) - truth).mean(axis=values)
