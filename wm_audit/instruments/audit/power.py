"""How often a design decides, and from which true value on: the audit's own rules, asked of simulated grids. No torch."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from wm_audit.core import Label, Measurement, Reason, stream
from wm_audit.instruments.audit import simulate
from wm_audit.instruments.audit.one_diagnostic import power_of_one
from wm_audit.instruments.audit.simulate import Plan, Question
from wm_audit.stats import Interval
from wm_audit.verdict import Rules

SCHEMA = "wm_audit/power/1"
QUESTIONS: tuple[Question, ...] = ("H1", "H2", "H3")
UNITS = {"H1": "rho", "H2": "rho", "H3": "standard deviations of one cell's contrast"}

# True values are counted in hundredths, so that a grid has no rounding.
_CURVES = {"H1": range(0, 100, 5), "H2": range(0, 100, 5), "H3": range(0, 155, 5)}
_COARSE, _LAST_RHO, _LAST_CONTRAST = 5, 95, 300


@dataclass(frozen=True, slots=True)
class Share:
    """How often each label was given at one true value, over all repetitions.

    Attributes:
        truth: the true value.
        supported, contradicted: share of each label; the rest is INCONCLUSIVE.
        no_interval: share of repetitions without an interval; part of that rest.
    """

    truth: float
    supported: float
    contradicted: float
    no_interval: float

    def of(self, label: Label) -> float:
        """The share of one of the two labels that decide."""
        return self.supported if label is Label.SUPPORTED else self.contradicted

    def to_json(self) -> dict[str, float]:
        """The entry of a curve."""
        return {"truth": self.truth, "supported": self.supported, "contradicted": self.contradicted, "no_interval": self.no_interval}


class Simulation:
    """One design, simulated on demand: every true value is simulated once, all on the same underlying draws."""

    def __init__(self, plan: Plan, rules: Rules, repetitions: int) -> None:
        self.plan, self.rules, self.repetitions = plan, rules, repetitions
        self._draws = stream(rules.root, "power", plan.seeds, plan.capacities)  # without icc: designs differ by it alone
        self._intervals: dict[int, list[Interval]] = {}
        self._shares: dict[tuple[Question, int], Share] = {}

    def share(self, question: Question, hundredths: int) -> Share:
        """How often each label is given at a true value of `hundredths` / 100."""
        key = (question, hundredths)
        if key not in self._shares:
            labels = self._labels(question, hundredths)
            count = [sum(item is wanted for item in labels) / self.repetitions for wanted in (Label.SUPPORTED, Label.CONTRADICTED, None)]
            self._shares[key] = Share(hundredths / 100, *count)
        return self._shares[key]

    def reason(self, question: Question) -> Reason | None:
        """Why the design never has an interval, or None."""
        if question == "H3":
            return Reason.TOO_FEW_SEEDS if self.share(question, 0).no_interval == 1.0 else None
        reasons = [item.reason for item in self._intervals_at(0)]
        # of three seeds some are perfect by chance: what all others lack is the reason
        return None if None in reasons else Counter(reasons).most_common(1)[0][0]

    def _labels(self, question: Question, hundredths: int) -> list[Label | None]:
        if question != "H3":
            return simulate.associated(self._intervals_at(hundredths), question, self.rules)
        cells = simulate.contrasts(self.plan, hundredths / 100, self.repetitions, self._draws.child("contrast"))
        return simulate.contrasted(cells, self.rules, self._draws.child("subsets").seed())

    def _intervals_at(self, hundredths: int) -> list[Interval]:
        """The intervals that H1 and H2 share."""
        if hundredths not in self._intervals:
            x, y = simulate.grids(self.plan, hundredths / 100, self.repetitions, self._draws.child("association"))
            self._intervals[hundredths] = simulate.intervals(x, y, self.rules)
        return self._intervals[hundredths]


def bound(question: Question, rules: Rules) -> float:
    """The true value at which a label would be an error: margin, threshold, or zero."""
    return {"H1": rules.margin, "H2": rules.threshold, "H3": 0.0}[question]


def detectable(simulation: Simulation, question: Question, label: Label, power: float) -> Measurement:
    """The true value nearest the bound at which the label is given in at least a share `power` of all runs.

    For SUPPORTED under H1 this is the largest correlation that is still recognised as weak; everywhere else the smallest step
    beyond the bound that is recognised. Steps of .05 are tried away from the bound, then the hundredths inside the step.

    Args:
        simulation: the design.
        question: H1, H2 or H3.
        label: SUPPORTED or CONTRADICTED.
        power: the share asked for.

    Returns:
        The value, n repetitions; null `power_not_reached`, or the reason why the design never has an interval.
    """
    reason = simulation.reason(question)
    unit, n = UNITS[question], simulation.repetitions
    if reason is not None:
        return Measurement.null(reason, unit=unit, n=n)
    start, last = _path(question, label, simulation.rules)
    step = _COARSE if last > start else -_COARSE
    for near in range(start, last, step):
        if simulation.share(question, near + step).of(label) >= power:
            inside = range(near + step // _COARSE, near + step + step // _COARSE, step // _COARSE)
            return Measurement(next(here for here in inside if simulation.share(question, here).of(label) >= power) / 100, unit=unit, n=n)
    return Measurement.null(Reason.POWER_NOT_REACHED, unit=unit, n=n)


def _path(question: Question, label: Label, rules: Rules) -> tuple[int, int]:
    """From the bound away to the last true value tried, in hundredths; the sign of H1 does not matter, nor the direction of H3."""
    start = round(100 * bound(question, rules))
    if question == "H3":
        return start, _LAST_CONTRAST if label is Label.SUPPORTED else -_LAST_CONTRAST
    if question == "H1":
        return start, 0 if label is Label.SUPPORTED else _LAST_RHO
    return start, _LAST_RHO if label is Label.SUPPORTED else -_LAST_RHO


def power_table(
    plans: Iterable[Plan], rules: Rules, *, repetitions: int = 1000, power: float = 0.8, done: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Power and smallest detectable value of every question, and of one diagnostic under Holm, under every plan.

    Args:
        plans: the designs.
        rules: level, margin, threshold and root of the promise.
        repetitions: simulated grids per true value.
        power: the share of runs in which a detectable value must be recognised.
        done: hears the name of every design that is finished.

    Returns:
        The document of schema `wm_audit/power/1`; the same arguments give the same document.

    Raises:
        ValueError: fewer than one repetition, or power outside (0, 1).
    """
    if repetitions < 1 or not 0.0 < power < 1.0:
        raise ValueError(f"repetitions must be at least 1 and power inside (0, 1), found {repetitions} and {power}")
    return {
        "schema": SCHEMA,
        "rules": {"root": rules.root, "level": rules.level, "margin": rules.margin, "threshold": rules.threshold},
        "repetitions": repetitions,
        "power": power,
        "designs": [_design(Simulation(plan, rules, repetitions), power, done) for plan in plans],
    }


def _design(simulation: Simulation, power: float, done: Callable[[str], None]) -> dict[str, Any]:
    plan = simulation.plan
    questions = [_question(simulation, question, power) for question in QUESTIONS]
    one = power_of_one(plan, simulation.rules, simulation.repetitions, power)
    done(f"{plan.seeds} seeds x {plan.capacities} capacities, icc {plan.icc:g}")
    return {"seeds": plan.seeds, "capacities": plan.capacities, "icc": plan.icc, "questions": questions, "diagnostic": one}


def _question(simulation: Simulation, question: Question, power: float) -> dict[str, Any]:
    reason = simulation.reason(question)
    curve: Sequence[int] = () if reason else _CURVES[question]
    return {
        "question": question,
        "unit": UNITS[question],
        "bound": bound(question, simulation.rules),
        "reason": None if reason is None else reason.value,
        "at_bound": None if reason else simulation.share(question, round(100 * bound(question, simulation.rules))).to_json(),
        "curve": [simulation.share(question, here).to_json() for here in curve],
        "detectable": {
            label.value: detectable(simulation, question, label, power).to_json() for label in (Label.SUPPORTED, Label.CONTRADICTED)
        },
    }
