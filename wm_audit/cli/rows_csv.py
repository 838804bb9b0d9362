"""Rows of evidence as a CSV, read and written.

A CSV carries what the statistics and labels are made of: keys, outcome, diagnostics, their repeats, and the pooled tau of the
point rule. It leaves out what a row says beside them: the returns of single starts (and with them the reliability of the
outcome), counts, standard errors, features, manifests.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wm_audit.board.schema import check_row
from wm_audit.core import AuditError, Key, Measurement, Reason, Row
from wm_audit.core.errors import why
from wm_audit.prereg.promise import Promise
from wm_audit.verdict.table import POOLED_TAU

_KEY = ("env", "hidden", "embed", "seed", "arm", "compression")
_NEEDED = ("env", "hidden", "embed", "seed", "outcome")
_REPEAT = ".repeat"
_POOLED = {"unit": "1", "orientation": 1}


def read(path: Path, promise: Promise) -> list[Row]:
    """The rows of a CSV, one a line.

    Raises:
        AuditError: unreadable, a column that is missing, unknown or there twice, a line of another length, or a cell that is
            neither a number nor a reason code; names line and column.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        said = why(error) if isinstance(error, OSError) else error
        raise AuditError(f"cannot be read ({said})", where=str(path), expected="a CSV file in UTF-8", fix="check the path") from error
    lines = _numbered(text, str(path))
    columns = lines[0][1] if lines else []
    known = _known(promise)
    _check_columns(columns, known, str(path))
    if not lines[1:]:
        raise AuditError("holds no rows", where=str(path), expected="a line for every row below the names", fix="add the rows")
    for number, cells in lines[1:]:
        if len(cells) != len(columns):  # a decimal comma would shift every later cell
            where, expected = f"{path} line {number}", f"{len(columns)}, as in the first line"
            raise AuditError(f"has {len(cells)} cells", where=where, expected=expected, fix="write decimals with a point")
    return [_row(dict(zip(columns, cells, strict=True)), f"{path} line {number}", known) for number, cells in lines[1:]]


def write(rows: Sequence[Row], promise: Promise, *, where: str) -> str:
    """The rows as the text of a CSV, sorted by key; a number is written so that reading gives it back bit for bit, a null as its reason.

    Args:
        rows: what to write.
        promise: names the diagnostics, and so the columns.
        where: the file the rows come from, for the message.

    Raises:
        AuditError: a row lacks a diagnostic that another has, or holds one that the promise does not know.
    """
    given = {name for row in rows for name in row.diagnostics}
    strange = sorted(given - set(_known(promise)))
    if strange:
        raise AuditError(
            f"holds the diagnostic {strange[0]!r}", where=where, expected="those of the promise", fix="name its --preregistration"
        )
    for row in rows:
        absent = sorted(given - set(row.diagnostics))
        if absent:
            place, expected = f"{where}, {row.key.text()}", "a number or a reason in every row"
            raise AuditError(f"has no {absent[0]!r}", where=place, expected=expected, fix="measure it, or leave the row out")
    names = [name for name in _known(promise) if name in given]
    repeated = [name for name in names if any(row.diagnostics[name].repeat is not None for row in rows)]
    pooled = [POOLED_TAU] if any(POOLED_TAU in row.details for row in rows) else []
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow([*_KEY, "outcome", *names, *(name + _REPEAT for name in repeated), *pooled])
    for row in sorted(rows, key=lambda row: row.key):
        repeats = [row.diagnostics[name].repeat for name in repeated]
        published = [_text(Measurement.from_json(row.details[name])) if name in row.details else "" for name in pooled]
        numbers = [_text(row.outcome), *(_text(row.diagnostics[name]) for name in names)]
        writer.writerow(
            [*row.key.to_json().values(), *numbers, *("" if item is None else repr(float(item)) for item in repeats), *published]
        )
    return table.getvalue()


def _text(item: Measurement) -> str:
    return str(item.reason) if item.value is None else repr(float(item.value))


def _known(promise: Promise) -> dict[str, Any]:
    return {**promise.data["diagnostics"], **promise.data["extras"]}


def _numbered(text: str, path: str) -> list[tuple[int, list[str]]]:
    """The lines that hold anything, with their numbers in the file."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        return [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        where, expected = f"{path} line {reader.line_num}", f"cells of at most {csv.field_size_limit()} characters, every quote closed"
        raise AuditError(f"cannot be read ({error})", where=where, expected=expected, fix="correct the line") from error


def _check_columns(columns: Sequence[str], known: Mapping[str, Any], where: str) -> None:
    for name in _NEEDED:
        if name not in columns:
            raise AuditError(f"has no column {name!r}", where=where, expected=", ".join(_NEEDED), fix="add the column")
    for place, name in enumerate(columns):
        if name not in (*_KEY, "outcome", POOLED_TAU) and name.removesuffix(_REPEAT) not in known:
            raise AuditError(f"has the column {name!r}", where=where, expected=f"keys, outcome or {', '.join(known)}", fix="rename it")
        if name in columns[:place]:
            raise AuditError(f"has the column {name!r} twice", where=where, expected="every column once", fix="take one out")
        if name.endswith(_REPEAT) and name.removesuffix(_REPEAT) not in columns:
            expected = f"the column {name.removesuffix(_REPEAT)} beside it"
            raise AuditError(f"has the column {name!r}", where=where, expected=expected, fix="add the column")


def _row(line: Mapping[str, str], where: str, known: Mapping[str, Any]) -> Row:
    whole = {name: _whole(line[name], f"{where} column {name}") for name in ("hidden", "embed", "seed")}
    key = Key(line["env"], **whole, arm=line.get("arm") or "trained", compression=line.get("compression") or "none")
    diagnostics = {name: _diagnostic(line, name, where, entry) for name, entry in known.items() if name in line}
    details = {}
    if line.get(POOLED_TAU):
        details[POOLED_TAU] = _cell(line[POOLED_TAU], f"{where} column {POOLED_TAU}", _POOLED).to_json()
    row = Row(key, _cell(line["outcome"], f"{where} column outcome", {"unit": "return", "orientation": 1}), diagnostics, details)
    return check_row(row.to_json(), where=where)


def _diagnostic(line: Mapping[str, str], name: str, where: str, entry: Mapping[str, Any]) -> Measurement:
    found, again = _cell(line[name], f"{where} column {name}", entry), line.get(name + _REPEAT, "").strip()
    return found.with_(repeat=_number(again, f"{where} column {name}{_REPEAT}")) if again else found


def _cell(text: str, where: str, entry: Mapping[str, Any]) -> Measurement:
    stripped, kind = text.strip(), {"unit": entry["unit"], "orientation": entry["orientation"]}
    if stripped in set(Reason):
        return Measurement.null(Reason(stripped), **kind)
    return Measurement(_number(stripped, where), n=1, **kind)


def _number(text: str, where: str) -> float:
    try:
        value = float(_plain(text))
    except ValueError as error:
        what, expected = f"holds {text!r}", "a number, or a reason code such as probe_degenerate"
        raise AuditError(what, where=where, expected=expected, fix="write why the number is missing") from error
    if not math.isfinite(value):
        raise AuditError(f"holds {text!r}", where=where, expected="a finite number or a reason code", fix="write nonfinite_prediction")
    return value


def _whole(text: str, where: str) -> int:
    try:
        return int(_plain(text))
    except ValueError as error:
        raise AuditError(f"holds {text!r}", where=where, expected="a whole number") from error


def _plain(text: str) -> str:
    """Python reads 1_6 as 16; a person who writes it may have meant 1.6."""
    if "_" in text:
        raise ValueError(text)
    return text
