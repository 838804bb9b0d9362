"""Work that a worker can do in a millisecond, and work that goes wrong in every way; imported by name in fresh processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from wm_audit.core import AuditError, Key, Measurement, Row, stream
from wm_audit.run.cells import Cell
from wm_audit.run.store import Stamp
from wm_audit.run.worker import Emit

STAMP = Stamp(
    preregistration={"version": 0, "digest": "sha256:" + "0" * 64, "status": "draft", "locked_on": None},
    config={"name": "toy", "training": {"steps": 3, "learning_rate": "0.001"}},
    environment={"digest": "sha256:" + "1" * 64, "torch": "none"},
    code="sha256:" + "2" * 64,
    source={},
)


def cells(seeds: int = 2, steps: int = 3) -> list[Cell]:
    """Two capacities, a float row and its twin each; a group is a capacity and a seed."""
    return [
        Cell(
            Key("toy", size, size, seed, compression=compression),
            {"steps": steps, "compression": compression, "rate": "0.001"},
            f"{size}x{size}-seed{seed}",
        )
        for seed in range(seeds)
        for size in (4, 8)
        for compression in ("none", "copy")
    ]


def row(cell: Cell) -> Row:
    """A row whose numbers depend on key and inputs alone."""
    key = cell.key
    draws = stream(7, "toy", key.text(), int(cell.inputs["steps"])).normal(3)
    values = [float(item) for item in draws]
    return Row(key, Measurement(values[0], n=1), {"one": Measurement(values[1])}, {"returns": values}, {"threads": threads()})


def threads() -> str:
    """What a numerical library would read when it is loaded."""
    return os.environ.get("OMP_NUM_THREADS", "many")


def work(cells: Sequence[Cell], emit: Emit) -> None:
    """Makes every cell."""
    for cell in cells:
        emit.note("making it")
        emit(row(cell), {"train": 0.001})


def slow(seconds: float, cells: tuple[Cell, ...], emit: Emit) -> None:
    """Makes every cell, taking its time."""
    for cell in cells:
        time.sleep(seconds)
        emit(row(cell))


def raises(seed: int, cells: tuple[Cell, ...], emit: Emit) -> None:
    """Breaks after the first cell of one seed."""
    for index, cell in enumerate(cells):
        if cell.key.seed == seed and index == 1:
            raise ZeroDivisionError("the toy\nbroke")
        emit(row(cell))


def reports(cells: tuple[Cell, ...], emit: Emit) -> None:
    """Reports every twin as failed and goes on."""
    for cell in cells:
        if cell.key.compression == "copy":
            emit.failed(cell.key, AuditError("no engine", where="int8", expected="x86", fix="leave it out"))
        else:
            emit(row(cell))


def forgets(cells: tuple[Cell, ...], emit: Emit) -> None:
    """Makes only the first cell of a group."""
    emit(row(cells[0]))


def twice(cells: tuple[Cell, ...], emit: Emit) -> None:
    """Hands over the same row again."""
    emit(row(cells[0]))
    emit(row(cells[0]))


def unwritable(cells: tuple[Cell, ...], emit: Emit) -> None:
    """Hands over a number that no results file may hold."""
    emit(Row(cells[0].key, Measurement(0.0), {}, {"returns": [float("nan")]}))


def killed(folder: Path, times: int, cells: tuple[Cell, ...], emit: Emit) -> None:
    """Its process is killed before the second cell of seed 1, the first `times` times."""
    for cell in cells:
        marks = len(list(folder.glob("mark*")))
        if cell.key.seed == 1 and cell.key.compression == "copy" and marks < times:
            (folder / f"mark{marks}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        emit(row(cell))


def exits(cells: tuple[Cell, ...], emit: Emit) -> None:
    """Its process ends itself in every group of seed 1."""
    if cells[0].key.seed == 1:
        os._exit(7)
    work(cells, emit)


def mark_and_sleep(folder: Path, cells: tuple[Cell, ...], emit: Emit) -> None:
    """Leaves its process id, makes one cell and then does not come back."""
    (folder / f"pid{os.getpid()}").touch()
    emit(row(cells[0]))
    time.sleep(600)


def prepare() -> None:
    """Marks the worker as prepared."""
    sys.modules["prepared"] = sys


def asks(cells: tuple[Cell, ...], emit: Emit) -> None:
    """Fails in a worker that was not prepared, or that knows what its parent held."""
    if "prepared" not in sys.modules:
        raise AssertionError("not prepared")
    if "inherited" in sys.modules:
        raise AssertionError("forked")
    work(cells, emit)


def outlived(folder: Path, how: str, cells: tuple[Cell, ...], emit: Emit) -> None:
    """Makes one cell of a group and is killed the first time, while a child that it forked or started lives on."""
    if cells[0].group == "8x8-seed1" and not list(folder.glob("child*")):
        emit(row(cells[0]))
        if how == "forked":
            child = os.fork()
            if child == 0:
                time.sleep(600)
        else:
            child = subprocess.Popen(["sleep", "600"], close_fds=False).pid
        (folder / f"child{child}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    work([cell for cell in cells if cell.key in emit.open], emit)


_SEEN: list[str] = []


def remembers(cells: tuple[Cell, ...], emit: Emit) -> None:
    """Fails where its process has made a group before."""
    _SEEN.append(cells[0].group)
    if len(_SEEN) > 1:
        raise AssertionError(f"{_SEEN} in one process")
    work(cells, emit)


def prints(cells: Sequence[Cell], emit: Emit) -> None:
    """Says so much that no buffer holds it."""
    for _ in range(200):
        print("ρ" * 1000, flush=True)  # noqa: T201
    work(cells, emit)
