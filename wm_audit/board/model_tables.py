"""The models: what they achieve in the real environment and on every diagnostic, and the controls beside them."""

from collections.abc import Sequence

from wm_audit.board.layout import Notes, markdown_table
from wm_audit.board.numbers import bounds, mean_interval, percent, plain
from wm_audit.board.verdict_table import NOT_ASKED
from wm_audit.board.view import View, missing_values, own_interval
from wm_audit.core import Measurement
from wm_audit.verdict.caveats import sentence

ARMS = ("oracle", "random", "action_blind", "constant", "shuffled_reward")
FLOOR = "rollout_fvd.split"
_ARM_DIAGNOSTICS = ("return_ece", "counterfactual_tau", "uncertainty_rho")


def models(view: View) -> list[str]:
    """Capacity means over seeds: real return, normalised return, and every diagnostic."""
    if not view.models_asked:
        return ["### Models", "", NOT_ASKED]
    notes, level = Notes(), percent(view.level)
    header = ["mean over seeds", *("x".join(map(str, capacity)) for capacity in view.capacities), "unit"]
    lines = [_return_line(view, notes, normalised=True), _return_line(view, notes, normalised=False)]
    lines += [_diagnostic_line(view, name, notes) for name in view.diagnostics]
    said = (
        f"Mean over seeds, [{level} interval of that mean], number of seeds. On the normalised scale random actions have 0, the oracle 1."
    )
    table = [*markdown_table(header, lines), *notes.markdown()]
    return ["### Models", "", said, "", *table, "", *_outcome(view), *_floor(view), "", *_seeds(view)]


def arms(view: View) -> list[str]:
    """Arms with known answers, and whether they gave them."""
    notes = Notes()
    header = ["arm", "normalised return", *_ARM_DIAGNOSTICS, "known answers"]
    lines = [_arm_line(view, name, notes) for name in ARMS if view.arm(name)]
    table = markdown_table(header, lines) if lines else ["No control arm was run."]
    return ["### Controls", "", *table, *notes.markdown(), "", *_checks(view)]


def spread(values: Sequence[float], level: float) -> str:
    """`mean [low, high] n`; an interval needs two values."""
    mean, interval = mean_interval(values, level)
    around = f" {bounds(interval, 'plain')}" if interval else ""
    return f"{plain(mean)}{around} n={len(values)}"


def single(item: Measurement, level: float, notes: Notes) -> str:
    """One measurement with its own interval where its standard error is known."""
    if item.value is None:
        return notes.missing(sentence(str(item.reason)))
    interval = own_interval(item, level)
    around = f" {bounds(interval, 'plain')}" if interval else ""
    return f"{plain(item.value)}{around} n={item.n}"


def _cell(view: View, items: Sequence[Measurement | None], notes: Notes) -> str:
    values = [item.value for item in items if item is not None and item.value is not None]
    gaps = missing_values(items, len(view.seeds))
    if not values:
        return notes.missing(gaps or "it was not measured")
    return spread(values, view.level) + (f" {notes.mark(gaps)}" if gaps else "")


def _return_line(view: View, notes: Notes, *, normalised: bool) -> list[str]:
    cells = [
        _cell(view, [view.normalised(row) if normalised else row.outcome for row in view.floats(capacity)], notes)
        for capacity in view.capacities
    ]
    return ["**return, normalised**" if normalised else "return", *cells, "1" if normalised else "return"]


def _diagnostic_line(view: View, name: str, notes: Notes) -> list[str]:
    cells = [_cell(view, [row.diagnostics.get(name) for row in view.floats(capacity)], notes) for capacity in view.capacities]
    return [view.shown(name), *cells, view.unit(name)]


def _outcome(view: View) -> list[str]:
    found = view.statistics["outcome_resolution"]
    said = f"Returns: {found['n']} measured, {found['distinct']} distinct"
    if found["reliability"] is None:
        return [f"{said}; reliability unknown: {sentence(found['reliability_reason'])}."]
    return [f"{said}; reliability {plain(found['reliability'])}, so no correlation can be expected above {plain(found['ceiling'])}."]


def _floor(view: View) -> list[str]:
    """What `rollout_fvd` is where nothing is wrong, over seeds: at a few dozen clips it is far above 0, whatever the model."""
    rows = [row for row in view.floats(view.capacities[0]) if FLOOR in row.details]
    values = [value for row in rows if (value := row.details[FLOOR]["value"]) is not None]
    if not values:
        return []
    return [f"rollout_fvd of real clips against other real clips, its floor at this number of clips: {spread(values, view.level)}."]


def _seeds(view: View) -> list[str]:
    """Every model's normalised return, folded away."""
    notes = Notes()
    header = ["seed", *("x".join(map(str, capacity)) for capacity in view.capacities)]
    rows = {(row.key.seed, (row.key.hidden, row.key.embed)): row for row in view.arm("trained")}
    lines = []
    for seed in view.seeds:
        found = [rows.get((seed, capacity)) for capacity in view.capacities]
        lines.append(
            [
                str(seed),
                *(notes.missing("the row is missing") if row is None else single(view.normalised(row), view.level, notes) for row in found),
            ]
        )
    return [
        "<details><summary>Normalised return of every model</summary>",
        "",
        *markdown_table(header, lines),
        *notes.markdown(),
        "",
        "</details>",
    ]


def _arm_line(view: View, name: str, notes: Notes) -> list[str]:
    rows = view.arm(name)
    cells = [_over_rows([view.normalised(row) for row in rows], view, notes)]
    cells += [_over_rows([row.diagnostics.get(diagnostic) for row in rows], view, notes) for diagnostic in _ARM_DIAGNOSTICS]
    checks = [item for item in view.statistics["controls"] if item["control"] == name]
    asked = [item for item in checks if item["status"] != "not_checked"]
    passed = sum(item["status"] == "passed" for item in asked)
    verdict = "reference" if not checks else f"{passed} of {len(asked)}"
    return [name, *cells, verdict if passed == len(asked) else f"**{verdict}, FAILED**"]


def _over_rows(items: Sequence[Measurement | None], view: View, notes: Notes) -> str:
    known = [item for item in items if item is not None]
    if len(known) == 1:
        return single(known[0], view.level, notes)
    values = [item.value for item in known if item.value is not None]
    return spread(values, view.level) if values else notes.missing(missing_values(items, len(items)) or "it was not measured")


def _checks(view: View) -> list[str]:
    """Every known answer: failures are said first, the table is folded away."""
    checks = view.statistics["controls"]
    counts = {status: sum(item["status"] == status for item in checks) for status in ("passed", "failed", "not_checked")}
    said = (
        f"{counts['passed']} known answers came out as expected, {counts['failed']} did not, {counts['not_checked']} could not be checked."
    )
    failed = [
        f"- **FAILED** {item['control']}, {item['check']}: expected {item['expected']}, found {_found(item)}"
        for item in checks
        if item["status"] == "failed"
    ]
    header = ["control", "check", "expected", "found", "p", "n", "result", "note"]
    lines = [
        [
            item["control"],
            item["check"],
            item["expected"],
            _found(item),
            "" if item["p"] is None else f"{item['p']:.4f}",
            str(item["n"]),
            item["status"].replace("_", " "),
            item["note"],
        ]
        for item in checks
    ]
    folded = (
        ["<details><summary>Every known answer</summary>", "", *markdown_table(header, lines, left=3), "", "</details>"] if checks else []
    )
    return [said, *([""] if failed else []), *failed, "", *folded]


def _found(item: dict[str, object]) -> str:
    found = item["found"]
    if isinstance(found, int | float):
        return plain(float(found))
    return f"null, {item['reason']}" if item["reason"] else "nothing"
