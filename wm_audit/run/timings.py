"""`timings.jsonl`: when, where and how long; never in a row, so that rows have the same bytes on every run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wm_audit.core import AuditError

FILE = "timings.jsonl"


def append(folder: Path, entry: Mapping[str, Any]) -> None:
    """Adds one line; a line torn by an earlier kill is closed first, so that it spoils only itself.

    Raises:
        AuditError: the place cannot be written.
    """
    line = json.dumps(dict(entry), ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"  # a lone surrogate as JSON has it
    try:
        with (folder / FILE).open("ab+") as file:
            if file.tell() > 0:
                file.seek(-1, 2)
                line = line if file.read(1) == b"\n" else b"\n" + line
            file.write(line)
    except OSError as error:
        what, fix = f"cannot be written ({error.strerror})", "move away what is there, or free the disk"
        raise AuditError(what, where=str(folder / FILE), expected="a file that can be added to", fix=fix) from error


def read(folder: Path) -> tuple[list[dict[str, Any]], int]:
    """All whole lines, and how many torn ones were passed over; nothing where there is no file."""
    path = folder / FILE
    entries: list[dict[str, Any]] = []
    torn = 0
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            entry = None
        if isinstance(entry, dict):
            entries.append(entry)
        else:
            torn += 1
    return entries, torn
