"""Descriptions across diagnostics: compared on common ground, counted as tests, and pooled as the published rule has it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from wm_audit.core import Label, Measurement
from wm_audit.stats.effective_tests import effective_tests
from wm_audit.stats.spearman import spearman
from wm_audit.stats.within_capacity import within_capacity_rho
from wm_audit.verdict.association import design_of
from wm_audit.verdict.composites import Group, group
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import POOLED_TAU, Floats, Table, measured

_TAU = "counterfactual_tau"


def comparison(groups: Sequence[Group], outcome: Floats, rules: Rules) -> dict[str, Any]:
    """Diagnostics beside each other on the seeds where all of them are defined; one that is nowhere defined is left out and named."""
    shown = [item for item in groups if np.isfinite(item.values).any()]
    common = np.logical_and.reduce([item.complete(outcome) for item in shown]) if shown else np.zeros(len(outcome), dtype=np.bool_)
    found = {}
    for item in shown:
        inside = within_capacity_rho(np.where(common[:, None], item.values, np.nan), outcome, design_of(item, rules))
        found[item.name] = {"rho": inside.value, "reason": None if inside.reason is None else inside.reason.value}
    return {
        "diagnostics": [item.name for item in shown],
        "left_out": [item.name for item in groups if item.name not in found],
        "n_seeds": int(common.sum()),
        "n": int(common.sum()) * outcome.shape[1],
        "associations": found,
    }


def independent_tests(groups: Sequence[Group]) -> dict[str, Any]:
    """The effective number of tests among the diagnostics that vary, over the rows where all of these are defined."""
    flat = {item.name: item.values[0].ravel() for item in groups}
    usable = [item for item in groups if np.unique(flat[item.name][np.isfinite(flat[item.name])]).size > 1]
    whole = np.logical_and.reduce([np.isfinite(flat[item.name]) for item in usable]) if usable else np.zeros(0, dtype=np.bool_)
    cells = [flat[item.name][whole] for item in usable] if usable else []
    matrix = np.array([[1.0 if i == j else _rho(a, b) for j, b in enumerate(cells)] for i, a in enumerate(cells)])
    found = effective_tests(matrix.reshape(len(cells), len(cells)))
    reason = None if found.reason is None else found.reason.value
    return {
        "descriptive": True,
        "value": found.value,
        "reason": reason,
        "n": int(whole.sum()),
        "diagnostics": [item.name for item in usable],
    }


def point_rule(table: Table, question: str, outcome: Floats, rules: Rules) -> dict[str, Any]:
    """The published rule of H1 or H2: pooled Spearman of the pooled composite against a threshold, without an interval."""
    members = rules.perceptual if question == "H1" else rules.control
    if any(measured(row, POOLED_TAU) is not None for row in table.floats()):
        members = tuple(POOLED_TAU if member == _TAU else member for member in members)
    item = group(table, question, members, rules)
    found = spearman(item.pooled().ravel(), outcome.ravel(), min_n=rules.min_n, min_distinct=rules.min_distinct)
    reason = None if found.reason is None else found.reason.value
    label = _point_label(question, found, rules)
    return {"descriptive": True, "rho": found.value, "reason": reason, "n": found.n, "label": label.value}


def _point_label(question: str, found: Measurement, rules: Rules) -> Label:
    if found.value is None:
        return Label.UNMEASURABLE
    holds = abs(found.value) < rules.margin if question == "H1" else found.value > rules.threshold
    return Label.SUPPORTED if holds else Label.CONTRADICTED


def _rho(a: Floats, b: Floats) -> float:
    """Spearman's rho, NaN where it is undefined, which makes the effective number null."""
    value = spearman(a, b, min_n=3, min_distinct=2).value
    return float("nan") if value is None else value
