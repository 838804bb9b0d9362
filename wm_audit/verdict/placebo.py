"""Controls of the statistics themselves: returns dealt to the wrong seeds, and a metric made of noise."""

import math
from collections.abc import Sequence

import numpy as np

from wm_audit.core import Reason, Stream
from wm_audit.stats.block_permutation import block_permutation_test
from wm_audit.stats.blocks import Design
from wm_audit.stats.within_capacity import within_capacity_rho
from wm_audit.verdict.association import design_of
from wm_audit.verdict.check import Check
from wm_audit.verdict.composites import Group
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Floats

_SHUFFLES = 30


def placebo_checks(groups: Sequence[Group], outcome: Floats, rules: Rules, draws: Stream) -> list[Check]:
    """Shuffled returns against every composite, and one noise metric."""
    shuffled = [_shuffled(item, outcome, rules, draws.child("shuffled_returns", item.name)) for item in groups]
    return [*shuffled, _noise(outcome, rules, draws.child("noise_metric"))]


def _shuffled(item: Group, outcome: Floats, rules: Rules, draws: Stream) -> Check:
    """Whole seeds' returns dealt anew: the mean association must be within four standard errors of 0.

    Capacities stay in place, so an estimate that capacity can fool does not pass; the pooled correlation of the same shuffles is
    given beside it.
    """
    name, expected = "shuffled_returns", "0 within four standard errors"
    kept = item.complete(outcome)
    seeds = int(kept.sum())
    if seeds < 3:
        return Check(name, item.name, "not_checked", expected, reason=Reason.TOO_FEW_SEEDS)
    x, y = item.values[:, kept], outcome[kept]
    orders = [draws.permutation(seeds) for _ in range(_SHUFFLES)]
    designs = (design_of(item, rules), Design(scope="pooled", rtol=item.rtol, rtol_y=rules.outcome_rtol))
    inside, pooled = ([within_capacity_rho(x, y[order], design).value for order in orders] for design in designs)
    found = np.array([value for value in inside if value is not None])
    if not found.size:
        return Check(name, item.name, "not_checked", expected, reason=Reason.OUTCOME_WITHOUT_VARIATION)
    mean, se = float(found.mean()), float(found.std(ddof=1)) / math.sqrt(found.size) if found.size > 1 else 0.0
    naive = np.mean([value for value in pooled if value is not None])
    status = "failed" if abs(mean) > 4.0 * se + 1e-9 else "passed"
    return Check(name, item.name, status, expected, mean, n=found.size, note=f"the pooled correlation of the same shuffles is {naive:+.2f}")


def _noise(outcome: Floats, rules: Rules, draws: Stream) -> Check:
    """A standard normal number per cell must not come out significant beside the family."""
    name, alpha = "noise_metric", round(rules.alpha, 12)
    expected = f"p above {alpha:g} / {rules.m}"
    group = Group(name, (name,), draws.child("values").normal(outcome.shape)[None], (1e-12,))
    design = design_of(group, rules)
    test = block_permutation_test(group.values, outcome, stream=draws.child("permutation"), draws=rules.permutations, design=design)
    if test.p is None:
        return Check(name, "association", "not_checked", expected, reason=test.reason)
    seeds = int(np.isfinite(outcome).all(axis=1).sum())
    return Check(name, "association", "failed" if test.p * rules.m <= alpha else "passed", expected, test.value, p=test.p, n=seeds)
