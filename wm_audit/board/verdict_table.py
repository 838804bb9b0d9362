"""The answers: one line each, with everything needed to doubt them."""

from collections.abc import Mapping
from typing import Any

from wm_audit.board.layout import Notes, markdown_table
from wm_audit.board.numbers import bounds, percent, probability, rho
from wm_audit.board.view import View
from wm_audit.verdict.caveats import sentence
from wm_audit.verdict.questions import QUESTIONS

_OUTSIDE = "every lever is a question of its own, outside the family of tests"


def verdict_table(view: View) -> list[str]:
    """Question, answer, estimate, interval, p, n, the published rule's answer; caveats as footnotes of the answer."""
    notes = Notes()
    header = ["question", "answer", "estimate", f"{percent(view.level)} interval", "p", "p (Holm)", "seeds", "n", "point rule", "caveats"]
    lines = [_line(view, item, notes) for item in view.verdicts]
    return ["### Verdicts", "", *markdown_table(header, lines, left=2), *notes.markdown()]


def asked(item: Mapping[str, Any]) -> str:
    """The question in words, with the lever where there is one."""
    lever = f" ({item['lever']})" if item["lever"] else ""
    return f"{item['question']}{lever}: {QUESTIONS.get(item['question'], item['question'])}"


def evidence(view: View, item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The statistics entry behind a verdict."""
    block = view.statistics
    name = item["lever"] if item["question"] == "H3" else {"H1": "perceptual", "H2": "control"}[item["question"]]
    table, column = ("compression", "lever") if item["question"] == "H3" else ("correlations", "diagnostic")
    entries: list[Mapping[str, Any]] = block[table]
    return next(entry for entry in entries if entry[column] == name)


def _line(view: View, item: Mapping[str, Any], notes: Notes) -> list[str]:
    behind, why = evidence(view, item), item["reason"]
    marks = [notes.mark(sentence(code)) for code in (why, *item["caveats"]) if code]
    undefined = why or item["interval_reason"]
    outside = _OUTSIDE if item["question"] == "H3" else undefined
    return [
        asked(item),
        f"**{item['label']}**",
        notes.show(item["estimate"], rho, undefined),
        notes.show(item["interval"], bounds, item["interval_reason"]),
        notes.show(item["p_raw"], probability, undefined),
        notes.show(item["p_adjusted"], probability, outside),
        f"{behind['n_seeds']} of {behind['n_planned_seeds']}",
        str(behind["n"]),
        item["point_rule_label"],
        " ".join(dict.fromkeys(marks)) or "none",
    ]
