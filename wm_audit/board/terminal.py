"""The end of a run, on a screen: the answers in sentences, then what they rest on. Plain text, at most 100 columns."""

from collections.abc import Mapping
from typing import Any

from wm_audit.board.claim import name_of, why_exploratory
from wm_audit.board.layout import Notes, fold, text_table
from wm_audit.board.model_tables import ARMS, single, spread
from wm_audit.board.numbers import bounds, percent, probability, rho
from wm_audit.board.verdict_table import NOT_ASKED, doubts, evidence
from wm_audit.board.view import View, missing_values, views, with_error
from wm_audit.board.words import counted, no_estimate, no_interval
from wm_audit.core import Key
from wm_audit.core.shown_text import printable
from wm_audit.verdict.questions import QUESTIONS

WIDTH = 100
_NAMED = 8


def terminal(document: Mapping[str, Any], files: Mapping[str, str] | None = None) -> str:
    """What a person reads when a run is done.

    Args:
        document: a results document.
        files: where things were written, by what they are.
    """
    lines: list[str] = []
    for view in views("", document):
        parts = (_head(view), _answers(view), _returns(view), _controls(view), _correlations(view), _missing(view))
        lines += [line for part in parts if part for line in (*part, "")]
    for name, place in (files or {}).items():
        lines.append(f"{name}: {place}")
    return "\n".join(printable(line.rstrip()) for line in lines).rstrip("\n") + "\n"


def _head(view: View) -> list[str]:
    promise, document = view.document["preregistration"], view.document
    grid = f"{counted(len(view.seeds), 'seed')} x {counted(len(view.capacities), 'capacity')}"
    said = f"{view.env}: {name_of(document)}, {document['status']}, {grid}, promise version {promise['version']} ({promise['status']})"
    why = why_exploratory(document)
    because = fold(f"exploratory, for {why}", WIDTH, "", "  ") if why else []
    return [*fold(said, WIDTH), "=" * min(len(said), WIDTH), *because]


def _answers(view: View) -> list[str]:
    if not view.models_asked:
        return fold(NOT_ASKED.replace("*", ""), WIDTH)
    lines: list[str] = []
    for item in view.verdicts:
        lines += _answer(view, item)
    return lines


def _answer(view: View, item: Mapping[str, Any]) -> list[str]:
    """Label and question, the numbers, what weakens them, and the published rule's answer where it differs."""
    lever = f" ({item['lever']})" if item["lever"] else ""
    head = f"{item['question']}{lever} {item['label']}: {QUESTIONS.get(item['question'], item['question'])}"
    lines = [*fold(head, WIDTH, "", "   "), *fold(_numbers(view, item), WIDTH, "   ", "   ")]
    for why in doubts(view, item):
        lines += fold(f"! {why}", WIDTH, "   ", "     ")
    if item["point_rule_label"] != item["label"]:
        lines.append(f"   the published point rule would say {item['point_rule_label']}")
    return lines


def _numbers(view: View, item: Mapping[str, Any]) -> str:
    behind = evidence(view, item)
    seeds = f"{behind['n_seeds']} of {counted(behind['n_planned_seeds'], 'seed')}, n={behind['n']}"
    if item["estimate"] is None:
        return f"no estimate; {seeds}"
    contrast = item["question"] == "H3"
    name = "calibration - pixel degradation" if contrast else "rank correlation inside capacities"
    around = f"{percent(view.level)} interval {bounds(item['interval'])}" if item["interval"] else "no interval"
    parts = [f"{name} {rho(item['estimate'])}{' seed sd' if contrast else ''}", around]
    if item["p_raw"] is not None:
        holm = f" (Holm {probability(item['p_adjusted'])})" if item["p_adjusted"] is not None else ""
        parts.append(f"p {probability(item['p_raw'])}{holm}")
    return ", ".join([*parts, seeds])


def _returns(view: View) -> list[str]:
    """Models and arms on one scale: the normalised one, or the environment's own where no reference was run."""
    notes, lines = Notes(), []
    scaled = any(view.normalised(row).value is not None for row in view.rows)
    measure = view.normalised if scaled else with_error
    for capacity in view.capacities if view.models_asked else ():
        items = [measure(row) for row in view.floats(capacity)]
        values = [item.value for item in items if item.value is not None]
        gaps = missing_values(items, len(view.seeds))
        shown = spread(values, view.level) + (f" {notes.mark(gaps)}" if gaps else "") if values else notes.missing(gaps)
        lines.append(["trained {}x{}".format(*capacity), shown])
    for name in ARMS:
        lines += [[name, single(measure(row), view.level, notes)] for row in view.arm(name)]
    scale = "normalised return: 0 random, 1 oracle" if scaled else "return"
    title = f"{scale}; mean [{percent(view.level)} interval] n"
    return [title, *text_table(["", ""], lines, left=2)[1:], *notes.text(WIDTH, "  ")]


def _controls(view: View) -> list[str]:
    checks = view.statistics["controls"]
    counts = {status: sum(item["status"] == status for item in checks) for status in ("passed", "failed", "not_checked")}
    lines = [f"known answers: {counts['passed']} as expected, {counts['failed']} wrong, {counts['not_checked']} not checked"]
    for item in checks:
        if item["status"] == "failed":
            found = f"null, {item['reason']}" if item["found"] is None else f"{item['found']:.4g}"
            lines += fold(f"WRONG: {item['control']}, {item['check']}: expected {item['expected']}, found {found}", WIDTH, "  ", "    ")
    return lines


def _correlations(view: View) -> list[str]:
    """Every diagnostic of the family, strongest first, nulls last and why."""
    if not view.models_asked:
        return []
    notes = Notes()
    known = sorted(view.statistics["correlations"], key=lambda item: (item["rho"] is None, -abs(item["rho"] or 0.0), item["diagnostic"]))
    lines = [
        [
            view.shown(item["diagnostic"]),
            notes.show(item["rho"], rho, no_estimate(item["reason"], item["n_seeds"])),
            notes.show(item["interval"], bounds, _no_interval(view, item)),
            notes.show(item["p_adjusted"], probability, no_estimate(item["reason"], item["n_seeds"])),
            f"{item['n_seeds']} of {item['n_planned_seeds']}",
        ]
        for item in known
    ]
    header = ["goes with the return", "rho", f"{percent(view.level)} interval", "p (Holm)", "seeds"]
    return [*text_table(header, lines, indent=""), *notes.text(WIDTH, "  ")]


def _no_interval(view: View, item: Mapping[str, Any]) -> str:
    if item["rho"] is None:
        return no_estimate(item["reason"], item["n_seeds"])
    return no_interval(item["interval_reason"], item["n_seeds"], level=view.level)


def _missing(view: View) -> list[str]:
    keys = [Key(**entry).text() for entry in view.document["missing"] if entry["env"] == view.env]
    if not keys:
        return []
    more = [f"  and {len(keys) - _NAMED} more"] if len(keys) > _NAMED else []
    return [f"{counted(len(keys), 'planned row is')} missing:", *(f"  {key}" for key in keys[:_NAMED]), *more]
