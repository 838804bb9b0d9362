"""The answers: one line each, with everything needed to doubt them."""

from collections.abc import Mapping
from typing import Any

from wm_audit.board.layout import Notes, markdown_table
from wm_audit.board.numbers import bounds, percent, probability, rho
from wm_audit.board.view import View
from wm_audit.board.words import no_estimate, no_interval
from wm_audit.verdict.questions import QUESTIONS

NOT_ASKED = "The arm *trained* was not asked for: there are no models, so no question about models has an answer."
_READ = (
    "- p tests *no association*, whole seeds changing partners; for H3 *no difference*, the seeds' signs flipped. Intervals decide, not p.",
    "- The point rule uses the pooled correlation of all models, in which size counts; for H3, rungs lost among the float models.",
    "- The unit of H3's estimate is one seed-to-seed standard deviation of the float models.",
)
"""How the columns are to be read, a line each."""
_OUTSIDE = "every lever is a question of its own, outside the family of tests"


def verdict_table(view: View) -> list[str]:
    """Question, answer, estimate, interval, p, n, the published rule's answer; caveats as footnotes of the answer."""
    if not view.models_asked:
        return ["### Verdicts", "", NOT_ASKED]
    notes = Notes()
    header = ["question", "answer", "estimate", f"{percent(view.level)} interval", "p", "p (Holm)", "seeds", "n", "point rule", "caveats"]
    lines = [_line(view, item, notes) for item in view.verdicts]
    return ["### Verdicts", "", *markdown_table(header, lines, left=2), *notes.markdown(), "", *_READ]


def robustness(view: View) -> list[str]:
    """Which other analyses would have answered otherwise; the whole panel is folded away."""
    panels = view.statistics["robustness"]
    lines = ["### Robustness", "", *(f"- {_short(panel)}: {_said(panel)}" for panel in panels), ""]
    notes, header = Notes(), ["question", "variant", "estimate", "interval", "label"]
    rows = [
        [
            _short(panel),
            item["variant"],
            notes.show(item["estimate"], rho, _variant_said(view, panel, item, item["reason"])),
            notes.show(item["interval"], bounds, _variant_said(view, panel, item, item["interval_reason"])),
            item["label"] if item["label"] == panel["label"] else f"*{item['label']}*",
        ]
        for panel in panels
        for item in panel["variants"]
    ]
    summary = "<details><summary>Every variant; labels that differ are set in italics</summary>"
    return [*lines, summary, "", *markdown_table(header, rows, left=2), *notes.markdown(), "", "</details>"]


def _variant_said(view: View, panel: Mapping[str, Any], item: Mapping[str, Any], code: str | None) -> str:
    """Why a variant has no number; how many seeds it had is known except of the relaxed one, which keeps incomplete seeds."""
    if item["variant"].startswith("relaxed"):
        return no_estimate(code, None)
    seeds, contrast = evidence(view, panel)["n_seeds"] - item["variant"].startswith("without seed "), panel["question"] == "H3"
    if item["estimate"] is None:
        return no_estimate(code, seeds, contrast=contrast)
    return no_interval(code, seeds, level=view.level, contrast=contrast)


def _short(item: Mapping[str, Any]) -> str:
    return f"{item['question']} ({item['lever']})" if item["lever"] else str(item["question"])


def _said(panel: Mapping[str, Any]) -> str:
    """The flips, and what makes the answer fragile."""
    count, flips = len(panel["variants"]), panel["flips"]
    labels = {item["variant"]: item["label"] for item in panel["variants"]}
    listed = ", ".join(f"{name} ({labels[name]})" for name in flips)
    said = (
        f"{panel['label']} in all {count} variants" if not flips else f"{panel['label']}; {len(flips)} of {count} variants differ: {listed}"
    )
    return f"**fragile** ({'; '.join(panel['because'])}). {said}" if panel["fragile"] else said


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


def doubts(view: View, item: Mapping[str, Any]) -> list[str]:
    """Why there is no answer, and what weakens one: each sentence once."""
    return list(dict.fromkeys(explained(view, item, code) for code in (item["reason"], *item["caveats"]) if code))


def explained(view: View, item: Mapping[str, Any], code: str | None) -> str:
    """A reason or caveat of a verdict, with how many seeds there are where it is about too few."""
    seeds, contrast = evidence(view, item)["n_seeds"], item["question"] == "H3"
    if item["estimate"] is None:
        return no_estimate(code, seeds, contrast=contrast)
    return no_interval(code, seeds, level=view.level, contrast=contrast)


def _line(view: View, item: Mapping[str, Any], notes: Notes) -> list[str]:
    behind, why = evidence(view, item), item["reason"]
    marks = [notes.mark(said) for said in doubts(view, item)]
    undefined = explained(view, item, why or item["interval_reason"])
    outside = _OUTSIDE if item["question"] == "H3" else undefined
    return [
        asked(item),
        f"**{item['label']}**",
        notes.show(item["estimate"], rho, undefined),
        notes.show(item["interval"], bounds, explained(view, item, item["interval_reason"])),
        notes.show(item["p_raw"], probability, undefined),
        notes.show(item["p_adjusted"], probability, outside),
        f"{behind['n_seeds']} of {behind['n_planned_seeds']}",
        str(behind["n"]),
        item["point_rule_label"],
        " ".join(dict.fromkeys(marks)) or "none",
    ]
