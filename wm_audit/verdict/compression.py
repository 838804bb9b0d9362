"""H3: does compression degrade calibration faster than pixel fidelity? One contrast per seed, in seed standard deviations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wm_audit.core import Label, Reason
from wm_audit.stats.hartigan import hartigan_interval
from wm_audit.stats.results import Interval
from wm_audit.stats.sign_flip import SignFlip, sign_flip
from wm_audit.verdict import ladder
from wm_audit.verdict.association import interval_json
from wm_audit.verdict.deltas import Delta, baseline, delta
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Floats, Table

_RAW_THREE = ("pixel_mse", "pixel_ssim", "pixel_nll")
Scale = Callable[[Delta], Floats]


@dataclass(frozen=True, slots=True)
class Contrast:
    """One lever's contrast of two sides, seed by seed.

    Attributes:
        pixel, other: (S,) mean degradation of each side over capacities, NaN where a seed is incomplete.
        reason: why there is no estimate, or None.
        test: exact sign flip over the complete seeds.
        interval: Hartigan's subset means, the inversion of that test.
    """

    pixel: Floats
    other: Floats
    reason: Reason | None
    test: SignFlip
    interval: Interval

    @property
    def estimate(self) -> float | None:
        """Mean over seeds of (other - pixel)."""
        return None if self.reason else self.test.value

    @property
    def d(self) -> Floats:
        """(S,) the per-seed contrast."""
        return self.other - self.pixel

    @property
    def seeds(self) -> int:
        """Complete seeds."""
        return int(np.isfinite(self.d).sum())

    def means(self) -> tuple[float | None, float | None]:
        """Mean degradation of pixels and of the other side over the complete seeds, or None without an estimate."""
        if self.estimate is None:
            return None, None
        kept = np.isfinite(self.d)
        return float(self.pixel[kept].mean()), float(self.other[kept].mean())

    def panel(self, name: str) -> dict[str, Any]:
        """The entry of a sensitivity panel."""
        return {
            "panel": name,
            "estimate": self.estimate,
            "reason": None if self.reason is None else self.reason.value,
            **interval_json(self.interval, self.reason),
            "p": None if self.reason else self.test.two_sided.p,
            "n_seeds": self.seeds,
        }


@dataclass(frozen=True, slots=True)
class Lever:
    """Everything about one lever: every diagnostic's change, the deciding contrast, and the panels beside it."""

    name: str
    deltas: Mapping[str, Delta]
    contrast: Contrast
    panels: tuple[tuple[str, Contrast], ...]
    ladder: tuple[float | None, float | None]
    outcome_delta: float | None
    below_noise_floor: bool

    @property
    def point_label(self) -> Label:
        """The published rule: mean rungs lost by control diagnostics above those lost by pixels; it labels nothing without an estimate."""
        pixel, control = self.ladder
        if pixel is None or control is None or self.contrast.estimate is None:
            return Label.UNMEASURABLE
        return Label.SUPPORTED if control > pixel else Label.CONTRADICTED

    def point_rule(self) -> dict[str, Any]:
        """The published rule's numbers and label."""
        pixel, control = self.ladder
        reason = Reason.NULL_MEMBER if pixel is None or control is None else self.contrast.reason
        code = None if reason is None else reason.value
        return {"descriptive": True, "pixel": pixel, "control": control, "reason": code, "label": self.point_label.value}


def lever(table: Table, name: str, rules: Rules, root: int) -> Lever:
    """Judges one lever.

    Args:
        table: the environment's rows.
        name: the lever, as rows carry it in `compression`.
        rules: what was promised.
        root: seed of the random subsets that more than 20 seeds need.
    """
    members = tuple(dict.fromkeys((*rules.pixel, *rules.calibration, *rules.control)))
    deltas = {member: delta(table, member, name, rules) for member in members}

    def contrasted(pixel: Sequence[str], other: Sequence[str], scale: Scale) -> Contrast:
        return _contrast(table, name, [deltas[item] for item in pixel], [deltas[item] for item in other], (rules, root, scale))

    def on_ladder(item: Delta) -> Floats:
        return ladder.degradation(table, item.diagnostic, name, rules)

    raw = [member for member in rules.pixel if member in _RAW_THREE]
    panels = [
        ("noise floor as scale", contrasted(rules.pixel, rules.calibration, lambda item: item.scaled(item.floor))),
        ("float ladder", contrasted(rules.pixel, rules.calibration, on_ladder)),
        ("control composite as the other side", contrasted(rules.pixel, rules.control, seed_sd_scale)),
    ]
    if raw and tuple(raw) != rules.pixel:
        panels.append((f"pixel side = {', '.join(raw)}", contrasted(raw, rules.calibration, seed_sd_scale)))
    sides = [deltas[member] for member in dict.fromkeys((*rules.pixel, *rules.calibration))]
    return Lever(
        name=name,
        deltas=deltas,
        contrast=contrasted(rules.pixel, rules.calibration, seed_sd_scale),
        panels=tuple(panels),
        ladder=(_rungs(table, name, rules.pixel, rules), _rungs(table, name, rules.control, rules)),
        outcome_delta=_outcome_delta(table, name),
        below_noise_floor=all(item.below_noise_floor for item in sides),
    )


def contrast(table: Table, name: str, sides: tuple[Sequence[str], Sequence[str]], how: tuple[Rules, int, Scale]) -> Contrast:
    """The contrast of two sets of diagnostics under a lever, (pixel, other).

    Args:
        table: the environment's rows.
        name: the lever.
        sides: the members of the pixel side and of the other side.
        how: the rules, the seed of random subsets, and the scale.
    """
    pixel, other = ([delta(table, member, name, how[0]) for member in side] for side in sides)
    return _contrast(table, name, pixel, other, how)


def seed_sd_scale(item: Delta) -> Floats:
    """The deciding scale: differences in seed-to-seed standard deviations."""
    return item.scaled(item.scale)


def to_json(found: Lever, table: Table, rules: Rules) -> dict[str, Any]:
    """The entry of the compression block."""
    contrast, test = found.contrast, found.contrast.test
    pixel, calibration = contrast.means()
    kept = np.flatnonzero(np.isfinite(contrast.d))
    sides = {name: [side for side in ("pixel", "calibration") if name in getattr(rules, side)] for name in found.deltas}
    undefined = contrast.reason is not None
    return {
        "lever": found.name,
        "baseline": baseline(found.name),
        "estimate": contrast.estimate,
        "reason": None if contrast.reason is None else contrast.reason.value,
        **interval_json(contrast.interval, contrast.reason),
        "level": rules.level,
        "p": None if undefined else test.two_sided.p,
        "p_up": None if undefined else test.up.p,
        "p_down": None if undefined else test.down.p,
        "floor": None if undefined else test.two_sided.floor,
        "n": contrast.seeds * len(table.capacities),
        "n_seeds": contrast.seeds,
        "n_planned_seeds": len(table.seeds),
        "pixel": pixel,
        "calibration": calibration,
        "outcome_delta": found.outcome_delta,
        "outcome_delta_reason": Reason.NO_FINITE_PAIRS.value if found.outcome_delta is None else None,
        "below_noise_floor": found.below_noise_floor,
        "per_seed": [
            {
                "seed": table.seeds[s],
                "pixel": float(contrast.pixel[s]),
                "calibration": float(contrast.other[s]),
                "contrast": float(contrast.d[s]),
            }
            for s in kept
        ],
        "diagnostics": [item.to_json(sides[name]) for name, item in found.deltas.items()],
        "panels": [item.panel(name) for name, item in found.panels],
        "point_rule": found.point_rule(),
    }


def _contrast(table: Table, name: str, pixel: list[Delta], other: list[Delta], how: tuple[Rules, int, Scale]) -> Contrast:
    rules, root, scale = how
    scaled = [(item, scale(item)) for item in (*pixel, *other)]
    sides = [np.mean([value for _, value in part], axis=0).mean(axis=1) for part in (scaled[: len(pixel)], scaled[len(pixel) :])]
    d = sides[1] - sides[0]
    reason = _reason(table, name, scaled, d, rules)
    test = sign_flip(d, root=root)
    interval = Interval.null(reason, rules.level) if reason else hartigan_interval(d, round(rules.alpha, 12), root=root)
    return Contrast(sides[0], sides[1], reason, test, interval)


def _reason(table: Table, name: str, scaled: Sequence[tuple[Delta, Floats]], d: Floats, rules: Rules) -> Reason | None:
    """Why there is no estimate: no rows, a member nowhere defined, no scale, or too few complete seeds."""
    complete = int(np.isfinite(d).sum())
    if not any(row is not None for line in table.cells(name) for row in line):
        return Reason.NO_LEVER_ROWS
    if complete:
        return None if complete >= rules.coverage * len(table.seeds) - 1e-9 else Reason.COVERAGE
    nowhere = [item for item, _ in scaled if item.n == 0]
    if nowhere:
        return _common(nowhere, len(scaled)) or Reason.NULL_MEMBER
    scaleless = [item.reason or Reason.NO_SPREAD for item, value in scaled if not np.isfinite(value).any()]
    return scaleless[0] if scaleless else Reason.COVERAGE


def _common(nowhere: Sequence[Delta], members: int) -> Reason | None:
    """The one reason behind a lever that could not be measured at all (its engine is missing, it changed no weight)."""
    codes = {code for item in nowhere for code in item.missing}
    return Reason(codes.pop()) if len(nowhere) == members and len(codes) == 1 and codes <= set(Reason) else None


def _rungs(table: Table, name: str, side: Sequence[str], rules: Rules) -> float | None:
    """Mean over cells of the rungs lost, over the cells where every member of the side is measured."""
    lost = np.mean([ladder.degradation(table, member, name, rules) for member in side], axis=0)
    return float(np.nanmean(lost)) if np.isfinite(lost).any() else None


def _outcome_delta(table: Table, name: str) -> float | None:
    """Mean loss of return over the cells where both models have one."""
    lost = [
        before.outcome.value - after.outcome.value
        for one, two in zip(table.cells(baseline(name)), table.cells(name), strict=True)
        for before, after in zip(one, two, strict=True)
        if before is not None and after is not None and before.outcome.value is not None and after.outcome.value is not None
    ]
    return float(np.mean(lost)) if lost else None
