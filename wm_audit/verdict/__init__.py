"""From rows to verdicts, by rules fixed beforehand; recomputable from a results file alone, without torch."""

from wm_audit.verdict.decide import judge
from wm_audit.verdict.rules import Rules

__all__ = ["Rules", "judge"]
