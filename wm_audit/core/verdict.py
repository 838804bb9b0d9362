"""What the audit says of a question."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wm_audit.core.reasons import Reason


class Label(StrEnum):
    """The four answers. INCONCLUSIVE: the data cannot tell. UNMEASURABLE: there is no number to judge."""

    SUPPORTED = "SUPPORTED"
    CONTRADICTED = "CONTRADICTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    UNMEASURABLE = "UNMEASURABLE"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A label with everything needed to see why.

    Attributes:
        question: "H1", "H2" or "H3".
        environment: the id of the environment judged.
        lever: the compression judged (H3), or None.
        label: the answer.
        reason: why the question is unmeasurable, or None.
        rule: the decision rule in words.
        estimate: the estimand's value, or None.
        interval: its (low, high), or None.
        interval_reason: why there is no interval, or None.
        p_raw: the test's p-value, or None.
        p_adjusted: after Holm, where the question belongs to a family.
        caveats: what weakens the answer, failed controls first.
        point_rule_label: what the published point rule would have said.
        claim: confirmatory, confirmatory_with_deviations or exploratory.
    """

    question: str
    environment: str
    lever: str | None
    label: Label
    reason: Reason | None
    rule: str
    estimate: float | None
    interval: tuple[float, float] | None
    interval_reason: Reason | None
    p_raw: float | None
    p_adjusted: float | None
    caveats: tuple[str, ...]
    point_rule_label: Label
    claim: str = "exploratory"

    def to_json(self) -> dict[str, Any]:
        """Members in the order of the results file, without the verdict's own sha256."""
        return {
            "question": self.question,
            "env": self.environment,
            "lever": self.lever,
            "label": self.label.value,
            "reason": None if self.reason is None else self.reason.value,
            "rule": self.rule,
            "estimate": self.estimate,
            "interval": None if self.interval is None else list(self.interval),
            "interval_reason": None if self.interval_reason is None else self.interval_reason.value,
            "p_raw": self.p_raw,
            "p_adjusted": self.p_adjusted,
            "caveats": list(self.caveats),
            "point_rule_label": self.point_rule_label.value,
            "claim": self.claim,
        }
