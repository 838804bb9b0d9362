"""The part of the promise that decides: what is measured, against which thresholds, at which level."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from wm_audit.core import AuditError

_PERCEPTUAL = ("pixel_mse", "pixel_nll", "pixel_lpips", "rollout_fvd", "pixel_ssim")
_CONTROL = ("return_ece", "counterfactual_tau", "uncertainty_rho")
_CALIBRATION = ("return_ece", "uncertainty_rho", "uncertainty_ece")
_FLOAT64, _FLOAT32 = 1e-12, 1e-6


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
        min_n, min_distinct: fewest pairs and distinct values of a pooled correlation.
        min_outcomes: fewest distinct outcomes for which H1 and H2 can be asked.
        outcome_rtol: relative tie tolerance of the outcome.
        control_tolerance: how far a control's return may be from random, as a share of the gap between random and oracle,
            and its per-state tau from its known value where that value is not exact.
        slots: the diagnostics, in the order in which they are printed.
        perceptual, control, calibration: members of the composites; H3 sets `calibration` against `perceptual`.
        environments, seeds, capacities, levers, arms: what was planned; an empty tuple means whatever the rows hold.
        claim: confirmatory, confirmatory_with_deviations or exploratory.
    """

    root: int = 0
    level: float = 0.90
    margin: float = 0.4
    threshold: float = 0.6
    coverage: float = 0.8
    m: int = 11
    resamples: int = 2000
    min_n: int = 6
    min_distinct: int = 4
    min_outcomes: int = 4
    outcome_rtol: float = _FLOAT64
    control_tolerance: float = 0.25
    slots: Mapping[str, Slot] = field(default_factory=lambda: _SLOTS)
    perceptual: tuple[str, ...] = _PERCEPTUAL
    control: tuple[str, ...] = _CONTROL
    calibration: tuple[str, ...] = _CALIBRATION
    environments: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    capacities: tuple[tuple[int, int], ...] = ()
    levers: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    claim: str = "exploratory"

    def __post_init__(self) -> None:
        """Refuses rules that contradict themselves."""
        for name in ("level", "margin", "threshold", "coverage"):
            if not 0 < getattr(self, name) < (1 if name == "level" else 1 + 1e-12):
                raise _bad(name, getattr(self, name), "a number between 0 and 1")
        for name in ("perceptual", "control", "calibration"):
            unknown = sorted(set(getattr(self, name)) - set(self.slots))
            if unknown or not getattr(self, name):
                raise _bad(name, unknown, f"members among {', '.join(self.slots)}")
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
        return self.slots.get(name) or self.slots.get(name.partition(".")[0]) or Slot(0)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; `from_json` is its inverse."""
        entry: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        for name, item in entry.items():
            if isinstance(item, tuple):
                entry[name] = [list(part) if isinstance(part, tuple) else part for part in item]
        entry["slots"] = {name: {"orientation": slot.orientation, "rtol": slot.rtol} for name, slot in self.slots.items()}
        return entry

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> "Rules":
        """Reads the members of `to_json`; a missing one keeps the published value, decimals may be text ("0.4").

        Raises:
            AuditError: an unknown member, or a value of the wrong kind.
        """
        unknown = sorted(set(entry) - set(_READ))
        if unknown:
            raise AuditError(f"holds the unknown member {unknown[0]!r}", where="rules", expected=f"one of {', '.join(_READ)}")
        read: dict[str, Any] = {}
        for name, value in entry.items():
            try:
                read[name] = _READ[name](value)
            except (TypeError, ValueError, KeyError, AttributeError) as error:
                raise _bad(name, value, "a value of the kind `Rules` documents") from error
        return cls(**read)


def _bad(name: str, found: Any, expected: str) -> AuditError:
    return AuditError(f"rules.{name} is {found!r}", where="promise", expected=expected, fix="correct the promise")


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError("a list of names, not one name")
    return tuple(str(item) for item in value)


def _slots(value: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Slot]:
    return MappingProxyType({name: Slot(int(item["orientation"]), float(item.get("rtol", _FLOAT64))) for name, item in value.items()})


_READ: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        **dict.fromkeys(("root", "m", "resamples", "min_n", "min_distinct", "min_outcomes"), int),
        **dict.fromkeys(("level", "margin", "threshold", "coverage", "outcome_rtol", "control_tolerance"), float),
        **dict.fromkeys(("perceptual", "control", "calibration", "environments", "levers", "arms"), _names),
        "slots": _slots,
        "seeds": lambda value: tuple(int(item) for item in value),
        "capacities": lambda value: tuple((int(hidden), int(embed)) for hidden, embed in value),
        "claim": str,
    }
)
