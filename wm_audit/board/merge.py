"""Shards become one set of rows, or are refused: nothing mixed, nothing twice, nothing unplanned, nothing silently missing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wm_audit.board.schema import check_record, pointer
from wm_audit.core import AuditError, Key
from wm_audit.core.record import Record, read_record, record_paths


@dataclass(frozen=True, slots=True)
class Merged:
    """The rows of all shards.

    Attributes:
        rows: sealed rows as the records hold them, sorted by key.
        missing: planned cells without a record, sorted.
        preregistration, config, environment: what every record was run under.
    """

    rows: tuple[dict[str, Any], ...]
    missing: tuple[Key, ...]
    preregistration: dict[str, Any]
    config: dict[str, Any]
    environment: dict[str, Any]

    @property
    def status(self) -> str:
        """`complete`, or `partial` where a planned cell is missing."""
        return "partial" if self.missing else "complete"


def gather(folders: Iterable[Path]) -> list[tuple[str, Record]]:
    """Reads every record of the folders, each with the name of its file.

    Raises:
        AuditError: a folder is not there or holds no record, or a record is torn, changed, misnamed or of another form.
    """
    found: list[tuple[str, Record]] = []
    for folder in folders:
        paths = list(record_paths(folder)) if folder.is_dir() else []
        if not paths:
            raise AuditError("holds no records", where=str(folder), expected="a .cells folder of a run", fix="give the folder a run wrote")
        found += [(str(path), _whole(path)) for path in paths]
    return found


def _whole(path: Path) -> Record:
    """A record whose seals hold and whose parts are what the results file asks for: anyone can seal."""
    record = read_record(path)
    parts = {name: getattr(record, name) for name in ("preregistration", "config", "environment", "row")}
    check_record(parts, where=str(path))
    return record


def merge(records: Sequence[tuple[str, Record]], planned: Iterable[Key]) -> Merged:
    """Joins records; their order does not matter.

    Args:
        records: each with the name by which an error can point at it.
        planned: every cell that the configuration names.

    Raises:
        AuditError: no records; two promises, configurations, environments, sources or models; one cell with two contents; a cell
            that was not planned.
    """
    if not records:
        raise AuditError("there are no records to merge", expected="at least one", fix="run a shard first")
    ordered = sorted(records, key=lambda item: (item[1].key, item[0]))
    first_name, first = ordered[0]
    for name, record in ordered[1:]:
        for member, what in _SHARED.items():
            _same(getattr(first, member), getattr(record, member), member, what, (first_name, name))
    for member, what in _ONE.items():
        _same_lineage(member, what, ordered)
    cells = frozenset(planned)
    chosen: dict[Key, tuple[str, Record]] = {}
    for name, record in ordered:
        if record.key not in cells:
            raise AuditError("is a cell that the configuration does not name", where=name, expected="a planned cell", fix="leave it out")
        other = chosen.setdefault(record.key, (name, record))
        if other[1].text() != record.text():
            place, here, there = _difference(other[1].row, record.row) or ("/resume_key", other[1].resume_key, record.resume_key)
            raise AuditError(
                f"differs from {other[0]} at {place}: {here!r} and {there!r}",
                where=name,
                expected="one content for one cell",
                fix="keep the folder you trust",
            )
    return Merged(
        rows=tuple(record.row for _, record in chosen.values()),
        missing=tuple(sorted(cells - set(chosen))),
        preregistration=first.preregistration,
        config=first.config,
        environment=first.environment,
    )


_SHARED = {
    "preregistration": ("different promises", "shards run under one preregistration"),
    "config": ("different configurations", "shards of one configuration"),
    "environment": ("different environments", "shards run with the same libraries and processor capability"),
}


_ONE = {
    "code": ("different sources", "rows made by the same sources"),
    "model": ("different models", "shards run with the same --model"),
}
"""Members of a manifest that all rows share that have them: controls name no model."""


def _same_lineage(member: str, what: tuple[str, str], records: Sequence[tuple[str, Record]]) -> None:
    named = [(name, record.row["manifest"][member]) for name, record in records if member in record.row["manifest"]]
    for name, found in named[1:]:
        _same(named[0][1], found, f"row/manifest/{member}", what, (named[0][0], name))


def _same(one: Any, two: Any, member: str, what: tuple[str, str], names: tuple[str, str]) -> None:
    found = _difference(one, two)
    if found:
        place, here, there = found
        raise AuditError(
            f"{what[0]}: {names[0]} has {here!r} at /{member}{place}, this record {there!r}",
            where=names[1],
            expected=what[1],
            fix="merge each kind into its own file",
        )


_ABSENT = "nothing"


def _difference(one: Any, two: Any, place: str = "") -> tuple[str, Any, Any] | None:
    """The first place, in the order of names, where two JSON values differ; a digest only where what it covers is equal."""
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        steps = [(name, one.get(name, _ABSENT), two.get(name, _ABSENT)) for name in sorted({*one, *two}, key=_told)]
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        steps = [(str(index), here, there) for index, (here, there) in enumerate(zip(one, two, strict=True))]
    else:
        return None if one == two and type(one) is type(two) else (place, one, two)
    found = (_difference(here, there, place + pointer(name)) for name, here, there in steps)
    return next((item for item in found if item), None)


def _told(name: str) -> tuple[bool, str]:
    """A digest says that something differs, the other members what."""
    return name == "digest", name
