"""`python -m experiments.analyse`: statistics and verdicts on rows that were measured elsewhere. No torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wm_audit.board import results, schema
from wm_audit.board.terminal import terminal
from wm_audit.cli import rows_csv
from wm_audit.cli.frame import ROOT, Parser, guarded, say, shown
from wm_audit.core import AuditError, Row, UsageError, strict_json
from wm_audit.core.files import write_atomic
from wm_audit.instruments.audit.decide import document
from wm_audit.prereg.forms import exact
from wm_audit.prereg.promise import Promise, load_promise

_DESCRIPTION = """Runs the audit's statistics, verdicts and board on rows measured elsewhere; the result is exploratory.
A CSV has the columns env, hidden, embed, seed, outcome and one for each diagnostic, and may have arm (trained) and
compression (none). A cell is a number, or the reason code of a number that is missing, e.g. probe_degenerate.
NAME.repeat is the same diagnostic on a second evaluation stream, from which the noise floor comes; it may be empty."""
_EXAMPLES = """  python -m experiments.analyse my_rows.csv
  python -m experiments.analyse leaderboard/results_pixel_nav_pilot.json --out scratch/again.json
  python -m experiments.analyse leaderboard/results_pixel_nav_pilot.json --csv scratch/rows.csv"""


def main(argv: Sequence[str] | None = None) -> int:
    """Parses the command line and judges; returns the exit code."""
    parser = Parser("analyse", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("rows", type=Path, metavar="ROWS.json|csv", help="rows of evidence, or a results file")
    parser.add_argument("--preregistration", type=Path, metavar="FILE", help="the promise whose rules judge (default: the project's own)")
    parser.add_argument("--out", type=Path, metavar="RESULT.json", help="also write a results file")
    parser.add_argument("--csv", type=Path, metavar="ROWS.csv", help="also write the rows as a CSV that this command reads")
    options = parser.parse_args(argv)
    return guarded(lambda: _analyse(options.rows, options.preregistration, options.out, options.csv))


def _analyse(path: Path, preregistration: Path | None, out: Path | None, table: Path | None) -> int:
    _refuse_one_place_for_two(path, out, table)
    promise = load_promise(preregistration or ROOT / "configs" / "preregistration.yaml")
    rows = read_rows(path, promise)
    text = "" if table is None else rows_csv.write(rows, promise, where=str(path))  # refused before anything is written
    config = {"name": path.stem, "mode": "analyse", **exact(promise.data), **_grid(rows)}
    judged = document([row.to_json() for row in rows], promise.header(), config, {"digest": "measured elsewhere"})
    say(terminal(judged))
    if out is not None:
        results.write(out, judged)
        say(f"results in {shown(out)}")
    if table is not None:
        write_atomic(table, text)
        say(f"rows in {shown(table)}")
    return 0


def _refuse_one_place_for_two(path: Path, out: Path | None, table: Path | None) -> None:
    if out is not None and out.resolve() == path.resolve():
        raise UsageError(f"--out names {str(out)!r}, which is read", expected="a place of its own", fix="rename it")
    if table is None:
        return
    if table.suffix != ".csv":
        raise UsageError(f"--csv names {str(table)!r}", expected="a name that ends in .csv", fix="rename it: the ending tells the reader")
    if table.resolve() in {path.resolve(), out.resolve() if out is not None else None}:
        raise UsageError(f"--csv names {str(table)!r}, which is read or written already", expected="a place of its own", fix="rename it")


def read_rows(path: Path, promise: Promise) -> list[Row]:
    """Rows from a CSV, from a JSON list of rows, or from a results file.

    Raises:
        AuditError: the file is not one of these, a results file was changed after it was written, or a cell is neither a number
            nor a reason code; names line and column.
    """
    if path.suffix == ".csv":
        return rows_csv.read(path, promise)
    entry = strict_json.load(path)
    if isinstance(entry, dict) and entry.get("schema") == schema.RESULTS:
        entry = results.read(path)  # its seals first: what was changed is not judged
    listed = entry.get("rows") if isinstance(entry, dict) else entry
    if not isinstance(listed, list) or not listed:
        raise AuditError("holds no rows", where=str(path), expected="a list of rows, or a results file", fix="see --help")
    rows: list[Row] = []
    for index, item in enumerate(listed):
        try:
            rows.append(Row.from_json(item))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise AuditError(f"cannot be read ({error!r})", where=f"{path} row {index}", expected="a row of evidence") from error
    return rows


def _grid(rows: Sequence[Row]) -> dict[str, Any]:
    """The grid that the rows themselves span: nothing else was planned."""
    trained = [row.key for row in rows if row.key.arm == "trained"]
    sizes = sorted({(key.hidden, key.embed) for key in trained})
    return {
        "environments": {env: {} for env in sorted({row.key.env for row in rows})},
        "capacities": [{"hidden": hidden, "embed": embed} for hidden, embed in sizes],
        "seeds": sorted({key.seed for key in trained}),
        "arms": list(dict.fromkeys(["trained", *sorted({row.key.arm for row in rows})])),
        "levers": sorted({key.compression for key in trained} - {"none"}),
    }
