"""From rows to verdicts: one function, its steps in order. Nothing here depends on the order of the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wm_audit.core import AuditError, Label, Row, Stream, Verdict, stream
from wm_audit.stats.holm import holm
from wm_audit.verdict import compression, description, outcome
from wm_audit.verdict.arms import arm_checks
from wm_audit.verdict.association import Association, associate
from wm_audit.verdict.check import failures
from wm_audit.verdict.composites import entries, group, missing
from wm_audit.verdict.copies import COPY, copy_check
from wm_audit.verdict.labelled import Ground, degradation, prediction
from wm_audit.verdict.placebo import placebo_checks
from wm_audit.verdict.robustness import FRAGILE, degradation_panel, prediction_panel
from wm_audit.verdict.rules import Rules
from wm_audit.verdict.table import FLOAT, TRAINED, Table

Judgement = tuple[dict[str, Any], list[Verdict]]


def judge(rows: Sequence[Row], promise: Mapping[str, Any] | Rules) -> Judgement:
    """Statistics and verdicts of every environment.

    Args:
        rows: all rows of a run, in any order.
        promise: plain JSON of the promise or of the executed configuration (the `config` of a results file), or rules read from it.

    Returns:
        The blocks `statistics` (environment -> statistics) and `verdicts` of the results file, which puts its claim on every verdict.

    Raises:
        AuditError: the promise is not whole, or a row is there twice or was not planned.
    """
    rules = promise if isinstance(promise, Rules) else Rules.of_promise(promise)
    found = sorted({row.key.env for row in rows})
    planned = tuple(sorted(rules.environments)) or tuple(found)
    for env in found:
        if env not in planned:
            raise AuditError(
                f"holds rows of {env!r}", where="rows", expected=f"planned environments: {', '.join(planned)}", fix="judge them apart"
            )
    statistics: dict[str, Any] = {}
    verdicts: list[Verdict] = []
    for env in planned:
        statistics[env], judged = _environment(Table.of(rows, env, rules), rules)
        verdicts += judged
    return statistics, verdicts


def _environment(table: Table, rules: Rules) -> Judgement:
    returns, resolution = table.outcome(), outcome.resolution(table, rules)
    family = _associations(table, rules)
    extras = [_associate(table, name, (name,), "extra", rules) for name in _extras(table, rules)]
    diagnostics = [item.group for item in family if item.kind == "diagnostic"]
    composites = [item.group for item in family if item.kind == "composite"]
    adjusted = dict(zip((item.group.name for item in family), holm([item.test.p for item in family], rules.m), strict=True))
    checks = [
        *arm_checks(table, rules),
        *placebo_checks(composites, returns, rules, _draws(table, rules, "controls")),
        *copy_check(table),
    ]
    levers = [compression.lever(table, name, rules, _subsets(table, name, rules)) for name in _levers(table, rules)]
    points = {question: description.point_rule(table, question, returns, rules) for question in ("H1", "H2")}
    statistics = {
        "grid": _grid(table),
        "outcome_resolution": outcome.to_json(table, resolution),
        "holm": {"m_planned": rules.m, "m_tested": sum(item.test.p is not None for item in family)},
        "correlations": [item.to_json(table.capacities, adjusted[item.group.name]) for item in family],
        "extras": [item.to_json(table.capacities, None) for item in extras],
        "comparison": description.comparison(diagnostics, returns, rules),
        "effective_tests": description.independent_tests(diagnostics),
        "composites": entries(table, composites, returns),
        "point_rule": points,
        "compression": [compression.to_json(item, table, rules) for item in levers],
        "controls": [check.to_json() for check in checks],
    }
    ground = Ground(table, rules, resolution, failures(checks))
    asked = zip(("H1", "H2"), family[-2:], strict=True)
    verdicts = [prediction(name, item, ground, adjusted[item.group.name], Label(points[name]["label"])) for name, item in asked]
    verdicts += [degradation(item, ground) for item in levers]
    panels = _panels(verdicts, family[-2:], levers, ground)
    said = zip(verdicts, panels, strict=True)
    marked = [replace(verdict, caveats=(*verdict.caveats, FRAGILE)) if panel["fragile"] else verdict for verdict, panel in said]
    return statistics | {"robustness": panels}, marked


def _panels(
    verdicts: Sequence[Verdict], composites: Sequence[Association], levers: Sequence[compression.Lever], ground: Ground
) -> list[dict[str, Any]]:
    """Each verdict's robustness panel, in the order of the verdicts."""
    table, rules, returns = ground.table, ground.rules, ground.table.outcome()
    predictions, degradations = zip(verdicts, composites, strict=False), zip(verdicts[len(composites) :], levers, strict=True)
    panels = [
        prediction_panel(verdict, item, returns, rules, _draws(table, rules, verdict.question, "jitter")) for verdict, item in predictions
    ]
    return panels + [degradation_panel(verdict, item, table, rules, _subsets(table, item.name, rules)) for verdict, item in degradations]


def _associations(table: Table, rules: Rules) -> list[Association]:
    """The family: every diagnostic, then the two composites."""
    singles = [_associate(table, name, (name,), "diagnostic", rules) for name in rules.slots]
    composites = (("perceptual", rules.perceptual), ("control", rules.control))
    return singles + [_associate(table, name, members, "composite", rules) for name, members in composites]


def _associate(table: Table, name: str, members: Sequence[str], kind: str, rules: Rules) -> Association:
    features = {row.diagnostics[name].feature for row in table.floats() if name in row.diagnostics} - {None}
    return associate(
        group(table, name, members, rules),
        table.outcome(),
        rules,
        _draws(table, rules, "association", name),
        kind,
        seeds=table.seeds,
        missing=missing(table, members),
        feature=min((item for item in features if item is not None), default=None),
    )


def _extras(table: Table, rules: Rules) -> list[str]:
    """Planned extras and every other name outside the slots that a row carries."""
    carried = {name for row in table.floats() for name in row.diagnostics}
    return sorted({*rules.extras, *carried} - set(rules.slots))


def _levers(table: Table, rules: Rules) -> list[str]:
    """Planned levers, or those that rows carry; the copy is a control, the untaught student a baseline, neither a lever."""
    carried = sorted({key.compression for key in table.rows if key.arm == TRAINED})
    names = rules.levers or tuple(carried)
    return [name for name in dict.fromkeys(names) if name not in (FLOAT, COPY) and not name.startswith("untaught.")]


def _grid(table: Table) -> dict[str, Any]:
    return {
        "seeds": list(table.seeds),
        "capacities": [list(capacity) for capacity in table.capacities],
        "n_planned": len(table.seeds) * len(table.capacities),
        "n_present": len(table.floats()),
    }


def _subsets(table: Table, lever: str, rules: Rules) -> int:
    """Root seed of a lever's random subsets of seeds."""
    return _draws(table, rules, "H3", lever).seed()


def _draws(table: Table, rules: Rules, *names: str) -> Stream:
    """The stream of one purpose: adding a diagnostic or a lever moves no other's draws."""
    return stream(rules.root, "stats", table.env, *names)
