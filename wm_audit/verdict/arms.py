"""The known answers of the control arms. A failed one weakens every verdict of its environment."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from wm_audit.core import Measurement, Reason, Row
from wm_audit.verdict.check import Check
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import Floats, Table, measured

_EXACT = 1e-9
_EXCUSED = frozenset({Reason.PROBE_DEGENERATE, Reason.TOO_FEW_SAMPLES, Reason.NOT_APPLICABLE})
_ALIKE = frozenset({Reason.IDENTICAL_MEMBERS, Reason.SINGLE_MEMBER})


@dataclass(frozen=True, slots=True)
class Arm:
    """One control arm: its name, its rows, and the rows and rules it is judged beside."""

    name: str
    rows: list[Row]
    table: Table
    rules: Rules

    def found(self, diagnostic: str) -> list[Measurement]:
        """The diagnostic in every row that has it."""
        return [item for item in (measured(row, diagnostic) for row in self.rows) if item is not None]


Ask = Callable[[Arm], Check]


def arm_checks(table: Table, rules: Rules) -> list[Check]:
    """The known answers of every control arm; an arm that was planned and is missing is not checked, and said so."""
    checks: list[Check] = []
    for name, asked in _ASKED.items():
        rows = table.arm(name)
        if rows:
            checks += [ask(Arm(name, rows, table, rules)) for ask in asked]
        elif name in rules.arms:
            checks.append(Check(name, "present", "not_checked", "a row of this arm", note="the arm is planned and missing"))
    return checks


def _equals(diagnostic: str, answer: float) -> Ask:
    """The diagnostic has exactly this value in every row."""
    return lambda arm: _near(arm, diagnostic, answer, _EXACT)


def _about(diagnostic: str, answer: float) -> Ask:
    """The diagnostic has about this value in every row."""
    return lambda arm: _near(arm, diagnostic, answer, arm.rules.control_tolerance)


def _near(arm: Arm, diagnostic: str, answer: float, tolerance: float) -> Check:
    expected = f"{answer:g}" if tolerance == _EXACT else f"{answer:g} within {tolerance:g}"
    found = arm.found(diagnostic)
    values = [item.value for item in found if item.value is not None]
    nulls = [item.reason for item in found if item.reason is not None]
    inexcusable = [reason for reason in nulls if reason not in _EXCUSED]
    if not values:
        status = "failed" if inexcusable else "not_checked"
        return Check(arm.name, diagnostic, status, expected, reason=nulls[0] if nulls else None)
    worst = max(values, key=lambda value: abs(value - answer))
    broken = abs(worst - answer) > tolerance or bool(inexcusable)
    return Check(arm.name, diagnostic, "failed" if broken else "passed", expected, worst, n=len(values))


def _alike(diagnostic: str) -> Ask:
    """The diagnostic is null because all members agree."""

    def ask(arm: Arm) -> Check:
        found, expected = arm.found(diagnostic), f"null, {Reason.IDENTICAL_MEMBERS}"
        if not found:
            return Check(arm.name, diagnostic, "not_checked", expected)
        wrong = next((item for item in found if item.reason not in _ALIKE | _EXCUSED), None)
        shown = wrong or found[0]
        return Check(arm.name, diagnostic, "failed" if wrong else "passed", expected, shown.value, shown.reason, n=len(found))

    return ask


def _same_plan(arm: Arm) -> Check:
    """Planning through the world-model protocol returns what planning on the environment itself does, bit for bit."""
    expected = "the oracle planner's, bit for bit"
    pairs = [(row.details.get("returns"), row.details.get("planner_returns")) for row in arm.rows]
    both = [(one, two) for one, two in pairs if one is not None and two is not None]
    if not both:
        return Check(arm.name, "return", "not_checked", expected, note="the row holds no planner_returns")
    gap = max((abs(a - b) for one, two in both for a, b in zip(one, two, strict=False)), default=0.0)
    status = "failed" if any(one != two for one, two in both) else "passed"
    return Check(arm.name, "return", status, expected, float(gap), n=sum(len(one) for one, _ in both), note="largest difference")


def _worthless(arm: Arm) -> Check:
    """Its plans return no more than random actions: share of the gap between random and oracle, or within four standard errors."""
    tolerance = arm.rules.control_tolerance
    expected = f"at most random + {tolerance:g} of the gap to the oracle"
    own, blind, best = (_returns(rows) for rows in (arm.rows, arm.table.arm("random"), arm.table.arm("oracle")))
    if not (own.size and blind.size and best.size):
        return Check(arm.name, "return", "not_checked", expected, reason=Reason.REFERENCE_MISSING)
    span = float(best.mean() - blind.mean())
    if span <= 0.0:
        return Check(arm.name, "return", "not_checked", expected, reason=Reason.REFERENCE_DEGENERATE)
    gain = float(own.mean() - blind.mean())
    good = gain > tolerance * span and gain > 4.0 * _standard_error(own, blind)
    return Check(arm.name, "return", "failed" if good else "passed", expected, gain / span, n=own.size, note="share of the gap")


def _returns(rows: list[Row]) -> Floats:
    """Every start's return, or the rows' outcomes where the starts are not recorded."""
    starts = [row.details.get("returns") or ([] if row.outcome.value is None else [row.outcome.value]) for row in rows]
    return np.array([value for line in starts for value in line], dtype=np.float64)


def _standard_error(one: Floats, two: Floats) -> float:
    """Of the difference of means: paired where the starts are common, Welch's otherwise."""
    if one.size == two.size and one.size > 1:
        return float((one - two).std(ddof=1)) / math.sqrt(one.size)
    return math.sqrt(sum(float(item.var(ddof=1)) / item.size for item in (one, two) if item.size > 1))


_ASKED: Mapping[str, tuple[Ask, ...]] = MappingProxyType(
    {
        "oracle": (
            _equals("return_ece", 0.0),
            _equals("counterfactual_tau", 1.0),
            _alike("uncertainty_rho"),
            _alike("uncertainty_ece"),
            _same_plan,
        ),
        "action_blind": (_equals("counterfactual_tau", 0.0), _worthless),
        "constant": (_equals("counterfactual_tau", 0.0), _worthless),
        "shuffled_reward": (_about("counterfactual_tau", 0.0), _worthless),
    }
)
