"""What runs inside a worker process: group after group, every row sent home as soon as it exists.

    home -> worker: Task, or None for "go home"
    worker -> home: Made, Broken, Note, and Over after the last cell of a task

A worker never writes a file: the parent is the only writer of records. When the parent dies, however it dies, the worker
ends too.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, TextIO, cast

from wm_audit.core import AuditError, Key, Row, strict_json
from wm_audit.run.cells import Cell
from wm_audit.run.outlet import Outlet

NOTE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Task:
    """Cells of one group that are to be made."""

    group: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Made:
    """A row, the seconds of its stages as the work names them, and the seconds since the task began or the row before."""

    row: Row
    seconds: dict[str, float]
    took: float


@dataclass(frozen=True, slots=True)
class Broken:
    """Cells that could not be made: one line for people, the whole trace for the log."""

    keys: tuple[Key, ...]
    line: str
    trace: str


@dataclass(frozen=True, slots=True)
class Note:
    """What the work is doing, in a few words."""

    text: str


@dataclass(frozen=True, slots=True)
class Over:
    """The task is over."""


class Emit:
    """How work hands over what it made: `emit(row)`, `emit.failed(key, error)`, `emit.note("training 300/2000")`."""

    def __init__(self, send: Callable[[Any], None], keys: tuple[Key, ...]) -> None:
        self._send = send
        self._open = list(keys)
        self._since = time.monotonic()
        self._noted = 0.0

    @property
    def open(self) -> tuple[Key, ...]:
        """Cells of the task that were neither made nor reported as failed."""
        return tuple(self._open)

    def __call__(self, row: Row, seconds: Mapping[str, float] | None = None) -> None:
        """Hands over a row; it is on the disk before the next is begun, or nearly.

        Raises:
            AuditError: the row is none of the task's open cells.
            ValueError, TypeError: the row holds what no results file may hold, such as a number that is not finite.
        """
        strict_json.dumps(row.to_json())  # here, where it breaks this cell alone
        self._close(row.key)
        now = time.monotonic()
        self._send(Made(row, dict(seconds or {}), now - self._since))
        self._since = now

    def failed(self, key: Key, error: BaseException) -> None:
        """Reports one cell as failed and lets the others of its group go on.

        Raises:
            AuditError: the key is none of the task's open cells.
        """
        self._close(key)
        self._send(Broken((key,), one_line(error), "".join(traceback.format_exception(error))))

    def note(self, text: str) -> None:
        """Says what is being done; at most one note a second leaves the worker."""
        now = time.monotonic()
        if now - self._noted >= NOTE_SECONDS:
            self._noted = now
            self._send(Note(text))

    def _close(self, key: Key) -> None:
        if key not in self._open:
            raise AuditError("was not asked for, or is here twice", where=key.text(), expected="each of the task's cells once")
        self._open.remove(key)


Work = Callable[[tuple[Cell, ...], Emit], None]
"""Makes the cells of one group; a top-level function, or a `functools.partial` of one, so that a fresh process can import it."""


def serve(connection: Connection, work: Work, prepare: Callable[[], None] | None) -> None:
    """The worker's whole life; Ctrl-C is the parent's affair."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout, sys.stderr = cast("TextIO", Outlet(sys.stdout)), cast("TextIO", Outlet(sys.stderr))  # a model may print
    threading.Thread(target=_die_with_parent, daemon=True).start()
    os.register_at_fork(after_in_child=connection.close)  # a child of the work that outlives this process must not hold its pipe
    if prepare is not None:
        prepare()
    try:
        while (task := connection.recv()) is not None:
            _make(task, work, connection.send)
            connection.send(Over())
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # nobody is listening any more


def one_line(error: BaseException) -> str:
    """An error on one line: our own as they are, others with their type."""
    return error.line() if isinstance(error, AuditError) else " ".join(f"{type(error).__name__}: {error}".split())


def _make(task: Task, work: Work, send: Callable[[Any], None]) -> None:
    emit = Emit(send, tuple(cell.key for cell in task.cells))
    try:
        work(task.cells, emit)
    except (BrokenPipeError, ConnectionResetError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever breaks a cell is reported, and must not take the run down
        if emit.open:
            send(Broken(emit.open, one_line(error), traceback.format_exc()))
        return
    if emit.open:
        send(Broken(emit.open, "the work ended without making this cell", ""))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
