"""How often one related diagnostic is found significant among m tests, Holm's correction included. No torch."""

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from wm_audit.core import Measurement, Reason, stream
from wm_audit.instruments.audit.simulate import Plan, grids
from wm_audit.stats.arrays import Bools, Floats, Ints
from wm_audit.stats.orders import TIE, orders_for
from wm_audit.verdict import Rules

NOMINAL = 0.05
_CURVE = range(0, 100, 10)  # true values, in hundredths
_ORDERS_AT_ONCE = 1_000


def power_of_one(plan: Plan, rules: Rules, repetitions: int, power: float) -> dict[str, Any]:
    """Share of grids in which the diagnostic's p-value, times m, is at most .05: what Holm asks of the smallest of m.

    That the other tests find nothing is the worst case: each rejection before this one would lower its multiplier.

    Args:
        plan: the design.
        rules: root, number of random orders, and m.
        repetitions: simulated grids per true value.
        power: the share asked of the detectable value.

    Returns:
        The entry `diagnostic` of a design in schema `wm_audit/power/1`.
    """
    draws = stream(rules.root, "power", plan.seeds, plan.capacities)
    orders, _ = orders_for(plan.seeds, rules.permutations, draws.child("orders"))

    @cache
    def share(hundredths: int) -> float:
        x, y = grids(plan, hundredths / 100, repetitions, draws.child("association"))
        return float(significant(x, y, orders, NOMINAL / rules.m).mean())

    curve = [{"truth": here / 100, "significant": share(here)} for here in _CURVE]
    return {"m": rules.m, "nominal": NOMINAL, "curve": curve, "detectable": _detectable(share, power, repetitions).to_json()}


def significant(x: Floats, y: Floats, orders: Ints, level: float) -> Bools:
    """Which grids (R, S, C) without ties the block permutation test finds at the level, all under the same orders (O, S).

    A grid is left as soon as more orders reach its statistic than the level allows: most are left early.
    """
    if x.shape[1] < 2:
        return np.zeros(len(x), dtype=np.bool_)  # one seed has nobody to change partners with
    a, b = _centred(x), _centred(y)
    cross = np.einsum("rsc,rtc->rst", a, b) / np.sqrt((a * a).sum((1, 2)) * (b * b).sum((1, 2)))[:, None, None]
    observed = np.abs(np.trace(cross, axis1=1, axis2=2)) - TIE
    most = math.floor(level * len(orders) + TIE)
    hits, left = np.zeros(len(cross), dtype=np.int64), np.arange(len(cross))
    for first in range(0, len(orders), _ORDERS_AT_ONCE):
        some = orders[first : first + _ORDERS_AT_ONCE]
        total = np.zeros((len(left), len(some)))
        for place in range(some.shape[1]):
            total += cross[left][:, some[:, place], place]
        hits[left] += (np.abs(total) >= observed[left, None]).sum(axis=1)
        left = left[hits[left] <= most]
    return hits <= most


def _centred(values: Floats) -> Floats:
    """Ranks inside every capacity, centred; continuous draws have no ties."""
    ranks = np.argsort(np.argsort(values, axis=1), axis=1)
    return np.asarray(ranks - 0.5 * (values.shape[1] - 1), dtype=np.float64)


def _detectable(share: Callable[[int], float], power: float, n: int) -> Measurement:
    """The smallest true value, in hundredths up to .95, that is found as often as asked."""
    steps = (*_CURVE, 95)
    for low, high in pairwise(steps):
        if share(high) >= power:
            found = next(here for here in range(low + 1, high + 1) if share(here) >= power)
            return Measurement(found / 100, unit="rho", n=n)
    return Measurement.null(Reason.POWER_NOT_REACHED, unit="rho", n=n)
