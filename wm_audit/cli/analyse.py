"""`python -m experiments.analyse`: statistics and verdicts on rows that were measured elsewhere. No torch."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wm_audit.board import results
from wm_audit.board.terminal import terminal
from wm_audit.cli.frame import ROOT, Parser, guarded, say, shown
from wm_audit.core import AuditError, Key, Measurement, Reason, Row, strict_json
from wm_audit.instruments.audit.decide import document
from wm_audit.prereg.forms import exact
from wm_audit.prereg.promise import Promise, load_promise

_DESCRIPTION = """Runs the audit's statistics, verdicts and board on rows measured elsewhere; the result is exploratory.
A CSV has the columns env, hidden, embed, seed, outcome and one for each diagnostic, and may have arm (trained) and
compression (none). A cell is a number, or the reason code of a number that is missing, e.g. probe_degenerate."""
_EXAMPLES = """  python -m experiments.analyse my_rows.csv
  python -m experiments.analyse leaderboard/results_pixel_nav.json --out scratch/again.json"""

_KEY = ("env", "hidden", "embed", "seed", "arm", "compression")
_NEEDED = ("env", "hidden", "embed", "seed", "outcome")


def main(argv: Sequence[str] | None = None) -> int:
    """Parses the command line and judges; returns the exit code."""
    parser = Parser("analyse", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("rows", type=Path, metavar="ROWS.json|csv", help="rows of evidence, or a results file")
    parser.add_argument("--preregistration", type=Path, metavar="FILE", help="the promise whose rules judge (default: the project's own)")
    parser.add_argument("--out", type=Path, metavar="RESULT.json", help="also write a results file")
    options = parser.parse_args(argv)
    return guarded(lambda: _analyse(options.rows, options.preregistration, options.out))


def _analyse(path: Path, preregistration: Path | None, out: Path | None) -> int:
    promise = load_promise(preregistration or ROOT / "configs" / "preregistration.yaml")
    rows = read_rows(path, promise)
    config = {"name": path.stem, "mode": "analyse", **exact(promise.data), **_grid(rows)}
    judged = document([row.to_json() for row in rows], promise.header(), config, {"digest": "measured elsewhere"})
    say(terminal(judged))
    if out is not None:
        results.write(out, judged)
        say(f"results in {shown(out)}")
    return 0


def read_rows(path: Path, promise: Promise) -> list[Row]:
    """Rows from a CSV, from a JSON list of rows, or from a results file.

    Raises:
        AuditError: the file is not one of these, or a cell is neither a number nor a reason code; names line and column.
    """
    if path.suffix == ".csv":
        return _from_csv(path, promise)
    entry = strict_json.load(path)
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


def _from_csv(path: Path, promise: Promise) -> list[Row]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise AuditError(f"cannot be read ({error})", where=str(path), expected="a CSV file in UTF-8", fix="check the path") from error
    table = csv.DictReader(io.StringIO(text))
    columns = list(table.fieldnames or ())
    for name in _NEEDED:
        if name not in columns:
            raise AuditError(f"has no column {name!r}", where=str(path), expected=", ".join(_NEEDED), fix="add the column")
    known = {**promise.data["diagnostics"], **promise.data["extras"]}
    for name in columns:
        if name not in (*_KEY, "outcome") and name not in known:
            raise AuditError(f"has the column {name!r}", where=str(path), expected=f"keys, outcome or {', '.join(known)}", fix="rename it")
    return [_row(line, f"{path} line {number}", columns, known) for number, line in enumerate(table, start=2)]


def _row(line: Mapping[str, Any], where: str, columns: Sequence[str], known: Mapping[str, Any]) -> Row:
    whole = {name: _whole(line[name], f"{where} column {name}") for name in ("hidden", "embed", "seed")}
    key = Key(str(line["env"]), **whole, arm=line.get("arm") or "trained", compression=line.get("compression") or "none")
    diagnostics = {
        name: _cell(line[name], f"{where} column {name}", known[name]["unit"], known[name]["orientation"])
        for name in known
        if name in columns
    }
    return Row(key, _cell(line["outcome"], f"{where} column outcome", "return", 1), diagnostics)


def _whole(text: str | None, where: str) -> int:
    try:
        return int(text or "")
    except ValueError as error:
        raise AuditError(f"holds {text!r}", where=where, expected="a whole number") from error


def _cell(text: str | None, where: str, unit: str, orientation: int) -> Measurement:
    stripped = (text or "").strip()
    if stripped in set(Reason):
        return Measurement.null(Reason(stripped), unit=unit, orientation=orientation)
    try:
        value = float(stripped)
    except ValueError as error:
        what, expected = f"holds {stripped!r}", "a number, or a reason code such as probe_degenerate"
        raise AuditError(what, where=where, expected=expected, fix="write why the number is missing") from error
    if not math.isfinite(value):
        raise AuditError(f"holds {stripped!r}", where=where, expected="a finite number or a reason code", fix="write nonfinite_prediction")
    return Measurement(value, unit=unit, n=1, orientation=orientation)


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
