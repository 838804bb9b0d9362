"""How a diagnostic or a composite goes with the outcome: the deciding estimate, and beside it the published description."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from wm_audit.core import Reason, Stream
from wm_audit.stats.block_permutation import block_permutation_test
from wm_audit.stats.blocks import Design
from wm_audit.stats.correlation_bootstrap import correlation_bootstrap
from wm_audit.stats.fisher import fisher_interval, t_approximation
from wm_audit.stats.jackknife import jackknife_z
from wm_audit.stats.kendall import kendall_tau_b
from wm_audit.stats.results import Interval, TestResult
from wm_audit.stats.spearman import spearman
from wm_audit.stats.within_capacity import Within, within_capacity_rho
from wm_audit.verdict.composites import Group
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Floats

_CODES = frozenset(reason.value for reason in Reason)
_METHODS: tuple[Literal["percentile"], Literal["bca"]] = ("percentile", "bca")


@dataclass(frozen=True, slots=True)
class Association:
    """One diagnostic or composite beside the outcome; its values are turned so that larger is better.

    Attributes:
        group: what was measured.
        kind: diagnostic, composite or extra.
        estimate: within-capacity rank correlation over the complete seeds.
        test: whole-seed block permutation.
        interval: jackknife interval at the deciding level.
        pooled: the published description, over all rows at once; never decides.
        capacity_level: does the metric order model sizes; never decides.
        seeds: the planned seeds, the first axis of the group's values.
        missing: why members are missing, with counts.
        feature: the learned feature behind a diagnostic, or None.
    """

    group: Group
    kind: str
    estimate: Within
    test: TestResult
    interval: Interval
    pooled: dict[str, Any]
    capacity_level: dict[str, Any]
    seeds: tuple[int, ...] = ()
    missing: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    feature: str | None = None

    @property
    def reason(self) -> Reason | None:
        """Why there is no estimate; where no seed is complete because a member is nowhere defined, the member is to blame."""
        nowhere = not np.isfinite(self.group.values).any(axis=(1, 2)).all()
        if self.estimate.value is not None or not nowhere:
            return self.estimate.reason
        return Reason.NULL_MEMBER if len(self.group.members) > 1 else self._own_reason()

    def _own_reason(self) -> Reason:
        """A diagnostic that is defined nowhere has the reason that most of its cells have."""
        counts = self.missing.get(self.group.name, {})
        known = sorted((code for code in counts if code in _CODES), key=lambda code: (-counts[code], code))
        return Reason(known[0]) if known else Reason.NO_FINITE_PAIRS

    def to_json(self, capacities: tuple[tuple[int, int], ...], adjusted: float | None) -> dict[str, Any]:
        """The entry of the correlations table; `adjusted` is the p-value after Holm."""
        cells = len(capacities)
        reason = self.reason
        return {
            "diagnostic": self.group.name,
            "kind": self.kind,
            "feature": self.feature,
            "rho": self.estimate.value,
            "reason": _code(reason),
            **interval_json(self.interval, reason),
            "level": self.interval.level,
            "p": self.test.p,
            "p_adjusted": adjusted,
            "floor": self.test.floor,
            "n": self.estimate.n * cells,
            "n_dropped": self.estimate.n_dropped * cells,
            "n_seeds": self.estimate.n,
            "n_planned_seeds": self.estimate.n + self.estimate.n_dropped,
            "n_constant_capacities": self.estimate.n_constant_capacities,
            "constant_capacities": [list(capacities[place]) for place in self.estimate.constant_capacities],
            "missing": {name: dict(counts) for name, counts in self.missing.items()},
            "pooled": self.pooled,
            "capacity_level": self.capacity_level,
        }


def associate(group: Group, outcome: Floats, rules: Rules, draws: Stream, kind: str, **extra: Any) -> Association:
    """Everything about one group.

    Args:
        group: (M, S, C) values of the members.
        outcome: (S, C).
        rules: what was promised.
        draws: the stream named after this group; nothing else draws from it.
        kind: diagnostic, composite or extra.
        extra: `seeds`, `missing` and `feature`, as `Association` has them.
    """
    design = design_of(group, rules)
    return Association(
        group=group,
        kind=kind,
        estimate=within_capacity_rho(group.values, outcome, design),
        test=block_permutation_test(group.values, outcome, stream=draws.child("permutation"), draws=rules.permutations, design=design),
        interval=jackknife_z(group.values, outcome, rules.level, design),
        pooled=pooled(group, outcome, rules, draws.child("bootstrap")),
        capacity_level=capacity_level(group, outcome),
        **extra,
    )


def design_of(group: Group, rules: Rules) -> Design:
    """The primary design with the promised tolerances and coverage."""
    return Design(coverage=rules.coverage, rtol=group.rtol, rtol_y=rules.outcome_rtol)


def pooled(group: Group, outcome: Floats, rules: Rules, draws: Stream) -> dict[str, Any]:
    """Over all float rows at once, as published analyses do; capacity confounds it, and rows are taken as independent."""
    single = len(group.members) == 1
    x, rtol = (group.values[0] if single else group.pooled()).ravel(), group.rtol[0] if single else 1e-12
    y, least, distinct = outcome.ravel(), rules.min_n, rules.min_distinct
    rho = spearman(x, y, rtol=rtol, min_n=least, min_distinct=distinct)
    tau = kendall_tau_b(x, y, rtol=rtol, min_n=least, min_distinct=distinct)
    percentile, bca = (
        correlation_bootstrap(
            x,
            y,
            stream=draws.child(method),
            resamples=rules.resamples,
            level=rules.level,
            method=method,
            rtol=rtol,
            min_n=least,
            min_distinct=distinct,
        )
        for method in _METHODS
    )
    fisher, t = fisher_interval(rho.value, rho.n, rules.level, variance="bonett_wright"), t_approximation(rho.value, rho.n)
    return {
        "descriptive": True,
        "rho": rho.value,
        "reason": _code(rho.reason),
        **interval_json(percentile, rho.reason),
        "resamples": percentile.resamples,
        "degenerate": percentile.n_degenerate,
        **interval_json(bca, rho.reason, "bca"),
        **interval_json(fisher, rho.reason, "bonett_wright"),
        "p": t.p,
        "p_reason": None if t.p is not None else _code(rho.reason or t.reason),
        "tau_b": tau.value,
        "tau_b_reason": _code(tau.reason),
        "n": rho.n,
        "n_dropped": rho.n_dropped,
    }


def capacity_level(group: Group, outcome: Floats) -> dict[str, Any]:
    """Spearman of the capacities' means over the complete seeds: does the metric order model sizes? n counts capacities."""
    kept = group.complete(outcome)
    x = group.values[0] if len(group.members) == 1 else group.pooled()
    means = [side[kept].mean(axis=0) if kept.any() else np.full(side.shape[1], np.nan) for side in (x, outcome)]
    found = spearman(*means, min_n=3, min_distinct=2)
    return {"descriptive": True, "rho": found.value, "reason": _code(found.reason), "n": found.n}


def interval_json(interval: Interval, reason: Reason | None, name: str = "interval") -> dict[str, Any]:
    """`interval` and, where there is none, `interval_reason`; without an estimate the estimate's reason speaks."""
    bounds = interval.bounds
    return {name: None if bounds is None else list(bounds), f"{name}_reason": None if bounds else _code(reason or interval.reason)}


def _code(reason: Reason | None) -> str | None:
    return None if reason is None else reason.value
