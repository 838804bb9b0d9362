"""LEADERBOARD.md: what the results files say, for a person who wants the answer first and the doubts beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from wm_audit.board.claim import name_of, why_exploratory
from wm_audit.board.layout import markdown_table
from wm_audit.board.model_tables import arms, models
from wm_audit.board.reason_codes import reason_codes
from wm_audit.board.statistic_tables import compressions, correlations
from wm_audit.board.verdict_table import robustness, verdict_table
from wm_audit.board.view import View, views
from wm_audit.board.words import counted
from wm_audit.core import Key
from wm_audit.core.shown_text import printable

_HEAD = """# Leaderboard

Does a learned world model's perceptual fidelity predict control? Each answer comes from a rule that was written down first;
every number on this page can be recomputed from the results files it names.

**How to read it.** Intervals decide and their bounds are strict. Seeds are the unit: a correlation ranks models inside one capacity,
so that larger models being better at everything counts for nothing. INCONCLUSIVE means the data cannot tell; UNMEASURABLE means there is
no number to judge. "–" is a number that does not exist, and its footnote says why. *Point rule* is the published rule, a pooled
correlation against a threshold without an interval; it stands beside the answer so that one can see how often the two differ."""


def leaderboard(documents: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """The whole page; the same files give the same bytes in whatever order they come.

    Args:
        documents: each results file's name and content, as `results.read` returns it.
    """
    shown = [view for name, document in sorted(documents, key=lambda item: item[0]) for view in views(name, document)]
    shown.sort(key=lambda view: (view.env, view.name))
    lines = [_HEAD, "", *_overview(shown)]
    environments = [view.env for view in shown]
    for view in shown:
        lines += ["", *_section(view, alone=environments.count(view.env) == 1)]
    return "\n".join(printable(line.rstrip()) for line in "\n".join(lines).split("\n")) + "\n"


def _overview(shown: Sequence[View]) -> list[str]:
    """All answers at a glance."""
    questions = list(dict.fromkeys(_short(item) for view in shown for item in view.verdicts))
    header = ["environment", *questions, "claim", "float models", "file"]
    lines = []
    for view in shown:
        answers = {_short(item): item["label"] for item in view.verdicts if view.models_asked}
        grid = view.statistics["grid"]
        count = f"{grid['n_present']} of {grid['n_planned']}"
        lines.append([view.env, *(answers.get(name, "not asked") for name in questions), name_of(view.document), count, view.name])
    return markdown_table(header, lines, left=len(header))


def _section(view: View, *, alone: bool) -> list[str]:
    parts = (
        _provenance(view),
        verdict_table(view),
        models(view),
        arms(view),
        correlations(view),
        compressions(view),
        robustness(view) if view.models_asked else [],
        reason_codes(view),
        _missing(view),
    )
    lines = [f"## {view.env}" if alone else f"## {view.env}, {view.name}"]
    for part in parts:
        if part:
            lines += ["", *part]
    return lines


def _provenance(view: View) -> list[str]:
    """Claim and digest of the promise, before anything else is said."""
    document, promise = view.document, view.document["preregistration"]
    locked = f"locked on {promise['locked_on']}" if promise["locked_on"] else "not locked"
    seeds, capacities = counted(len(view.seeds), "seed"), ", ".join("x".join(map(str, capacity)) for capacity in view.capacities)
    why = why_exploratory(document)
    lines = [
        f"- claim: **{name_of(document)}**{f', for {why}' if why else ''}; result {document['status']}",
        f"- promise: version {promise['version']}, {promise['status']}, {locked}, `{promise['digest']}`",
        f"- results: {view.name}, `{document['digest']}`",
        f"- grid: {seeds}, capacities (hidden x embed) {capacities}",
    ]
    return lines + [f"- deviation {item.get('id', '')}: {item.get('field', '')}" for item in document["deviations"]]


def _missing(view: View) -> list[str]:
    keys = [Key(**entry) for entry in view.document["missing"] if entry["env"] == view.env]
    if not keys:
        return []
    return [f"### Missing: {counted(len(keys), 'planned row')}", "", *(f"- {key.text()}" for key in keys)]


def _short(item: Mapping[str, Any]) -> str:
    return f"{item['question']} {item['lever']}" if item["lever"] else str(item["question"])
