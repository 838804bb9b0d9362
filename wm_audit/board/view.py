"""One environment of one results file, with the names and derived numbers that people see."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wm_audit.core import Measurement, Reason, Row
from wm_audit.stats.distributions import student_quantile
from wm_audit.verdict.caveats import sentence

TIE = 1e-12
Capacity = tuple[int, int]


@dataclass(frozen=True, slots=True)
class View:
    """What a board shows of one environment.

    Attributes:
        name: the results file's name.
        document: the whole results document.
        env: the environment.
        rows: its rows, by key.
    """

    name: str
    document: Mapping[str, Any]
    env: str
    rows: tuple[Row, ...]

    @property
    def statistics(self) -> Mapping[str, Any]:
        """The environment's statistics block."""
        block: Mapping[str, Any] = self.document["statistics"][self.env]
        return block

    @property
    def verdicts(self) -> list[Mapping[str, Any]]:
        """Its verdicts, in the order of the file."""
        return [item for item in self.document["verdicts"] if item["env"] == self.env]

    @property
    def level(self) -> float:
        """Level of the deciding intervals."""
        return float(self.statistics["correlations"][0]["level"])

    @property
    def capacities(self) -> list[Capacity]:
        """Planned capacities, smallest first."""
        return [(int(hidden), int(embed)) for hidden, embed in self.statistics["grid"]["capacities"]]

    @property
    def seeds(self) -> list[int]:
        """Planned seeds."""
        return [int(seed) for seed in self.statistics["grid"]["seeds"]]

    @property
    def diagnostics(self) -> list[str]:
        """The family's diagnostics, then the extras."""
        family = [item["diagnostic"] for item in self.statistics["correlations"] if item["kind"] == "diagnostic"]
        return family + [item["diagnostic"] for item in self.statistics["extras"]]

    def floats(self, capacity: Capacity) -> list[Row]:
        """The trained float rows of a capacity, by seed."""
        return [row for row in self.arm("trained") if (row.key.hidden, row.key.embed) == capacity]

    def twins(self, lever: str, capacity: Capacity) -> list[Row]:
        """The compressed rows of a lever at a capacity, by seed."""
        own = [row for row in self.rows if row.key.arm == "trained" and row.key.compression == lever]
        return [row for row in own if (row.key.hidden, row.key.embed) == capacity]

    @property
    def models_asked(self) -> bool:
        """Whether models were to be trained at all; a run of controls alone asks for none."""
        return "trained" in self.document["config"].get("arms", ["trained"])

    def arm(self, name: str) -> list[Row]:
        """The uncompressed rows of an arm."""
        return [row for row in self.rows if row.key.arm == name and row.key.compression == "none"]

    def shown(self, diagnostic: str) -> str:
        """`slot (feature)` where a learned feature is behind the slot, the name otherwise."""
        entry = next((item for item in self._entries() if item["diagnostic"] == diagnostic), None)
        carried = (row.diagnostics[diagnostic].feature for row in self.rows if diagnostic in row.diagnostics)
        feature = (None if entry is None else entry["feature"]) or next(filter(None, carried), None)
        return f"{diagnostic.partition('.')[0]} ({feature})" if feature else diagnostic

    def unit(self, diagnostic: str) -> str:
        """The unit that rows give the diagnostic."""
        return next((row.diagnostics[diagnostic].unit for row in self.rows if diagnostic in row.diagnostics), "1")

    def normalised(self, row: Row) -> Measurement:
        """The return on the scale on which random actions have 0 and the oracle planner 1; the references are taken as given."""
        given = row.details.get("normalised_return")
        if isinstance(given, dict):
            return Measurement.from_json(given)
        own, blind, best = with_error(row), self._reference("random"), self._reference("oracle")
        if own.value is None:
            return own.with_(unit="1")
        if blind is None or best is None:
            return Measurement.null(Reason.REFERENCE_MISSING, n=own.n)
        gap = best - blind
        if gap <= TIE * max(abs(best), abs(blind)) or not math.isfinite((own.value - blind) / gap):
            return Measurement.null(Reason.REFERENCE_DEGENERATE, n=own.n)
        return Measurement((own.value - blind) / gap, n=own.n, n_dropped=own.n_dropped, se=None if own.se is None else own.se / gap)

    def _reference(self, arm: str) -> float | None:
        values = [row.outcome.value for row in self.arm(arm) if row.outcome.value is not None]
        return sum(values) / len(values) if values else None

    def _entries(self) -> list[Mapping[str, Any]]:
        return [*self.statistics["correlations"], *self.statistics["extras"]]


def views(name: str, document: Mapping[str, Any]) -> list[View]:
    """One view per environment of a document, by name."""
    rows = sorted((Row.from_json(dict(entry)) for entry in document["rows"]), key=lambda row: row.key)
    return [View(name, document, env, tuple(row for row in rows if row.key.env == env)) for env in document["statistics"]]


def with_error(row: Row) -> Measurement:
    """The outcome with its standard error over starts, from the recorded returns where the row does not state it."""
    returns = row.details.get("returns")
    if row.outcome.value is None or row.outcome.se is not None or not isinstance(returns, list) or len(returns) < 2:
        return row.outcome
    return row.outcome.with_(n=len(returns), se=float(np.std(returns, ddof=1)) / math.sqrt(len(returns)))


def own_interval(item: Measurement, level: float) -> tuple[float, float] | None:
    """Student's interval of one measured mean from its standard error over n items, or None where none is known."""
    if item.value is None or item.se is None or item.n < 2:
        return None
    half = student_quantile(0.5 + level / 2.0, item.n - 1) * item.se
    return item.value - half, item.value + half


def missing_values(items: Sequence[Measurement | None], planned: int) -> str:
    """Why values are missing, in words: `3 of 20: the model predicted a value that is not finite`; empty where none is."""
    codes = ["row_missing"] * (planned - len(items)) + [_code(item) for item in items if item is None or item.value is None]
    counted = sorted({code: codes.count(code) for code in codes}.items(), key=lambda entry: (-entry[1], entry[0]))
    return "; ".join(f"{count} of {planned}: {sentence(code)}" for code, count in counted)


def _code(item: Measurement | None) -> str:
    return "not_measured" if item is None else str(item.reason)
