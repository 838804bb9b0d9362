"""`python -m experiments.analyse`: statistics and verdicts on rows that were measured elsewhere. No torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wm_audit.board import results, schema
from wm_audit.board.claim import ELSEWHERE
from wm_audit.board.terminal import terminal
from wm_audit.cli import rows_csv
from wm_audit.cli.frame import ROOT, Parser, guarded, say, shown
from wm_audit.core import AuditError, Key, Row, UsageError, strict_json
from wm_audit.core.files import write_atomic
from wm_audit.instruments.audit.decide import document
from wm_audit.instruments.audit.protocol import TRAINED, planned
from wm_audit.prereg.forms import exact
from wm_audit.prereg.promise import Promise, load_promise

_DESCRIPTION = """Runs the audit's statistics, verdicts and board on rows measured elsewhere; the result is exploratory.
A CSV has the columns env, hidden, embed, seed, outcome and one for each diagnostic, and may have arm (trained) and
compression (none). A cell is a number, or the reason code of a number that is missing, e.g. probe_degenerate.
NAME.repeat is the same diagnostic on a second evaluation stream, from which the noise floor comes; it may be empty.
Rows span a grid of seeds and capacities; a cell of it that is missing is named and makes the result partial (exit code 2)."""
_EXAMPLES = """  python -m experiments.analyse my_rows.csv
  python -m experiments.analyse leaderboard/results_pixel_nav_pilot.json --out scratch/again.json
  python -m experiments.analyse leaderboard/results_pixel_nav_pilot.json --csv scratch/rows.csv"""

_MOST_ROWS, _MOST_SEEDS = 10_000, 500
"""Up to here a judgement takes minutes: leaving out each seed in turn costs the cube of the seeds, bootstraps the square of the rows."""


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
    rows, absent = read_rows(path, promise)
    _refuse_too_many(rows, str(path))
    text = "" if table is None else rows_csv.write(rows, promise, where=str(path))  # refused before anything is written
    config = {"name": path.stem, "mode": "analyse", **exact(promise.data), **_grid([*(row.key for row in rows), *absent])}
    missing = _missing(config, [row.key for row in rows])
    judged = document([row.to_json() for row in rows], promise.header(), config, {"digest": ELSEWHERE}, missing=missing)
    written = results.text(judged, where=str(path))  # what is only printed is checked as what is written
    say(terminal(judged))
    if out is not None:
        write_atomic(out, written)
        say(f"results in {shown(out)}")
    if table is not None:
        write_atomic(table, text)
        say(f"rows in {shown(table)}")
    return 2 if missing else 0


def _refuse_one_place_for_two(path: Path, out: Path | None, table: Path | None) -> None:
    if out is not None and out.resolve() == path.resolve():
        raise UsageError(f"--out names {str(out)!r}, which is read", expected="a place of its own", fix="rename it")
    if table is None:
        return
    if table.suffix != ".csv":
        raise UsageError(f"--csv names {str(table)!r}", expected="a name that ends in .csv", fix="rename it: the ending tells the reader")
    if table.resolve() in {path.resolve(), out.resolve() if out is not None else None}:
        raise UsageError(f"--csv names {str(table)!r}, which is read or written already", expected="a place of its own", fix="rename it")


def _refuse_too_many(rows: Sequence[Row], where: str) -> None:
    seeds = len({row.key.seed for row in rows if row.key.arm == TRAINED})
    for count, most, what in ((len(rows), _MOST_ROWS, "rows"), (seeds, _MOST_SEEDS, "seeds")):
        if count > most:
            raise AuditError(f"holds {count} {what}", where=where, expected=f"at most {most}", fix=f"analyse a part of the {what}")


def read_rows(path: Path, promise: Promise) -> tuple[list[Row], list[Key]]:
    """Rows from a CSV, from a JSON list of rows, or from a results file; and the cells that a results file says are missing.

    Raises:
        AuditError: the file is not one of these, a results file was changed after it was written, or a cell is neither a number
            nor a reason code; names line and column.
    """
    if path.suffix == ".csv":
        return rows_csv.read(path, promise), []
    entry = strict_json.load(path)
    if isinstance(entry, dict) and entry.get("schema") == schema.RESULTS:
        sealed = results.read(path)  # its seals first: what was changed is not judged
        return results.rows_of(sealed), [Key.from_json(item) for item in sealed["missing"]]
    listed = entry.get("rows") if isinstance(entry, dict) else entry
    if not isinstance(listed, list) or not listed:
        raise AuditError("holds no rows", where=str(path), expected="a list of rows, or a results file", fix="see --help")
    return [schema.check_row(item, where=f"{path} row {index}") for index, item in enumerate(listed)], []


def _grid(keys: Sequence[Key]) -> dict[str, Any]:
    """The grid that the cells themselves span: nothing else was planned."""
    trained = [key for key in keys if key.arm == TRAINED]
    sizes = sorted({(key.hidden, key.embed) for key in trained})
    return {
        "environments": {env: {} for env in sorted({key.env for key in keys})},
        "capacities": [{"hidden": hidden, "embed": embed} for hidden, embed in sizes],
        "seeds": sorted({key.seed for key in trained}),
        "arms": list(dict.fromkeys([TRAINED, *sorted({key.arm for key in keys})])),
        "levers": sorted({key.compression for key in trained} - {"none"}),
    }


def _missing(config: dict[str, Any], keys: Sequence[Key]) -> list[Key]:
    """Cells of the grid without a row; a control that was run once, on whatever seed, is there."""
    present = {(key.env, key.arm) if key.arm != TRAINED else key for key in keys}
    return [key for key in planned(config) if ((key.env, key.arm) if key.arm != TRAINED else key) not in present]
