"""`python -m experiments.power`: how often a design decides, before anything is trained. No torch."""

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wm_audit.board import results
from wm_audit.board.figures.power import power_figure
from wm_audit.board.figures.style import require_matplotlib
from wm_audit.board.power_page import page, promise_block, size_page, terminal
from wm_audit.cli.frame import ROOT, Parser, guarded, say, shown
from wm_audit.core import AuditError, UsageError, strict_json
from wm_audit.core.files import write_atomic
from wm_audit.instruments.audit.intra_seed import assumed, intra_seed
from wm_audit.instruments.audit.power import power_table
from wm_audit.instruments.audit.simulate import Plan
from wm_audit.instruments.audit.size import size_table
from wm_audit.prereg.forms import exact
from wm_audit.prereg.promise import load_promise
from wm_audit.run.progress import Progress
from wm_audit.verdict import Rules

_MOST = 100  # numbers in one range
PUBLISHED_SIZES = ((5, 3), (10, 3), (20, 3))
_BLOCK = re.compile(r"(<!-- size [^>]*-->)\n.*?(<!-- end -->)", re.DOTALL)

_DESCRIPTION = """How often does a design of seeds x capacities decide H1, H2 and H3, and from which true value on? Simulates grids with a
known truth and judges them by the audit's own rules. The same arguments give the same bytes.
--publish writes docs/power and the table of test sizes in docs/statistics.md: some ten minutes."""
_EXAMPLES = """  python -m experiments.power
  python -m experiments.power --seeds 5,20 --capacities 3,6 --icc 0.3 --out scratch/power
  python -m experiments.power --seeds 20 --from leaderboard/results_pixel_nav_pilot.json
  python -m experiments.power --seeds 20 --yaml            the block for the promise's field power
  python -m experiments.power --publish"""


def main(argv: Sequence[str] | None = None) -> int:
    """Parses the command line and simulates; returns the exit code."""
    parser = Parser("power", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("--seeds", metavar="LIST", help="numbers of seeds, also as a range 5..30 (default: 5,10,15,20,30)")
    parser.add_argument("--capacities", metavar="LIST", help="numbers of capacities (default: 3; published: 3,6)")
    parser.add_argument("--icc", metavar="LIST", help="intra-seed correlations (default: 0,0.5, or what --from estimates)")
    parser.add_argument("--repetitions", metavar="N", help="simulated grids per true value (default: 1000)")
    parser.add_argument("--power", metavar="P", help="share of runs that must recognise a detectable value (default: 0.8)")
    parser.add_argument("--from", dest="pilot", type=Path, metavar="RESULTS.json", help="estimate the intra-seed correlation from a result")
    parser.add_argument("--preregistration", type=Path, metavar="FILE", help="the promise whose rules judge (default: the project's own)")
    parser.add_argument("--yaml", action="store_true", help="print the promise's block instead of tables")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="also write power.json, power.md, power.svg and power.yaml there")
    parser.add_argument("--publish", action="store_true", help="write the published table, figure and sizes")
    options = parser.parse_args(argv)
    return guarded(lambda: _publish(options) if options.publish else _power(options))


def _power(options: argparse.Namespace) -> int:
    if options.out is not None:
        require_matplotlib()
    document = simulated(options)
    said = promise_block(document) if options.yaml else terminal(document)
    written = {} if options.out is None else pages(document)
    for name, text in written.items():
        write_atomic(options.out / name, text)
    say(said.rstrip("\n"))
    if written and not options.yaml:
        say(f"{', '.join(written)} in {shown(options.out)}")
    return 0


def _publish(options: argparse.Namespace) -> int:
    for name in ("seeds", "capacities", "icc", "repetitions", "power", "pilot", "preregistration", "yaml", "out"):
        if getattr(options, name):
            flag = "from" if name == "pilot" else name
            raise UsageError("is fixed by --publish", where=f"--{flag}", expected="--publish alone", fix=f"leave --{flag} out")
    require_matplotlib()
    options.capacities = "3,6"
    rules = _rules(None)
    document = simulated(options) | {"size": size_table(PUBLISHED_SIZES, rules)}
    statistics = ROOT / "docs" / "statistics.md"
    text = with_sizes(statistics.read_text(encoding="utf-8"), document["size"], where=shown(statistics))
    files = pages(document) | {"power.yaml": promise_block(document, (len(rules.seeds), len(rules.capacities)))}
    for name, content in files.items():
        write_atomic(ROOT / "docs" / "power" / name, content)
    write_atomic(statistics, text)
    say(f"docs/power and the table of sizes in {shown(statistics)} are written")
    return 0


def simulated(options: argparse.Namespace) -> dict[str, Any]:
    """The document that the command line asks for.

    Raises:
        UsageError: a value on the command line is wrong.
        AuditError: a file is wrong.
    """
    rules, repetitions = _rules(options.preregistration), _whole("--repetitions", options.repetitions or "1000")
    power = _power_asked(options.power or "0.8")
    seeds, capacities = _counts("--seeds", options.seeds or "5,10,15,20,30"), _counts("--capacities", options.capacities or "3")
    iccs = None if options.icc is None else _shares("--icc", options.icc)
    found: list[dict[str, Any]] = []
    source = "assumed"
    if options.pilot is not None:
        found, estimated, source = _estimated(options.pilot)
        iccs = iccs or estimated
    if options.icc is not None:
        source = "assumed"
    plans = [Plan(s, c, icc) for c in capacities for icc in (iccs or [0.0, 0.5]) for s in seeds]
    with Progress(len(plans), unit="design") as progress:
        table = power_table(plans, rules, repetitions=repetitions, power=power, done=progress.done)
    return table | {"source": source, "estimates": found}


def pages(document: Mapping[str, Any]) -> dict[str, str]:
    """Every file of a document, by name."""
    return {
        "power.json": strict_json.dumps(document),
        "power.md": page(document),
        "power.svg": power_figure(document),
        "power.yaml": promise_block(document),
    }


def with_sizes(text: str, size: Mapping[str, Any], *, where: str) -> str:
    """A page with its block `<!-- size ... --> ... <!-- end -->` filled.

    Raises:
        AuditError: the page has no such block.
    """
    filled, count = _BLOCK.subn(lambda match: f"{match[1]}\n\n{size_page(size)}\n{match[2]}", text)
    if count != 1:
        raise AuditError(f"has {count} blocks of sizes", where=where, expected="one block <!-- size ... --> ... <!-- end -->")
    return filled


def _rules(preregistration: Path | None) -> Rules:
    return Rules.of_promise(exact(load_promise(preregistration or ROOT / "configs" / "preregistration.yaml").data))


def _estimated(path: Path) -> tuple[list[dict[str, Any]], list[float], str]:
    """Estimates of a results file, the correlations to simulate with, and where they come from."""
    document = results.read(path)
    found = intra_seed(results.rows_of(document), Rules.of_promise(document["config"]))
    both = [assumed(found), assumed(found, upper=True)]
    if both[0] is None:
        what = "gives no intra-seed correlation"
        raise AuditError(
            what, where=str(path), expected="2 complete seeds at 2 capacities or more", fix="give --icc, or a result with more models"
        )
    levels = sorted({round(value, 2) for value in both if value is not None})
    return found, levels, f"estimated from {document['digest']}, with what its interval does not exclude"


def _counts(flag: str, text: str) -> list[int]:
    """Numbers and ranges: `5,10` or `5..30`, both ends included."""
    found: set[int] = set()
    for item in text.split(","):
        first, dots, last = item.partition("..")
        low = _whole(flag, first)
        high = _whole(flag, last) if dots else low
        if high < low or high - low >= _MOST:
            raise UsageError(f"found {item!r}", where=flag, expected=f"a range upwards of at most {_MOST}", fix="write 5..30")
        found.update(range(low, high + 1))
    return sorted(found)


def _whole(flag: str, text: str) -> int:
    if not re.fullmatch(r"\s*0*[1-9][0-9]{0,6}\s*", text, re.ASCII):
        raise UsageError(
            f"found {text!r}", where=flag, expected="whole numbers from 1 on, separated by commas, or a range 5..30", fix="see --help"
        )
    return int(text)


def _power_asked(text: str) -> float:
    found = _shares("--power", text)
    if len(found) != 1 or not 0.0 < found[0] < 1.0:
        raise UsageError(f"found {text!r}", where="--power", expected="one share between 0 and 1", fix="write 0.8")
    return found[0]


def _shares(flag: str, text: str) -> list[float]:
    found = [item.strip() for item in text.split(",")]
    for item in found:
        if not re.fullmatch(r"0|1|0?\.[0-9]{1,6}|[01]\.0*", item, re.ASCII):
            raise UsageError(f"found {item!r}", where=flag, expected="numbers between 0 and 1, separated by commas", fix="write 0.5")
    return sorted({float(item) for item in found})
