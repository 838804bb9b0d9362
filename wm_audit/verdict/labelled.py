"""Labels and their caveats: an interval decides, and what weakens it is said beside it, failed controls first."""

from collections.abc import Mapping
from dataclasses import dataclass

from wm_audit.core import Label, Reason, Verdict
from wm_audit.stats.labels import equivalence, superiority
from wm_audit.stats.outcome_resolution import OutcomeResolution
from wm_audit.stats.results import Interval
from wm_audit.verdict import caveats, outcome
from wm_audit.verdict.association import Association
from wm_audit.verdict.compression import Lever
from wm_audit.verdict.questions import rule
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Table


@dataclass(frozen=True, slots=True)
class Ground:
    """What all verdicts of an environment stand on.

    Attributes:
        table: the rows.
        rules: what was promised.
        resolution: how well the outcome tells models apart.
        controls: the caveats of failed and missing controls.
    """

    table: Table
    rules: Rules
    resolution: OutcomeResolution
    controls: tuple[str, ...]


def prediction(question: str, item: Association, ground: Ground, adjusted: float | None, point: Label) -> Verdict:
    """H1 or H2: does a composite predict the return?

    Args:
        question: "H1" or "H2".
        item: the composite's association.
        ground: what the environment gives.
        adjusted: the p-value after Holm.
        point: the label of the published rule.
    """
    rules, interval = ground.rules, item.interval
    reason = _unmeasurable(item, ground)
    label = equivalence(interval, rules.margin) if question == "H1" else superiority(interval, rules.threshold)
    return Verdict(
        question=question,
        environment=ground.table.env,
        lever=None,
        label=Label.UNMEASURABLE if reason else label,
        reason=reason,
        rule=rule(question, rules),
        estimate=item.estimate.value,
        interval=interval.bounds,
        interval_reason=None if interval.bounds else item.reason or interval.reason,
        p_raw=item.test.p,
        p_adjusted=adjusted,
        caveats=(
            *ground.controls,
            *_undecided(interval, defined=reason is None),
            *outcome.outcome_caveats(ground.resolution),
            *_incomplete(item.estimate.n_dropped if item.estimate.value is not None else 0),
            *_null_members(item.missing),
            *("constant_capacity:{}x{}".format(*ground.table.capacities[place]) for place in item.estimate.constant_capacities),
        ),
        point_rule_label=point,
    )


def degradation(item: Lever, ground: Ground) -> Verdict:
    """H3 for one lever: does it degrade calibration more than pixels?"""
    contrast, interval, rules = item.contrast, item.contrast.interval, ground.rules
    defined = contrast.reason is None
    quiet = defined and item.below_noise_floor
    label = superiority(interval, 0.0) if defined else Label.UNMEASURABLE
    members = dict.fromkeys((*rules.pixel, *rules.calibration))
    return Verdict(
        question="H3",
        environment=ground.table.env,
        lever=item.name,
        label=Label.INCONCLUSIVE if quiet else label,
        reason=contrast.reason,
        rule=rule("H3", rules),
        estimate=contrast.estimate,
        interval=interval.bounds,
        interval_reason=None if interval.bounds else contrast.reason or interval.reason,
        p_raw=contrast.test.two_sided.p if defined else None,
        p_adjusted=None,
        caveats=(
            *ground.controls,
            *((caveats.BELOW,) if quiet else ()),
            *_undecided(interval, defined=defined),
            *_incomplete(len(ground.table.seeds) - contrast.seeds if defined else 0),
            *_null_members({name: item.deltas[name].missing for name in members}),
        ),
        point_rule_label=item.point_label,
    )


def _unmeasurable(item: Association, ground: Ground) -> Reason | None:
    """Why H1 or H2 cannot be asked, or None. An outcome that is nowhere defined gives its own reason."""
    nulls = {row.outcome.reason for row in ground.table.floats()}
    if ground.resolution.overall.n == 0 and len(nulls) == 1:
        return nulls.pop() or Reason.NO_FINITE_PAIRS
    blamed = item.reason
    if blamed is not None and blamed not in (Reason.CONSTANT_Y, Reason.CONSTANT_BOTH):
        return blamed
    return Reason.OUTCOME_WITHOUT_VARIATION if outcome.too_uniform(ground.resolution, ground.rules) else blamed


def _undecided(interval: Interval, *, defined: bool) -> tuple[str, ...]:
    """Why a defined estimate has no interval."""
    return (str(interval.reason),) if defined and interval.bounds is None else ()


def _incomplete(seeds: int) -> tuple[str, ...]:
    return (f"incomplete_seeds:{seeds}",) if seeds else ()


def _null_members(gaps: Mapping[str, Mapping[str, int]]) -> tuple[str, ...]:
    """Members with gaps of their own; rows that are missing as a whole are counted as incomplete seeds."""
    own = {name: {code: n for code, n in counts.items() if code != "row_missing"} for name, counts in gaps.items()}
    return tuple(caveats.null_member(name, counts) for name, counts in own.items() if counts)
