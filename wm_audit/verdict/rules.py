"""The part of the promise that decides: what is measured, against which thresholds, at which level."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from wm_audit.core import AuditError

_PERCEPTUAL = ("pixel_mse", "pixel_nll", "pixel_lpips", "rollout_fvd", "pixel_ssim")
_CONTROL = ("return_ece", "counterfactual_tau", "uncertainty_rho")
_CALIBRATION = ("return_ece", "uncertainty_rho", "uncertainty_ece")
_FLOAT64, _FLOAT32 = 1e-12, 1e-6
_COUNTS = {
    "resamples": (1, 1_000_000),
    "permutations": (1, 1_000_000),
    "min_n": (1, 1_000_000),
    "min_distinct": (1, 1_000_000),
    "min_outcomes": (1, 1_000_000),
}
"""Counts of the statistics, and between what they make sense; a file that anyone can write must not ask for all memory."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One diagnostic of the family: +1 larger is better, -1 smaller is better, and the relative tie tolerance of its values."""

    orientation: int
    rtol: float = _FLOAT64


_SLOTS: Mapping[str, Slot] = MappingProxyType(
    {
        "pixel_mse": Slot(-1, _FLOAT32),
        "pixel_nll": Slot(-1, _FLOAT32),
        "pixel_lpips": Slot(-1, _FLOAT32),
        "rollout_fvd": Slot(-1, _FLOAT32),
        "pixel_ssim": Slot(+1, _FLOAT32),
        "return_ece": Slot(-1, _FLOAT32),
        "counterfactual_tau": Slot(+1),
        "uncertainty_rho": Slot(+1),
        "uncertainty_ece": Slot(-1, _FLOAT32),
    }
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything a judgement depends on beside the rows.

    Attributes:
        root: the experiment's root seed; names every random draw of the statistics.
        level: two-sided level of every deciding interval (0.90: one-sided alpha .05 at each bound).
        margin: H1 is supported when the interval lies inside (-margin, margin).
        threshold: H2 is supported when the interval lies above it.
        coverage: smallest share of planned seeds that must be complete.
        m: size of the Holm family of one environment, nulls included.
        resamples: bootstrap resamples of the descriptive interval.
        permutations: random orders of the block permutation test where not all are tried.
        min_n, min_distinct: fewest pairs and distinct values of a pooled correlation.
        min_outcomes: fewest distinct outcomes for which H1 and H2 can be asked.
        outcome_rtol: relative tie tolerance of the outcome.
        control_tolerance: how far a control's return may be from random, as a share of the gap between random and oracle,
            and its per-state tau from its known value where that value is not exact.
        slots: the diagnostics, in the order in which they are printed.
        extras: locked extras: measured and printed, outside composites and outside m.
        perceptual, control: members of the composites of H1 and H2.
        pixel, calibration: the two sides of H3.
        environments, seeds, capacities, levers, arms: what was planned; an empty tuple means whatever the rows hold.
    """

    root: int = 0
    level: float = 0.90
    margin: float = 0.4
    threshold: float = 0.6
    coverage: float = 0.8
    m: int = 11
    resamples: int = 2000
    permutations: int = 9999
    min_n: int = 6
    min_distinct: int = 4
    min_outcomes: int = 4
    outcome_rtol: float = _FLOAT64
    control_tolerance: float = 0.25
    slots: Mapping[str, Slot] = field(default_factory=lambda: _SLOTS)
    extras: Mapping[str, Slot] = field(default_factory=lambda: MappingProxyType({}))
    perceptual: tuple[str, ...] = _PERCEPTUAL
    control: tuple[str, ...] = _CONTROL
    pixel: tuple[str, ...] = _PERCEPTUAL
    calibration: tuple[str, ...] = _CALIBRATION
    environments: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    capacities: tuple[tuple[int, int], ...] = ()
    levers: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuses rules that contradict themselves."""
        for name in ("level", "margin", "threshold", "coverage"):
            if not 0 < getattr(self, name) < (1 if name == "level" else 1 + 1e-12):
                raise _bad(name, getattr(self, name), "a number between 0 and 1")
        for name in ("perceptual", "control", "pixel", "calibration"):
            unknown = sorted(set(getattr(self, name)) - set(self.slots))
            if unknown or not getattr(self, name):
                raise _bad(name, unknown, f"members among {', '.join(self.slots)}")
        for name, (least, most) in _COUNTS.items():
            if not least <= getattr(self, name) <= most:
                raise _bad(name, getattr(self, name), f"a whole number from {least} to {most}")
        for name in ("outcome_rtol", "control_tolerance"):
            if not 0.0 <= getattr(self, name) < (1.0 if name == "outcome_rtol" else math.inf):
                raise _bad(name, getattr(self, name), "a number, not below 0")
        if self.m < len(self.slots) + 2:
            raise _bad("m", self.m, f"at least {len(self.slots) + 2}, the diagnostics and two composites")

    @classmethod
    def default(cls) -> "Rules":
        """The published rules, with the grid taken from the rows."""
        return cls()

    @property
    def alpha(self) -> float:
        """One-sided error at each bound of an interval."""
        return (1.0 - self.level) / 2.0

    def slot(self, name: str) -> Slot:
        """The slot of a diagnostic; an extra (`pixel_mse.open_loop`) follows the slot before its dot."""
        return self.slots.get(name) or self.extras.get(name) or self.slots.get(name.partition(".")[0]) or Slot(0)

    @classmethod
    def of_promise(cls, promise: Mapping[str, Any]) -> "Rules":
        """Reads the plain JSON form of a promise, or of the executed configuration that a results file holds.

        Args:
            promise: the fields of `configs/preregistration.yaml`; decimals may be numbers or text ("0.4"). What the judgement
                does not read is not looked at.

        Raises:
            AuditError: a field that the judgement needs is missing or of the wrong kind.
        """
        try:
            return _read(promise)
        except KeyError as error:
            raise AuditError(f"has no field {error.args[0]!r}", where="promise", expected="a whole promise", fix="add the field") from error
        except (TypeError, ValueError, AttributeError) as error:
            raise AuditError(f"holds a value of the wrong kind ({error})", where="promise", expected="a whole promise") from error


def _read(promise: Mapping[str, Any]) -> Rules:
    asked = {item["id"]: item for item in promise["hypotheses"]}
    levels = {float(item["level"]) for item in asked.values()}
    if len(levels) != 1:
        raise _bad("level", sorted(levels), "one level for all questions")
    numbers, composites, ties = promise["statistics"], promise["composites"], promise["statistics"]["ties"]
    members = {name: tuple(names) for name, names in composites.items()}
    calibration, pixel = asked["H3"]["composites"]
    described = {**promise["diagnostics"], **promise.get("extras", {})}
    slots = {name: Slot(int(item["orientation"]), float(ties[item["computed_in"]])) for name, item in described.items()}
    return Rules(
        root=int(promise["root"]),
        level=levels.pop(),
        margin=float(asked["H1"]["margin"]),
        threshold=float(asked["H2"]["threshold"]),
        m=int(promise["family"]["m"]),
        outcome_rtol=float(ties["float64"]),
        coverage=float(numbers["coverage"]),
        control_tolerance=float(numbers["control_tolerance"]),
        resamples=int(numbers["resamples"]),
        permutations=int(numbers["permutations"]),
        min_n=int(numbers["min_n"]),
        min_distinct=int(numbers["min_distinct"]),
        min_outcomes=int(numbers["min_outcomes"]),
        slots=MappingProxyType({name: slots[name] for name in promise["diagnostics"]}),
        extras=MappingProxyType({name: slots[name] for name in promise.get("extras", {})}),
        perceptual=members[asked["H1"]["composites"][0]],
        control=members[asked["H2"]["composites"][0]],
        pixel=members[pixel],
        calibration=members[calibration],
        seeds=tuple(int(seed) for seed in promise["seeds"]),
        capacities=tuple((int(item["hidden"]), int(item["embed"])) for item in promise["capacities"]),
        environments=tuple(promise["environments"]),
        levers=tuple(promise["levers"]),
        arms=tuple(promise["arms"]),
    )


def _bad(name: str, found: Any, expected: str) -> AuditError:
    return AuditError(f"rules.{name} is {found!r}", where="promise", expected=expected, fix="correct the promise")
