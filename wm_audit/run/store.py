"""The records of one run, in one folder: what is there, what may be kept, what must be made again."""

import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from wm_audit.core import AuditError, Row, strict_json
from wm_audit.core.record import Record, file_name, read_record, record_paths, seal, write_record
from wm_audit.run import timings
from wm_audit.run.cells import Cell
from wm_audit.run.lock import FolderLock

SET_ASIDE = "set_aside"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What every record of a run carries beside its row.

    Attributes:
        preregistration: version, digest, status, locked_on of the promise.
        config: the executed configuration in canonical JSON types (decimals are text); records hold it with sorted names.
        environment: `provenance.environment`.
        code: `provenance.code_digest` of the sources that make rows.
        source: further provenance for the rows' manifests, not compared: git commit and dirty flag.
    """

    preregistration: dict[str, Any]
    config: dict[str, Any]
    environment: dict[str, Any]
    code: str
    source: Mapping[str, Any]

    def manifest(self) -> dict[str, Any]:
        """The lineage that every row carries."""
        own = {"preregistration": self.preregistration["digest"], "code": self.code, "environment": self.environment["digest"]}
        return own | dict(self.source)


@dataclass(frozen=True, slots=True)
class Survey:
    """What a folder already holds of a grid.

    Attributes:
        kept: cells whose record stands.
        todo: cells to be made, in the order asked for.
        torn: names of records that were not whole; their cells are in `todo`.
        stale: names of records made from other inputs or other sources; their cells are in `todo`.
    """

    kept: tuple[Cell, ...]
    todo: tuple[Cell, ...]
    torn: tuple[str, ...]
    stale: tuple[str, ...]


class Store:
    """A folder of records, locked while the `with` block lasts."""

    def __init__(self, folder: Path, stamp: Stamp) -> None:
        self.folder = folder
        self._stamp = stamp
        self._config = json.loads(strict_json.canonical(stamp.config))
        self._lock = FolderLock(folder)

    def __enter__(self) -> Self:
        """Locks the folder and clears away temporary files that a killed run left.

        Raises:
            AuditError: another run holds the folder, or it cannot be written.
        """
        self._lock.__enter__()
        for leftover in self.folder.glob(".*.tmp"):
            if leftover.is_file():
                leftover.unlink(missing_ok=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Unlocks it."""
        self._lock.__exit__(kind, error, trace)

    def survey(self, cells: Sequence[Cell], *, resume: bool) -> Survey:
        """Reads every record of the folder and decides which stand.

        A record stands if it is whole and its resume key is the cell's; any other is moved to `set_aside/`, where no merge sees
        it, whether or not its cell is made again. A standing record is given this run's configuration and, between
        drafts, this run's promise, so that a grid that grew holds the same bytes as one that was run at once.

        Args:
            cells: the whole grid, other shards' cells included.
            resume: whether the folder may hold records at all.

        Raises:
            AuditError: the folder holds records and `resume` is off, or records of another environment, of another locked
                promise, or of cells outside the grid.
        """
        paths = self._belonging(cells, resume=resume)
        states = {cell.key: self._judge(paths.get(file_name(cell.key)), cell) for cell in cells}  # refuses before anything is moved
        for cell in cells:
            if states[cell.key] == "kept":
                self._restamp(paths[file_name(cell.key)], cell)
            elif states[cell.key] != "absent":
                self._set_aside(paths[file_name(cell.key)])
        names = {state: tuple(file_name(cell.key) for cell in cells if states[cell.key] == state) for state in ("torn", "stale")}
        return Survey(
            kept=tuple(cell for cell in cells if states[cell.key] == "kept"),
            todo=tuple(cell for cell in cells if states[cell.key] != "kept"),
            **names,
        )

    def save(self, cell: Cell, row: Row, seconds: Mapping[str, float], took: float) -> None:
        """Writes a row's record, whole or not at all, and a line of timings.

        Args:
            cell: which cell was made.
            row: its row; this run's lineage is added to the manifest.
            seconds: of the stages, for whoever predicts costs.
            took: seconds of the whole cell.

        Raises:
            AuditError: the row is another cell's, or the place cannot be written.
        """
        if row.key != cell.key:
            raise AuditError(f"gave the row of {row.key.text()}", where=cell.key.text(), expected="its own row")
        manifest = row.manifest | self._stamp.manifest()
        record = self._record(cell, seal(replace(row, manifest=manifest).to_json()))
        write_record(self.folder, record)
        self.note("done", cell, took=took, seconds=dict(seconds))

    def note(self, event: str, cell: Cell, **entry: Any) -> None:
        """A line of `timings.jsonl`: what happened to a cell, when, where, in which process."""
        place = {"host": platform.node(), "pid": os.getpid(), "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        timings.append(self.folder, {"event": event, "cell": cell.key.to_json(), "group": cell.group, **entry, **place})

    def _record(self, cell: Cell, row: dict[str, Any]) -> Record:
        stamp = self._stamp
        return Record(cell.resume_key(stamp.code), stamp.preregistration, self._config, stamp.environment, row)

    def _belonging(self, cells: Sequence[Cell], *, resume: bool) -> dict[str, Path]:
        """The folder's records by name, all of them of this grid.

        Raises:
            AuditError: there are some and there should be none, or one is of no cell of the grid.
        """
        paths = {path.name: path for path in record_paths(self.folder)}
        if paths and not resume:
            what = f"holds {len(paths)} records of an earlier run"
            raise AuditError(what, where=str(self.folder), expected="an empty folder", fix="add --resume, or choose another --out")
        names = {file_name(cell.key) for cell in cells}
        for name, path in paths.items():
            if name not in names:
                what = "is a cell that this configuration does not name"
                raise AuditError(what, where=str(path), expected="records of this grid", fix="choose another --out, or move the file away")
        return paths

    def _judge(self, path: Path | None, cell: Cell) -> str:
        """`absent`, `torn`, `stale` or `kept`.

        Raises:
            AuditError: the record belongs to another environment or another locked promise.
        """
        if path is None:
            return "absent"
        try:
            record = read_record(path)
        except AuditError:
            return "torn"
        self._same_environment(path, record)
        if record.resume_key != cell.resume_key(self._stamp.code):
            return "stale"
        self._same_promise(path, record)
        return "kept"

    def _set_aside(self, path: Path) -> None:
        """Moves a record to where no merge sees it.

        Raises:
            AuditError: the place for it is no folder, or cannot be written.
        """
        place = self.folder / SET_ASIDE
        try:
            place.mkdir(exist_ok=True)
            path.replace(place / path.name)
        except OSError as error:
            what = f"cannot take the record {path.name} ({error.strerror})"
            raise AuditError(what, where=str(place), expected="a folder to move old records to", fix="move away what is there") from error

    def _restamp(self, path: Path, cell: Cell) -> None:
        """Gives a standing record this run's configuration and promise, if it has others."""
        record = read_record(path)
        digest, row = self._stamp.preregistration["digest"], record.row
        if row["manifest"].get("preregistration") != digest:
            row = seal(row | {"manifest": row["manifest"] | {"preregistration": digest}})
        wanted = self._record(cell, row)
        if wanted.text() != record.text():
            write_record(self.folder, wanted)

    def _same_environment(self, path: Path, record: Record) -> None:
        ours, theirs = self._stamp.environment, record.environment
        if ours == theirs:
            return
        names = [name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name)]
        name = next((name for name in names if name != "digest"), "digest")
        what = f"was made in another environment: {name} {theirs.get(name)!r}, here {ours.get(name)!r}"
        raise AuditError(what, where=str(path), expected="one environment per folder", fix="choose another --out, or run where it began")

    def _same_promise(self, path: Path, record: Record) -> None:
        """Two drafts may share rows, whose inputs are the same; a locked promise shares with nobody."""
        ours, theirs = self._stamp.preregistration, record.preregistration
        if ours["status"] == theirs["status"] == "draft":
            return
        if ours["digest"] == theirs["digest"]:
            self._same_lock(path, ours["locked_on"], theirs["locked_on"])
            return
        what = f"was run under another promise: version {theirs['version']}, {theirs['digest']}"
        expected = f"version {ours['version']}, {ours['digest']}"
        raise AuditError(what, where=str(path), expected=expected, fix="choose another --out; pilots are never pooled with a main run")

    def _same_lock(self, path: Path, ours: str | None, theirs: str | None) -> None:
        """A row keeps what it says of the lock: made before it, it would otherwise pass for one that was made under it."""
        if ours != theirs:
            here, there = (f"locked on {day}" if day else "not locked" for day in (ours, theirs))
            what = f"was made when its promise was {there}; it now is {here}"
            raise AuditError(what, where=str(path), expected="rows made under one lock", fix="choose another --out: lock first, then run")
