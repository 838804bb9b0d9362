"""What predicts the return, and what compression does."""

from collections.abc import Mapping
from typing import Any

from wm_audit.board.layout import Notes, markdown_table
from wm_audit.board.numbers import bounds, percent, plain, probability, rho
from wm_audit.board.size_table import sizes
from wm_audit.board.view import View
from wm_audit.board.words import counted, no_estimate, no_interval
from wm_audit.verdict.caveats import sentence

_SAID = """Rank correlation with the return inside each capacity; diagnostics are turned so that larger is better. Descriptive only, and
open to confounding by capacity: *pooled rho* (all rows at once, with its bootstrap interval and n) and *size order* (capacity means)."""
_LEAST_CAPACITIES = 3
_OUTSIDE = "outside the family of tests"
_APART = "compared are single diagnostics of the family, on the seeds that all of them have"


def correlations(view: View) -> list[str]:
    """One line per diagnostic, composite and extra."""
    if not view.models_asked:
        return []
    notes, block = Notes(), view.statistics
    holm, common, tests = block["holm"], block["comparison"], block["effective_tests"]
    header = ["diagnostic", "rho", f"{percent(view.level)} interval", "p", "p (Holm)", "p floor", "seeds", "n", "dropped"]
    header += [f"rho, common n={common['n']}", "pooled rho", "size order"]
    lines = [_correlation(view, item, notes) for item in (*block["correlations"], *block["extras"])]
    tail = [f"Holm: {holm['m_planned']} tests planned, {holm['m_tested']} made."]
    if tests["value"] is not None:
        varying = counted(len(tests["diagnostics"]), "diagnostic")
        tail.append(f"The {varying} that vary amount to {plain(tests['value'])} independent tests (descriptive, n={tests['n']}).")
    tail.append(
        f"Compare diagnostics with each other in the column of the {counted(common['n_seeds'], 'seed')} in which "
        f"all {len(common['diagnostics'])} measured ones are defined."
    )
    return ["### What goes with the return", "", _SAID, "", *markdown_table(header, lines), *notes.markdown(), "", " ".join(tail)]


def compressions(view: View) -> list[str]:
    """One line per lever, then every diagnostic under every lever, then the panels."""
    levers = view.statistics["compression"]
    if not view.models_asked:
        return []
    if not levers:
        return ["### Compression", "", "No lever was planned."]
    notes, interval = Notes(), f"{percent(view.level)} interval"
    header = ["lever", "calibration - pixel", interval, "p", "calibration", "pixel", "loss of return", "seeds", "n", "point rule"]
    lines = [_lever(view, item, notes) for item in levers]
    said = "Degradation in seed-to-seed standard deviations of the float models; positive is worse."
    table = ["### Compression", "", said, "", *markdown_table(header, lines), *notes.markdown()]
    saved = sizes(view)
    return [*table, *(["", *saved] if saved else []), "", *_by_diagnostic(view, levers), "", *_panels(view, levers)]


def _correlation(view: View, item: Mapping[str, Any], notes: Notes) -> list[str]:
    pooled, order, seeds = item["pooled"], item["capacity_level"], item["n_seeds"]
    why = no_estimate(item["reason"], seeds)
    gaps = [f"{view.shown(name)} is missing: {_counts(counts)}" for name, counts in item["missing"].items()]
    constant = [sentence(f"constant_capacity:{hidden}x{embed}") for hidden, embed in item["constant_capacities"]]
    marks = "".join(f" {notes.mark(text)}" for text in (*gaps, *constant))
    common = view.statistics["comparison"]["associations"].get(item["diagnostic"], {"rho": None, "reason": item["reason"] or _APART})
    around = {"diagnostic": "", "composite": "**", "extra": "*"}[item["kind"]]
    return [
        f"{around}{view.shown(item['diagnostic'])}{around}{marks}",
        notes.show(item["rho"], rho, why),
        notes.show(item["interval"], bounds, why if item["rho"] is None else no_interval(item["interval_reason"], seeds, level=view.level)),
        notes.show(item["p"], probability, why),
        notes.show(item["p_adjusted"], probability, _OUTSIDE if item["kind"] == "extra" else why),
        notes.show(item["floor"], probability, why),
        f"{item['n_seeds']} of {item['n_planned_seeds']}",
        str(item["n"]),
        str(item["n_dropped"]),
        notes.show(common["rho"], rho, no_estimate(common["reason"], view.statistics["comparison"]["n_seeds"])),
        notes.show(
            pooled["rho"], lambda value: f"{rho(value)} {_around(pooled, notes)} n={pooled['n']}", no_estimate(pooled["reason"], seeds)
        ),
        notes.show(order["rho"], lambda value: f"{rho(value)} n={order['n']}", _no_order(view, order["reason"])),
    ]


def _no_order(view: View, code: str | None) -> str:
    """Why models of different sizes have no order."""
    few = len(view.capacities) < _LEAST_CAPACITIES
    said = f"{counted(len(view.capacities), 'capacity')}; an order of sizes needs at least {_LEAST_CAPACITIES}"
    return said if few else no_estimate(code, 0)


def _around(item: Mapping[str, Any], notes: Notes) -> str:
    return notes.show(item["interval"], bounds, item["interval_reason"])


def _lever(view: View, item: Mapping[str, Any], notes: Notes) -> list[str]:
    why = no_estimate(item["reason"], item["n_seeds"], contrast=True)
    quiet = f" {notes.mark(sentence('below_noise_floor'))}" if item["below_noise_floor"] else ""
    return [
        item["lever"] + quiet,
        notes.show(item["estimate"], rho, why),
        _contrast_interval(view, item, notes),
        notes.show(item["p"], probability, why),
        notes.show(item["calibration"], plain, why),
        notes.show(item["pixel"], plain, why),
        notes.show(item["outcome_delta"], plain, item["outcome_delta_reason"]),
        f"{item['n_seeds']} of {item['n_planned_seeds']}",
        str(item["n"]),
        item["point_rule"]["label"],
    ]


def _contrast_interval(view: View, item: Mapping[str, Any], notes: Notes) -> str:
    seeds, none = item["n_seeds"], item["estimate"] is None
    why = no_estimate(item["reason"], seeds, contrast=True) if none else ""
    return notes.show(item["interval"], bounds, why or no_interval(item["interval_reason"], seeds, level=view.level, contrast=True))


def _by_diagnostic(view: View, levers: list[Mapping[str, Any]]) -> list[str]:
    """Mean degradation of every diagnostic, in seed standard deviations."""
    notes = Notes()
    names = list(dict.fromkeys(entry["diagnostic"] for lever in levers for entry in lever["diagnostics"]))
    found = {(lever["lever"], entry["diagnostic"]): entry for lever in levers for entry in lever["diagnostics"]}
    sides = {entry["diagnostic"]: ", ".join(entry["sides"]) or "neither" for lever in levers for entry in lever["diagnostics"]}
    lines = [[view.shown(name), sides[name], *(_degradation(found[lever["lever"], name], notes) for lever in levers)] for name in names]
    header = ["diagnostic", "side", *(lever["lever"] for lever in levers)]
    return [*markdown_table(header, lines, left=2), *notes.markdown()]


def _degradation(item: Mapping[str, Any], notes: Notes) -> str:
    if item["degradation"] is None:
        return notes.missing(_counts(item["missing"]) if item["missing"] else sentence(item["reason"]))
    quiet = f" {notes.mark('not larger than the evaluation noise')}" if item["below_noise_floor"] else ""
    return f"{item['degradation']:+.3f} n={item['n']}{quiet}"


def _panels(view: View, levers: list[Mapping[str, Any]]) -> list[str]:
    """The same contrast measured otherwise; none of these decides."""
    notes = Notes()
    lines = [
        [
            lever["lever"],
            panel["panel"],
            notes.show(panel["estimate"], rho, no_estimate(panel["reason"], panel["n_seeds"], contrast=True)),
            _contrast_interval(view, panel, notes),
            notes.show(panel["p"], probability, no_estimate(panel["reason"], panel["n_seeds"], contrast=True)),
            str(panel["n_seeds"]),
        ]
        for lever in levers
        for panel in lever["panels"]
    ]
    header = ["lever", "panel", "contrast", f"{percent(view.level)} interval", "p", "seeds"]
    summary = "<details><summary>The same contrast on other scales (descriptive)</summary>"
    return [summary, "", *markdown_table(header, lines, left=2), *notes.markdown(), "", "</details>"]


def _counts(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{n} times {sentence(code)}" for code, n in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))
