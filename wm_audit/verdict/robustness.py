"""Would another reasonable analysis have said something else? Every variant is listed; few of them make a label fragile."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wm_audit.core import Label, Reason, Stream, Verdict
from wm_audit.stats.blocks import Design
from wm_audit.stats.jackknife import jackknife_z
from wm_audit.stats.labels import equivalence, superiority
from wm_audit.stats.results import Interval
from wm_audit.stats.within_capacity import within_capacity_rho
from wm_audit.verdict.association import Association, design_of, interval_json
from wm_audit.verdict.compression import Contrast, Lever, contrast, seed_sd_scale
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Floats, Table

FRAGILE = "fragile"
_STRICTER = 0.95
_OPPOSITE = {Label.SUPPORTED: Label.CONTRADICTED, Label.CONTRADICTED: Label.SUPPORTED}
_OTHER_ESTIMAND = "pooled over capacities"
_MUST_HOLD = ("relaxed composite", "tau-b", "jitter")
_SEED = "without seed "


@dataclass(frozen=True, slots=True)
class Variant:
    """One other analysis.

    Attributes:
        name: what was done otherwise.
        estimate: its estimate, or None.
        reason: why there is none, or None.
        interval: its interval.
        label: what it would have said.
        holds: whether the estimate alone lies on the supporting side of the threshold, or None without one.
    """

    name: str
    estimate: float | None
    reason: Reason | None
    interval: Interval
    label: Label
    holds: bool | None

    def to_json(self) -> dict[str, Any]:
        """The entry of the panel."""
        return {
            "variant": self.name,
            "estimate": self.estimate,
            "reason": None if self.reason is None else self.reason.value,
            **interval_json(self.interval, self.reason),
            "label": self.label.value,
        }


def prediction_panel(verdict: Verdict, item: Association, outcome: Floats, rules: Rules, draws: Stream) -> dict[str, Any]:
    """H1 or H2 analysed otherwise.

    Args:
        verdict: the primary answer.
        item: its association.
        outcome: (S, C).
        rules: what was promised.
        draws: random numbers of the jitter.
    """
    variants = list(_predictions(verdict.question, item, outcome, rules, draws))
    limit = rules.margin if verdict.question == "H1" else rules.threshold
    return _panel(verdict, _holds(verdict.question, item.estimate.value, limit), variants)


def degradation_panel(verdict: Verdict, lever: Lever, table: Table, rules: Rules, root: int) -> dict[str, Any]:
    """H3 under one lever analysed otherwise.

    Args:
        verdict: the primary answer.
        lever: the lever's numbers.
        table: the environment's rows.
        rules: what was promised.
        root: seed of the random subsets that more than 20 seeds need.
    """
    variants = [_contrasted(name, found) for name, found in _degradations(lever, table, rules, root)]
    return _panel(verdict, _holds("H3", lever.contrast.estimate, 0.0), variants)


def counterpart(threshold: float) -> float:
    """The tau-b that goes with a rank correlation in a bivariate normal: (2 / pi) asin(2 sin(pi t / 6)) (Kruskal 1958)."""
    return 2.0 / math.pi * math.asin(2.0 * math.sin(math.pi * threshold / 6.0))


def _predictions(question: str, item: Association, outcome: Floats, rules: Rules, draws: Stream) -> Iterator[Variant]:
    primary, x = design_of(item.group, rules), item.group.values
    limit = rules.margin if question == "H1" else rules.threshold

    def variant(name: str, values: Floats, y: Floats, design: Design, *, level: float = rules.level, bound: float = limit) -> Variant:
        found = within_capacity_rho(values, y, design)
        interval = jackknife_z(values, y, level, design)
        label = equivalence(interval, bound) if question == "H1" else superiority(interval, bound)
        decided = Label.UNMEASURABLE if found.value is None else label
        return Variant(name, found.value, found.reason, interval, decided, _holds(question, found.value, bound))

    loose = replace(primary, rtol=tuple(10.0 * rtol for rtol in item.group.rtol), rtol_y=10.0 * rules.outcome_rtol)
    yield variant("relaxed composite", x, outcome, replace(primary, relaxed=True))
    yield variant(_OTHER_ESTIMAND, x, outcome, replace(primary, scope="pooled"))
    yield variant("tau-b", x, outcome, replace(primary, method="tau"), bound=counterpart(limit))
    yield variant("tie tolerance x10", x, outcome, loose)
    yield variant("jitter", *_jittered(item, outcome, rules, draws), primary)
    yield variant(f"{100 * _STRICTER:g}% interval", x, outcome, primary, level=_STRICTER)
    for place, member in enumerate(item.group.members if len(item.group.members) > 1 else ()):
        rtol = tuple(value for other, value in enumerate(item.group.rtol) if other != place)
        yield variant(f"without {member}", np.delete(x, place, axis=0), outcome, replace(primary, rtol=rtol))
    for place in np.flatnonzero(item.group.complete(outcome)).tolist():
        yield variant(f"{_SEED}{item.seeds[place]}", np.delete(x, place, axis=1), np.delete(outcome, place, axis=0), primary)


def _jittered(item: Association, outcome: Floats, rules: Rules, draws: Stream) -> tuple[Floats, Floats]:
    """Every value moved by up to its tie tolerance, the size of the noise that threads and batches leave in it."""
    x = item.group.values
    size = np.array(item.group.rtol)[:, None, None]
    moved = x * (1.0 + size * draws.child("x").uniform(x.shape, -1.0, 1.0))
    return moved, outcome * (1.0 + rules.outcome_rtol * draws.child("y").uniform(outcome.shape, -1.0, 1.0))


def _degradations(lever: Lever, table: Table, rules: Rules, root: int) -> Iterator[tuple[str, Contrast]]:
    yield from lever.panels
    sides = (rules.pixel, rules.calibration)

    def again(own: Table, pixel: Sequence[str], other: Sequence[str], level: float = rules.level) -> Contrast:
        return contrast(own, lever.name, (pixel, other), (replace(rules, level=level), root, seed_sd_scale))

    yield f"{100 * _STRICTER:g}% interval", again(table, *sides, _STRICTER)
    for member in dict.fromkeys((*rules.pixel, *rules.calibration)):
        left = [tuple(name for name in side if name != member) for side in sides]
        if all(left):
            yield f"without {member}", again(table, left[0], left[1])
    for place in np.flatnonzero(np.isfinite(lever.contrast.d)):
        seeds = tuple(seed for other, seed in enumerate(table.seeds) if other != place)
        yield f"{_SEED}{table.seeds[place]}", again(replace(table, seeds=seeds), *sides)


def _contrasted(name: str, found: Contrast) -> Variant:
    label = Label.UNMEASURABLE if found.reason else superiority(found.interval, 0.0)
    return Variant(name, found.estimate, found.reason, found.interval, label, _holds("H3", found.estimate, 0.0))


def _holds(question: str, estimate: float | None, limit: float) -> bool | None:
    if estimate is None:
        return None
    return abs(estimate) < limit if question == "H1" else estimate > limit


def _panel(verdict: Verdict, holds: bool | None, variants: Sequence[Variant]) -> dict[str, Any]:
    because = _fragile(verdict.label, holds, variants)
    return {
        "question": verdict.question,
        "lever": verdict.lever,
        "label": verdict.label.value,
        "variants": [item.to_json() for item in variants],
        "flips": [item.name for item in variants if item.label is not verdict.label],
        "fragile": bool(because),
        "because": because,
    }


def _fragile(label: Label, holds: bool | None, variants: Sequence[Variant]) -> list[str]:
    """What makes a decided label fragile.

    A variant with the opposite label; the relaxed composite, tau-b or jitter without the label; one seed that carries the estimate
    over the threshold. Leave-outs and 95% intervals that merely lose the label do not count: they lose power by themselves. Nor
    does the pooled correlation: it asks something else, and where capacity matters it says the opposite of a true answer.
    """
    if label not in _OPPOSITE:
        return []
    asked = [item for item in variants if item.name != _OTHER_ESTIMAND]
    because = [f"{item.name}: {item.label.value}" for item in asked if item.label is _OPPOSITE[label]]
    because += [f"{item.name}: {item.label.value}" for item in asked if item.name in _MUST_HOLD and item.label is not label]
    because += [
        f"{item.name}: the estimate crosses the threshold"
        for item in asked
        if item.name.startswith(_SEED) and item.holds is not None and item.holds is not holds
    ]
    return list(dict.fromkeys(because))
