"""What a power simulation found, for people: as a page, as plain tables, and as the block that a promise holds."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from wm_audit.board.layout import Notes, fold, markdown_table, text_table
from wm_audit.board.numbers import percent
from wm_audit.core import AuditError
from wm_audit.core.strict_json import plain_decimal

SHOWN = {"H1": (0.0, 0.2, 0.4, 0.6, 0.8), "H2": (0.2, 0.4, 0.6, 0.8, 0.9), "H3": (0.0, 0.25, 0.5, 1.0)}
ONE_SHOWN = (0.0, 0.2, 0.4, 0.6, 0.8)
"""The true values in tables; the figure and the JSON hold all that were simulated."""

_ASKED = {
    "H1": "pixel fidelity only weakly predicts return",
    "H2": "control diagnostics strongly predict return",
    "H3": "compression degrades calibration faster than pixel fidelity",
}
_NULLS = {"capacity": "capacity drives both sides", "seeds": "independent seed effects", "both": "both"}
_WIDTH = 130
_HEAD = """# Power

How often each question is decided under a design, and from which true value on. Nothing here is a formula: grids with a known truth
are drawn from a Gaussian copula, and the audit's own intervals and rules judge them. The intra-seed correlation (icc) says how far the
cells of one seed agree over capacities; it counts on both sides alike.

What is simulated is what the rules read: one composite and one outcome per cell for H1 and H2, one contrast per cell for H3. Missing
cells, ties and the noise floor are left out. As a rule they take decisions away, so read the shares as what a design can reach at best.

At the bound itself either label is an error, each with a nominal share of .05, and the table shows the sum of both. "No interval" is the
largest share of grids without one, over all true values simulated. The two last columns are true values: the one nearest the bound from
which a label is given as often as asked, searched in steps of .05 and then of .01, up to a correlation of .95 or a contrast of 3."""


def page(document: Mapping[str, Any]) -> str:
    """The whole page in Markdown; the same document gives the same bytes.

    Args:
        document: schema `wm_audit/power/1`.
    """
    lines = [_HEAD, "", _settings(document)]
    for question in _questions(document):
        notes = Notes()
        header, rows = _table(document, question, notes)
        lines += ["", *_title(document, question), "", *markdown_table(header, rows, left=0), *notes.markdown()]
    notes = Notes()
    header, rows = _one_diagnostic(document, notes)
    lines += ["", *_one_title(document), "", *markdown_table(header, rows, left=0), *notes.markdown()]
    for heading, header, rows, notes in _estimates(document):
        lines += ["", f"## {heading}", "", *markdown_table(header, rows, left=2), *notes.markdown()]
    return "\n".join(lines) + "\n"


def terminal(document: Mapping[str, Any]) -> str:
    """The same tables as plain text."""
    lines = [_settings(document)]
    for question in _questions(document):
        notes = Notes()
        header, rows = _table(document, question, notes)
        lines += ["", *(line.removeprefix("## ") for line in _title(document, question)), *text_table(header, rows, left=0)]
        lines += notes.text(120, "  ")
    notes = Notes()
    header, rows = _one_diagnostic(document, notes)
    lines += ["", *(line.removeprefix("## ") for line in _one_title(document)), *text_table(header, rows, left=0), *notes.text(120, "  ")]
    for heading, header, rows, notes in _estimates(document):
        lines += ["", heading, *text_table(header, rows, left=2), *notes.text(120, "  ")]
    return "\n".join(lines)


def size_page(size: Mapping[str, Any]) -> str:
    """The table of sizes in Markdown."""
    header = ("what goes on in the grid", "seeds x capacities", "primary test", "naive pooled test")
    rows = [
        (_NULLS[row["null"]], f"{row['seeds']} x {row['capacities']}", _share(row["primary"]), _share(row["naive"])) for row in size["rows"]
    ]
    said = fold(
        f"Share of p-values of at most {size['nominal']:g} in {size['repetitions']} simulated grids in which the two sides have nothing to "
        f"do with each other. One capacity adds {size['step']:g} standard deviations of a cell; where seeds have effects, their "
        f"intra-seed correlation is {size['icc']:g}.",
        _WIDTH,
    )
    return "\n".join([*markdown_table(header, rows), "", *said])


def promise_block(document: Mapping[str, Any], design: tuple[int, int] | None = None) -> str:
    """The field `power` of a promise, in YAML, under every intra-seed correlation that was simulated.

    Args:
        document: schema `wm_audit/power/1`.
        design: seeds and capacities that are promised; every design of the document where not said.

    Raises:
        AuditError: none of the designs has an interval, so that there is nothing to promise.
    """
    shares = [
        (item, found["question"], share)
        for item in document["designs"]
        if design in (None, (item["seeds"], item["capacities"]))
        for found in item["questions"]
        for share in _at(found, SHOWN[found["question"]])
    ]
    if not shares:
        raise AuditError("hold no design that ever decides", where="--seeds", expected="4 seeds or more", fix="plan more seeds")
    lines = ["power:", f"  source: {document['source']}", "  table:"]
    for item, question, share in shares:
        place = f"seeds: {item['seeds']}, capacities: {item['capacities']}, intra_seed_correlation: {_plain(item['icc'])}"
        found = f"true_value: {_plain(share['truth'])}, share_decided: {_plain(_decided(share))}"
        lines.append(f"    - {{question: {question}, {place}, {found}}}")
    return "\n".join(lines) + "\n"


def _settings(document: Mapping[str, Any]) -> str:
    rules = document["rules"]
    return (
        f"{document['repetitions']} grids for every true value; {percent(rules['level'])} intervals, margin {rules['margin']:g}, threshold "
        f"{rules['threshold']:g}; intra-seed correlation: {document['source']}."
    )


def _questions(document: Mapping[str, Any]) -> list[str]:
    return [found["question"] for found in document["designs"][0]["questions"]]


def _title(document: Mapping[str, Any], question: str) -> list[str]:
    found = _found(document["designs"][0], question)
    said = (
        f"Share decided (SUPPORTED or CONTRADICTED) at each true value, in {found['unit']}; the bound is {found['bound']:g}. Last: the "
        f"value from which the label is given in {document['power']:.0%} of runs."
    )
    return [f"## {question}: {_ASKED[question]}", "", *fold(said, _WIDTH)]


def _table(document: Mapping[str, Any], question: str, notes: Notes) -> tuple[Sequence[str], list[list[str]]]:
    header = ["seeds", "capacities", "icc", *(f"{truth:g}" for truth in SHOWN[question]), "no interval", "SUPPORTED", "CONTRADICTED"]
    rows = []
    for design in document["designs"]:
        found = _found(design, question)
        shares = {share["truth"]: share for share in found["curve"]}
        why = found["reason"]
        decided = [notes.show(shares.get(truth), lambda share: _share(_decided(share)), why) for truth in SHOWN[question]]
        none = notes.show(max((item["no_interval"] for item in found["curve"]), default=None), _share, why)
        reach = [notes.show(item["value"], _two, item["reason"]) for item in found["detectable"].values()]
        rows.append([str(design["seeds"]), str(design["capacities"]), _plain(design["icc"]), *decided, none, *reach])
    return header, rows


def _one_title(document: Mapping[str, Any]) -> list[str]:
    one = document["designs"][0]["diagnostic"]
    said = (
        f"Share of grids in which one diagnostic, truly correlated with the return as the column says, has p at most {one['nominal']:g} "
        f"after Holm's correction over {one['m']} tests, the others finding nothing. At 0 this is its size. Last: the true correlation "
        f"that is found in {document['power']:.0%} of runs."
    )
    return ["## One diagnostic among all", "", *fold(said, _WIDTH)]


def _one_diagnostic(document: Mapping[str, Any], notes: Notes) -> tuple[Sequence[str], list[list[str]]]:
    header = ["seeds", "capacities", "icc", *(f"{truth:g}" for truth in ONE_SHOWN), "detectable"]
    rows = []
    for design in document["designs"]:
        one = design["diagnostic"]
        shares = {item["truth"]: item["significant"] for item in one["curve"]}
        reach = notes.show(one["detectable"]["value"], _two, one["detectable"]["reason"])
        place = [str(design["seeds"]), str(design["capacities"]), _plain(design["icc"])]
        rows.append([*place, *(_share(shares[truth]) for truth in ONE_SHOWN), reach])
    return header, rows


def _estimates(document: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[str], list[list[str]], Notes]]:
    """The estimated intra-seed correlations, where there are any."""
    if not document["estimates"]:
        return
    notes, form = Notes(), _two
    rows = [
        [
            item["environment"],
            item["of"],
            notes.show(item["icc"], form, item["reason"]),
            notes.show(item["interval"], lambda pair: f"[{form(pair[0])}, {form(pair[1])}]", item["interval_reason"] or item["reason"]),
            str(item["n_seeds"]),
        ]
        for item in document["estimates"]
    ]
    level = percent(document["estimates"][0]["level"])
    yield "Intra-seed correlation, estimated", ("environment", "of", "ICC(3,1)", f"{level} interval", "seeds"), rows, notes


def _found(design: Mapping[str, Any], question: str) -> Mapping[str, Any]:
    return next(found for found in design["questions"] if found["question"] == question)


def _at(found: Mapping[str, Any], truths: Sequence[float]) -> list[Mapping[str, Any]]:
    return [share for share in found["curve"] if share["truth"] in truths]


def _decided(share: Mapping[str, Any]) -> float:
    """The share of both labels that decide; more digits than four say nothing."""
    return round(float(share["supported"] + share["contradicted"]), 4)


def _share(value: float) -> str:
    return f"{value:.3f}"


def _two(value: float) -> str:
    return f"{value:.2f}"


def _plain(value: float) -> str:
    return plain_decimal(Decimal(repr(value)))
