"""Actions as they are stored and executed: float32, inside the bounds."""

from typing import cast

import numpy as np

from wm_audit.core import AuditError
from wm_audit.data.episode import Doubles, Singles
from wm_audit.envs.protocol import EnvSpec


def bounds(spec: EnvSpec) -> tuple[Doubles, Doubles]:
    """Lower and upper bound of every action dimension, each (A,).

    Raises:
        AuditError: a bound is not finite, or an interval is empty.
    """
    low, high = np.asarray(spec.action_low, dtype=np.float64), np.asarray(spec.action_high, dtype=np.float64)
    if low.ndim != 1 or low.shape != high.shape or not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
        raise AuditError("the action bounds are unusable", where=spec.id, expected="finite bounds, the lower below the upper")
    return low, high


def executable(action: Doubles, spec: EnvSpec) -> Singles:
    """The float32 action nearest to `action` that lies inside the bounds; any leading axes, last axis A.

    The world is given the float64 of the result, so what is stored is what was done, to the bit. The bounds are
    rounded inwards first: the float32 of 0.1 is above 0.1, and a world that clips would execute another action.

    Raises:
        AuditError: an action is not finite.
    """
    low, high = bounds(spec)
    if not np.isfinite(action).all():
        raise AuditError("an action is not finite", where=spec.id, expected="finite actions", fix="repair the behaviour")
    inner_low, inner_high = low.astype(np.float32), high.astype(np.float32)
    inner_low = np.where(inner_low < low, np.nextafter(inner_low, np.float32(np.inf)), inner_low)
    inner_high = np.where(inner_high > high, np.nextafter(inner_high, np.float32(-np.inf)), inner_high)
    return cast("Singles", np.clip(np.clip(action, low, high).astype(np.float32), inner_low, inner_high))
