"""Files appear whole or not at all."""

import hashlib
import os
import tempfile
from pathlib import Path

from wm_audit.core.errors import AuditError, why


def write_atomic(path: Path, data: bytes | str) -> None:
    """Writes to a temporary name beside `path`, flushes, syncs, renames, and syncs the folder.

    Raises:
        AuditError: the place cannot be written; nothing is left behind.
    """
    payload = data.encode("utf-8") if isinstance(data, str) else data
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise AuditError(
            f"cannot be written ({why(error)})",
            where=str(path),
            expected="a writable place",
            fix="choose another --out or free the disk",
        ) from error


def sha256_file(path: Path) -> str:
    """`sha256:` over the file's bytes, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for piece in iter(lambda: file.read(1 << 20), b""):
            digest.update(piece)
    return "sha256:" + digest.hexdigest()
