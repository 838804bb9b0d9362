"""One run at a time over one folder. The kernel releases the lock when the run dies, however it dies."""

import fcntl
import os
import platform
from pathlib import Path
from types import TracebackType
from typing import Self

from wm_audit.core import AuditError

FILE = ".lock"


class FolderLock:
    """Held inside `with`; the folder is made if it is not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._handle = -1

    def __enter__(self) -> Self:
        """Takes the lock.

        Raises:
            AuditError: another run holds it, or the folder cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self._folder / FILE, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            what = f"cannot be used ({error.strerror})"
            raise AuditError(what, where=str(self._folder), expected="a writable folder", fix="choose another --out") from error
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._handle, 200, 0).decode("utf-8", "replace").strip()
            os.close(self._handle)
            what = f"another run writes here ({holder or 'it has just begun'})"
            raise AuditError(
                what, where=str(self._folder), expected="one run per folder", fix="wait for it, or choose another --out"
            ) from error
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, f"process {os.getpid()} on {platform.node()}\n".encode(), 0)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Gives it back."""
        os.ftruncate(self._handle, 0)
        os.close(self._handle)
