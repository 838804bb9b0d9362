"""One cell's row on disk: written whole, sealed, and read back only if not one byte is missing or changed.

    record: {"schema", "resume_key", "preregistration", "config", "environment", "row", "sha256"}

The folder is `<result without .json>.cells/`, one file per row. The writer of records (`run`) and their reader (`board`) are
siblings that never import each other, so the format lives here.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from wm_audit.core import strict_json
from wm_audit.core.errors import AuditError
from wm_audit.core.files import write_atomic
from wm_audit.core.row import Key, Row

SCHEMA = "wm_audit/cell/1"
_MEMBERS = ("schema", "resume_key", "preregistration", "config", "environment", "row", "sha256")
_AGAIN = "run this cell again with --resume"


def seal(block: Mapping[str, Any]) -> dict[str, Any]:
    """The block with its own `sha256` as last member: `sha256:` over its file text (`strict_json.dumps`) without that member."""
    bare = {name: item for name, item in block.items() if name != "sha256"}
    return bare | {"sha256": "sha256:" + hashlib.sha256(strict_json.dumps(bare).encode("utf-8")).hexdigest()}


def sealed(block: Mapping[str, Any]) -> bool:
    """Whether the block carries exactly the `sha256` that `seal` gives it."""
    try:
        return "sha256" in block and block["sha256"] == seal(block)["sha256"]
    except UnicodeEncodeError:  # a lone surrogate, which no writer of ours lets into a file
        return False


@dataclass(frozen=True, slots=True)
class Record:
    """A row with what it was run under.

    Attributes:
        resume_key: digest of all that this cell's numbers depend on.
        preregistration: the promise: version, digest, status, locked_on.
        config: the executed configuration in canonical JSON types (decimals are strings).
        environment: what the numbers' last bits depend on, with its `digest`.
        row: `Row.to_json()` with the row's own `sha256` as last member (`seal`).
    """

    resume_key: str
    preregistration: dict[str, Any]
    config: dict[str, Any]
    environment: dict[str, Any]
    row: dict[str, Any]

    @property
    def key(self) -> Key:
        """Which cell this is."""
        return Key(**self.row["key"])

    def text(self) -> str:
        """The file's text; the same record always gives the same bytes."""
        members = (SCHEMA, self.resume_key, self.preregistration, self.config, self.environment, self.row)
        return strict_json.dumps(seal(dict(zip(_MEMBERS[:-1], members, strict=True))))


def file_name(key: Key) -> str:
    """The record's name inside its folder; characters that no file name may hold are percent-encoded."""
    return quote(key.text(), safe="") + ".json"


def folder_of(result: Path) -> Path:
    """The folder of the records behind a result file: `results_x.json` -> `results_x.cells`."""
    return result.with_name(result.name.removesuffix(".json") + ".cells")


def write_record(folder: Path, record: Record) -> Path:
    """Writes the record under its key's name, whole or not at all.

    Raises:
        AuditError: the place cannot be written.
    """
    path = folder / file_name(record.key)
    write_atomic(path, record.text())
    return path


def record_paths(folder: Path) -> Iterator[Path]:
    """The record files of a folder in the order of their names; temporary files and timings are not among them."""
    return iter(sorted(path for path in folder.glob("*.json") if not path.name.startswith(".")))


def read_record(path: Path) -> Record:
    """Reads a record and proves it whole: seals of record and row, the row's form, the name, and every byte of the text.

    Raises:
        AuditError: unreadable, torn, changed, of another schema, or under another cell's name.
    """
    entry = strict_json.load(path)
    where = str(path)
    if not isinstance(entry, dict) or entry.get("schema") != SCHEMA:
        found = entry.get("schema") if isinstance(entry, dict) else type(entry).__name__
        raise AuditError(f"is not a record ({found!r})", where=where, expected=SCHEMA, fix=_AGAIN)
    if tuple(entry) != _MEMBERS or not sealed(entry) or not isinstance(entry["row"], dict) or not sealed(entry["row"]):
        raise AuditError("was changed after it was written", where=where, expected="a record with a valid sha256", fix=_AGAIN)
    try:
        row = Row.from_json(entry["row"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise AuditError(f"holds a row that cannot be read ({error!r})", where=where, expected="a row of evidence", fix=_AGAIN) from error
    record = Record(*(entry[name] for name in _MEMBERS[1:-1]))
    if path.name != file_name(row.key):
        raise AuditError("holds another cell's row", where=where, expected=file_name(row.key), fix="give it its own name")
    if path.read_bytes() != record.text().encode("utf-8"):
        raise AuditError("is not written the way records are", where=where, expected="the bytes of the writer", fix=_AGAIN)
    return record
